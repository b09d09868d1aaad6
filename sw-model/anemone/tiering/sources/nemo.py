# SPDX-License-Identifier: Apache-2.0
"""NEMO: counters of all accesses to the slow tier, by page and by frame (NEMO §3.3, §5.1, §5.2).

The pipelines are the golden model's, with bit-exactly the hardware's counts. With engine "rtl" they
are the Verilated expander's, with the same results but thousands of times slower. Copies of pages
are accesses to the device and are counted, too. A page's address in the slow tier never changes, so
it keeps its counter when it moves away and back. Software reads snapshots line by line and
subtracts the previous values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from anemone.control.pipelines import Pipelines, on_engine
from anemone.hardware.geometry import WORDS_PER_LINE, Geometry
from anemone.io.errors import InputError
from anemone.telemetry import Rule, identity_map
from anemone.telemetry.rules import WIDTHS
from anemone.tiering.config import FAST, SLOW
from anemone.tiering.interfaces import Heat, Source
from anemone.tiering.machine import Machine, Units
from anemone.tiering.parameters import constants, setting
from anemone.tiering.sources.pebs import Pebs
from anemone.tiering.state import WRITE

_NS = constants("processor")["ns_per_instruction"]
_NEMO = constants("nemo")
_HUGE_SHIFT, _BASE_SHIFT = 21, 12
_BASES = 1 << _HUGE_SHIFT - _BASE_SHIFT  # frames of 4 KiB in a region of 2 MiB


class _Pipeline:
    """A rule and the values that software has read. slots: the 2 MiB regions that it watches."""

    def __init__(self, rule: Rule, device: Pipelines) -> None:
        self.telemetry = device.add(rule)
        geometry = device.geometry
        self.channels = geometry.channels
        counters = geometry.counters(rule.width)
        self._shifts = np.arange(0, 64, rule.width, dtype=np.uint64)
        self._mask = np.uint64((1 << rule.width) - 1)
        self._per_line = WORDS_PER_LINE * len(self._shifts)
        self.read = np.zeros((counters, geometry.channels), np.uint64)
        self.before = np.zeros_like(self.read)
        self.slots = np.empty(0, np.int64)

    def lines(self, counters: int) -> Iterator[tuple[_Pipeline, int, int]]:
        """(self, channel, line) of the lines that contain the first `counters` counters."""
        for line in range(-(-counters // self._per_line)):
            for channel in range(self.channels):
                yield self, channel, line

    def read_line(self, channel: int, line: int) -> None:
        words = np.array(self.telemetry.read_line(channel, line, False), np.uint64)
        at = slice(line * self._per_line, (line + 1) * self._per_line)
        self.read[at, channel] = (words[:, None] >> self._shifts & self._mask).reshape(-1)

    def taken(self) -> np.ndarray:
        """Counts between the last two harvests, over all channels: uint64[counters]."""
        counted = (self.read - self.before) & self._mask
        self.before[:] = self.read
        return counted.sum(axis=1, dtype=np.uint64)

    def reprogram(self, regions: np.ndarray) -> None:
        """Watch other regions: clear the pipeline and write a table entry for each region."""
        self.telemetry.clear()
        self.read[:] = self.before[:] = 0
        self.slots = regions
        self.telemetry.set_translation(regions, np.arange(len(regions)) * _BASES)


@dataclass
class Nemo(Source):
    """With 2 MiB pages, one pipeline counts all pages, with narrower counters than `width` if the
    device has more pages than such counters. If pages may split, the other pipelines watch the
    4 KiB frames of as many pages as their counters hold, others each interval. With 4 KiB pages,
    all pipelines watch frames in this way.

    pipelines, width (bits per counter), states (64-bit words per channel): the hardware's sizes.
    engine: "model" or "rtl". fast: the telemetry of the fast tier, which a device in the slow tier
    cannot see: "pebs", "nemo" (a second device) or "none". period, sample_ns, buffer: parameters of
    PEBS.
    """

    pipelines: int = setting(8, 1, 32)
    width: int = setting(64, choices=(8, 16, 32, 64))
    states: int = setting(8192, choices=tuple(1 << n for n in range(9, 21)), divide=True)
    fast: str = setting("pebs", choices=("pebs", "nemo", "none"))
    period: int = setting(Pebs.period, 1)
    sample_ns: float = setting(Pebs.sample_ns)
    buffer: int = setting(Pebs.buffer, 1, 1 << 28, divide=True)
    engine: str = setting("model", choices=("model", "rtl"))
    needs: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.needs = Pebs.needs if self.fast == "pebs" else ()
        self._pebs = Pebs(self.period, self.sample_ns, self.buffer)

    def start(self, machine: Machine) -> None:
        device = machine.geometry.device_gib
        pages = machine.geometry.device_bytes >> _HUGE_SHIFT
        geometry = Geometry(2, self.pipelines, self.states, _table(pages), device)
        memory = {"end": geometry.device_bytes, "primary_shift": _HUGE_SHIFT}
        self._huge_pages = machine.config.page_bytes == 1 << _HUGE_SHIFT
        by_frame = Rule(
            name="frames", sub_mask=0x1F_F000, sub_shift=_BASE_SHIFT, width=self.width, **memory
        )
        self._device = on_engine(self.engine, geometry)
        self._all: list[_Pipeline] = []
        self._page_line_ns = self._frame_line_ns = _line_ns(self.width)
        if self._huge_pages:
            width = _page_width(geometry, self.width)
            by_page = Rule(name="pages", map=identity_map(geometry, width), width=width, **memory)
            self._all = [_Pipeline(by_page, self._device)]
            self._page_line_ns = _line_ns(width)
        watchers = self.pipelines - len(self._all)
        if self._huge_pages and machine.span == 1:
            watchers = 0
        self._watchers = [_Pipeline(by_frame, self._device) for _ in range(watchers)]
        self._slots = geometry.counters(self.width) // _BASES
        self._frames = np.zeros(machine.geometry.device_bytes >> _BASE_SHIFT if watchers else 0)
        self._maps, self._reads, self._lines = 0, 0, []
        self._regions = np.empty(0, np.int64)
        self._turn, self._watched_in = 0, np.zeros(pages, np.int64)
        both = self.fast == "nemo"
        machine.log((FAST, SLOW) if both else (SLOW,))
        if self.fast == "pebs":
            self._pebs.start(machine, (FAST,))

    def events(self, addr: np.ndarray, flags: np.ndarray) -> None:
        idle = [p.telemetry for p in self._watchers if not len(p.slots)]
        self._device.events(addr, (flags & WRITE).astype(np.bool_), idle)

    def lines(self, machine: Machine) -> int:
        units = machine.units()
        slow = units.frame[units.tier == SLOW] if self.fast != "nemo" else units.frame
        last = int(units.frame[-1]) << machine.frame_shift >> _HUGE_SHIFT if len(units) else 0
        self._lines = [one for p in self._all for one in p.lines(last + 1)]
        of_pages = len(self._lines)
        for p in self._watchers:
            self._lines += p.lines(len(p.slots) * _BASES)
        # Candidates to watch next: all regions of the slow tier, hot or not.
        self._regions = np.unique(slow << machine.frame_shift >> _HUGE_SHIFT)
        self._reads += len(self._lines)
        # The mean of these lines.
        more = (self._page_line_ns - self._frame_line_ns) * of_pages / max(1, len(self._lines))
        self.line_ns = self._frame_line_ns + more
        return len(self._lines)

    def read_line(self, number: int) -> None:
        pipeline, channel, line = self._lines[number]
        pipeline.read_line(channel, line)

    def heat(self, machine: Machine, units: Units) -> Heat:
        seen = np.zeros(len(units))
        writes = np.zeros(len(units))
        # The number of polls does not scale with the machine, so their cost must not either.
        cpu = _NEMO["poll_instructions"] * _NS / machine.config.scale
        cpu += self._maps * _NEMO["map_instructions"] * _NS
        self._maps = 0
        if self.fast == "pebs":
            of_fast = self._pebs.heat(machine, units)
            cpu += of_fast.cpu_ns
            seen, writes = of_fast.units, of_fast.writes
        watched = self._take_frames()
        counted = units.tier == SLOW if self.fast != "nemo" else np.ones(len(units), np.bool_)
        if self._huge_pages:
            counts = np.zeros(machine.geometry.device_bytes >> _HUGE_SHIFT)
            taken = self._all[0].taken()[: len(counts)]
            counts[: len(taken)] = taken
            page = units.frame // machine.span
            whole = counted & ~units.split
            seen[whole] = counts[page[whole]]
            split = counted & units.split
        else:
            split = counted
        seen[split] = self._frames[units.frame[split]] if len(self._frames) else 0
        base = {}
        if machine.span > 1:
            whole_page = units.frame[counted & ~units.split]
            page = np.intersect1d(watched * machine.span, whole_page)
            base = {"base_page": page, "base": self._frames.reshape(-1, _BASES)[page // _BASES]}
        return Heat(seen, writes, exact=True, cpu_ns=cpu, **base)

    def _take_frames(self) -> np.ndarray:
        """Store the counts of the watched regions. Returns the regions."""
        for pipeline in self._watchers:
            counts = pipeline.taken()[: len(pipeline.slots) * _BASES].reshape(-1, _BASES)
            self._frames.reshape(-1, _BASES)[pipeline.slots] = counts
        slots = [pipeline.slots for pipeline in self._watchers]
        return np.concatenate([np.empty(0, np.int64), *slots])

    def watch(self, frames: np.ndarray | None) -> None:
        """Watch other regions: those of the policy and then all others, each in turn: the ones
        watched longest ago first (NEMO §5.2).
        """
        capacity = self._slots * len(self._watchers)
        if not capacity:
            return
        asked = np.unique(frames // _BASES) if frames is not None else self._regions
        regions = np.union1d(asked, self._regions)
        order = np.lexsort((self._watched_in[regions], ~np.isin(regions, asked)))
        chosen = regions[order[:capacity]]
        self._turn += 1
        self._watched_in[chosen] = self._turn
        here = np.concatenate([p.slots for p in self._watchers])
        if np.array_equal(np.sort(here), np.sort(chosen)):
            return
        self._maps += len(chosen)
        for i, pipeline in enumerate(self._watchers):
            pipeline.reprogram(chosen[i * self._slots : (i + 1) * self._slots])

    def close(self) -> None:
        self._device.close()

    def counts(self, machine: Machine) -> dict[str, float]:
        own_counts = {"lines": self._reads}
        return own_counts | self._pebs.counts(machine) if self.fast == "pebs" else own_counts


def _line_ns(width: int) -> float:
    """Processing time of a line: eight words of counters, of one channel of two."""
    return _NEMO["counter_instructions"] * _NS * (512 // width) / 2


def _page_width(geometry: Geometry, width: int) -> int:
    """The widest counters, at most `width`, of which a pipeline has one for each 2 MiB page."""
    pages = geometry.device_bytes >> _HUGE_SHIFT
    for narrower in sorted((w for w in WIDTHS if w <= width), reverse=True):
        if geometry.counters(narrower) >= pages:
            return narrower
    allowed = f"at most {geometry.counters(min(WIDTHS)) >> 9}, a counter for each 2 MiB page"
    raise InputError("the machine", "device", "device_gib", geometry.device_gib, allowed)


def _table(pages: int) -> int:
    """Entries of the translation table: one per page of the device, at least the prototype's."""
    return max(8192, 1 << (pages - 1).bit_length())
