# SPDX-License-Identifier: Apache-2.0
"""A FaultLog in lock-step with plain Python."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from random import Random
from typing import Any

from cocotb.triggers import RisingEdge

from tests.units.bench.pins import Pins

FLAGGED, COUNTED, RECORDED = 1, 4, 5  # cycles from a report until it shows
FIRST = ("memory", "channel", "uncorrected", "idValid", "id", "setValid")


@dataclass(frozen=True)
class Report:
    """What a source reports in one cycle. id, line: None if it never knows one."""

    source: int
    uncorrected: bool
    id: int | None
    line: int | None


class FaultLogUnit:
    """Drives the fault log `module` and checks every cycle."""

    def __init__(self, dut: Any, module: str, kind: dict[str, Any], rng: Random) -> None:
        self.name, self.rng = module, rng
        self._rise = RisingEdge(dut.clock)
        reports = [n.partition("_io_")[2] for n in dir(dut) if n.startswith(f"{module}_io_reports")]
        outputs = ("corrected", "uncorrected", "anyCorrected", "anyUncorrected", "first_valid")
        outputs += (*(f"first_{name}" for name in FIRST), "set_line")
        self.pins = Pins(dut, module, dict.fromkeys((*reports, *outputs, "rearm"), 0))
        self.sources = 1 + max(int(re.findall(r"\d+", name)[0]) for name in reports)
        # (memory, channel) of each source, found by reports of one alone.
        self.places: dict[int, tuple[int, int]] = {}

    def restart(self) -> None:
        """It is being reset."""
        self.pins.set(rearm=0)
        self._report([])
        self.recent: deque[list[Report]] = deque([[]] * RECORDED, RECORDED)
        self.rearmed = False  # in the last cycle
        self.counts = {"corrected": 0, "uncorrected": 0}
        self.first: Report | None = None

    def _report(self, reports: list[Report]) -> None:
        values = {name: 0 for name in self.pins if name.startswith("reports")}
        for one in reports:
            start = f"reports_{one.source}_"
            values[f"{start}fault_{'un' * one.uncorrected}corrected"] = 1
            values |= {f"{start}id_bits": one.id or 0, f"{start}line_bits": one.line or 0}
        self.pins.set(**values)

    def draw(self, source: int) -> Report | None:
        """A report of a source; None if that never reports what was drawn."""
        uncorrected, start = self.rng.random() < 0.4, f"reports_{source}_"
        if f"{start}fault_{'un' * uncorrected}corrected" not in self.pins:
            return None
        known = [
            self.rng.getrandbits(self.pins.width(pin)) if pin in self.pins else None
            for pin in (f"{start}id_bits", f"{start}line_bits")
        ]
        return Report(source, uncorrected, *known)

    async def cycle(self, reports: list[Report], rearm: bool = False) -> None:
        """A cycle with these reports, at most one of each source."""
        pins, recent = self.pins, self.recent
        self._report(reports)
        pins.set(rearm=int(rearm))
        await self._rise
        if self.rearmed:
            self.first = None
        self._record(recent[-RECORDED])
        self.rearmed = rearm
        for what, beyond in (("corrected", False), ("uncorrected", True)):
            flagged = any(one.uncorrected == beyond for one in recent[-FLAGGED])
            assert pins.get(f"any{what.capitalize()}") == int(flagged), self.name
            self.counts[what] += sum(one.uncorrected == beyond for one in recent[-COUNTED])
            assert pins.get(what) == self.counts[what], (self.name, what)
        self._check_first()
        recent.append(reports)

    def _record(self, reports: list[Report]) -> None:
        """Of several faults one is recorded, uncorrected ones first, of the lowest source."""
        found = min(reports, key=lambda one: (not one.uncorrected, one.source), default=None)
        if found and (not self.first or (found.uncorrected and not self.first.uncorrected)):
            self.first = found

    def _check_first(self) -> None:
        pins, first = self.pins, self.first
        assert pins.get("first_valid") == int(first is not None), (self.name, first)
        if not first:
            return
        shown = {name: pins.get(f"first_{name}") for name in FIRST}
        place = shown.pop("memory"), shown.pop("channel")
        assert self.places.setdefault(first.source, place) == place, (self.name, first)
        expected = {
            "uncorrected": int(first.uncorrected),
            "idValid": int(first.id is not None),
            "id": first.id or 0,
            "setValid": int(first.line is not None),
        }
        assert shown == expected, (self.name, first)
        assert first.line is None or pins.get("set_line") == first.line, (self.name, first)

    async def random(self, cycles: int) -> None:
        """Each source alone, then reports of several in many cycles."""
        for source in range(self.sources):
            for _ in range(4):
                one = self.draw(source)
                for k in range(RECORDED + 1):
                    await self.cycle([one] if one and not k else [], rearm=k == RECORDED)
        assert len(set(self.places.values())) == self.sources, "two sources look the same"
        for k in range(cycles):
            busy = (0.002, 0.05, 0.5)[k // 40 % 3]
            drawn = [self.draw(s) for s in range(self.sources) if self.rng.random() < busy]
            await self.cycle([one for one in drawn if one], self.rng.random() < 0.2)
