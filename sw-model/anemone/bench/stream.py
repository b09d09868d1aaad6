# SPDX-License-Identifier: Apache-2.0
"""Runs a long trace in the tiering simulator and prints the process's peak memory in bytes.

`stream ROWS` uses NEMO, HeMem and eight threads, some of which run far ahead of others.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator

import numpy as np

from anemone.hardware.geometry import Geometry
from anemone.policies.hemem import HeMem
from anemone.tiering import Tier, TierConfig, simulate
from anemone.tiering.sources.nemo import Nemo
from anemone.trace import Trace

_BATCH, _THREADS = 1 << 20, 8


def rows(count: int) -> Iterator[Trace]:
    """Random accesses to 1 GiB; threads with higher numbers have longer gaps."""
    rng = np.random.default_rng(1)
    for at in range(0, count, _BATCH):
        n = min(_BATCH, count - at)
        thread = rng.integers(0, _THREADS, n).astype(np.uint16)
        addr = rng.integers(0, 1 << 24, n).astype(np.uint64) << np.uint64(6)
        yield Trace(addr, rng.random(n) < 0.2, thread=thread, gap_ns=100.0 + 5.0 * thread)


def main(count: int) -> None:
    config = TierConfig(
        2 << 20, 10, Tier(170, 114.1, 123.4), Tier(512, 380.3, 17.6), posted=48, interval_ns=1e8
    )
    policy, source = HeMem(), Nemo(fast="none")
    simulate(config, lambda: rows(count), policy, source, Geometry(device_gib=1))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10)


if __name__ == "__main__":
    main(int(sys.argv[1]))
