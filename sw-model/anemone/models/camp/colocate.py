# SPDX-License-Identifier: Apache-2.0
"""Divides DRAM between workloads by predicted slowdown (§6.3), and by two baselines.

Eq. 10 gives a workload's slowdown for a share x of its memory on DRAM. The curve is convex, so the
best division gives each gigabyte of DRAM to the workload that it helps most, until all DRAM is used
or more of it does not help. The model does not include contention for bandwidth between workloads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anemone.io.errors import InputError
from anemone.io.json_file import read_json
from anemone.io.tables import Table
from anemone.models.camp.interleave import Endpoints, endpoints_of

_STEPS = 100  # bisection steps for the price of DRAM


@dataclass(frozen=True)
class Workload:
    """A workload to place. gb: its memory; mpki: last-level misses per 1000 instructions."""

    name: str
    gb: float
    mpki: float
    endpoints: Endpoints


@dataclass(frozen=True)
class Placement:
    """The share on DRAM of each workload, and its slowdown compared with all memory on DRAM."""

    shares: tuple[float, ...]
    slowdowns: tuple[float, ...]

    @property
    def mean(self) -> float:
        return sum(self.slowdowns) / len(self.slowdowns)


def place(workloads: list[Workload], fast_gb: float, rule: Callable) -> Placement:
    """The placement that one of RULES chooses."""
    shares = rule(workloads, fast_gb)
    slowdowns = (w.endpoints.at(x).total for w, x in zip(workloads, shares, strict=True))
    return Placement(tuple(shares), tuple(slowdowns))


def by_camp(workloads: list[Workload], fast_gb: float) -> list[float]:
    """The shares with the least mean slowdown; memory can be divided at any point.

    Every gigabyte of DRAM has the same price, and every workload takes the share that is best for
    it at this price. Bisection finds the price at which the shares just fit. If several workloads
    could take the rest equally well, those first in the file get it.
    """

    def at(rent: float) -> list[float]:
        return [w.endpoints.best(rent * w.gb * w.endpoints.c) for w in workloads]

    def taken(shares: list[float]) -> float:
        return sum(x * w.gb for x, w in zip(shares, workloads, strict=True))

    if taken(at(0.0)) <= fast_gb:
        return at(0.0)
    low, high = 0.0, 1.0  # slowdown per gigabyte
    while taken(at(high)) > fast_gb:
        high *= 2
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if taken(at(middle)) > fast_gb else (low, middle)
    shares = at(high)
    # The rest goes to workloads for which several shares are equally good at this price.
    for i, (minimum, maximum) in enumerate(zip(shares, at(low), strict=True)):
        left = fast_gb - taken(shares)
        shares[i] = minimum + min(max(maximum - minimum, 0.0), max(left, 0.0) / workloads[i].gb)
    return shares


def by_mpki(workloads: list[Workload], fast_gb: float) -> list[float]:
    """Most misses first, as placement by hotness does; ties are in the file's order."""
    return _filled(workloads, fast_gb, sorted(workloads, key=lambda w: -w.mpki))


def first_touch(workloads: list[Workload], fast_gb: float) -> list[float]:
    """First come, first served, in the file's order."""
    return _filled(workloads, fast_gb, workloads)


def _filled(workloads: list[Workload], fast_gb: float, order: list[Workload]) -> list[float]:
    shares = {}
    for workload in order:
        shares[workload.name] = min(1.0, fast_gb / workload.gb)
        fast_gb = max(fast_gb - shares[workload.name] * workload.gb, 0.0)
    return [shares[w.name] for w in workloads]


RULES = {"camp": by_camp, "mpki": by_mpki, "first_touch": first_touch}


def read_workloads(path: str | os.PathLike) -> tuple[list[Workload], float]:
    """Read W.json: the workloads and their DRAM in GB. Raises InputError."""
    content = read_json(path)
    table = Table(path, "workloads", content)
    table.only("workloads", optional=("fast_gb", "fast_to_slow"))
    listed = content["workloads"]
    if not isinstance(listed, list) or not listed:
        raise table.wrong("workloads", "a list of at least one { name, gb, mpki, endpoints }")
    workloads = [_workload(each, i, path) for i, each in enumerate(listed, 1)]
    names = [w.name for w in workloads]
    for name in names:
        if names.count(name) > 1:
            raise InputError(path, "workloads", "name", name, "another name for each")
    if ("fast_gb" in content) == ("fast_to_slow" in content):
        raise table.wrong("fast_gb", "given, or fast_to_slow = [1, 1]; one of the two")
    if "fast_gb" in content:
        return workloads, table.real("fast_gb", minimum=0)
    ratio = content["fast_to_slow"]
    numbers = isinstance(ratio, list) and all(type(n) in (int, float) for n in ratio)
    if not numbers or len(ratio) != 2 or min(ratio) < 0 or not 0 < sum(ratio) < float("inf"):
        raise table.wrong("fast_to_slow", "[fast, slow], numbers of at least 0, such as [1, 1]")
    return workloads, sum(w.gb for w in workloads) * ratio[0] / sum(ratio)


def _workload(content: Any, number: int, path: str | os.PathLike) -> Workload:
    if not isinstance(content, dict):
        raise InputError(path, f"workload {number}", "workload", content, "{ name, gb, mpki, ... }")
    table = Table(path, f"workload {number}", content)
    table.only("name", "gb", "mpki", "endpoints")
    name = content["name"]
    if not isinstance(name, str) or not name:
        raise table.wrong("name", "text")
    endpoints = content["endpoints"]
    folder = Path(path).parent
    if isinstance(endpoints, str):
        file: object = folder / endpoints
        endpoints = read_json(folder / endpoints)
    else:
        file = f"{path}: workload {number}"
    if not isinstance(endpoints, dict):
        raise table.wrong("endpoints", "an object as E.json has it, or such a file's name")
    ends = endpoints_of(endpoints, file, folder)
    return Workload(
        name, table.real("gb", minimum=0, above=True), table.real("mpki", minimum=0), ends
    )
