# SPDX-License-Identifier: Apache-2.0
"""Caption's choice of a ratio (Sun et al., "Demystifying CXL Memory", MICRO 2023, Algorithm 1)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Sample:
    """A second of counters: ns of an L1 miss and of a DRAM read, instructions a cycle."""

    l1_miss_latency_ns: float
    ddr_read_latency_ns: float
    ipc: float
    new_allocations: bool = True


@dataclass(frozen=True)
class Period:
    """What a sample led to. ratio: percent of new pages to CXL, from now on."""

    estimate: float
    step: float
    ratio: float


@dataclass
class Caption:
    """Steps the ratio on while an estimate of performance rises, and back, half as far, where not.

    beta: of the linear estimate on the moving average of the last `window` samples; step, min_step
    and start in percent.
    """

    beta: tuple[float, float, float, float]
    window: int = 5
    step: float = 10.0
    min_step: float = 9.0
    start: float = 0.0
    _seen: deque[tuple[float, float, float]] = field(init=False)
    _before: float | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._seen = deque(maxlen=self.window)
        self._ratio = self.start

    def period(self, sample: Sample) -> Period:
        """The next period. The first only sets the state; without new allocations none moves on."""
        now = (sample.l1_miss_latency_ns, sample.ddr_read_latency_ns, sample.ipc)
        self._seen.append(now)
        means = [sum(column) / len(self._seen) for column in zip(*self._seen, strict=True)]
        estimate = self.beta[0] + sum(b * m for b, m in zip(self.beta[1:], means, strict=True))
        if self._before is None:
            self._before = estimate
            return Period(estimate, self.step, self._ratio)
        step = self.step
        if estimate < self._before:
            step *= -0.5
            if abs(step) < self.min_step:
                step = self.min_step if step > 0 else -self.min_step
        ratio = min(max(self._ratio + step, 0.0), 100.0)
        if sample.new_allocations:
            self._before, self.step, self._ratio = estimate, step, ratio
        return Period(estimate, step, ratio)
