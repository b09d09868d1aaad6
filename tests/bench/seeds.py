# SPDX-License-Identifier: Apache-2.0
"""A bench's campaign inside the simulator: runs seed after seed, and writes a report.

Reads BENCH_SEEDS (first and count) and BENCH_REPORT, where the result goes.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.bench.difference import Difference

RunSeed = Callable[[int], Awaitable[Counter[str]]]


async def run_seeds(
    name: str, cover: Counter[str], shown: tuple[str, ...], run_seed: RunSeed
) -> None:
    """Run the seeds on the build of this name; `run_seed` returns what to add to the totals.

    shown: totals that are printed after each seed. cover: `run_seed` counts here what it covers.
    """
    first, count = map(int, os.environ["BENCH_SEEDS"].split())
    totals: Counter[str] = Counter()
    started = time.monotonic()
    for seed in range(first, first + count):
        print(f"{name} seed {seed}: ", end="", flush=True)
        try:
            totals += await run_seed(seed)
        except AssertionError as error:
            again = f"SEED={seed} CONFIG={name}, or SEED={first}-{seed} with those before"
            raise Difference(f"{error}\nto repeat: {again}") from error
        totals["seeds"] += 1
        print(", ".join(f"{totals[what]} {what}" for what in shown), "so far", flush=True)
    totals["milliseconds"] = int(1000 * (time.monotonic() - started))
    report = {"totals": dict(totals), "cover": dict(sorted(cover.items()))}
    Path(os.environ["BENCH_REPORT"]).write_text(json.dumps(report, indent=1) + "\n")
