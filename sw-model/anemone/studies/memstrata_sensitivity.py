# SPDX-License-Identifier: Apache-2.0
"""Interval, step and moving average of Memstrata's allocator: the paper's Figure 16 (§6.3)."""

from __future__ import annotations

from typing import Any

from anemone.memstrata.loop import INTERVAL_S
from anemone.memstrata.outliers import EWMA
from anemone.memstrata.plan import STEP_RATIO
from anemone.studies.curves import curves
from anemone.studies.flat_mixes import first_served
from anemone.studies.memstrata import COMMON, NOTE, run_mix
from anemone.studies.study import Found, Point, Row, Study

# Parameter -> its name, the default, values. The paper does not give the values of Figure 16.
_PARAMETERS: dict[str, tuple[str, float, tuple[float, ...]]] = {
    "interval_s": ("interval, s", INTERVAL_S, (2, 5, INTERVAL_S, 20, 40)),
    "step_ratio": ("step, share of a machine", STEP_RATIO, (0.02, 0.05, STEP_RATIO, 0.2, 0.4)),
    "ewma": ("moving average, weight of the newest", EWMA, (0.1, EWMA, 0.4, 0.7, 1.0)),
}
_MIX = {"share": 0.33, "ends": False, "policy": "Memstrata"}


class Sensitivity(Study):
    title = "Memstrata: sensitivity to interval, step and moving average"
    about = (
        "Mixes of six machines with other parameters of the allocator, one at a time (Memstrata "
        "§6.3, Figure 16, which has one mix, data-heavy). Slowdown is that of the worst machine, "
        "over 300 s."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        return [
            {"mix": mix, **_MIX, "parameter": name, "value": float(value), "quick": quick,
             "seed": seed}
            for mix in (COMMON[1:2] if quick else COMMON)
            for name, (_, _, values) in _PARAMETERS.items()
            for value in (values[:3:2] if quick else values)
        ]  # fmt: skip

    def run(self, point: Point) -> dict[str, Any]:
        number = first_served(point["mix"], point["quick"], point["seed"])
        found = run_mix({**point, "number": number}, **{point["parameter"]: point["value"]})
        return {**found, "number": number}

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        worst = {
            (p["parameter"], p["mix"], p["value"]): max(m["slowdown"] for m in a["machines"])
            for p, a in answers
        }
        drawn = {p["mix"]: a["number"] for p, a in answers}
        rows, pictures = [], {}
        for name, (words, default, _) in _PARAMETERS.items():
            lines = {}
            for mix in drawn:
                of = {v: found for (n, m, v), found in worst.items() if (n, m) == (name, mix)}
                lines[mix] = (list(of), list(of.values()))
                rows += [
                    Row(f"{mix}, {words} {value:g}: the worst", "%", None, s)
                    for value, s in of.items()
                ]
                over = of[float(default)] - min(of.values()) if default in of else 0.0
                what = f"{mix}, {words}: the default over the best"
                rows.append(Row(what, "points", None, over))
            pictures[name] = curves(words, lines, words, "slowdown, %")
        constants = {mix: f"draw {number}" for mix, number in drawn.items()}
        return Found(rows, pictures, [_NOTE, NOTE], constants)


_NOTE = (
    "The paper has no numbers beside its picture: the defaults do about as well as the best of "
    "each, a smaller interval or a larger step serves the outlier sooner, and the moving average "
    "hardly matters.\n\n"
    "Which draw of a mix: the first in which a machine, alone, is slowed by more than 5 % with a "
    "third dedicated, and by 5 points less with two thirds; else no parameter could matter. The "
    "rule looks at profiles alone, and was fixed before any of these runs."
)
STUDY = Sensitivity()
