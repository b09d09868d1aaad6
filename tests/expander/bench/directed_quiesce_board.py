# SPDX-License-Identifier: Apache-2.0
"""cocotb test of a quiesce of an expander on the board's controllers, also inside the board's
wrapper, where the registers have their own clock.
"""

from __future__ import annotations

from tests.bench.profile import StimulusProfile
from tests.expander.bench.directed_environment import SEED, directed_test
from tests.expander.bench.directed_quiesce_tiered import accepted, resumed, stopped
from tests.expander.bench.environment import Environment

STILL = 150  # cycles in which nothing may change


@directed_test
async def a_quiesce_drains_the_adapters(environment: Environment) -> None:
    """A quiesce by the register or by the pin during traffic. The host takes answers fast, or so
    slowly that they wait in the adapter. All accepted requests are answered and no more are
    accepted. Then traffic resumes, or a reset loses nothing.
    """
    for seed in range(8):
        takes = (1.0, 0.2)[seed // 2 % 2]
        for master, memory in zip(environment.masters, environment.memories, strict=True):
            master.profile = StimulusProfile(ahead=0.5, r=takes, b=takes)
            memory.profile = StimulusProfile(latency=(20, 100)[seed // 4 % 2])
        await environment.cycles(400 + 7 * seed)
        stopped(environment, pin=bool(seed % 2))
        await environment.quiesced()
        parts = (*environment.scoreboards, *environment.memories)
        assert all(part.idle for part in parts), [type(p).__name__ for p in parts if not p.idle]
        before = accepted(environment)
        for _ in range(STILL):
            await environment.cycles(1)
            assert environment.quiet() and all(memory.idle for memory in environment.memories)
        assert accepted(environment) == before
        await environment.check_memories()
        if seed % 4 == 3:
            await environment.restart(SEED + seed)
            resumed(environment)
            await environment.program()
            assert not sum(memory.late for memory in environment.memories)
        else:
            resumed(environment)
        await environment.cycles(300)
        assert not environment.quiet() and accepted(environment) != before
    await environment.check()
