# SPDX-License-Identifier: Apache-2.0
"""Approximate counts of more regions than there are counters (NEMO §6.3)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anemone.control.plane import Controller, Field, Spec
from anemone.telemetry.rules import HASH_BITS


class CountMin:
    """A count-min sketch: each row is a telemetry whose hash selects one of its counters.

    A region is a page of 2^shift bytes. Its estimate is the minimum of its counters. This is at
    least its count (until a counter saturates), and includes other regions that share all counters.
    size: counters of a row. depth: number of rows, each on its own pipeline. spec: the filter and
    the width of counters. Raises ValueError if the controller has too few pipelines or counters.
    """

    def __init__(
        self, controller: Controller, shift: int, size: int, depth: int,
        spec: Spec = Spec(width=32), seed: int = 1,  # noqa: B008, a Spec is immutable
    ) -> None:  # fmt: skip
        if depth < 1:
            raise ValueError(f"depth is {depth}; allowed: 1 or more")
        rng = np.random.default_rng(seed)
        self.shift, self.size = shift, size
        self.multipliers = [int(m) for m in rng.integers(0, 1 << HASH_BITS - 1, depth) * 2 + 1]
        # All addresses have key 0, which is mapped to the only region.
        whole = replace(
            spec, primary=Field(0, 0), sub=Field(((1 << HASH_BITS) - 1) << shift, shift),
            update=("addsat", 1), read_effect=("reset", 0), regions=1,
        )  # fmt: skip
        self.rows = []
        try:
            for n, multiplier in enumerate(self.multipliers):
                one = replace(whole, name=f"{spec.name}-{n}", hash=(multiplier, size))
                self.rows.append(controller.register(one))
        except ValueError:
            self.remove()
            raise
        for row in self.rows:
            row.set_translation(0, 0)

    def read(self, snapshot: bool = False) -> np.ndarray:
        """Read the counters, uint64[depth, size, channels], and reset them unless it is a
        snapshot.
        """
        return np.stack([row.by_channel(snapshot)[: self.size] for row in self.rows])

    def estimate(self, counts: np.ndarray, regions: np.ndarray) -> np.ndarray:
        """Estimated accesses of regions, uint64[n], from the result of `read`.

        Each channel counts separately, so the minimum is taken per channel and then summed.
        """
        at = [hashed(regions, multiplier, self.size) for multiplier in self.multipliers]
        rows = [count[index] for count, index in zip(counts, at, strict=True)]
        return np.minimum.reduce(rows).sum(axis=1)

    def remove(self) -> None:
        """Stop the sketch and free its pipelines."""
        for row in self.rows:
            row.remove()


def hashed(offset: np.ndarray, multiplier: int, size: int) -> np.ndarray:
    """The counter of each offset, computed like the match stage (docs/rules.md, `hash`)."""
    low = offset.astype(np.uint64) * np.uint64(multiplier) & np.uint64((1 << HASH_BITS) - 1)
    return low * np.uint64(size) >> np.uint64(HASH_BITS)
