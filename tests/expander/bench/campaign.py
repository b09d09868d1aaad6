# SPDX-License-Identifier: Apache-2.0
"""cocotb test: seeds of one build, one after the other; each starts with a reset amid the last.

Reads BENCH_SIZE, BENCH_SEEDS (first and count), BENCH_CYCLES and BENCH_REPORT, where the
result goes.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

import cocotb

from tests.cocotb.bench.player import Difference
from tests.expander.bench.sizes import BUILDS
from tests.expander.bench.tiered import world_type

PHASE = (60, 800)  # cycles
CUT = 4  # one seed in so many ends amid traffic


@cocotb.test()
async def seeds(dut: Any) -> None:
    """Every seed's ports, states, counters and memory equal the golden models'."""
    build = BUILDS[os.environ["BENCH_SIZE"]]
    first, count = map(int, os.environ["BENCH_SEEDS"].split())
    cycles = int(os.environ["BENCH_CYCLES"])
    cover: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    world = world_type(build)(dut, build, cover)
    await world.start()
    started = time.monotonic()
    for seed in range(first, first + count):
        print(f"{build.name} seed {seed}: ", end="", flush=True)
        try:
            await world.restart(seed)
            await world.program()
            end = world.t + cycles
            while world.t < end:
                world.phase()
                await world.cycles(world.rng.randint(*PHASE))
            if seed % CUT != CUT - 1:
                await world.check()
            else:
                cover["restart/traffic"] += any(not score.idle for score in world.scores)
        except AssertionError as error:
            again = f"SEED={seed} CONFIG={build.name}, or SEED={first}-{seed} with those before"
            raise Difference(f"{error}\nto repeat: {again}") from error
        totals.update(seeds=1, cycles=world.t, events=world.lockstep.events)
        for score in world.scores:
            totals += score.counts
        print(f"{totals['beats']} beats, {totals['lines']} lines so far", flush=True)
    totals["milliseconds"] = int(1000 * (time.monotonic() - started))
    report = {"totals": dict(totals), "cover": dict(sorted(cover.items()))}
    Path(os.environ["BENCH_REPORT"]).write_text(json.dumps(report, indent=1) + "\n")
