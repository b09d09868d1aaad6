# SPDX-License-Identifier: Apache-2.0
"""Plays new seeds on every build until it is stopped or one fails.

    python -m tests.cocotb.soak                       until stopped
    SEED=17 CONFIG=p2c2 python -m tests.cocotb.soak   that one again

Exit: 0 when stopped, 1 when a seed failed; how to repeat it is the last line.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections import Counter

from tests.cocotb.bench.build import WORK
from tests.cocotb.bench.coverage import required
from tests.cocotb.bench.shards import Shard, merged, shards
from tests.cocotb.bench.simulate import campaign
from tests.cocotb.bench.sizes import SIZES

SEEDS = 10  # a simulation


def _play(shard: Shard) -> tuple[Counter[str], Counter[str]]:
    print(f"{shard.size.name} seeds {shard.first}-{shard.first + shard.count - 1}", flush=True)
    folder = WORK / "soak" / shard.size.name
    return merged([campaign(shard.size, shard.first, shard.count, folder)])


def main() -> int:
    """Until stopped, or what SEED asks for."""
    totals: Counter[str] = Counter()
    cover: Counter[str] = Counter()
    started = time.monotonic()
    try:
        while True:
            first = secrets.randbelow(1 << 40) * SEEDS
            new = [Shard(size, first, SEEDS) for size in SIZES.values()]
            for shard in shards() if "SEED" in os.environ else new:
                counts, covered = _play(shard)
                totals += counts
                cover += covered
            minutes = (time.monotonic() - started) / 60
            hit = len(required() & cover.keys())
            shown = ", ".join(f"{totals[name]} {name}" for name in ("seeds", "events", "reads"))
            print(f"{shown}, {hit} of {len(required())} bins in {minutes:.1f} min", flush=True)
            if "SEED" in os.environ:
                return 0
    except KeyboardInterrupt:
        print("\nstopped; every seed passed")
        return 0
    except AssertionError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
