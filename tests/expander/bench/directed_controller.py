# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of an expander with adapters on controllers like the board's."""

from __future__ import annotations

from tests.bench.profile import StimulusProfile
from tests.expander.bench.directed_environment import directed_test
from tests.expander.bench.environment import Environment


@directed_test
async def the_adapter_loses_nothing(environment: Environment) -> None:
    """Both kinds of requests, and a master that accepts responses slowly: all arrive."""
    for wait in (1.0, 0.5, 0.2):
        for master, memory in zip(environment.masters, environment.memories, strict=True):
            master.profile = StimulusProfile(telemetry=0.2, r=wait, b=wait)
            memory.profile = StimulusProfile(latency=40, ar_ready=0.5 + wait / 2)
        await environment.cycles(2000)
        await environment.settle()
    await environment.check()
    for scoreboard, memory in zip(environment.scoreboards, environment.memories, strict=True):
        assert scoreboard.counts["memory reads"] > 500 and scoreboard.counts["memory writes"] > 500
        assert not memory.lost_reads and not memory.lost_beats


@directed_test
async def full_rate_through_the_adapter(environment: Environment) -> None:
    """With AR and AW busy, each channel accepts one request per cycle, and none is lost."""
    for part in (*environment.masters, *environment.memories):
        part.profile = StimulusProfile(telemetry=0.0, bursts=0.0, ahead=0.0, latency=20)
    await environment.cycles(100)
    before = [scoreboard.counts["beats"] for scoreboard in environment.scoreboards]
    await environment.cycles(2000)
    for scoreboard, memory, first in zip(
        environment.scoreboards, environment.memories, before, strict=True
    ):
        assert scoreboard.counts["beats"] - first == 2000
        assert not memory.lost_reads and not memory.lost_beats
    await environment.check()
