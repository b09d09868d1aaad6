# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of registers that have nothing to do but wait, for longer than a clock runs on."""

from __future__ import annotations

import cocotb
from cocotb.triggers import ClockCycles

from tests.expander.bench import control as reg
from tests.expander.bench.directed_acknowledge import line, opened
from tests.expander.bench.directed_region import COUNTED, counted
from tests.expander.bench.host import Host, hosted

STOPPED = 60  # cycles until a clock stops, and more


@hosted
async def an_answer_of_the_registers_waits_for_the_host(host: Host) -> None:
    """A host that takes no answers for long gets them, and the next ones."""
    await host.set(reg.INTERRUPT_ENABLE, 2)
    for channel in (host.control.read_if.r_channel, host.control.write_if.b_channel):
        channel.pause = True
        read = cocotb.start_soon(host.get(reg.INTERRUPT_ENABLE))
        write = cocotb.start_soon(host.set(reg.ERROR_ENABLE, 1))
        await ClockCycles(host.dut.clock, STOPPED)
        channel.pause = False
        assert await read == 2
        await write
        await ClockCycles(host.dut.clock, STOPPED)
        assert await host.get(reg.ERROR_ENABLE) == 1
        await host.set(reg.ERROR_ENABLE, 0)


@hosted
async def a_rule_waits_for_an_acknowledge(host: Host) -> None:
    """Committed in any cycle of an acknowledge, a rule is taken once, and the host hears of it."""
    await counted(host)
    base = await opened(host)
    for late in range(40):
        taken = cocotb.start_soon(host.memory[0].write(base, line([0] * 8)))
        await ClockCycles(host.dut.clock, late)
        await host.set(reg.COMMIT, 1)
        await taken
        await ClockCycles(host.dut.clock, STOPPED)
    assert await host.line(0, 0) == COUNTED


@hosted
async def writes_into_the_region_wait_for_their_data(host: Host) -> None:
    """Lines whose data come late are taken away, one after the other, and no other."""
    await counted(host)
    base = await opened(host)
    master = host.memory[0]
    for data, after in ((line([0] * 8), COUNTED), (line(COUNTED), [0] * 8)):
        master.write_if.w_channel.pause = True
        write = master.init_write(base, data)
        await ClockCycles(host.dut.clock, STOPPED)
        master.write_if.w_channel.pause = False
        await write.wait()
        assert await host.line(0, 0) == after
        await ClockCycles(host.dut.clock, STOPPED)
