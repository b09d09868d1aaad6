# SPDX-License-Identifier: Apache-2.0
"""The expander between cocotbext-axi's masters and memories, for tests written like software."""

from __future__ import annotations

import os
import warnings
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiMaster, AxiRam

from anemone.telemetry.rules import Rule
from tests.bench.pins import power_on
from tests.expander.bench import control as reg
from tests.expander.bench.sizes import BUILDS
from tests.expander.bench.windows import Windows

PATIENCE = 2000  # cycles
warnings.filterwarnings("ignore", category=DeprecationWarning)  # cocotbext-axi's, of cocotb 2


class Host:
    """`memory`: for each channel, an AxiMaster on its upstream port. `ram`: the memories below."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.build = BUILDS[os.environ["BENCH_SIZE"]]
        size = self.build.engine
        self.size = size
        place = self.build.window_bytes * 4
        self.windows = Windows(self.build, place, place + self.build.window_bytes)
        dut.interrupt_ready.value = dut.quiesce.value = 0
        clock, reset = dut.clock, dut.reset
        self.memory = [
            AxiMaster(AxiBus.from_prefix(dut, f"upstream_{c}"), clock, reset)
            for c in range(size.channels)
        ]
        self.ram = [
            AxiRam(AxiBus.from_prefix(dut, f"downstream_{c}"), clock, reset, size=1 << 24)
            for c in range(size.channels)
        ]
        self.control = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "control"), clock, reset)

    async def start(self) -> None:
        """Reset, wait until nothing is being cleared, open both windows."""
        await power_on(self.dut)
        await ClockCycles(self.dut.clock, 3)
        self.dut.reset.value = 0
        await ClockCycles(self.dut.clock, self.size.clear_cycles + 20)
        await self.set(reg.EFFECT_WINDOW, self.windows.effect | 1)
        await self.set(reg.SNAPSHOT_WINDOW, self.windows.snapshot | 1)

    async def set(self, register: int, value: int) -> None:
        """Write a register."""
        answer = await self.control.write(register, value.to_bytes(8, "little"))
        assert answer.resp == 0, f"register {register:#x}: {answer.resp}"

    async def get(self, register: int) -> int:
        """Read a register."""
        answer = await self.control.read(register, 8)
        assert answer.resp == 0, f"register {register:#x}: {answer.resp}"
        return int.from_bytes(answer.data, "little")

    async def rule(self, p: int, rule: Rule, enable: bool = True) -> None:
        """Program a rule."""
        for address, value in reg.shadow(rule, enable, self.size).items():
            await self.set(address, value)
        await self.set(reg.COMMIT, p)

    async def map(self, p: int, *pairs: tuple[int, int]) -> None:
        """Map keys to base indexes."""
        for key, base in pairs:
            await self.set(*reg.entry(self.size, p, key, base, True))

    async def touch(self, addr: int, times: int = 1, write: bool = False) -> None:
        """Access a line of memory `times` times through the channel that owns it."""
        master = self.memory[addr // 64 % self.size.channels]
        for _ in range(times):
            if write:
                await master.write(addr, bytes(64))
            else:
                await master.read(addr, 64)

    async def line(self, p: int, line: int, channel: int = 0, effect: bool = False) -> list[int]:
        """The words of a telemetry line."""
        addr = self.windows.address(p, line, channel, effect)
        answer = await self.memory[channel].read(addr, 64)
        assert answer.resp == 0, answer.resp
        return [int.from_bytes(answer.data[i : i + 8], "little") for i in range(0, 64, 8)]

    async def message(self) -> tuple[int, int]:
        """Take the next interrupt message: its vector, and the cycles until it came."""
        for cycles in range(PATIENCE):
            await RisingEdge(self.dut.clock)
            if self.dut.interrupt_valid.value:
                vector = int(self.dut.interrupt_vector.value)
                self.dut.interrupt_ready.value = 1
                await RisingEdge(self.dut.clock)
                self.dut.interrupt_ready.value = 0
                return vector, cycles
        raise AssertionError("no interrupt")

    async def silence(self, cycles: int = 60) -> None:
        """Check that no interrupt message comes for a number of cycles."""
        for _ in range(cycles):
            await RisingEdge(self.dut.clock)
            assert not self.dut.interrupt_valid.value, "an interrupt that should not be"


def hosted(test: Callable[[Host], Awaitable[None]]) -> Any:
    """A cocotb test with a host that has started."""

    @wraps(test)
    async def run(dut: Any) -> None:
        host = Host(dut)
        await host.start()
        await test(host)

    return cocotb.test(timeout_time=400_000, timeout_unit="step")(run)
