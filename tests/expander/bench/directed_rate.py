# SPDX-License-Identifier: Apache-2.0
"""cocotb test of what an access in flat memory mode costs, where near memory stores the sideband
beside the line and where it is in a range of it. docs/agilex.md has the numbers.
"""

from __future__ import annotations

from tests.bench.profile import StimulusProfile
from tests.bench.requests import FULL, Request
from tests.bench.store import bits
from tests.expander.bench.directed_tiered import offer, tiered
from tests.expander.bench.tiered import TieredEnvironment

ACCESSES = 400
# Near memory's beats for a read hit, a full-line write hit, a full-line write that swaps.
BEATS = {"read hit": 1, "write hit": 2, "write that swaps": 2}
SLACK = 1.15  # the sets in flight of the bench's build are few


@tiered
async def near_memory_limits_the_rate(environment: TieredEnvironment) -> None:
    """One host's stream takes as many cycles an access as near memory has beats for it."""
    build = environment.build
    channels, lines = build.engine.channels, environment.now.near_lines
    beats_per_access = 2 if build.board else 1

    def access(p: int, write: bool) -> Request:
        data = [(bits(p), FULL, 0)] if write else []
        return Request(write, p % 8, p * channels * 64, data=data)

    streams = {
        "read hit": [access(k % lines, False) for k in range(ACCESSES)],
        "write hit": [access(k % lines, True) for k in range(ACCESSES)],
        "write that swaps": [
            access(k % lines + (1 - k // lines % 2) * lines, True) for k in range(ACCESSES)
        ],
    }
    alone = await latency(environment, access(0, False))
    print(f"{build.name}: a read hit alone: {alone} cycles at the host's port")
    for name, requests in streams.items():
        await latency(environment, access(0, False))
        cycles = await offer(environment, requests, latency=1)
        await environment.settle()
        print(f"{build.name}: {name}: {cycles / ACCESSES:.2f} cycles an access")
        assert cycles >= (ACCESSES - 32) * BEATS[name] * beats_per_access, name
        if name == "read hit":
            assert cycles <= SLACK * ACCESSES * beats_per_access
    await environment.check_memories()


async def latency(environment: TieredEnvironment, request: Request) -> int:
    """Cycles from a request's acceptance to its answer, with memories that answer at once."""
    for memory in environment.memories:
        memory.profile = StimulusProfile(latency=1)
    for master in environment.masters:
        master.source = lambda write, profile: None
        master.profile = StimulusProfile()
    todo = [request]
    environment.masters[0].source = lambda write, _: todo.pop() if todo and not write else None
    asked = None
    scoreboard = environment.scoreboards[0]
    while asked is None or not scoreboard.idle:
        await environment.cycles(1)
        if asked is None and not scoreboard.idle:
            asked = environment.t
    return environment.t - asked
