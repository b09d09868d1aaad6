# SPDX-License-Identifier: Apache-2.0
"""cocotb test: seeds of one build, one after the other; each starts with a reset amid the last.

Reads BENCH_SIZE, and what `play_seeds` does.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import cocotb

from tests.cocotb.bench.seeds import play_seeds
from tests.expander.bench.sizes import BUILDS
from tests.expander.bench.tiered import world_type

CYCLES = 4000  # of a seed's traffic
PHASE = (60, 800)  # cycles
CUT = 4  # one seed in so many ends amid traffic


@cocotb.test()
async def seeds(dut: Any) -> None:
    """Every seed's ports, states, counters and memory equal the golden models'."""
    build = BUILDS[os.environ["BENCH_SIZE"]]
    cover: Counter[str] = Counter()
    world = world_type(build)(dut, build, cover)
    await world.start()

    async def play(seed: int) -> Counter[str]:
        await world.restart(seed)
        await world.program()
        end = world.t + CYCLES
        while world.t < end:
            world.phase()
            await world.cycles(world.rng.randint(*PHASE))
        if seed % CUT != CUT - 1:
            await world.check()
        else:
            cover["restart/traffic"] += any(not score.idle for score in world.scores)
        counts = Counter(cycles=world.t, events=world.lockstep.events)
        return sum((score.counts for score in world.scores), counts)

    await play_seeds(build.name, cover, ("beats", "lines"), play)
