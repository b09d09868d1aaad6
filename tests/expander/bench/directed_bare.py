# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of an expander right on a controller with the board's habits, without an adapter."""

from __future__ import annotations

from typing import Any

import cocotb

from tests.cocotb.bench.player import Difference
from tests.expander.bench.hand import quiet_world
from tests.expander.bench.modes import Mode


async def failure(dut: Any, mode: Mode) -> tuple[str, int, int]:
    """What is noticed, and how many reads and beats of data the controller lost."""
    world = await quiet_world(dut, habits=True)
    for part in (*world.masters, *world.memories):
        part.mode = mode
    noticed = ""
    try:
        await world.cycles(2000)
        await world.check()
    except Difference as difference:
        noticed = str(difference)
    lost = [(memory.lost_reads, memory.lost_beats) for memory in world.memories]
    return noticed, sum(reads for reads, _ in lost), sum(beats for _, beats in lost)


@cocotb.test()
async def a_read_beside_a_write_is_lost(dut: Any) -> None:
    """AR and AW of one cycle: the read is never answered."""
    mode = Mode(telemetry=0.0, bursts=0.0, ar_ready=0.5)
    noticed, reads, _ = await failure(dut, mode)
    assert noticed and reads


@cocotb.test()
async def data_that_nobody_waits_for_is_lost(dut: Any) -> None:
    """Read data that come while rready is low."""
    mode = Mode(telemetry=0.0, bursts=0.0, aw=0.0, r=0.3)
    noticed, reads, beats = await failure(dut, mode)
    assert noticed and beats and not reads
