# SPDX-License-Identifier: Apache-2.0
"""cocotb test: seeds of one build, each of which starts with a power-up during the last one's
traffic.

Reads the environment variables BENCH_SIZE and those of `run_seeds`.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from typing import Any

import cocotb

from tests.bench.seeds import run_seeds
from tests.flat.bench.build import BUILDS
from tests.flat.bench.environment import Environment, random_config

CYCLES = 3000  # of a seed's traffic
PHASE = (60, 800)  # cycles
CUT = 4  # one seed in four ends during traffic


@cocotb.test()
async def seeds(dut: Any) -> None:
    """Every seed's answers, outcomes, counters and memories equal the golden model's."""
    build = BUILDS[os.environ["BENCH_SIZE"]]
    cover: Counter[str] = Counter()
    environment = Environment(dut, build, cover)
    await environment.start()

    async def run_seed(seed: int) -> Counter[str]:
        rng = Random(seed)
        config = random_config(rng, build)
        print(f"{config}, ", end="", flush=True)
        await environment.restart(rng, config)
        end = environment.t + CYCLES
        while environment.t < end:
            environment.phase()
            await environment.cycles(rng.randint(*PHASE))
        if seed % CUT != CUT - 1:
            await environment.check()
        else:
            cover["restart/traffic"] += not environment.scoreboard.idle
        return environment.scoreboard.counts + Counter(cycles=environment.t)

    await run_seeds(build.name, cover, ("beats",), run_seed)
