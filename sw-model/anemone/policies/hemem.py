# SPDX-License-Identifier: Apache-2.0
"""HeMem (Raybuck et al., SOSP 2021): hot and cold lists by sampled counts, with cooling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anemone.policies.pages import UNIT_NS, ByFrame, first_that_fit
from anemone.tiering.config import FAST, SLOW
from anemone.tiering.interfaces import Answer, Policy, Statistics
from anemone.tiering.parameters import setting


@dataclass
class HeMem(Policy):
    """A page is hot from a threshold of sampled reads or writes on; hot pages in the slow tier move
    up.

    read_threshold, write_threshold, cooling, samples_per_access and migrate_gb_per_s are from the
    paper and the published code (pebs.h: HOT_READ_THRESHOLD, HOT_WRITE_THRESHOLD,
    PEBS_COOLING_THRESHOLD, SAMPLE_PERIOD, PEBS_MIGRATE_RATE). NEMO §5.1 reads counters each second
    and scales them by the sampling rate; here the counts of all sources are scaled. When a page has
    more samples than `cooling`, all counts are halved, here repeatedly at the end of an interval.
    Lists are first in, first out. A cold page leaves the fast tier only to free frames.
    """

    read_threshold: int = setting(8, 1)
    write_threshold: int = setting(4, 1)
    cooling: int = setting(18, 1)
    samples_per_access: float = setting(1 / 5003, maximum=1.0)
    migrate_gb_per_s: float = setting(10.0, divide=True)

    def __post_init__(self) -> None:
        self._reads, self._writes = ByFrame(), ByFrame()
        self._since = ByFrame(np.inf)  # when the page joined its list
        self._hot = ByFrame()
        self._time = 0.0

    def act(self, seen: Statistics) -> Answer:
        frame, tier = seen.units.frame, seen.units.tier
        writes = self._writes.of(frame) + seen.heat.writes * self.samples_per_access
        reads = self._reads.of(frame)
        reads += (seen.heat.units - seen.heat.writes) * self.samples_per_access
        while len(frame) and max(reads.max(), writes.max()) > self.cooling:
            reads, writes = reads / 2, writes / 2
        self._reads.set(frame, reads)
        self._writes.set(frame, writes)

        hot = (reads >= self.read_threshold) | (writes >= self.write_threshold)
        joined = (hot != self._hot.of(frame)) | np.isinf(self._since.of(frame))
        self._since.set(frame[joined], seen.now_ns)
        self._hot.set(frame, hot)
        order = np.argsort(self._since.of(frame), kind="stable")
        sizes = seen.frames()
        up = order[(hot & (tier == SLOW))[order]]
        down = order[(~hot & (tier == FAST))[order]]
        elapsed, self._time = seen.now_ns - self._time, seen.now_ns
        frames = self.migrate_gb_per_s * elapsed / seen.frame_bytes
        promote = first_that_fit(frame[up], sizes[up], frames)
        return Answer(
            promote=promote,
            # Demote only as many pages as the promotions need frames.
            demote=_enough(
                frame[down], sizes[down], sizes[up][: len(promote)].sum() - seen.free[0]
            ),
            cpu_ns=(np.count_nonzero(seen.heat.units) + 2 * len(promote)) * UNIT_NS,
        )


def _enough(frames: np.ndarray, sizes: np.ndarray, wanted: float) -> np.ndarray:
    """The first units that together have at least `wanted` frames."""
    return frames[np.cumsum(sizes) - sizes < wanted]
