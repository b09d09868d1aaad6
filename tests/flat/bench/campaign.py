# SPDX-License-Identifier: Apache-2.0
"""cocotb test: seeds of one build, each a power-up amid the traffic of the last.

Reads BENCH_SIZE, and what `play_seeds` does.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from typing import Any

import cocotb

from tests.cocotb.bench.seeds import play_seeds
from tests.flat.bench.build import BUILDS
from tests.flat.bench.world import World, random_config

CYCLES = 3000  # of a seed's traffic
PHASE = (60, 800)  # cycles
CUT = 4  # one seed in so many ends amid traffic


@cocotb.test()
async def seeds(dut: Any) -> None:
    """Every seed's answers, outcomes, counters and memories equal the golden model's."""
    build = BUILDS[os.environ["BENCH_SIZE"]]
    cover: Counter[str] = Counter()
    world = World(dut, build, cover)
    await world.start()

    async def play(seed: int) -> Counter[str]:
        rng = Random(seed)
        config = random_config(rng, build)
        print(f"{config}, ", end="", flush=True)
        await world.restart(rng, config)
        end = world.t + CYCLES
        while world.t < end:
            world.phase()
            await world.cycles(rng.randint(*PHASE))
        if seed % CUT != CUT - 1:
            await world.check()
        else:
            cover["restart/traffic"] += not world.score.idle
        return world.score.counts + Counter(cycles=world.t)

    await play_seeds(build.name, cover, ("beats",), play)
