# SPDX-License-Identifier: Apache-2.0
"""A host's intervals, live or recorded, and what the allocator would exchange in each."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anemone.io.counters import telemetry
from anemone.io.errors import MISSING, InputError
from anemone.memstrata.colouring import PageAllocator
from anemone.memstrata.host import HostFile
from anemone.memstrata.loop import Host, Judge, Judged, Moved, Reading
from anemone.memstrata.perf import Measured

Interval = Mapping[str, Measured]  # by machine


@dataclass(frozen=True)
class Round:
    """judged: machines, by their smoothed counters. moved: exchanges, in order. core: share of a
    processor that all of this took, of the interval. regions: of each exchange, those of the
    borrower that miss most, so should become dedicated; none where regions are not its pages."""

    number: int
    judged: Mapping[str, Judged]
    moved: Sequence[Moved]
    core: float
    regions: Sequence[Sequence[int]]

    def named(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "interval": self.number, "core": self.core,
            "vms": [
                {"name": name, "is_outlier": j.is_outlier, "misses": j.misses}
                for name, j in self.judged.items()
            ],
            "exchanges": [
                {"from": m.donor, "to": m.borrower, "pages": m.exchange.pages,
                 "bytes": m.exchange.bytes, "regions": list(regions)}
                for m, regions in zip(self.moved, self.regions, strict=True)
            ],
        }  # fmt: skip

    def line(self) -> str:
        """For a person."""
        slow = ", ".join(name for name, j in self.judged.items() if j.is_outlier) or "none"
        moves = "; ".join(
            f"{m.donor} to {m.borrower}: {m.exchange.pages:,} pages" for m in self.moved
        )
        text = f"{self.number}: outliers: {slow}; would exchange: {moves or 'nothing'}"
        return f"{text} ({100 * self.core:.1f} % of a core)"


def recorded(
    file: HostFile, counters: Mapping[str, Sequence[Measured]], path: object
) -> Generator[Interval, None, None]:
    """The intervals of a file of counters. Raises InputError where its machines are others."""
    names = [vm.name for vm in file.machines]
    for i, name in enumerate(counters):
        if name not in names:
            raise InputError(
                path, f"vms[{i}]", "name", name, "a VM of HOST.toml: " + ", ".join(names)
            )
    for name in names:
        if name not in counters:
            raise InputError(path, "vms", name, MISSING, f"every VM of {file.file}")
    number = len(counters[names[0]])
    for name, rows in counters.items():
        if len(rows) != number:
            allowed = f"{number} intervals, as {names[0]} has"
            raise InputError(path, name, "intervals", len(rows), allowed)
    return ({name: counters[name][i] for name in names} for i in range(number))


def counted(
    intervals: Iterator[Interval], file: HostFile,
    read: Callable[[], dict[tuple[int, int], int]] | None = None,
) -> Generator[Interval, None, None]:  # fmt: skip
    """The same intervals with each machine's misses, as the host's telemetry counts them.

    read: its counters by region and offset. Later ones differ from those at the first call.
    """
    read = read or (lambda: telemetry("memstrata", file.telemetry or ""))
    before = _by_region(read())
    for interval in intervals:
        now = _by_region(read())
        of = {
            vm.name: {r: _since(before.get(r, 0), now.get(r, 0)) for r in vm.regions}
            for vm in file.machines
        }
        before = now
        yield {
            name: replace(each, misses=float(sum(of[name].values())), by_region=of[name])
            for name, each in interval.items()
        }


def with_misses(intervals: Iterator[Interval], path: object) -> Generator[Interval, None, None]:
    """The same intervals, in which misses have to be. Raises InputError.

    path: of the file that could have them, or whose telemetry could.
    """
    for interval in intervals:
        for name, each in interval.items():
            if each.misses is None:
                allowed = "a telemetry in HOST.toml, or misses in --counters: the model is of them"
                raise InputError(path, name, "telemetry", MISSING, allowed)
        yield interval


def _since(before: int, now: int) -> int:
    """A counter of 64 bits does not come round; one that is less began anew."""
    return now - before if now >= before else now


def _by_region(values: dict[tuple[int, int], int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for (region, _), value in values.items():
        found[region] = found.get(region, 0) + value
    return found


def rounds(
    file: HostFile, judge: Judge | None, intervals: Iterator[Interval], done: bool
) -> Iterator[Round]:
    """What is to be exchanged after each interval.

    judge: none: who is an outlier was recorded. done: exchanges are taken for done, so that later
    rounds go on from there; else each begins with the pages of HOST.toml.
    """
    recorded: dict[str, bool] = {}

    def as_recorded(readings: Mapping[str, Reading]) -> dict[str, Judged]:
        return {name: Judged(recorded[name], r.misses) for name, r in readings.items()}

    # No page is free, so the share that a launch would want is of no account.
    host = Host(file.layout, 0.0, judge or as_recorded, file.step_ratio, file.ewma)
    for vm in file.machines:
        host.adopt(vm.name, vm.pages, vm.dedicated)
    before = processor_s()
    for number, interval in enumerate(intervals):
        recorded.update({name: bool(each.is_outlier) for name, each in interval.items()})
        readings = {
            name: Reading(each.metrics, each.requests, each.misses or 0.0)
            for name, each in interval.items()
        }
        moved = host.round(readings)
        now = processor_s()
        core = (now - before) / file.interval_s
        yield Round(number, host.judged, moved, core, _missing(file, interval, moved))
        before = now
        if not done:
            host.pages = _as_it_is(file)


def processor_s(pid: int | None = None, proc: Path = Path("/proc")) -> float:
    """Processor time of this process and those that it started: perf, anemonectl, the forest."""
    found: dict[int, tuple[int, int]] = {}  # by process: who started it; its ticks
    for path in proc.glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended meanwhile; who started it has its time
            # Behind the name, which may be anything in parentheses.
            fields = path.read_text().rpartition(")")[2].split()
            found[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    every = {pid or os.getpid()}
    while more := {p for p, (parent, _) in found.items() if parent in every} - every:
        every |= more
    return sum(found[p][1] for p in every) / os.sysconf("SC_CLK_TCK")


def _missing(file: HostFile, interval: Interval, moved: Sequence[Moved]) -> list[list[int]]:
    """Of each exchange so many of the borrower's regions as pages go there, each once."""
    left: dict[str, list[int]] = {}
    for vm in file.machines:
        by_region = interval[vm.name].by_region
        if len(by_region) == vm.pages:
            order = sorted(by_region, key=lambda r: (by_region[r], -r))  # the last misses most
            left[vm.name] = [r for r in order if by_region[r]]
    found = []
    for each in moved:
        some = left.get(each.borrower, [])
        found.append([some.pop() for _ in range(min(each.exchange.pages, len(some)))])
    return found


def _as_it_is(file: HostFile) -> PageAllocator:
    pages = PageAllocator(file.layout)
    for vm in file.machines:
        pages.launch(vm.name, vm.pages - vm.dedicated, vm.dedicated)
    return pages
