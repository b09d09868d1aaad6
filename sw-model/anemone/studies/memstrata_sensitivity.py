# SPDX-License-Identifier: Apache-2.0
"""Interval, step and moving average of Memstrata's allocator: the paper's Figure 16 (§6.3)."""

from __future__ import annotations

from typing import Any

from anemone.memstrata.loop import INTERVAL_S
from anemone.memstrata.outliers import EWMA
from anemone.memstrata.plan import STEP_RATIO
from anemone.studies.curves import curves
from anemone.studies.memstrata import NOTE, run_mix
from anemone.studies.study import Found, Point, Row, Study

# Parameter -> its name, the default, values. Which values Figure 16 has its text does not say.
_PARAMETERS: dict[str, tuple[str, float, tuple[float, ...]]] = {
    "interval_s": ("interval, s", INTERVAL_S, (2, 5, INTERVAL_S, 20, 40)),
    "step_ratio": ("step, share of a machine", STEP_RATIO, (0.02, 0.05, STEP_RATIO, 0.2, 0.4)),
    "ewma": ("moving average, weight of the newest", EWMA, (0.1, EWMA, 0.4, 0.7, 1.0)),
}
# Figure 10e: a data-heavy mix, the second.
_MIX = {"mix": "data-heavy", "number": 1, "share": 0.33, "ends": False, "policy": "Memstrata"}


class Sensitivity(Study):
    title = "Memstrata: sensitivity to interval, step and moving average"
    about = (
        "One mix of six machines, data-heavy, with other parameters of the allocator, one at a "
        "time (Memstrata §6.3, Figure 16). Slowdown is that of the worst machine, over 300 s."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        return [
            {**_MIX, "parameter": name, "value": float(value), "quick": quick, "seed": seed}
            for name, (_, _, values) in _PARAMETERS.items()
            for value in (values[:3:2] if quick else values)
        ]

    def run(self, point: Point) -> dict[str, Any]:
        return run_mix(point, **{point["parameter"]: point["value"]})

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        worst = {
            (p["parameter"], p["value"]): max(m["slowdown"] for m in a["machines"])
            for p, a in answers
        }
        rows, pictures = [], {}
        for name, (words, default, _) in _PARAMETERS.items():
            of = {value: found for (n, value), found in worst.items() if n == name}
            rows += [Row(f"{words} {value:g}: the worst", "%", None, s) for value, s in of.items()]
            over = of[float(default)] - min(of.values()) if default in of else 0.0
            rows.append(Row(f"{words}: the default over the best", "points", None, over))
            line = {"the worst machine": (list(of), list(of.values()))}
            pictures[name] = curves(words, line, words, "slowdown, %")
        return Found(rows, pictures, [_NOTE, NOTE], {"mix": "data-heavy, the second draw"})


_NOTE = (
    "The paper has no numbers beside its picture: the defaults do about as well as the best of "
    "each, a smaller interval or a larger step serves the outlier sooner, and the moving average "
    "hardly matters."
)
STUDY = Sensitivity()
