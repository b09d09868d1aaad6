# SPDX-License-Identifier: Apache-2.0
"""CAMP's counters (Table 5) by the paper's names: which a platform needs, and their valid values.

A file of counters is JSON: one object `{"c": ..., "P1": ..., ...}` for a whole run, or
`{"intervals": [{"t": seconds, "c": ..., ...}, ...]}` for a run in intervals. perf.py reads the
output of `perf stat` into the same form.
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
# The inputs of the final model of §4.4.3: 11 for Skylake-SP, 12 for the others.
NEEDED = {"skx": (*_BOTH, "P1", "P7", "P8"), "spr": _SPR, "emr": _SPR}
_DIVISORS = ("c", "P13", "P15")  # P15 if present
# In each pair the first must not be below the second, because the model uses their difference.
_ORDER = {
    "skx": (("P1", "P2"), ("P2", "P3"), ("P7", "P8")),
    "spr": (("P1", "P2"), ("P2", "P3")),
    "emr": (("P1", "P2"), ("P2", "P3")),
}
_MAX_COUNT = 2.0**64  # the counters have 64 bits
# Other fields of a file, which `camp record` writes.
_ALSO = ("t", "seconds", "instructions")

Counters = Mapping[str, float]


@dataclass(frozen=True)
class Run:
    """Counters of a run.

    total: by name. intervals: (end in seconds, counters by name); empty if the run was not divided.
    share: percent of the time that perf counted the event that multiplexing reduced most.
    """

    total: Counters
    intervals: tuple[tuple[float, Counters], ...] = ()
    share: float = 100.0


def check(table: Table, platform: str) -> Counters:
    """The counters in a table, checked for the model of `platform`. Raises InputError.

    Counters that the platform does not need are optional and checked, too.
    """
    needed = NEEDED[platform]
    table.only(*needed, optional=(*NAMES, *_ALSO))
    found = {n: table.real(n, minimum=0, maximum=_MAX_COUNT) for n in NAMES if n in table.content}
    for name in _DIVISORS:
        if found.get(name) == 0:
            raise table.wrong(name, "a number above 0: the model divides by it")
    for larger, smaller in _ORDER[platform]:
        if larger in found and found[larger] < found[smaller]:
            allowed = f"no more than {larger}, which is {found[larger]:.15g}"
            raise table.wrong(smaller, allowed)
    return found


def check_counters(values: Mapping[str, Any], platform: str, file: object = "counters") -> Counters:
    """`check` for values from a Python program. file: their name in error messages."""
    return check(Table(file, "counters", values), platform)


def summed(parts: Iterable[Counters]) -> dict[str, float]:
    """The counters of a whole run, as the sum over its intervals."""
    total: dict[str, float] = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, 0.0) + value
    return total


def from_content(content: dict[str, Any], platform: str, file: object) -> Run:
    """The Run in the content of a JSON file. Raises InputError."""
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
        t = table.real("t", minimum=0)
        if t <= before:
            raise table.wrong("t", f"seconds above {before:g}, those of the interval before")
        before = t
        done.append((t, check(table, platform)))
    return Run(summed(values for _, values in done), tuple(done))


def read(path: str | os.PathLike, platform: str) -> Run:
    """Read counters from JSON or the output of `perf stat -x,` or `-j`. Raises InputError."""
    from anemone.models.camp import perf

    text = read_text(Path(path), "counters")
    if not text.strip():
        raise InputError(path, "file", "counters", Bare("empty"), "JSON, or perf stat's output")
    if perf.is_perf(text):
        return perf.run_of(text, platform, path)
    return from_content(parse_json(text, path), platform, path)
