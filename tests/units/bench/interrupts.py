# SPDX-License-Identifier: Apache-2.0
"""An InterruptUnit in lock-step with plain Python."""

from __future__ import annotations

from random import Random
from typing import Any

from cocotb.triggers import RisingEdge

from tests.units.bench.pins import Pins

INPUTS = ("pending", "enable", "acknowledge")


class InterruptsUnit:
    """Drives the interrupt unit `module` and checks every cycle."""

    def __init__(self, dut: Any, module: str, kind: dict[str, Any], rng: Random) -> None:
        self.name, self.rng = module, rng
        self._rise = RisingEdge(dut.clock)
        self.vectors = sum(name.startswith(f"{module}_io_pending_") for name in dir(dut))
        inputs = [f"{name}_{v}" for name in INPUTS for v in range(self.vectors)]
        outputs = ("message_valid", "message_bits", "busy")
        self.pins = Pins(dut, module, dict.fromkeys((*inputs, "message_ready", *outputs), 0))
        self.last = 0  # the vector served last; it has no reset value

    def restart(self) -> None:
        """It is being reset."""
        self._set({}, False)
        self.sent = [False] * self.vectors
        self.held: int | None = None  # the message that is offered

    def _set(self, on: dict[str, set[int]], ready: bool) -> None:
        vectors = range(self.vectors)
        values = {f"{name}_{v}": int(v in on.get(name, ())) for name in INPUTS for v in vectors}
        self.pins.set(**values, message_ready=int(ready))

    async def cycle(self, ready: bool = True, **on: set[int]) -> None:
        """A cycle with these vectors pending, enabled, acknowledged, and the receiver ready."""
        self._set(on, ready)
        await self._rise
        pending, enabled, acknowledged = (on.get(name, set()) for name in INPUTS)
        wants = [v for v in sorted(pending & enabled - acknowledged) if not self.sent[v]]
        assert self.pins.get("message_valid") == int(self.held is not None), self.name
        if self.held is not None:
            assert self.pins.get("message_bits") == self.held, (self.name, self.held)
        busy = bool(wants) or self.held is not None or bool(acknowledged)
        assert self.pins.shows("busy", int(busy)), (self.name, wants)
        if self.held is None or ready:
            self.held = None
            if wants:
                self.held = self.last = next((v for v in wants if v > self.last), wants[0])
                self.sent[self.held] = True
        for v in acknowledged:
            self.sent[v] = False

    async def random(self, cycles: int) -> None:
        """Causes, masks and acknowledges at any time, and a receiver that is often not ready."""
        await self.cycle(pending={0}, enable={0})  # from now on it is known which was last

        def some(chance: float) -> set[int]:
            return {v for v in range(self.vectors) if self.rng.random() < chance}

        for k in range(cycles):
            busy, takes = ((0.1, 0.9), (0.6, 0.9), (0.9, 0.3))[k // 30 % 3]
            await self.cycle(
                self.rng.random() < takes,
                pending=some(busy), enable=some(0.9), acknowledge=some(0.3),
            )  # fmt: skip
        await self.cycle()  # nothing is served until the other units are done
