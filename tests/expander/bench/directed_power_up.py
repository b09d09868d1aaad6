# SPDX-License-Identifier: Apache-2.0
"""cocotb test of the board's top when power comes up. There is one: a simulation powers up once."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.handle import Immediate
from cocotb.triggers import RisingEdge

from tests.bench.pins import power_on
from tests.expander.bench import avalon

# Cycles of the memory path's clock, two steps each.
RESET = 5 * avalon.PERIOD // 2  # four cycles of the control port's, and more
AFTER = 40


@cocotb.test()
async def nothing_runs_before_the_resets_come_through(dut: Any) -> None:
    """Registers hold anything, the synchronisers of the resets too: both sides are in reset from
    the first moment on, in which the clocks have not yet ticked.
    """
    dut.csr_reset.value = Immediate(1)
    await power_on(dut)
    board = dut.afu.board
    # Nobody drives the memory ports here: their pins hold anything.
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
