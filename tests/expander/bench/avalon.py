# SPDX-License-Identifier: Apache-2.0
"""The board's control port: Avalon-MM with its own clock, one transfer at a time."""

from __future__ import annotations

from collections import deque
from random import Random
from typing import Any

import cocotb
from cocotb.handle import Immediate
from cocotb.triggers import RisingEdge, Timer

from tests.bench.difference import Difference
from tests.bench.pins import Flag, reader, writer
from tests.expander.bench.control import Answer

PERIOD = 6  # steps; the memory path's clock has 2
PHASE = 1


async def tick(dut: Any) -> None:
    """Run the control port's clock."""
    dut.csr_clock.value = Immediate(0)
    await Timer(PHASE, "step")
    while True:
        for level in (1, 0):
            dut.csr_clock.value = Immediate(level)
            await Timer(PERIOD // 2, "step")


class AvalonControl:
    """`Control` on the pins `csr_`. It also makes poisoned writes, which must be dropped."""

    def __init__(self, dut: Any, rng: Random) -> None:
        # Numbers of its own: how long a transfer takes must not move the traffic.
        self.rng = Random(rng.random())
        self._edge = RisingEdge(dut.csr_clock)
        self._reset = reader(dut.csr_reset)
        self._flags = {name: Flag(getattr(dut, f"csr_{name}")) for name in ("read", "write")}
        self._poison = Flag(dut.csr_poison)
        self._set = {
            name: writer(getattr(dut, f"csr_{name}"))
            for name in ("address", "writedata", "byteenable")
        }
        self._wait, self._data = reader(dut.csr_waitrequest), reader(dut.csr_readdata)
        self._valid = {
            True: reader(dut.csr_writeresponsevalid),
            False: reader(dut.csr_readdatavalid),
        }
        self._response = reader(dut.csr_response)
        self._todo: deque[tuple[bool, int, int, Answer | None]] = deque()
        self.slow = 0.0
        self.done = 0
        self._task = cocotb.start_soon(self._run())

    @property
    def idle(self) -> bool:
        """Whether everything was answered."""
        return not self._todo

    def stop(self) -> None:
        """Stop, even with a transfer in progress."""
        self._task.cancel()
        for flag in (*self._flags.values(), self._poison):
            flag.set(0)

    def write(self, address: int, value: int, answer: Answer | None = None) -> None:
        """Write a register when its turn comes."""
        self._todo.append((True, address, value, answer))

    def read(self, address: int, answer: Answer) -> None:
        """Read a register when its turn comes."""
        self._todo.append((False, address, 0, answer))

    def step(self, t: int) -> None:
        """A cycle of the memory path's clock, which this port does not use."""

    async def _run(self) -> None:
        while True:
            await self._edge
            if self._reset() or not self._todo or self.rng.random() < self.slow:
                continue
            if self.rng.random() < 0.1:
                await self._transfer(True, self._todo[0][1], self.rng.getrandbits(64), True)
            write, address, value, answer = self._todo[0]
            response, data = await self._transfer(write, address, value, False)
            self._todo.popleft()
            self.done += 1
            if answer:
                answer(response, data)
            elif response:
                raise Difference(f"register {address:#x} answers {response}")

    async def _transfer(
        self, write: bool, address: int, value: int, poison: bool
    ) -> tuple[int, int]:
        """Make one transfer, held until it is accepted. Returns its response and a read's data."""
        self._set["address"](address)
        self._set["writedata"](value)
        self._set["byteenable"](0xFF)
        self._poison.set(int(poison))
        flag = self._flags["write" if write else "read"]
        flag.set(1)
        await self._edge
        while self._wait():
            await self._edge
        flag.set(0)
        self._poison.set(0)
        await self._edge
        valid = self._valid[write]()
        if valid == poison:
            raise Difference(f"register {address:#x}: {valid} responses in the cycle behind")
        return self._response(), self._data()
