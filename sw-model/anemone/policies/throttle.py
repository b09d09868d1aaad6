# SPDX-License-Identifier: Apache-2.0
"""Caps a thread's bandwidth by its share of a processor (NEMO §5.3); it moves no pages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anemone.io.errors import InputError
from anemone.policies.pages import UNIT_NS
from anemone.tiering.interfaces import Answer, Policy, Statistics
from anemone.tiering.parameters import constants, setting

_LINE = 64
_TAU_NS = constants("scheduler")["period_ms"] * 1e6
_MIN_SHARE = 0.01  # least share of a processor; with 0 a thread could not be measured again


@dataclass
class BandwidthCap(Policy):
    """Adjusts a thread's share by the ratio of the cap to the moving average of its bandwidth.

    thread: its position among the trace's threads, ascending. cap_gb_per_s: 10^9 bytes per second.
    rate: the part of the gap (as an exponent of the ratio) that is closed in a scheduler period.
    The paper has such a rate and an average, but gives no values. The average here has the time
    constant of a scheduler period, because within a period a throttled thread looks like one that
    needs less bandwidth.
    """

    thread: int = setting(0, 0, 1 << 16)
    cap_gb_per_s: float = setting(1.073741824, 1e-9, divide=True)
    rate: float = setting(0.5, maximum=1.0)

    interval_ms = 50.0
    by_thread = True

    def __post_init__(self) -> None:
        self._mean = self._time = 0.0
        self._share = 1.0

    def start(self, threads: int, trace: object) -> None:
        if not -threads <= self.thread < threads:
            allowed = f"0 to {threads - 1}: positions among the trace's threads, ascending"
            raise InputError(trace, "threads", "policy.thread", self.thread, allowed)

    def act(self, seen: Statistics) -> Answer:
        elapsed, self._time = seen.now_ns - self._time, seen.now_ns
        now = seen.heat.threads[self.thread] * _LINE / elapsed
        newest = 1 - np.exp(-elapsed / _TAU_NS)
        self._mean += newest * (now - self._mean)
        gap = self.cap_gb_per_s / max(self._mean, 1e-3 * self.cap_gb_per_s)
        closed = self.rate * min(1.0, elapsed / _TAU_NS)
        self._share = float(np.clip(self._share * gap**closed, _MIN_SHARE, 1.0))
        quota = np.ones(len(seen.heat.threads))
        quota[self.thread] = self._share
        return Answer(quota=quota, cpu_ns=UNIT_NS * len(quota))
