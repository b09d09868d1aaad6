# SPDX-License-Identifier: Apache-2.0
"""CAMP's counters (Table 5) by the paper's names: which a platform needs, and which values can be.

A file of counters is JSON: one object `{"c": ..., "P1": ..., ...}` for a whole run, or
`{"intervals": [{"t": seconds, "c": ..., ...}, ...]}` for a run in intervals. What `perf stat` wrote
is read by perf.py into the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anemone.io.errors import Bare, InputError
from anemone.io.json_file import parse_json
from anemone.io.tables import Table, read_text

PLATFORMS = ("skx", "spr", "emr")
NAMES = ("c", *(f"P{i}" for i in range(1, 18)))
_BOTH = ("c", "P2", "P3", "P4", "P5", "P6", "P12", "P13")
_SPR = (*_BOTH, "P14", "P15", "P16", "P17")
# What the final model of §4.4.3 reads: 11 of Skylake-SP, 12 of the others.
NEEDED = {"skx": (*_BOTH, "P1", "P7", "P8"), "spr": _SPR, "emr": _SPR}
_DIVISORS = ("c", "P13", "P15")  # P15 where it is there
# Of each pair the first cannot be below the second: the model takes their difference.
_ORDER = {
    "skx": (("P1", "P2"), ("P2", "P3"), ("P7", "P8")),
    "spr": (("P1", "P2"), ("P2", "P3")),
    "emr": (("P1", "P2"), ("P2", "P3")),
}
_MOST = 2.0**64  # of what is counted in 64 bits
# Beside the counters a file may have what `camp record` knows of the run.
_ALSO = ("t", "seconds", "instructions")

Counters = Mapping[str, float]


@dataclass(frozen=True)
class Run:
    """Counters of a run: in all, and by interval (empty: the run was not cut), each with its end.

    total: by name; intervals: (t in seconds, counters by name). share: percent of the time that the
    event was counted which was counted least, as perf multiplexes.
    """

    total: Counters
    intervals: tuple[tuple[float, Counters], ...] = ()
    share: float = 100.0


def check(table: Table, platform: str) -> Counters:
    """The counters in a table, if the model of `platform` can use them. Raises InputError.

    Those that the platform does not need may be there, and have to be in order, too.
    """
    needed = NEEDED[platform]
    table.only(*needed, optional=(*NAMES, *_ALSO))
    found = {n: table.real(n, least=0, most=_MOST) for n in NAMES if n in table.content}
    for name in _DIVISORS:
        if found.get(name) == 0:
            raise table.wrong(name, "a number above 0: the model divides by it")
    for larger, smaller in _ORDER[platform]:
        if larger in found and found[larger] < found[smaller]:
            allowed = f"no more than {larger}, which is {found[larger]:.15g}"
            raise table.wrong(smaller, allowed)
    return found


def check_counters(values: Mapping[str, Any], platform: str, file: object = "counters") -> Counters:
    """`check` of values that come from a program. file: what errors call them."""
    return check(Table(file, "counters", values), platform)


def summed(parts: Iterable[Counters]) -> dict[str, float]:
    """Counters of a whole run from those of its intervals."""
    total: dict[str, float] = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, 0.0) + value
    return total


def from_content(content: dict[str, Any], platform: str, file: object) -> Run:
    """A Run of what stands in a JSON file. Raises InputError."""
    if "intervals" not in content:
        return Run(check(Table(file, "counters", content), platform))
    whole = Table(file, "counters", content)
    whole.only("intervals")
    listed = content["intervals"]
    if not isinstance(listed, list) or not listed:
        raise whole.wrong("intervals", "a list of at least one { t, c, P1, ... }")
    done = []
    before = -1.0
    for number, each in enumerate(listed, 1):
        if not isinstance(each, dict):
            raise InputError(file, f"interval {number}", "counters", each, "{ t, c, P1, ... }")
        table = Table(file, f"interval {number}", each)
        t = table.real("t", least=0)
        if t <= before:
            raise table.wrong("t", f"seconds above {before:g}, those of the interval before")
        before = t
        done.append((t, check(table, platform)))
    return Run(summed(values for _, values in done), tuple(done))


def read(path: str | os.PathLike, platform: str) -> Run:
    """The counters in a file, JSON or what `perf stat -x,` or `-j` wrote. Raises InputError."""
    from anemone.models.camp import perf

    text = read_text(Path(path), "counters")
    if not text.strip():
        raise InputError(path, "file", "counters", Bare("empty"), "JSON, or perf stat's output")
    if perf.is_perf(text):
        return perf.run_of(text, platform, path)
    return from_content(parse_json(text, path), platform, path)
