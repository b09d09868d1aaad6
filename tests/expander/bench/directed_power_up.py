# SPDX-License-Identifier: Apache-2.0
"""cocotb test of the board's top at power-up. A simulation powers up once, so there is one test."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.handle import Immediate
from cocotb.triggers import RisingEdge

from tests.bench.pins import power_on
from tests.expander.bench import avalon

# Cycles of the memory path's clock, two steps each.
RESET = 5 * avalon.PERIOD // 2  # more than four cycles of the control port's clock
AFTER = 40


@cocotb.test()
async def nothing_runs_before_the_resets_come_through(dut: Any) -> None:
    """Registers start with any value, also in the reset synchronisers. Even so, both clock domains
    must be in reset from the start, before the first clock edge.
    """
    dut.csr_reset.value = Immediate(1)
    await power_on(dut)
    board = dut.afu.board
    # The memory ports are not driven in this test, so their pins have any value.
    for checker in (child for child in board if child._name.endswith("_checker")):
        checker.enabled.value = 0
    sides = {"memory": board.expander.reset, "control": board.crossing.hostSide.reset}
    cocotb.start_soon(avalon.tick(dut))

    def running() -> list[str]:
        return [name for name, reset in sides.items() if not reset.value]

    for t in range(RESET):
        assert not running(), f"cycle {t}"
        await RisingEdge(dut.clock)
    dut.reset.value = dut.csr_reset.value = 0
    for _ in range(AFTER):
        await RisingEdge(dut.clock)
    assert running() == list(sides)
