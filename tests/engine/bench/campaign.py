# SPDX-License-Identifier: Apache-2.0
"""cocotb test of many seeds of one build; each starts with a reset during the one before.

Reads BENCH_SIZE, BENCH_PARAMS and the variables that `run_seeds` reads.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import cocotb

from tests.bench.seeds import run_seeds
from tests.engine.bench.coverage import Cover
from tests.engine.bench.driver import Driver
from tests.engine.bench.reference import Reference
from tests.engine.bench.sizes import SIZES
from tests.engine.bench.traffic import random_scripts

CYCLES = 3000  # of traffic, for each seed


@cocotb.test()
async def seeds(dut: Any) -> None:
    """Every seed's ports equal the golden model's."""
    size = SIZES[os.environ["BENCH_SIZE"]]
    driver = Driver(dut, size)
    driver.start()
    timing = await driver.calibrate()
    params = json.loads(Path(os.environ["BENCH_PARAMS"]).read_text())
    assert timing.read == params["read_latency"], timing
    cover: Cover = Counter()

    async def run_seed(seed: int) -> Counter[str]:
        totals: Counter[str] = Counter()
        cut = False
        for script in random_scripts(seed, size, CYCLES):
            reference = Reference(size, timing, cover, script, Random(~seed), after_cut=cut)
            plan = reference.run()
            await driver.run_plan(plan)
            cut = not script.snapshot
            totals.update(events=plan.events, reads=plan.reads, cycles=len(plan.drives))
        return totals

    await run_seeds(size.name, cover, ("events", "reads"), run_seed)
