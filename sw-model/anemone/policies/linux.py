# SPDX-License-Identifier: Apache-2.0
"""Policies of Linux, or proposed for it: TPP, NUMA balancing in tiering mode, DAMOS.

TPP and NUMA balancing demote the least recently accessed pages when the fast tier is full.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anemone.policies.pages import UNIT_NS, ByFrame, first_that_fit
from anemone.tiering.config import FAST, SLOW
from anemone.tiering.interfaces import Answer, Policy, Statistics
from anemone.tiering.parameters import setting


class _Reclaim:
    """The fast tier's pages in order of their last access, which LRU lists approximate."""

    def __init__(self) -> None:
        self._last = ByFrame(-1.0)

    def coldest(self, seen: Statistics, wanted: float) -> np.ndarray:
        """The least recently accessed units, with at least `wanted` frames."""
        frame, heat = seen.units.frame, seen.heat.units
        self._last.set(frame[heat > 0], seen.now_ns)
        fast = np.flatnonzero(seen.units.tier == FAST)
        order = fast[np.argsort(self._last.of(frame[fast]), kind="stable")]
        sizes = seen.frames()[order]
        return frame[order[np.cumsum(sizes) - sizes < wanted]]


def _soonest(frame: np.ndarray, which: np.ndarray, heat: np.ndarray) -> np.ndarray:
    """The frames of these units in the order of their faults."""
    return frame[which][np.argsort(-heat[which], kind="stable")]


@dataclass
class Tpp(Policy):
    """TPP (Maruf et al., ASPLOS 2023), on hint faults: a page of the slow tier that faults in two
    scans is on the active list and moves up. A part of the fast tier is kept free.

    headroom: share of the fast tier that is kept free, the paper's demote_scale_factor of 2 %.
    """

    headroom: float = setting(0.02, maximum=1.0)

    def __post_init__(self) -> None:
        self._reclaim, self._active = _Reclaim(), ByFrame()

    def act(self, seen: Statistics) -> Answer:
        frame, slow = seen.units.frame, seen.units.tier == SLOW
        faulted = slow & (seen.heat.units > 0)
        active = self._active.of(frame) > 0
        self._active.set(frame[faulted], 1.0)
        self._active.set(frame[~slow], 0.0)
        up = _soonest(frame, faulted & active, seen.heat.units)
        free = self.headroom * seen.capacity[0] + seen.frames()[faulted & active].sum()
        return Answer(
            promote=up,
            demote=self._reclaim.coldest(seen, free - seen.free[0]),
            cpu_ns=np.count_nonzero(faulted) * UNIT_NS,
        )


@dataclass
class NumaBalancing(Policy):
    """NUMA balancing in tiering mode (Linux 6.1 and later), on hint faults: a page that faults
    within hot_threshold_ms of its scan moves up, within the rate limit.

    Defaults are those of Linux: hot_threshold_ms 1000, numa_balancing_promote_rate_limit_MBps
    65536.
    """

    hot_threshold_ms: float = setting(1000.0)
    rate_limit_mb_per_s: float = setting(65536.0, divide=True)

    def __post_init__(self) -> None:
        self._reclaim, self._time = _Reclaim(), 0.0

    def act(self, seen: Statistics) -> Answer:
        frame, slow = seen.units.frame, seen.units.tier == SLOW
        elapsed, self._time = seen.now_ns - self._time, seen.now_ns
        hot = slow & (seen.heat.units >= elapsed / (self.hot_threshold_ms * 1e6))
        hot &= seen.heat.units > 0
        allowed_frames = self.rate_limit_mb_per_s * 1e-3 * elapsed / seen.frame_bytes
        up = _soonest(frame, hot, seen.heat.units)
        sizes = seen.frames()[np.searchsorted(frame, up)]
        up = first_that_fit(up, sizes, allowed_frames)
        wanted = sizes[: len(up)].sum() - seen.free[0]
        return Answer(
            promote=up,
            demote=self._reclaim.coldest(seen, wanted),
            cpu_ns=np.count_nonzero(hot) * UNIT_NS,
        )


@dataclass
class Damos(Policy):
    """DAMON's schemes migrate_hot and migrate_cold on its regions (source "scan").

    In the slow tier, units with at least hot_share of the maximum heat move up, the hottest first.
    In the fast tier, units with at most cold_share of it for cold_intervals move down.
    quota_mb_per_s: for each direction.
    """

    hot_share: float = setting(0.5, maximum=1.0)
    cold_share: float = setting(0.0, maximum=1.0)
    cold_intervals: int = setting(10, 1)
    quota_mb_per_s: float = setting(1000.0, divide=True)

    interval_ms = 100.0

    def __post_init__(self) -> None:
        self._idle, self._time = ByFrame(), 0.0

    def act(self, seen: Statistics) -> Answer:
        frame, tier, heat = seen.units.frame, seen.units.tier, seen.heat.units
        used = heat > self.cold_share * heat.max(initial=0)
        idle = np.where(used, 0, self._idle.of(frame) + 1)
        self._idle.set(frame, idle)
        elapsed, self._time = seen.now_ns - self._time, seen.now_ns
        quota = self.quota_mb_per_s * 1e-3 * elapsed / seen.frame_bytes
        hot = np.flatnonzero(
            (tier == SLOW) & (heat > 0) & (heat >= self.hot_share * heat.max(initial=0))
        )
        hot = hot[np.argsort(-heat[hot], kind="stable")]
        cold = np.flatnonzero((tier == FAST) & (idle >= self.cold_intervals))
        cold = cold[np.argsort(-idle[cold], kind="stable")]
        sizes = seen.frames()
        return Answer(
            promote=first_that_fit(frame[hot], sizes[hot], quota),
            demote=first_that_fit(frame[cold], sizes[cold], quota),
            cpu_ns=len(np.unique(heat)) * UNIT_NS,
        )
