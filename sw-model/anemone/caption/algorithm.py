# SPDX-License-Identifier: Apache-2.0
"""Equation 1 and Algorithm 1, shared by the live controller and `caption replay`."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean

MIN_RATIO, MAX_RATIO = 0.0, 100.0  # limits of the percentage of new pages on CXL


@dataclass(frozen=True)
class Sample:
    """M1's sample of one period. values: of the model's counters, in its order."""

    values: tuple[float, ...]
    new_allocations: float = 1.0


@dataclass(frozen=True)
class State:
    """Estimate of performance, step and ratio (percentage of new pages on CXL) of one period."""

    estimate: float
    step: float
    ratio: float

    def named(self) -> dict[str, float]:
        return {"estimate": self.estimate, "step": self.step, "ratio": self.ratio}


@dataclass(frozen=True)
class Tuning:
    """Constants of Algorithm 1, in percent. A negative step starts the search downwards."""

    step: float = 10.0
    min_step: float = 9.0
    start: float = 0.0


def estimate(beta: Sequence[float], values: Sequence[float]) -> float:
    """Equation 1: b0 + b1 X1 + b2 X2 + ..."""
    total = beta[0]
    for weight, value in zip(beta[1:], values, strict=True):
        total += weight * value
    return total


class Average:
    """The moving average of the last `window` samples; of all samples at the start."""

    def __init__(self, window: int) -> None:
        self._last: deque[tuple[float, ...]] = deque(maxlen=window)

    def add(self, values: tuple[float, ...]) -> tuple[float, ...]:
        self._last.append(values)
        # mean() is exact and rounds once, so the average of equal samples is their value. Otherwise
        # rounding could look like a loss of performance.
        return tuple(mean(column) for column in zip(*self._last, strict=True))

    def clear(self) -> None:
        self._last.clear()


def first(now: float, tuning: Tuning) -> State:
    """The state after the first period: its estimate, and the initial step and ratio."""
    return State(now, tuning.step, tuning.start)


def decide(now: float, before: State, tuning: Tuning) -> State:
    """Lines 2 to 6 of Algorithm 1: the new state from an estimate and the state before."""
    step = before.step
    if now < before.estimate:
        step *= -0.5
        step = math.copysign(max(abs(step), tuning.min_step), step)
    return State(now, step, min(max(before.ratio + step, MIN_RATIO), MAX_RATIO))


def replay(
    samples: Iterable[Sample], beta: Sequence[float], window: int, tuning: Tuning
) -> list[State]:
    """Algorithm 1 on recorded samples: one state per sample. Lines 8 to 11 decide which are
    kept.
    """
    average = Average(window)
    before: State | None = None
    done = []
    for sample in samples:
        now = estimate(beta, average.add(sample.values))
        if before is None:
            before = state = first(now, tuning)
        else:
            state = decide(now, before, tuning)
            if sample.new_allocations > 0:
                before = state
        done.append(state)
    return done
