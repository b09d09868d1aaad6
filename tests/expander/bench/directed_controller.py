# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of an expander with adapters, on controllers with the board's three habits."""

from __future__ import annotations

from tests.expander.bench.hand import by_hand
from tests.expander.bench.modes import Mode
from tests.expander.bench.world import World


@by_hand
async def the_adapter_loses_nothing(world: World) -> None:
    """Both kinds of requests at once, a master that is slow to take answers: all arrive."""
    for wait in (1.0, 0.5, 0.2):
        for master, memory in zip(world.masters, world.memories, strict=True):
            master.mode = Mode(telemetry=0.2, r=wait, b=wait)
            memory.mode = Mode(latency=40, ar_ready=0.5 + wait / 2)
        await world.cycles(2000)
        await world.settle()
    await world.check()
    for score, memory in zip(world.scores, world.memories, strict=True):
        assert score.counts["memory reads"] > 500 and score.counts["memory writes"] > 500
        assert not memory.lost_reads and not memory.lost_beats


@by_hand
async def full_rate_through_the_adapter(world: World) -> None:
    """AR and AW both busy: one request a channel a cycle, none lost."""
    for part in (*world.masters, *world.memories):
        part.mode = Mode(telemetry=0.0, bursts=0.0, ahead=0.0, latency=20)
    await world.cycles(100)
    before = [score.counts["beats"] for score in world.scores]
    await world.cycles(2000)
    for score, memory, first in zip(world.scores, world.memories, before, strict=True):
        assert score.counts["beats"] - first == 2000
        assert not memory.lost_reads and not memory.lost_beats
    await world.check()
