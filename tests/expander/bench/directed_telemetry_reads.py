# SPDX-License-Identifier: Apache-2.0
"""cocotb test of as many telemetry reads in flight as there is room for, in lock-step."""

from __future__ import annotations

from dataclasses import replace

from tests.bench.pins import reader
from tests.bench.profile import StimulusProfile
from tests.expander.bench.directed_environment import directed_test
from tests.expander.bench.environment import Environment, find

PHASES = 240
STALL = (20, 400)  # cycles without R
FLOW = (20, 200)  # cycles with
FULL = 20  # entries of ReadPrefetchBuffer


class Held:
    """The lines in a channel's ReadPrefetchBuffer: now, and at most."""

    def __init__(self, environment: Environment, channel: int) -> None:
        buffer = find(environment.dut, f"channel_{channel}")
        for name in (f"channel_{channel}", "telemetry", "buffer", "ready"):
            buffer = getattr(buffer, name)
        self._enters, self._leaves = reader(buffer.io_in_valid), reader(buffer.io_taken)
        self.now = self.most = 0

    def step(self) -> None:
        """Count what the last cycle moved."""
        self.now += self._enters() - self._leaves()
        self.most = max(self.most, self.now)


@directed_test
async def every_place_of_a_telemetry_line_is_used(environment: Environment) -> None:
    """Lines wait behind memory's late answers to their ids, and others behind a host that stalls R,
    until all entries are in use; then all leave, in the order of their ids.
    """
    rng = environment.rng
    held = [Held(environment, c) for c in range(environment.build.engine.channels)]
    environment.watch = lambda _: [one.step() for one in held]
    for _ in range(PHASES):
        environment.phase()
        for master, memory, traffic in zip(
            environment.masters, environment.memories, environment.traffic, strict=True
        ):
            traffic._hot = 0.0  # many lines
            profile = StimulusProfile(
                aw=rng.choice((0.0, 0.3)), telemetry=rng.choice((0.5, 0.8, 0.95)),
                bursts=0.0, odd=0.0, ids=rng.choice((2, 4, 16, 16)),
            )  # fmt: skip
            master.profile = replace(profile, r=0.0)
            latency, answer = rng.choice(((4, 1.0), (60, 0.5), (200, 0.1)))
            memory.profile = StimulusProfile(latency=latency, answer=answer)
        await environment.cycles(rng.randint(*STALL))
        takes = rng.choice((1.0, 0.7, 0.2))
        for master in environment.masters:
            master.profile = replace(master.profile, r=takes)
        await environment.cycles(rng.randint(*FLOW))
    await environment.check()
    assert [(one.now, one.most) for one in held] == [(0, FULL)] * len(held)
