# SPDX-License-Identifier: Apache-2.0
"""An IdCounter in lock-step with plain Python."""

from __future__ import annotations

from collections import deque
from random import Random
from typing import Any

from cocotb.triggers import FallingEdge, RisingEdge

from tests.bench.secded import Verdict, of_word
from tests.bench.upsets import words
from tests.units.bench.pins import Pins

LATENCY = 3  # cycles from an id to its count
WINDOW = LATENCY + 1  # counts of ids this recent are not in the memory yet
PINS = (
    *("ready", "seen_valid", "seen_bits", "counts", "before", "ask_valid", "ask_bits", "count"),
    *("fault_corrected", "fault_uncorrected", "inject_valid", "inject_bits"),
)


class IdCounterUnit:
    """Drives the counter `module` and checks every cycle.

    It has a memory for the counts before each id seen, and one for the counts of ids asked for;
    both hold the same counts.
    """

    def __init__(self, dut: Any, module: str, kind: dict[str, Any], rng: Random) -> None:
        self.name, self.rng = module, rng
        self._rise, self._fall = RisingEdge(dut.clock), FallingEdge(dut.clock)
        unit = getattr(dut, f"unit_{module}")
        self.pins = Pins(dut, module, dict.fromkeys(PINS, 0) | {"counts": 1})
        self.rows = {"seen": list(words(unit.ram.ram))}
        if "ask_valid" in self.pins:
            self.rows["ask"] = list(words(unit.askedFaults_ram.ram))
        self.code = of_word(len(self.rows["seen"][0]))
        self.ids = len(self.rows["seen"])

    def restart(self) -> None:
        """It is being reset, which clears the counts."""
        self.pins.set(seen_valid=0, ask_valid=0, counts=0, inject_valid=0)
        self.counts = [0] * self.ids
        self.flips = {memory: [0] * self.ids for memory in self.rows}
        self.recent: deque[int | None] = deque([None] * WINDOW, WINDOW)  # ids seen, oldest first
        self.found: deque[tuple[int | None, int | None, list[Verdict]]] = deque()
        self.found.extend([(None, None, [])] * LATENCY)
        self.armed = self.mask = 0

    async def cycle(
        self, seen: int | None = None, ask: int | None = None, counts: bool = True, inject: int = 0
    ) -> None:
        """A cycle with these inputs. mask: bits that flip in all words, amid the cycle."""
        pins = self.pins
        counts |= "counts" not in pins
        for name, value in (("seen", seen), ("ask", ask)):
            pins.set(**{f"{name}_valid": int(value is not None), f"{name}_bits": value or 0})
        pins.set(counts=int(counts), inject_valid=int(inject > 0), inject_bits=int(inject > 1))
        if self.mask:
            await self._fall  # no word is being written at this edge
            for memory, rows in self.rows.items():
                for id, row in enumerate(rows):
                    row.value = int(row.value) ^ self.mask
                    self.flips[memory][id] ^= self.mask
            self.mask = 0
        await self._rise
        before, faults = self._look("seen", seen)
        asked, more = self._look("ask", ask)
        self.found.append((before, asked, faults + more))
        before, asked, faults = self.found.popleft()
        assert before is None or pins.shows("before", before), self.name
        assert asked is None or pins.get("count") == asked, self.name
        for what in ("corrected", "uncorrected"):
            told = int(any(getattr(verdict, what) for verdict in faults))
            assert pins.get(f"fault_{what}") == told, (self.name, faults)
        self._write(self.recent.popleft())
        self.recent.append(seen)
        if seen is not None and counts:
            self.counts[seen] = (self.counts[seen] + 1) % (1 << self.code.width)
        self.armed = inject or self.armed

    def _look(self, memory: str, id: int | None) -> tuple[int | None, list[Verdict]]:
        """The count of an id, and what the memory's code finds: only if no count of it is on its
        way, which would be read stale.
        """
        if id is None or memory not in self.rows:
            return None, []
        if id in self.recent or not self.flips[memory][id]:
            return self.counts[id], []
        verdict = self.code.verdict(self.flips[memory][id])
        assert verdict.corrected
        return self.counts[id], [verdict]

    def _write(self, id: int | None) -> None:
        """The count of an id seen WINDOW cycles ago is written, with the flips that are armed."""
        if id is not None:
            for flips in self.flips.values():
                flips[id] = (1 << self.armed) - 1
            self.armed = 0

    async def _ready(self) -> None:
        while not self.pins.get("ready"):
            await self._rise

    async def random(self, cycles: int) -> None:
        """Random ids, few of them, with injected flips of one bit."""
        await self._ready()
        rng = self.rng
        for k in range(cycles):
            busy, ids = ((0.1, 4), (0.9, 2), (1.0, 16), (0.5, 5))[k // 40 % 4]
            seen, ask = (
                rng.randrange(min(ids, self.ids)) if rng.random() < busy else None for _ in range(2)
            )
            await self.cycle(seen, ask, rng.random() < 0.7, rng.random() < 0.05)

    async def flips_of_each_bit(self) -> None:
        """Flip each bit of all words, and look each id up twice, soon: it is reported once."""
        await self._ready()
        for bit in range(self.code.bits):
            self.mask = 1 << bit
            await self.cycle()
            for id in range(self.ids):
                await self.cycle(id, ask=id)
                for _ in range(id % (WINDOW + 1)):
                    await self.cycle()
                await self.cycle(id, ask=id)
            for _ in range(WINDOW + LATENCY):
                await self.cycle()
