# SPDX-License-Identifier: Apache-2.0
"""What a bench's campaign does inside the simulator: seed after seed, and a report.

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

Play = Callable[[int], Awaitable[Counter[str]]]


async def play_seeds(name: str, cover: Counter[str], shown: tuple[str, ...], play: Play) -> None:
    """Play the seeds on the build of this name; `play` returns what to add to the totals.

    shown: totals that are printed after each seed. cover: what `play` has met goes here.
    """
    first, count = map(int, os.environ["BENCH_SEEDS"].split())
    totals: Counter[str] = Counter()
    started = time.monotonic()
    for seed in range(first, first + count):
        print(f"{name} seed {seed}: ", end="", flush=True)
        try:
            totals += await play(seed)
        except AssertionError as error:
            again = f"SEED={seed} CONFIG={name}, or SEED={first}-{seed} with those before"
            raise Difference(f"{error}\nto repeat: {again}") from error
        totals["seeds"] += 1
        print(", ".join(f"{totals[what]} {what}" for what in shown), "so far", flush=True)
    totals["milliseconds"] = int(1000 * (time.monotonic() - started))
    report = {"totals": dict(totals), "cover": dict(sorted(cover.items()))}
    Path(os.environ["BENCH_REPORT"]).write_text(json.dumps(report, indent=1) + "\n")
