# SPDX-License-Identifier: Apache-2.0
"""Counters of this machine: perf's output, and telemetries that anemonectl reads."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from anemone.io.errors import MISSING, Bare, InputError

_REASON = "\\___"  # perf's marker in front of an error's reason


class SourceError(RuntimeError):
    """A source of samples failed."""


@dataclass(frozen=True)
class Counted:
    """An event in one interval, summed over units and processors. ns: time that it was counted."""

    value: float
    ns: float


Place = tuple[str, ...]  # a processor such as ("CPU3",); () for all processors together


def perf_rows(
    lines: Iterable[str], events: Sequence[str], by_cpu: bool = False
) -> Iterator[dict[Place, dict[str, Counted]]]:
    """Parse intervals in the output of `perf stat -I -x,`; by_cpu: with `-A`, events by processor.

    Raises InputError, which names the line and the event.
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
        before = seen.get(name, Counted(0.0, 0.0))  # perf may print units of a socket separately
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


def _name(description: str) -> str:
    inner = re.search(r"name=(\w+)", description)
    return inner[1] if inner else description.split(":")[0]


def perf(
    tool: str, interval: float, asked: Sequence[str], events: Sequence[str], also: str,
    by_cpu: bool = False,
) -> Iterator[dict[Place, dict[str, Counted]]]:  # fmt: skip
    """Run perf on the machine and yield intervals like perf_rows until closed.

    tool: name of the calling tool, for errors. asked: arguments of `perf stat` that select the
    events. also: an alternative to perf, for errors. Raises InputError without perf, SourceError if
    it ends.
    """
    if shutil.which("perf") is None:
        allowed = f"perf (apt-get install linux-perf), or {also}"
        raise InputError(tool, "commands", "perf", MISSING, allowed)
    words = ["perf", "stat", "-a", "-x,", "-I", str(round(interval * 1000)), *asked]
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, bufsize=1
    )
    assert process.stderr
    errors: list[str] = []
    try:
        yield from perf_rows(_noted(process.stderr, errors), events, by_cpu)
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        process.wait()
    last = errors[-1].split(_REASON)[-1].strip() if errors else "nothing"
    raise SourceError(f"perf stat ended with status {process.returncode}: {last}")


def _noted(lines: Iterable[str], last: list[str]) -> Iterator[str]:
    """Pass lines on; `last` keeps the last line, or the line with a reason."""
    for line in lines:
        if not (last and _REASON in last[0]):
            last[:] = [line]
        yield line


def telemetry(tool: str, name: str) -> dict[tuple[int, int], int]:
    """A telemetry's non-zero counters by region and offset.

    It reads a snapshot, which does not disturb other readers. Raises InputError without anemonectl,
    SourceError if it fails.
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


def telemetry_values(name: str, output: str) -> dict[tuple[int, int], int]:
    """The counters in the output of `anemonectl read NAME --json`. Raises SourceError."""
    try:
        rows = json.loads(output)["counters"]
        return {(r["region"], r["offset"]): int(r["value"]) for r in rows}
    except (ValueError, KeyError, TypeError) as e:
        raise SourceError(f"anemonectl read {name}: not what it prints: {e}") from e
