# SPDX-License-Identifier: Apache-2.0
"""The live M3: Algorithm 1 that holds for small changes and restarts after sudden ones.

With `hysteresis` 0 and no `restart` its decisions are those of `algorithm.replay`.
"""

from __future__ import annotations

from dataclasses import dataclass

from anemone.caption.algorithm import Average, Sample, State, decide, estimate, first
from anemone.caption.model import Model


@dataclass(frozen=True)
class Decision:
    """state: the new state. kind: start, step, reverse, hold, wait or restart. reason: why, as
    text. kept: whether later periods start from this state, because there were new allocations.
    """

    state: State
    kind: str
    reason: str
    kept: bool


class Controller:
    """Takes one sample per period and decides the share of new pages on CXL."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._average = Average(model.window)
        self._before: State | None = None
        self._moved = False  # whether a step was taken since the search started
        self._sudden: list[Sample] = []

    def observe(self, sample: Sample) -> None:
        """Add a sample between two decisions to the moving average only."""
        self._average.add(sample.values)

    def period(self, sample: Sample) -> Decision:
        """The decision of one period."""
        before = self._before
        if before is not None and self._is_sudden(sample, before):
            return self._change_of_phase(sample, before)
        for passed in self._sudden:  # too few for a new phase, so they count as normal samples
            self._average.add(passed.values)
        self._sudden.clear()
        now = self._estimate(sample)
        if before is None:
            return self._begin(first(now, self.model.tuning), "start", "the first sample")
        allocated = sample.new_allocations > 0
        change = _change(now, before.estimate)
        if self._moved and abs(change) < self.model.live.hysteresis:
            held = State(now, before.step, before.ratio)
            limit = self.model.live.hysteresis
            return Decision(held, "hold", f"{change:+.2%} is within {limit:.2%}", False)
        state = decide(now, before, self.model.tuning)
        kind = "reverse" if now < before.estimate else "step"
        reason = f"estimate {change:+.2%}"
        reason += "" if allocated else "; no new allocations: the next period starts from before"
        if allocated:
            self._before, self._moved = state, True
        return Decision(state, kind, reason, allocated)

    def _estimate(self, sample: Sample) -> float:
        return estimate(self.model.beta, self._average.add(sample.values))

    def _is_sudden(self, sample: Sample, before: State) -> bool:
        alone = estimate(self.model.beta, sample.values)
        return abs(_change(alone, before.estimate)) > self.model.live.restart

    def _change_of_phase(self, sample: Sample, before: State) -> Decision:
        self._sudden.append(sample)
        seen, wanted = len(self._sudden), self.model.live.restart_samples
        change = _change(estimate(self.model.beta, sample.values), before.estimate)
        if seen < wanted:
            reason = f"sudden {change:+.1%}, {seen} of {wanted} samples"
            return Decision(before, "wait", reason, False)
        # The average restarts with the new phase; the ratio is kept.
        self._average.clear()
        for passed in self._sudden[:-1]:
            self._average.add(passed.values)
        self._sudden.clear()
        state = State(self._estimate(sample), self.model.tuning.step, before.ratio)
        return self._begin(state, "restart", f"sudden {change:+.1%} in {wanted} samples")

    def _begin(self, state: State, kind: str, reason: str) -> Decision:
        self._before, self._moved = state, False
        return Decision(state, kind, reason, True)


def _change(now: float, before: float) -> float:
    """The change as a fraction of the value before, without division by zero."""
    return (now - before) / max(abs(before), 1e-300)
