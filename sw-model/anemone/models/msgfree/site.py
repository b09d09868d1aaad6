# SPDX-License-Identifier: Apache-2.0
"""What is known of one MPI receive in a program: its messages and the loads of its buffer, JSON."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from anemone.io.errors import InputError
from anemone.io.json_file import read_json
from anemone.io.tables import Table

HITS = ("L1", "L2", "L3")
SOURCES = (*HITS, "LFB", "MEM")  # where a load found its data; LFB: they were on their way


@dataclass(frozen=True)
class Metrics:
    """Of the whole program (§IV-B): what it moves in GB/s, and shares of its loads, 0 to 1."""

    mem_gb_per_s: float
    l3_miss_share: float
    l1_gb_per_s: float
    l2_gb_per_s: float
    l2_load_share: float


@dataclass(frozen=True)
class Site:
    """A call site.

    messages: sizes in bytes. samples: latency in ns and source of each sampled load. rate: loads
    that a sample stands for. loads_per_element: how often a received element is loaded, 1 or more.
    unpack: it is copied out of CXL memory at its first load.
    """

    messages: tuple[float, ...]
    samples: tuple[tuple[float, str], ...]
    rate: float
    loads_per_element: float
    element_bytes: float
    unpack: bool
    metrics: Metrics


def read_site(path: str | os.PathLike) -> Site:
    """The call site in a file. Raises InputError."""
    table = Table(path, "call site", read_json(path))
    table.only(
        "messages", "samples", "rate", "loads_per_element", "element_bytes", "metrics",
        optional=("unpack",),
    )  # fmt: skip
    unpack = table.content.get("unpack", False)
    if not isinstance(unpack, bool):
        raise table.wrong("unpack", "true or false")
    return Site(
        messages=tuple(_each(table, "messages", "sizes in bytes", _size)),
        samples=tuple(_each(table, "samples", "{ latency_ns, source }", _sample)),
        rate=table.real("rate", minimum=0, above=True),
        loads_per_element=table.real("loads_per_element", minimum=1),
        element_bytes=table.real("element_bytes", minimum=0, above=True),
        unpack=unpack,
        metrics=read_metrics(table),
    )


def read_metrics(table: Table) -> Metrics:
    """The table's `metrics`."""
    inner = table.table("metrics")
    assert inner is not None  # `only` has seen it
    inner.only(*(field.name for field in fields(Metrics)))
    shares = {n: inner.real(n, minimum=0, maximum=1) for n in ("l3_miss_share", "l2_load_share")}
    rates = {n: inner.real(n, minimum=0) for n in ("mem_gb_per_s", "l1_gb_per_s", "l2_gb_per_s")}
    return Metrics(**shares, **rates)


def _each(table: Table, key: str, what: str, take: Callable[[Table], Any]) -> list[Any]:
    """The members of a list, each through `take`, which gets it as `value` of a table."""
    listed = table.content[key]
    if not isinstance(listed, list):
        raise table.wrong(key, f"a list of {what}")
    return [take(Table(table.file, f"{key}[{i}]", {"value": v})) for i, v in enumerate(listed)]


def _size(member: Table) -> float:
    return member.real("value", minimum=0)


def _sample(member: Table) -> tuple[float, str]:
    value = member.content["value"]
    if not isinstance(value, dict):
        raise InputError(member.file, member.place, "sample", value, "{ latency_ns, source }")
    sample = Table(member.file, member.place, value)
    sample.only("latency_ns", "source")
    return sample.real("latency_ns", minimum=0), sample.choice("source", SOURCES)
