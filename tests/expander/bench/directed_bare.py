# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of an expander directly on a controller like the board's, without an adapter."""

from __future__ import annotations

from typing import Any

import cocotb

from tests.bench.difference import Difference
from tests.bench.profile import StimulusProfile
from tests.expander.bench.directed_environment import quiet_environment


async def failure(dut: Any, profile: StimulusProfile) -> tuple[str, int, int]:
    """(the detected failure, lost reads, lost data beats) of the controller."""
    environment = await quiet_environment(dut, habits=True)
    for c in range(environment.build.engine.channels):  # what is below them is no AXI slave
        getattr(dut, f"downstream_{c}_checker").enabled.value = 0
    for part in (*environment.masters, *environment.memories):
        part.profile = profile
    noticed = ""
    try:
        await environment.cycles(2000)
        await environment.check()
    except Difference as difference:
        noticed = str(difference)
    lost = [(memory.lost_reads, memory.lost_beats) for memory in environment.memories]
    return noticed, sum(reads for reads, _ in lost), sum(beats for _, beats in lost)


@cocotb.test()
async def a_read_beside_a_write_is_lost(dut: Any) -> None:
    """With AR and AW in the same cycle, the read is never answered."""
    profile = StimulusProfile(telemetry=0.0, bursts=0.0, ar_ready=0.5)
    noticed, reads, _ = await failure(dut, profile)
    assert noticed and reads


@cocotb.test()
async def data_that_nobody_waits_for_is_lost(dut: Any) -> None:
    """Read data that arrive while rready is low are lost."""
    profile = StimulusProfile(telemetry=0.0, bursts=0.0, aw=0.0, r=0.3)
    noticed, reads, beats = await failure(dut, profile)
    assert noticed and beats and not reads
