# SPDX-License-Identifier: Apache-2.0
"""Colloid (Vuppalapati and Agarwal, SOSP 2024): moves pages until both tiers' latencies are
equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anemone.policies.pages import UNIT_NS, ByFrame
from anemone.tiering.config import FAST, SLOW
from anemone.tiering.interfaces import Answer, Policy, Statistics
from anemone.tiering.parameters import setting


@dataclass
class Colloid(Policy):
    """Moves hot pages up while the fast tier is faster, and down while it is slower.

    It moves enough pages to bring the fast tier's share of accesses halfway between the largest
    share at which it was faster and the smallest at which it was slower. ewma, delta, epsilon:
    COLLOID_EWMA, COLLOID_DELTA and COLLOID_EPSILON in the published code. Latencies are from issue
    to completion, like occupancy divided by arrivals. keep: share of past heat that is kept, like
    HeMem's cooling.
    """

    ewma: float = setting(0.0625, 1e-6, 1.0)
    delta: float = setting(0.05, maximum=1.0)
    epsilon: float = setting(0.01, maximum=1.0)
    keep: float = setting(0.5, maximum=1.0)

    def __post_init__(self) -> None:
        self._heat = ByFrame()
        self._latency: np.ndarray | None = None
        self._low, self._high = 0.0, 1.0

    def act(self, seen: Statistics) -> Answer:
        frame, tier, sizes = seen.units.frame, seen.units.tier, seen.frames()
        heat = self.keep * self._heat.of(frame) + seen.heat.units
        self._heat.set(frame, heat)
        latest = np.array(seen.latency_ns)
        old = latest if self._latency is None else self._latency
        self._latency = old + self.ewma * (latest - old)
        fast, slow = self._latency
        total = heat.sum()
        idle = Answer(cpu_ns=len(frame) * UNIT_NS)
        if total == 0 or abs(fast - slow) < self.delta * fast:
            return idle
        share = seen.accesses[0] / max(1, sum(seen.accesses))
        quicker = fast < slow
        if quicker:
            self._low = share
        else:
            self._high = share
        # If the two bounds meet, the equilibrium has moved.
        if self._high < self._low + self.epsilon:
            self._low, self._high = (share, 1.0) if quicker else (0.0, share)
        wanted = abs((self._low + self._high) / 2 - share) * total
        source = np.flatnonzero((tier == (SLOW if quicker else FAST)) & (heat > 0))
        order = source[np.argsort(-heat[source] / sizes[source], kind="stable")]
        order = order[heat[order] <= wanted]  # skip pages that are too hot
        moved = order[np.cumsum(heat[order]) <= wanted]
        if not quicker:
            return Answer(demote=frame[moved], cpu_ns=idle.cpu_ns)
        cold = np.flatnonzero(tier == FAST)
        density = heat / sizes
        cold = cold[np.argsort(density[cold], kind="stable")]
        # Each promoted page takes a free frame or the frame of a colder page.
        out = np.cumsum(sizes[moved]) - seen.free[0]
        victim = np.searchsorted(np.cumsum(sizes[cold]), out)
        colder = np.append(density[cold], np.inf)[np.minimum(victim, len(cold))]
        moved = moved[(out <= 0) | (density[moved] > colder)]
        down = cold[np.cumsum(sizes[cold]) - sizes[cold] < sizes[moved].sum() - seen.free[0]]
        return Answer(promote=frame[moved], demote=frame[down], cpu_ns=idle.cpu_ns)
