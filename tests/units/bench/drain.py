# SPDX-License-Identifier: Apache-2.0
"""A StaleResponseDrain in lock-step with plain Python."""

from __future__ import annotations

from random import Random
from typing import Any

from cocotb.triggers import RisingEdge

from tests.units.bench.pins import Pins

PINS = ("read", "readBeat", "last", "write", "writeAnswered", "draining")
MOST = 12  # requests in flight of a kind


class DrainUnit:
    """Drives the drain `module` and checks every cycle. kind: from params.json: `late`, the cycles
    without a response after which none is waited for.
    """

    def __init__(self, dut: Any, module: str, kind: dict[str, Any], rng: Random) -> None:
        self.name, self.rng, self.late = module, rng, kind["late"]
        self._rise = RisingEdge(dut.clock)
        self.pins = Pins(dut, module, dict.fromkeys(PINS, 0))
        # What memory owes stays over resets; at power-up it is unknown.
        self.reads = self.writes = 0
        self.known = False

    def restart(self) -> None:
        """It is being reset."""
        self.pins.set(**dict.fromkeys(PINS[:-1], 0))
        self.draining, self.left = True, self.late - 1

    async def cycle(self, **inputs: bool) -> None:
        """A cycle with these inputs."""
        self.pins.set(**{name: int(inputs.get(name, False)) for name in PINS[:-1]})
        await self._rise
        told = bool(self.pins.get("draining"))
        if self.known:
            assert told == self.draining, (self.name, self.reads, self.writes, self.left)
        self.known |= not told
        read, beat = inputs.get("read", False), inputs.get("readBeat", False)
        write, answered = inputs.get("write", False), inputs.get("writeAnswered", False)
        ends = self.draining and self.left == 0
        self.draining = self.draining and not (
            ends or (self.known and self.reads == self.writes == 0)
        )
        # A response that nobody waits for is not counted.
        completed = beat and inputs.get("last", False) and self.reads > 0
        self.reads = 0 if ends else self.reads + read - completed
        self.writes = 0 if ends else self.writes + write - (answered and self.writes > 0)
        if beat or answered:
            self.left = self.late - 1
        elif not ends and (self.draining or told):
            self.left -= 1

    async def random(self, cycles: int) -> None:
        """Requests and responses, also ones that nobody waits for; ends with some in flight."""
        while not self.known:
            await self.cycle()
        rng = self.rng
        for k in range(cycles):
            asks, answers = ((0.5, 0.2), (0.1, 0.9), (0.9, 0.9), (0.0, 0.02))[k // 30 % 4]
            read, write = (
                not self.draining and flying < MOST and rng.random() < asks
                for flying in (self.reads, self.writes)
            )
            beat, answered = (
                rng.random() < (answers if flying else answers / 4)
                for flying in (self.reads, self.writes)
            )
            await self.cycle(
                read=read, readBeat=beat, last=rng.random() < 0.7,
                write=write, writeAnswered=answered,
            )  # fmt: skip
        while not self.reads or not self.writes:
            await self.cycle(
                read=not self.draining and not self.reads,
                write=not self.draining and not self.writes,
            )
        await self.cycle()  # inputs stay as they are until the other units are done

    async def waits(self) -> None:
        """After a reset, for all responses; or until none has come for `late` cycles, and then all
        are forgotten. (What memory owes is from before the reset.)
        """
        assert self.reads and self.writes and self.known
        for gap in (self.late - 2, self.late - 1, self.late + 2):
            for _ in range(gap):
                await self.cycle()
            await self.cycle(writeAnswered=self.writes > 1)
        assert not self.draining and self.reads == self.writes == 0
