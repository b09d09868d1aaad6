# SPDX-License-Identifier: Apache-2.0
"""Counters of this machine: what perf prints, and telemetries as anemonectl reads them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from anemone.io.errors import MISSING, Bare, InputError

_REASON = "\\___"  # perf points so at what is wrong, before its usage


class SourceError(RuntimeError):
    """What is sampled stopped answering."""


@dataclass(frozen=True)
class Counted:
    """An event of one interval, units and processors together. ns: for which it was counted."""

    value: float
    ns: float


Place = tuple[str, ...]  # a processor, CPU3; of all together none


def perf_rows(
    lines: Iterable[str], events: Sequence[str], by_cpu: bool = False
) -> Iterator[dict[Place, dict[str, Counted]]]:
    """Intervals of what `perf stat -I -x,` prints, with by_cpu also `-A`: events by processor.

    Raises InputError, naming line and event.
    """
    at, found, number = "", {}, 0
    first = 2 if by_cpu else 1  # the field of the count
    for number, line in enumerate(lines, 1):
        fields = line.strip().split(",")
        if len(fields) < first + 5 or line.startswith("#"):
            continue
        if fields[0] != at and found:
            yield _whole(found, events, number)
            found = {}
        at = fields[0]
        name = _name(fields[first + 2])
        if name not in events:
            continue
        try:
            counted = Counted(float(fields[first]), float(fields[first + 3]))
        except ValueError as e:
            value = Bare(fields[first].strip("<>"))
            allowed = "a count: a machine, not a virtual one, with this event; and root"
            raise InputError("perf stat", f"line {number}", name, value, allowed) from e
        seen = found.setdefault(tuple(fields[1:first]), {})
        before = seen.get(name, Counted(0.0, 0.0))  # units of a socket may be told one by one
        seen[name] = Counted(before.value + counted.value, before.ns + counted.ns)
    if found:
        yield _whole(found, events, number)


def _whole(
    found: dict[Place, dict[str, Counted]], events: Sequence[str], line: int
) -> dict[Place, dict[str, Counted]]:
    for place, seen in found.items():
        for name in events:
            if name not in seen:
                field = " ".join((*place, name))
                raise InputError("perf stat", f"line {line}", field, MISSING, "a row of each event")
    return found


def _name(told: str) -> str:
    inner = re.search(r"name=(\w+)", told)
    return inner[1] if inner else told.split(":")[0]


def perf(
    tool: str, interval: float, asked: Sequence[str], events: Sequence[str], also: str,
    by_cpu: bool = False,
) -> Iterator[dict[Place, dict[str, Counted]]]:  # fmt: skip
    """Intervals of the machine, as perf_rows has them, until it is closed.

    tool: who asks. asked: words of `perf stat` that ask for the events. also: what else would do.
    Raises InputError where there is no perf, SourceError when it ends.
    """
    if shutil.which("perf") is None:
        allowed = f"perf (apt-get install linux-perf), or {also}"
        raise InputError(tool, "commands", "perf", MISSING, allowed)
    words = ["perf", "stat", "-a", "-x,", "-I", str(round(interval * 1000)), *asked]
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, bufsize=1
    )
    assert process.stderr
    said: list[str] = []
    try:
        yield from perf_rows(_noted(process.stderr, said), events, by_cpu)
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        process.wait()
    last = said[-1].split(_REASON)[-1].strip() if said else "nothing"
    raise SourceError(f"perf stat ended with status {process.returncode}: {last}")


def _noted(lines: Iterable[str], last: list[str]) -> Iterator[str]:
    """The same lines; the last of them, or the one that has a reason, is in `last`."""
    for line in lines:
        if not (last and _REASON in last[0]):
            last[:] = [line]
        yield line


def telemetry(tool: str, name: str) -> dict[tuple[int, int], int]:
    """The counters of a telemetry by region and offset, those that are not 0.

    The plain window is read: who else reads it is not disturbed. Raises InputError without
    anemonectl, SourceError where it has no answer.
    """
    words = ["anemonectl", "read", name, "--snapshot", "--all", "--json"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=30)
    except FileNotFoundError as e:
        allowed = "anemonectl (docs/anemonectl.md)"
        raise InputError(tool, "commands", "anemonectl", MISSING, allowed) from e
    except subprocess.TimeoutExpired as e:
        raise SourceError(f"anemonectl read {name}: no answer in 30 s") from e
    if done.returncode:
        raise SourceError(f"anemonectl read {name}: {done.stderr.strip()}")
    return telemetry_values(name, done.stdout)


def telemetry_values(name: str, said: str) -> dict[tuple[int, int], int]:
    """What `anemonectl read NAME --json` printed. Raises SourceError."""
    try:
        rows = json.loads(said)["counters"]
        return {(r["region"], r["offset"]): int(r["value"]) for r in rows}
    except (ValueError, KeyError, TypeError) as e:
        raise SourceError(f"anemonectl read {name}: not what it prints: {e}") from e
