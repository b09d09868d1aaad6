# SPDX-License-Identifier: Apache-2.0
"""cocotb test: seeds of one build, each a power-up amid the traffic of the last.

Reads BENCH_SIZE, BENCH_SEEDS (first and count), BENCH_CYCLES and BENCH_REPORT, where the
result goes.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import cocotb

from tests.cocotb.bench.player import Difference
from tests.flat.bench.build import BUILDS
from tests.flat.bench.world import World, random_config

PHASE = (60, 800)  # cycles
CUT = 4  # one seed in so many ends amid traffic


@cocotb.test()
async def seeds(dut: Any) -> None:
    """Every seed's answers, outcomes, counters and memories equal the golden model's."""
    build = BUILDS[os.environ["BENCH_SIZE"]]
    first, count = map(int, os.environ["BENCH_SEEDS"].split())
    cycles = int(os.environ["BENCH_CYCLES"])
    cover: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    world = World(dut, build, cover)
    await world.start()
    started = time.monotonic()
    for seed in range(first, first + count):
        rng = Random(seed)
        config = random_config(rng, build)
        print(f"{build.name} seed {seed}, {config}: ", end="", flush=True)
        try:
            await world.restart(rng, config)
            end = world.t + cycles
            while world.t < end:
                world.phase()
                await world.cycles(rng.randint(*PHASE))
            if seed % CUT != CUT - 1:
                await world.check()
            else:
                cover["restart/traffic"] += not world.score.idle
        except AssertionError as error:
            again = f"SEED={seed} CONFIG={build.name}, or SEED={first}-{seed} with those before"
            raise Difference(f"{error}\nto repeat: {again}") from error
        totals.update(seeds=1, cycles=world.t)
        totals += world.score.counts
        print(f"{totals['beats']} beats so far", flush=True)
    totals["milliseconds"] = int(1000 * (time.monotonic() - started))
    report = {"totals": dict(totals), "cover": dict(sorted(cover.items()))}
    Path(os.environ["BENCH_REPORT"]).write_text(json.dumps(report, indent=1) + "\n")
