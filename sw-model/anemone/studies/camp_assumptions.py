# SPDX-License-Identifier: Apache-2.0
"""Measures CAMP's assumptions (§4.1, Figure 4) on the workloads of the study.

If a prediction is wrong, these rows show which step of its derivation does not hold here. All use
the counters of both runs. The paper's numbers are from Figure 4, whose unloaded latencies have the
ratio 1.56, as those of SKX2S.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from anemone.studies.study import Row

# (ratio, label in the table, lower bound, upper bound, why it differs from the paper).
_STEPS = (
    ("R_N", "R_N, demand reads, within 5 % of 1", 0.95, 1.05,
     "a prefetch that a load waits for is a demand read here, and on slow memory more are late"),
    ("R_Lat", "R_Lat between 1.4 and 1.8", 1.4, 1.8,
     "the idle latencies are 1.56 apart, and nothing but queues varies them here"),
    ("R_MLP", "R_MLP above 1.1", 1.1, np.inf, "MLP varies less here, as the model would have it"),
    ("s_LLC / C", "s_LLC / C, P3 / P13, between 0.5 and 0.7", 0.5, 0.7,
     "kernels do little but wait, or hide most of it: next row"),
    ("s_LLC / C", "s_LLC / C above 0.7", 0.7, np.inf, ""),
)  # fmt: skip
# Share of the workloads within the bounds, in % (§4.1.1 and §4.1.2).
_PAPER = dict(zip((words for _, words, *_ in _STEPS), (95.0, 78.0, 12.0, 70.0), strict=False))
_READS = 1.0  # demand reads per thousand instructions that give meaningful latency and MLP
PARTS = ("S_DRd", "S_Cache", "S_Store")


def rows(name: str, judged: Sequence, compare: Callable[[str, list, list, str], list[Row]]) -> list:
    """Rows on the workloads that do not saturate the slow memory.

    judged: objects of camp_judge.Judged. compare: makes the rows that compare predicted and
    measured slowdowns.
    """
    reading = [j for j in judged if reads(j)]
    if len(reading) < 2:
        return []
    paper = _PAPER if name == "NUMA" else {}
    ratios = [_ratios(j) for j in reading]
    found = []
    for what, words, low, high, why in _STEPS:
        here = 100 * float(np.mean([low <= r[what] <= high for r in ratios]))
        theirs = paper.get(words)
        of = f"{name}, {len(reading)} with reads: {words}"
        found.append(Row(of, "%", theirs, here, why if theirs is not None else ""))
    both = [(j.slow["P13"] - j.dram["P13"]) / j.dram["c"] for j in reading]
    found += compare(
        f"{name}: S_DRd by Eq. 2, of both runs", both, [j.rises[0] for j in reading], ""
    )
    for i, part in enumerate(PARTS):
        here, measured = ([getattr(j, of)[i] for j in judged] for of in ("parts", "rises"))
        k = fitted(here, measured)
        words = f"{name}: {part}, with the k that fits these workloads best"
        found += compare(words, [k * p for p in here], measured, f"k times {k:.2f}")
    return found


def reads(one) -> bool:
    """Whether a workload has enough demand reads on both memories for meaningful L and MLP."""
    minimum = _READS / 1000 * one.dram["instructions"]
    return min(one.dram["P12"], one.slow["P12"]) >= minimum


def fitted(predicted: list[float], measured: list[float]) -> float:
    """The k of least squares, which is the best that a calibration could find."""
    p, m = np.array(predicted), np.array(measured)
    weight = float(p @ p)
    return max(float(p @ m) / weight, 0.0) if weight else 0.0


def _ratios(one) -> dict[str, float]:
    d, s = one.dram, one.slow
    return {
        "R_N": s["P12"] / d["P12"],
        "R_Lat": (s["P11"] / s["P12"]) / (d["P11"] / d["P12"]),
        "R_MLP": (s["P11"] / s["P13"]) / (d["P11"] / d["P13"]),
        "s_LLC / C": d["P3"] / d["P13"],
    }
