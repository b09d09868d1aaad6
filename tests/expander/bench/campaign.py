# SPDX-License-Identifier: Apache-2.0
"""cocotb test: seeds of one build; each starts with a reset during the last one's traffic.

Reads the environment variables BENCH_SIZE and those of `run_seeds`.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import cocotb

from tests.bench.seeds import run_seeds
from tests.expander.bench.flat_board import environment_type
from tests.expander.bench.sizes import BUILDS

CYCLES = 4000  # of traffic per seed
PHASE = (60, 800)  # cycles
CUT = 4  # one seed in four ends during traffic


@cocotb.test()
async def seeds(dut: Any) -> None:
    """Every seed's ports, states, counters and memory equal the golden models'."""
    build = BUILDS[os.environ["BENCH_SIZE"]]
    cover: Counter[str] = Counter()
    environment = environment_type(build)(dut, build, cover)
    await environment.start()

    async def run_seed(seed: int) -> Counter[str]:
        await environment.restart(seed)
        await environment.program()
        end = environment.t + CYCLES
        while environment.t < end:
            environment.phase()
            await environment.cycles(environment.rng.randint(*PHASE))
        if seed % CUT != CUT - 1:
            await environment.check()
        else:
            cover["restart/traffic"] += any(
                not scoreboard.idle for scoreboard in environment.scoreboards
            )
        counts = Counter(cycles=environment.t, events=environment.lockstep.events)
        return sum((scoreboard.counts for scoreboard in environment.scoreboards), counts)

    await run_seeds(build.name, cover, ("beats", "lines"), run_seed)
