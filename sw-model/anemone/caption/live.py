# SPDX-License-Identifier: Apache-2.0
"""The loop of the live tool: sample, decide, set the weights, report."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from anemone.caption.actuator import RatioFile, WeightedInterleave
from anemone.caption.algorithm import Sample
from anemone.caption.controller import Controller, Decision
from anemone.caption.model import Model

Actuator = WeightedInterleave | RatioFile


def merged(samples: Iterator[Sample], every: int) -> Iterator[list[Sample]]:
    """Group the samples by tuning interval, `every` samples each."""
    group: list[Sample] = []
    for sample in samples:
        group.append(sample)
        if len(group) == every:
            yield group
            group = []


def run(
    model: Model,
    samples: Iterator[Sample],
    every: int,
    actuator: Actuator,
    dry_run: bool,
    report: Callable[[int, Sample, Decision, str], None],
) -> int:
    """Decide after each `every` samples, until they end or SIGTERM. Returns the number of
    decisions.

    A period's new allocations are the sum over its samples, and its estimate uses the moving
    average over all samples. The previous weights are restored at the end.
    """
    restore: Callable[[], None] | None = None
    if not dry_run:
        actuator.check()
        restore = actuator.saved()
    controller = Controller(model)
    done = 0
    try:
        with _terminated(), suppress(_Ended):
            for group in merged(samples, every):
                for sample in group[:-1]:
                    controller.observe(sample)
                allocated = sum(sample.new_allocations for sample in group)
                sample = Sample(group[-1].values, allocated)
                decision = controller.period(sample)
                ratio = decision.state.ratio
                acted = actuator.command(ratio) if dry_run else actuator.set(ratio)
                report(done, sample, decision, acted)
                done += 1
    finally:
        if restore:
            restore()
    return done


class _Ended(Exception):
    """SIGTERM: systemd stops the service."""


@contextmanager
def _terminated() -> Iterator[None]:
    def end(_signal: int, _frame: object) -> None:
        raise _Ended

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def record(number: int, model: Model, sample: Sample, decision: Decision, acted: str) -> str:
    """A decision as one line of JSON."""
    return json.dumps(
        {
            "period": number,
            **dict(zip(model.counters, sample.values, strict=True)),
            "new_allocations": sample.new_allocations,
            **decision.state.named(),
            "decision": decision.kind,
            "reason": decision.reason,
            "kept": decision.kept,
            "actuator": acted,
        }
    )


def line(number: int, decision: Decision, acted: str) -> str:
    """A decision as one line of text."""
    state = decision.state
    return (
        f"{number}: {decision.kind}: {state.ratio:.1f} % to CXL ({acted}), "
        f"estimate {state.estimate:.6g}: {decision.reason}"
    )
