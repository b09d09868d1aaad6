# SPDX-License-Identifier: Apache-2.0
"""Evaluates the conjugate gradient here, the paper's Figure 9, and third-party programs."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median, quantiles
from typing import Any

from anemone.models.msgfree.model import evaluate
from anemone.models.msgfree.parameters import Parameters
from anemone.studies.message_free_runs import RANKS, site_of
from anemone.studies.study import Point, Row

Answers = Sequence[tuple[Point, dict[str, Any]]]
Curves = dict[str, list[tuple[int, float]]]  # "measured", "predicted": side, speedup
_TWO_RANKS = (
    "18 calls of MPI for each face, which shared memory saves; an iteration takes microseconds; "
    "the two ranks share a cache"
)


def turns(answers: Answers, run: str, *names: str) -> dict[tuple, list[float]]:
    """Seconds of each turn of the runs of this kind, by the values of these fields."""
    found: dict[tuple, list[float]] = {}
    for point, answer in answers:
        if point["run"] == run:
            found.setdefault(tuple(point[name] for name in names), []).append(answer["seconds"])
    return found


def spread(some: Sequence[float]) -> float:
    """The interquartile range of a run's turns, in percent of their median."""
    if len(some) < 2:
        return 0.0
    low, middle, high = quantiles(some, n=4)
    return 100 * (high - low) / middle


def gradient_here(answers: Answers, here: Parameters) -> Curves:
    """Speedup of shared memory with unpacking over messages. Two ranks have a face each."""
    took = {key: median(some) for key, some in turns(answers, "cg alone", "side", "mode").items()}
    found: Curves = {"measured": [], "predicted": []}
    for point, answer in answers:
        if point["run"] != "cg" or (step := took.get((point["side"], "message"))) is None:
            continue
        site = site_of(answer["along_x"])
        gain = evaluate(site, here).gain_ns / len(site.messages)
        side = point["side"]
        found["measured"].append((side, step / took[side, "shared"]))
        found["predicted"].append((side, step * 1e9 / (step * 1e9 - gain)))
    return found


def gradient_rows(found: Curves) -> list[Row]:
    rows = [
        Row(f"cg here, {how}: side of {side}", "×", None, speedup)
        for how, some in found.items()
        for side, speedup in some
    ]
    largest = {how: 100 * max(abs(s - 1) for _, s in some) for how, some in found.items()}
    pairs = zip(found["measured"], found["predicted"], strict=True)
    agree = [(a > 1) == (b > 1) for (_, a), (_, b) in pairs]
    return [
        Row("cg here, measured: most that shared memory and messages differ", "%", 3.0,
            largest["measured"], _TWO_RANKS),
        Row("cg here, predicted: most that they differ", "%", None, largest["predicted"]),
        Row("cg here: prediction and measurement agree on which is better", "% of sides", None,
            100 * sum(agree) / len(agree)),
        *rows,
    ]  # fmt: skip


def other_rows(answers: Answers, by: Parameters) -> list[Row]:
    rows: list[Row] = []
    for point, answer in answers:
        if point["run"] == "other":
            rows += _of_program(point["program"], answer, by)
    return rows


def _of_program(name: str, answer: dict[str, Any], by: Parameters) -> list[Row]:
    sites = [(one["of"], site_of(one["site"])) for one in answer["sites"]]
    gains = {of: evaluate(site, by).gain_ns for of, site in sites}
    messages = {of: len(site.messages) for of, site in sites}
    better = [gain for gain in gains.values() if gain > 0]
    best, worst = max(gains, key=gains.__getitem__), min(gains, key=gains.__getitem__)
    return [
        Row(f"{name}: messages", "all ranks", None, sum(messages.values())),
        Row(f"{name}: calls of collectives, not modelled", "all ranks", None,
            answer["collectives"]),
        Row(f"{name}: better as loads", f"of {len(gains)} call sites", None, len(better)),
        *_share(name, sum(better), answer["compute_ns"]),
        *(Row(f"{name}: {of}: gain of CXL a message", "ns", None, gains[of] / messages[of])
          for of in dict.fromkeys((best, worst))),
    ]  # fmt: skip


def _share(name: str, gain: float, compute_ns: float | None) -> list[Row]:
    """Rows of a program's gain; without loads it is that of the transfer only."""
    if compute_ns is None:
        return [Row(f"{name}: what they gain, transfer only", "ms a rank", None,
                    gain / RANKS / 1e6)]  # fmt: skip
    share = 100 * gain / RANKS / compute_ns
    return [Row(f"{name}: what they gain", "% of a rank's time outside of MPI", None, share)]
