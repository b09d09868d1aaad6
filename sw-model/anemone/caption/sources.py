# SPDX-License-Identifier: Apache-2.0
"""M1: samples of a file, of perf on the whole machine, and of NEMO's counters on an expander."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from anemone.caption import samples
from anemone.caption.algorithm import Sample
from anemone.caption.model import TABLE_4
from anemone.io.errors import MISSING, Bare, InputError

_LINE = 64  # bytes that one request moves
_WRAP = 1 << 64


class SourceError(RuntimeError):
    """What is sampled stopped answering."""


# Table 4 by perf's events, for the parts that take CXL memory: Sapphire and Emerald Rapids. Numbers
# are those of Intel's event files; a line that is missed is a TOR entry until it is served.
EVENTS = {
    "cycles": "cycles",
    "instructions": "instructions",
    "ref_tsc": "cpu/event=0x00,umask=0x03,name=ref_tsc/",
    "tsc": "msr/tsc,name=tsc/",
    "l1_pending": "cpu/event=0x48,umask=0x01,name=l1_pending/",
    "l1_replaced": "cpu/event=0x51,umask=0x01,name=l1_replaced/",
    "ddr_pending": "uncore_cha/event=0x36,umask=0xc8178601,name=ddr_pending/",
    "ddr_reads": "uncore_cha/event=0x35,umask=0xc8178601,name=ddr_reads/",
    "cha_clock": "uncore_cha/event=0x01,umask=0x00,name=cha_clock/",
}

# What each counter is made of. Only these are asked for: other processors have no CHAs.
NEEDS = {
    "l1_miss_latency_ns": ("tsc", "cycles", "ref_tsc", "l1_pending", "l1_replaced"),
    "ddr_read_latency_ns": ("ddr_pending", "ddr_reads", "cha_clock"),
    "ipc": ("instructions", "cycles"),
}
_REASON = "\\___"  # perf points so at what is wrong, before its usage


@dataclass(frozen=True)
class Counted:
    """An event of one interval, all processors and units together. ns: for which it was counted."""

    value: float
    ns: float


def events_of(counters: Sequence[str]) -> tuple[str, ...]:
    """Names of the events that these counters need."""
    return tuple(e for e in EVENTS if any(e in NEEDS[c] for c in counters))


def table_4(counted: Mapping[str, Counted], counters: Sequence[str] = TABLE_4) -> dict[str, float]:
    """L1 miss latency, DDR read latency (ns) and IPC of one interval, those that are asked for.

    Latencies are by Little's law: occupancy over arrivals, in cycles, over the clock. Without
    arrivals there is nothing that waits: 0.
    """
    return {name: _COUNTERS[name](counted) for name in counters}


def _l1_miss_latency(seen: Mapping[str, Counted]) -> float:
    # The clock while it was not halted.
    ghz = _ghz(seen["tsc"]) * _ratio(seen["cycles"].value, seen["ref_tsc"].value)
    return _ratio(_ratio(seen["l1_pending"].value, seen["l1_replaced"].value), ghz)


def _ddr_read_latency(seen: Mapping[str, Counted]) -> float:
    waited = _ratio(seen["ddr_pending"].value, seen["ddr_reads"].value)
    return _ratio(waited, _ghz(seen["cha_clock"]))


def _ipc(seen: Mapping[str, Counted]) -> float:
    return _ratio(seen["instructions"].value, seen["cycles"].value)


_COUNTERS = dict(zip(TABLE_4, (_l1_miss_latency, _ddr_read_latency, _ipc), strict=True))


def _ghz(clock: Counted) -> float:
    return _ratio(clock.value, clock.ns)


def _ratio(a: float, b: float) -> float:
    return a / b if b else 0.0


def perf_rows(
    lines: Iterator[str], events: Sequence[str] = tuple(EVENTS)
) -> Iterator[dict[str, Counted]]:
    """Intervals of what `perf stat -I -x,` prints. Raises InputError, naming line and event."""
    at, found = "", {}
    for number, line in enumerate(lines, 1):
        fields = line.strip().split(",")
        if len(fields) < 6 or line.startswith("#"):
            continue
        if fields[0] != at and found:
            yield _whole(found, events, number)
            found = {}
        at = fields[0]
        name = _name(fields[3])
        if name not in events:
            continue
        try:
            counted = Counted(float(fields[1]), float(fields[4]))
        except ValueError as e:
            value = Bare(fields[1].strip("<>"))
            allowed = "a count: a machine, not a virtual one, with this event; and root"
            raise InputError("perf stat", f"line {number}", name, value, allowed) from e
        before = found.get(name, Counted(0.0, 0.0))  # units of a socket may be told one by one
        found[name] = Counted(before.value + counted.value, before.ns + counted.ns)
    if found:
        yield _whole(found, events, number)


def _whole(found: dict[str, Counted], events: Sequence[str], line: int) -> dict[str, Counted]:
    for name in events:
        if name not in found:
            raise InputError("perf stat", f"line {line}", name, MISSING, "a row of each event")
    return found


def _name(told: str) -> str:
    inner = re.search(r"name=(\w+)", told)
    return inner[1] if inner else told.split(":")[0]


def perf(interval: float, counters: Sequence[str] = TABLE_4) -> Iterator[dict[str, float]]:
    """These of Table 4 each `interval` seconds, of the whole machine, until it is closed."""
    if shutil.which("perf") is None:
        allowed = "perf (apt-get install linux-perf), or --samples"
        raise InputError("caption", "commands", "perf", MISSING, allowed)
    words = ["perf", "stat", "-a", "-x,", "-I", str(round(interval * 1000))]
    events = events_of(counters)
    for name in events:
        words += ["-e", EVENTS[name]]
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, bufsize=1
    )
    said: list[str] = []
    try:
        for counted in perf_rows(_noted(process.stderr, said), events):
            yield table_4(counted, counters)
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        process.wait()
    last = said[-1].split(_REASON)[-1].strip() if said else "nothing"
    raise SourceError(f"perf stat ended with status {process.returncode}: {last}")


def _noted(lines: Iterator[str], last: list[str]) -> Iterator[str]:
    """The same lines; the last of them, or the one that has a reason, is in `last`."""
    for line in lines:
        if not (last and _REASON in last[0]):
            last[:] = [line]
        yield line


class Nemo:
    """GB/s through an expander, by a telemetry that adds up requests (`anemonectl add`)."""

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.name, self._clock = name, clock
        self._values: dict[tuple[int, int], int] = {}
        self._at = 0.0
        self.sample()  # later ones differ from this one

    def sample(self) -> float:
        """Since the last call. The plain window is read: who else reads it is not disturbed."""
        words = ["anemonectl", "read", self.name, "--snapshot", "--all", "--json"]
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=30)
        except FileNotFoundError as e:
            allowed = "anemonectl (docs/anemonectl.md)"
            raise InputError("caption", "commands", "anemonectl", MISSING, allowed) from e
        except subprocess.TimeoutExpired as e:
            raise SourceError(f"anemonectl read {self.name}: no answer in 30 s") from e
        if done.returncode:
            raise SourceError(f"anemonectl read {self.name}: {done.stderr.strip()}")
        now = self._clock()
        try:
            rows = json.loads(done.stdout)["counters"]
            values = {(r["region"], r["offset"]): int(r["value"]) for r in rows}
        except (ValueError, KeyError, TypeError) as e:
            raise SourceError(f"anemonectl read {self.name}: not what it prints: {e}") from e
        # Differences modulo 2^64 are exact for sums, and there is nothing to lose between two.
        requests = sum((v - self._values.get(at, 0)) % _WRAP for at, v in values.items())
        seconds, self._values, self._at = now - self._at, values, now
        return requests * _LINE / seconds / 1e9 if seconds > 0 else 0.0


class Allocations:
    """New pages on the CXL node (numastat's numa_hit): it has no processors, so what is allocated
    there was sent by a policy. At any ratio at least one page in 256 is.

    interleave_hit would be of both nodes, but Linux 6.12 does not count weighted interleave in it.
    """

    def __init__(self, cxl: int, root: Path) -> None:
        self._file = root / f"sys/devices/system/node/node{cxl}/numastat"
        self._before = self._total()

    def sample(self) -> float:
        """Pages since the last call."""
        before, self._before = self._before, self._total()
        return float(max(self._before - before, 0))

    def _total(self) -> int:
        text = self._file.read_text() if self._file.is_file() else ""
        found = re.search(r"^numa_hit (\d+)$", text, re.MULTILINE)
        if not found:
            allowed = "counts of pages of a node of this machine (vm.numa_stat = 1)"
            raise InputError(self._file, "numastat", "numa_hit", MISSING, allowed)
        return int(found[1])


def live(
    counters: Sequence[str], interval: float, nemo: str | None, cxl: int, root: Path
) -> Iterator[Sample]:
    """Samples of this machine, one each `interval` seconds."""
    if "cxl_gb_per_s" in counters and nemo is None:
        allowed = "the name of a telemetry: the model has cxl_gb_per_s"
        raise InputError("command line", "run", "--nemo", MISSING, allowed)
    allocations = Allocations(cxl, root)
    meter = Nemo(nemo) if nemo is not None and "cxl_gb_per_s" in counters else None
    cores = [name for name in counters if name in TABLE_4]
    for seen in perf(interval, cores) if cores else _ticks(interval):
        if meter is not None:
            seen["cxl_gb_per_s"] = meter.sample()
        yield Sample(tuple(seen[name] for name in counters), allocations.sample())


def _ticks(interval: float) -> Iterator[dict[str, float]]:
    due = time.monotonic()
    while True:
        due += interval
        time.sleep(max(0.0, due - time.monotonic()))
        yield {}


def of_file(path: str, counters: Sequence[str]) -> Iterator[Sample]:
    """Samples of a file or pipe as its lines come; `-` is standard input."""
    if path == "-":
        yield from samples.stream(sys.stdin, counters, "standard input")
        return
    try:
        with Path(path).open(encoding="utf-8") as lines:
            yield from samples.stream(lines, counters, path)
    except (OSError, UnicodeDecodeError) as e:
        why = Bare(getattr(e, "strerror", None) or "not UTF-8 text")
        raise InputError(path, "file", "content", why, "a CSV file that can be read") from e
