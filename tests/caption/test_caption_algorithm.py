# SPDX-License-Identifier: Apache-2.0
"""Algorithm 1 by hand and compared with a second implementation, and in the live controller."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anemone.caption.actuator import weights_of
from anemone.caption.algorithm import Sample, Tuning, decide, replay
from anemone.caption.controller import Controller
from anemone.caption.model import Live, Model
from tests.caption.strategies import LIVE_SETTINGS, SAMPLES, models

PURE = st.just(Live())
OF_IPC = (0.0, 0.0, 0.0, 1.0)  # the estimate is the third counter


def of_ipc(values: list[float], allocations: list[float] | None = None) -> list[Sample]:
    counts = allocations or [1.0] * len(values)
    return [Sample((0.0, 0.0, v), a) for v, a in zip(values, counts, strict=True)]


def test_by_hand() -> None:
    """Steps up while it helps; half a step back, at least min_step; the bound at 0."""
    states = replay(of_ipc([1, 2, 3, 2, 1, 2, 2, 2]), OF_IPC, 1, Tuning(20, 9, 0))
    assert [s.estimate for s in states] == [1, 2, 3, 2, 1, 2, 2, 2]
    assert [s.step for s in states] == [20, 20, 20, -10, 9, 9, 9, 9]
    assert [s.ratio for s in states] == [0, 20, 40, 30, 39, 48, 57, 66]
    down = replay(of_ipc([1, 1, 1]), OF_IPC, 1, Tuning(-30, 9, 40))
    assert [s.ratio for s in down] == [40, 10, 0]
    up = replay(of_ipc([1, 1, 1]), OF_IPC, 1, Tuning(80, 9, 0))
    assert [s.ratio for s in up] == [0, 80, 100]


def test_a_period_without_allocations_is_forgotten() -> None:
    """The third sample's reversal is reported but not kept: the fourth starts from the same
    state.
    """
    states = replay(of_ipc([1, 2, 1, 1, 3], [1, 1, 0, 1, 1]), OF_IPC, 1, Tuning(10, 9, 0))
    assert [s.step for s in states] == [10, 10, -9, -9, -9]
    assert [s.ratio for s in states] == [0, 10, 1, 1, 0]
    still = replay(of_ipc([1, 2, 3], [0, 0, 0]), OF_IPC, 1, Tuning(10, 9, 5))
    assert [s.ratio for s in still] == [5, 15, 15]  # each from the first


def test_the_average_is_of_the_last_window() -> None:
    states = replay(of_ipc([3, 1, 2, 6]), OF_IPC, 3, Tuning())
    assert [s.estimate for s in states] == [3, 2, 2, 3]


@pytest.mark.parametrize("value", [0.1, 0.7, 1 / 3, 144.1])
def test_equal_samples_are_no_loss(value: float) -> None:
    states = replay(of_ipc([value] * 9), OF_IPC, 5, Tuning(10, 9, 0))
    assert {s.step for s in states} == {10} and states[-1].ratio == 80


@given(SAMPLES, models(PURE))
def test_equals_a_second_writing(samples: list[Sample], model: Model) -> None:
    """A second implementation of the design's rules, with averages in exact fractions."""
    states = replay(samples, model.beta, model.window, model.tuning)
    kept = None
    for i, (sample, state) in enumerate(zip(samples, states, strict=True)):
        last = samples[max(0, i + 1 - model.window) : i + 1]
        means = [float(sum(Fraction(s.values[k]) for s in last) / len(last)) for k in range(3)]
        b = model.beta
        assert state.estimate == b[0] + b[1] * means[0] + b[2] * means[1] + b[3] * means[2]
        if kept is None:
            kept = (state.estimate, model.tuning.step, model.tuning.start)
            assert (state.step, state.ratio) == kept[1:]
            continue
        if state.estimate < kept[0]:
            size = max(abs(kept[1]) / 2, model.tuning.min_step)
            assert abs(state.step) == size and state.step * kept[1] <= 0
        else:
            assert state.step == kept[1]
        assert state.ratio == sorted((0.0, kept[2] + state.step, 100.0))[1]
        if sample.new_allocations:
            kept = (state.estimate, state.step, state.ratio)


@given(SAMPLES, models(PURE))
def test_what_runs_live_is_the_pure_algorithm(samples: list[Sample], model: Model) -> None:
    """Without hysteresis and restart all decisions are equal."""
    controller = Controller(model)
    live = [controller.period(sample) for sample in samples]
    assert [d.state for d in live] == replay(samples, model.beta, model.window, model.tuning)
    assert {d.kind for d in live[1:]} <= {"step", "reverse"}
    assert all(
        d.kept == (s.new_allocations > 0) for d, s in zip(live[1:], samples[1:], strict=True)
    )


@given(SAMPLES, models(LIVE_SETTINGS))
def test_bounds_hold_live(samples: list[Sample], model: Model) -> None:
    """For any samples the ratio is 0 to 100, a reversed step is at least min_step, every move is
    Algorithm 1's from the kept state, and hold, wait and restart do not move.
    """
    controller, before = Controller(model), None
    for sample in samples:
        decision = controller.period(sample)
        state = decision.state
        assert 0 <= state.ratio <= 100 and decision.reason
        if before is None:
            assert (decision.kind, state.ratio) == ("start", model.tuning.start)
        elif decision.kind in ("step", "reverse"):
            assert state == decide(state.estimate, before, model.tuning)
        else:
            assert decision.kind in ("hold", "wait", "restart") and state.ratio == before.ratio
        if decision.kind == "reverse":
            assert abs(state.step) >= model.tuning.min_step
        if decision.kept:
            before = state


def controlled(values: list[float], live: Live, window: int = 1) -> list[tuple[str, float]]:
    controller = Controller(Model(OF_IPC, window=window, live=live))
    done = [controller.period(sample) for sample in of_ipc(values)]
    return [(d.kind, d.state.ratio) for d in done]


def test_small_changes_hold() -> None:
    """The first step is always taken, because otherwise nothing can be learned. A slow drift adds
    up relative to the last kept period, and eventually causes a step.
    """
    done = controlled([100, 100, 100.5, 99.8, 100.9, 101.2], Live(hysteresis=0.01))
    assert done == [
        ("start", 0), ("step", 10), ("hold", 10), ("hold", 10), ("hold", 10), ("step", 20),
    ]  # fmt: skip


def test_a_sudden_change_begins_again() -> None:
    """One outlier is ignored. Two consecutive ones are a new phase: the step restarts, the ratio is
    kept, and the average is cleared.
    """
    live = Live(restart=0.3)
    assert controlled([100, 100, 200, 101, 102], live) == [
        ("start", 0), ("step", 10), ("wait", 10), ("step", 20), ("step", 30),
    ]  # fmt: skip
    done = controlled([100, 101, 90, 40, 40, 41], live)
    assert done == [
        ("start", 0), ("step", 10), ("reverse", 1), ("wait", 1), ("restart", 1), ("step", 11),
    ]  # fmt: skip


@given(st.floats(0, 100))
def test_weights_are_the_ratio(ratio: float) -> None:
    """Weights are 1 to 255, as Linux requires; the error is at most 0.2 % and 0.4 % at the ends."""
    dram, cxl = weights_of(ratio)
    assert 1 <= dram <= 255 and 1 <= cxl <= 255
    assert abs(100 * cxl / (dram + cxl) - ratio) <= 0.4


def test_equal_weights_at_a_half() -> None:
    assert (weights_of(50.0), weights_of(0.0), weights_of(100.0)) == ((1, 1), (255, 1), (1, 255))
