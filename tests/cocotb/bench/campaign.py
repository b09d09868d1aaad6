# SPDX-License-Identifier: Apache-2.0
"""cocotb test: seeds of one build, one after the other; each starts with a reset amid the last.

Reads the environment that `simulate.campaign` makes: BENCH_SIZE, BENCH_SEEDS (first and count)
and BENCH_REPORT, where the result is written.
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

from tests.cocotb.bench.coverage import Cover
from tests.cocotb.bench.player import Difference, Player
from tests.cocotb.bench.reference import Reference
from tests.cocotb.bench.sizes import SIZES
from tests.cocotb.bench.traffic import random_scripts

CYCLES = 3000  # of traffic, for each seed


@cocotb.test()
async def seeds(dut: Any) -> None:
    """Every seed's ports equal the golden model's."""
    size = SIZES[os.environ["BENCH_SIZE"]]
    first, count = map(int, os.environ["BENCH_SEEDS"].split())
    player = Player(dut, size)
    player.start()
    timing = await player.calibrate()
    params = json.loads(Path(os.environ["BENCH_PARAMS"]).read_text())
    assert timing.read == params["read_latency"], timing
    cover: Cover = Counter()
    totals: Counter[str] = Counter()
    started = time.monotonic()
    for seed in range(first, first + count):
        print(f"{size.name} seed {seed}: ", end="", flush=True)
        cut = False
        for script in random_scripts(seed, size, CYCLES):
            reference = Reference(size, timing, cover, script, Random(~seed), after_cut=cut)
            plan = reference.run()
            try:
                await player.play(plan)
            except Difference as difference:
                again = f"SEED={seed} CONFIG={size.name}, or SEED={first}-{seed} with those before"
                raise Difference(f"{difference}\nto repeat: {again}") from None
            cut = not script.snapshot
            totals.update(events=plan.events, reads=plan.reads, cycles=len(plan.drives))
        totals["seeds"] += 1
        print(f"{totals['events']} events, {totals['reads']} reads so far", flush=True)
    totals["milliseconds"] = int(1000 * (time.monotonic() - started))
    report = {"size": size.name, "first": first, **totals, "cover": dict(sorted(cover.items()))}
    Path(os.environ["BENCH_REPORT"]).write_text(json.dumps(report, indent=1) + "\n")
