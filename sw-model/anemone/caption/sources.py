# SPDX-License-Identifier: Apache-2.0
"""M1: samples from a file, from perf on the whole machine, and from NEMO's counters."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from anemone.caption import samples
from anemone.caption.algorithm import Sample
from anemone.caption.model import TABLE_4
from anemone.io import counters as machine
from anemone.io.counters import Counted, telemetry
from anemone.io.errors import MISSING, Bare, InputError

_LINE = 64  # bytes per request
_WRAP = 1 << 64

# perf's events for Table 4 on processors with CXL: Sapphire and Emerald Rapids. Encodings are from
# Intel's event files. A missed line occupies a TOR entry until it is served.
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

# The events of each counter. Only these are requested, because other processors have no CHAs.
NEEDS = {
    "l1_miss_latency_ns": ("tsc", "cycles", "ref_tsc", "l1_pending", "l1_replaced"),
    "ddr_read_latency_ns": ("ddr_pending", "ddr_reads", "cha_clock"),
    "ipc": ("instructions", "cycles"),
}


def events_of(counters: Sequence[str]) -> tuple[str, ...]:
    """Names of the events that these counters need."""
    return tuple(e for e in EVENTS if any(e in NEEDS[c] for c in counters))


def table_4(counted: Mapping[str, Counted], counters: Sequence[str] = TABLE_4) -> dict[str, float]:
    """The requested ones of L1 miss latency, DDR read latency (ns) and IPC, for one interval.

    Latencies follow from Little's law: occupancy over arrivals, in cycles, over the clock. They are
    0 without arrivals.
    """
    return {name: _COUNTERS[name](counted) for name in counters}


def _l1_miss_latency(seen: Mapping[str, Counted]) -> float:
    # The mean clock while the cores were not halted.
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


def perf(interval: float, counters: Sequence[str] = TABLE_4) -> Iterator[dict[str, float]]:
    """Yield these counters for the whole machine every `interval` seconds, until it is closed."""
    events = events_of(counters)
    asked = [word for name in events for word in ("-e", EVENTS[name])]
    for counted in machine.perf("caption", interval, asked, events, "--samples"):
        yield table_4(counted[()], counters)


class Nemo:
    """GB/s through an expander, from a telemetry that counts requests (`anemonectl add`)."""

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.name, self._clock = name, clock
        self._values: dict[tuple[int, int], int] = {}
        self._at = 0.0
        self.sample()  # later samples are differences to this one

    def sample(self) -> float:
        """GB/s since the last call. It reads the snapshot window, which does not disturb other
        readers.
        """
        values = telemetry("caption", self.name)
        now = self._clock()
        # Counters only add, so differences modulo 2^64 are exact.
        requests = sum((v - self._values.get(at, 0)) % _WRAP for at, v in values.items())
        seconds, self._values, self._at = now - self._at, values, now
        return requests * _LINE / seconds / 1e9 if seconds > 0 else 0.0


class Allocations:
    """New pages on the CXL node (numastat's numa_hit).

    The node has no processors, so pages are allocated there only by a policy, at any ratio at least
    one in 256. interleave_hit would cover both nodes, but Linux 6.12 does not count weighted
    interleave in it.
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
    """Samples of this machine, one every `interval` seconds."""
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
    """Samples from a file or pipe as lines arrive; `-` is standard input."""
    if path == "-":
        yield from samples.stream(sys.stdin, counters, "standard input")
        return
    try:
        with Path(path).open(encoding="utf-8") as lines:
            yield from samples.stream(lines, counters, path)
    except (OSError, UnicodeDecodeError) as e:
        why = Bare(getattr(e, "strerror", None) or "not UTF-8 text")
        raise InputError(path, "file", "content", why, "a CSV file that can be read") from e
