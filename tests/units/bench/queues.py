# SPDX-License-Identifier: Apache-2.0
"""A ProtectedQueue in lock-step with its model."""

from __future__ import annotations

from random import Random
from typing import Any

from cocotb.triggers import FallingEdge, RisingEdge

from tests.bench.secded import CLEAN, of_word
from tests.bench.upsets import words
from tests.units.bench.model import Queue
from tests.units.bench.pins import Item, Pins

PINS = {
    "enq_ready": 1, "enq_valid": 0, "deq_ready": 1, "deq_valid": 0, "bad": 0, "count": 0,
    "fault_corrected": 0, "fault_uncorrected": 0, "inject_valid": 0, "inject_bits": 0,
}  # fmt: skip


class QueueUnit:
    """Drives the queue `module` and checks every cycle.

    kind: from params.json: whether it has `flow`, how many `registers`, and its `fields`.
    """

    def __init__(self, dut: Any, module: str, kind: dict[str, Any], rng: Random) -> None:
        self.name, self.rng, self.kind = module, rng, kind
        self._rise, self._fall = RisingEdge(dut.clock), FallingEdge(dut.clock)
        self.rows = list(words(getattr(dut, f"unit_{module}").queue))
        self.code = of_word(len(self.rows[0]))
        self.pins = Pins(dut, module, PINS)
        self.enters = Item(dut, module, "enq_bits", kind["fields"])
        self.leaves = Item(dut, module, "deq_bits", kind["fields"])
        assert self.enters.width == self.code.width, module

    def restart(self) -> None:
        """It is being reset."""
        self.pins.set(enq_valid=0, deq_ready=0, inject_valid=0, inject_bits=0)
        self.model = Queue(len(self.rows), self.kind["registers"], self.kind["flow"])
        self.armed, self.checked = 0, 0
        self.mask = 0  # bits to flip of the item that was stored last

    async def cycle(self, offer: int | None = None, take: bool = True, inject: int = 0) -> bool:
        """A cycle with these inputs; whether the item was stored. inject: bits to flip, from the
        next cycle on.
        """
        pins, model = self.pins, self.model
        take |= "deq_ready" not in pins
        inject = inject if "inject_valid" in pins else 0
        if offer is not None:
            self.enters.set(offer)
        pins.set(enq_valid=int(offer is not None), deq_ready=int(take))
        pins.set(inject_valid=int(inject > 0), inject_bits=int(inject > 1))
        if self.mask:
            await self._fall  # no word is being written at this edge
            self._flip()
        await self._rise
        self._check()
        before = model.stored
        taken = offer if model.ready else None
        if offer is not None and "enq_ready" not in pins:
            assert model.ready, f"{self.name}: full"
        model.clock(taken, take, (1 << self.armed) - 1)
        stored = model.stored > before
        self.armed = inject or (0 if stored else self.armed)
        return stored

    def _check(self) -> None:
        """Compare what the cycle showed."""
        pins, model, item = self.pins, self.model, self.model.out
        assert pins.shows("enq_ready", int(model.ready)), self.name
        assert pins.shows("count", model.items), self.name
        assert pins.get("deq_valid") == int(item is not None), self.name
        fault = CLEAN
        if item is not None:
            verdict = self.code.verdict(item.flips) if item.flips else CLEAN
            assert self.leaves.get() == item.data ^ verdict.wrong, (self.name, item)
            assert pins.shows("bad", int(verdict.uncorrected)), self.name
            if model.fresh:
                fault = verdict
            self.checked += 1
        for what in ("corrected", "uncorrected"):
            assert pins.shows(f"fault_{what}", int(getattr(fault, what))), (self.name, item)

    def _flip(self) -> None:
        """Check how the item is stored that just was, and flip bits of it."""
        model = self.model
        item = model.memory[-1]
        row = self.rows[(model.stored - 1) % model.entries]
        stored = int(row.value)
        assert stored == self.code.encoded(item.data) ^ item.flips, (self.name, item)
        row.value = stored ^ self.mask
        item.flips ^= self.mask
        self.mask = 0

    def data(self) -> int:
        """A random item."""
        return self.rng.getrandbits(self.code.width)

    async def random(self, cycles: int) -> None:
        """Random traffic, with injected flips; ends with items in the queue."""
        rng, offers, takes = self.rng, 0.5, 0.5
        for k in range(cycles):
            if k % 40 == 0:
                offers, takes = rng.choice([(0.1, 0.9), (1.0, 1.0), (0.9, 0.2), (0.5, 0.5)])
            offer = self.data() if rng.random() < offers else None
            if not self.model.ready and "enq_ready" not in self.pins:
                offer = None
            inject = rng.choice((1, 2)) if rng.random() < 0.05 else 0
            await self.cycle(offer, rng.random() < takes, inject)
        await self.cycle(take=False, inject=1)  # a reset forgets it

    async def flips(self, masks: list[int]) -> None:
        """Store a word for each mask, flip these bits of it, and take it."""
        if self.model.flow and "deq_ready" not in self.pins:
            return  # each item skips the memory
        todo = masks[::-1]
        while todo:
            # Without a stall an item is in the memory for a cycle.
            while todo and self.model.ready:
                if await self.cycle(self.data(), take=False):
                    self.mask = todo.pop()
            while self.model.items:
                await self.cycle()
        await self.cycle()
        assert self.checked
