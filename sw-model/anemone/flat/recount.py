# SPDX-License-Identifier: Apache-2.0
"""Computes the expected result of flat memory mode directly from the trace with NumPy.

It shares no code with the backends. It supports only one far line per near line and a swap at every
miss: then near memory holds the line of a set that was accessed last.
"""

from __future__ import annotations

import numpy as np

from anemone.flat.config import FlatConfig
from anemone.flat.result import HIT, SWAP, Counts, FlatResult
from anemone.hardware.geometry import LINE_BYTES
from anemone.trace import Trace


def recount(config: FlatConfig, trace: Trace) -> FlatResult:
    """The result without cycles and times. Raises ValueError for any other configuration."""
    if (config.ratio, config.policy, config.dedicated) != (1, "every", (0, 0)):
        raise ValueError("only a ratio of 1 that swaps on every miss can be recounted")
    line = trace.addr // np.uint64(LINE_BYTES)
    tag, of_set = np.divmod(line, np.uint64(config.near_lines))
    order = np.argsort(of_set, kind="stable")
    ordered, tags = of_set[order], tag[order]
    first = np.append(True, ordered[1:] != ordered[:-1])[: len(line)]
    held = np.where(first, np.uint64(0), np.roll(tags, 1))
    hit = np.empty(len(line), bool)
    hit[order] = tags == held
    last = np.append(first[1:], True)[: len(line)]
    moved = last & (tags != 0)
    misses = int((~hit).sum())
    writes = trace.write.astype(bool)
    counts = Counts(
        hits=int(hit.sum()),
        misses=misses,
        swaps=misses,
        near_reads=len(line),
        near_writes=misses + int((hit & writes).sum()),
        far_reads=int((~hit & ~writes).sum()),
        far_writes=misses,
    )
    outcomes = np.where(hit, HIT, SWAP).astype(np.uint8)
    return FlatResult(counts, ordered[moved], tags[moved].astype(np.uint8), outcomes, 0, 0.0)
