# SPDX-License-Identifier: Apache-2.0
"""Slowdowns with only CXL memory, flat memory, and a third dedicated (Memstrata's Figure 5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from anemone.studies.camp_workloads import INSTRUCTIONS
from anemone.studies.curves import curves
from anemone.studies.flat_workloads import PROGRAM, SCALE, drawn, of_each
from anemone.studies.profiles import (
    FAR,
    FAR_ONLY,
    LOCAL,
    LOCAL_ONLY,
    MIXED,
    PAGE_BITS,
    TIERED,
    profile,
    slowdown,
)
from anemone.studies.study import Found, Point, Row, Study

# Operations of all cores of a workload, and warm-up operations before them (see NOTE).
COUNTED, WARM = 4_000_000, 2_000_000
_QUICK = 100  # a quick run is smaller by this factor
# Setting -> place; % of the paper's workloads within 5 and 10 %, and its worst (§3.2).
SETTINGS = {
    "CXL only": (FAR_ONLY, (None, None, 58.0)),
    "tiered": (TIERED, (73.0, 86.0, 50.0)),
    "mixed": (MIXED, (82.0, 95.0, 34.0)),
}
_WORST_MISSES = 41.0  # 649.fotonik3d_s, tiered
_MILD, _MILD_WORST = ("database", "big data"), 20.0  # CXL only: "up to 20 %"
_OTHERS = "kernels drawn from ranges, not the paper's 115 programs"
# Why workloads here are slower or miss more than the paper's, and why less.
SLOWER = f"{_OTHERS}; a machine alone has only its cores' part of the L3"
FASTER = f"{_OTHERS}; caches are not scaled as memory is, and hold more of it"
NOTE = f"""**What is not the paper's.**

- *Capacities are a {SCALE}th*: 1 GB is {1024 // SCALE} MiB here, a huge page {2048 // SCALE} KiB.
  Caches, times and bandwidths are as they are, so more of a machine's memory is in its caches.
- *Near memory begins as programs that run for ever leave it*, as a run is too short to get there:
  a line that is asked for the first time is near if it was asked for after the one that shares its
  place (docs/core-model.md). So a scan finds nothing near, and lines without a pattern half of it.
- *A captured program* says nothing of what it did before: each of two lines is as likely near.
- One run each; the model has no noise, and so no error bars."""


class FlatSlowdown(Study):
    title = "Flat memory mode: slowdown on CXL memory alone, tiered, and mixed"
    about = (
        "Every workload is one virtual machine on the core model (docs/core-model.md): on local "
        "memory alone, which it is slower than; on CXL memory alone; on flat memory, half of it "
        "near; and on flat memory with a third of the pages dedicated (Memstrata §3.2, Figure 5)."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        every = drawn(seed)
        if quick:  # two of each category, without programs, which must be captured first
            every = of_each(every, 2)
        small = _QUICK if quick else 1
        return [{**w, **_length(w, small)} for w in every]

    def run(self, point: Point) -> dict[str, Any]:
        places = [LOCAL_ONLY, *(place for place, _ in SETTINGS.values())]
        return dict(zip(("local", *SETTINGS), profile(point, places), strict=True))

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        return judge(answers)


def _length(workload: Point, small: int) -> dict[str, int]:
    """The lengths of a run. Copies of a captured program run all of it, a third as warm-up."""
    if workload["category"] == PROGRAM:
        third = workload["cores"] * INSTRUCTIONS // 3
        return {"operations": 2 * third, "warm": third}
    return {"operations": COUNTED // small, "warm": WARM // small}


def judge(answers: list[tuple[Point, dict[str, Any]]]) -> Found:
    """Evaluate the points' answers."""
    categories = [point["category"] for point, _ in answers]
    slower = {
        name: np.array([100 * slowdown(a[name], a["local"]) for _, a in answers])
        for name in SETTINGS
    }
    misses = np.array([100 * a["tiered"]["miss_ratio"] for _, a in answers])
    rows = [Row("workloads", "", 115.0, float(len(answers)), "of seven categories, and captured")]
    for name, (_, paper) in SETTINGS.items():
        rows += _rows(name, slower[name], paper)
    rows.append(compared("tiered: miss ratio of the slowest", "%", _WORST_MISSES,
                     misses[slower["tiered"].argmax()]))  # fmt: skip
    mild = np.isin(categories, _MILD)
    worst = slower["CXL only"][mild].max()
    rows.append(compared("database and big data: CXL only, the worst", "%", _MILD_WORST, worst))
    captured = np.array([category == PROGRAM for category in categories])
    if captured.any():
        for name in SETTINGS:
            some = slower[name][captured]
            rows += _rows(f"captured programs, {name}", some, (None, None, None))
    each = 100 * np.arange(1, len(answers) + 1) / len(answers)
    lines = {name: (np.sort(some).tolist(), each.tolist()) for name, some in slower.items()}
    picture = curves(
        "Workloads that are slowed by so much at most, in three settings", lines,
        "slowdown over local memory, %", "workloads, %",
    )  # fmt: skip
    size = answers[0][0]
    constants = {
        "local memory": f"{LOCAL.ns:g} ns, {LOCAL.gb_per_s:g} GB/s",
        "CXL memory": f"{FAR.ns:.0f} ns, {FAR.gb_per_s:g} GB/s",
        "pages": f"{1 << PAGE_BITS >> 10} KiB",
        "operations of a workload": f"{size['operations']:,}, {size['warm']:,} before",
        "workloads": "studies/flat_workloads.py has their ranges",
    }
    tables = [
        _by_category(categories, slower, misses),
        NOTE,
        _each([p for p, _ in answers], slower),
    ]
    return Found(rows, {"slowdown": picture}, tables, constants)


def compared(
    what: str, unit: str, paper: float | None, here: float, fewer_is_slower: bool = False
) -> Row:
    """A row, with a reason if the numbers differ by more than a twentieth. fewer_is_slower: a
    smaller number means slower.
    """
    if paper is None or abs(here - paper) <= 0.05 * paper:
        return Row(what, unit, paper, float(here))
    return Row(
        what, unit, paper, float(here), SLOWER if (here > paper) != fewer_is_slower else FASTER
    )


def _rows(what: str, some: np.ndarray, paper: tuple) -> list[Row]:
    """Rows of the shares within 5 and 10 %, and of the worst."""
    found = [100 * np.mean(some <= 5), 100 * np.mean(some <= 10), some.max()]
    parts = ("within 5 %", "within 10 %", "the worst")
    return [
        compared(f"{what}: {part}", "%", theirs, here, part.startswith("within"))
        for part, theirs, here in zip(parts, paper, found, strict=True)
    ]


def _by_category(categories: list[str], slower: dict[str, np.ndarray], misses: np.ndarray) -> str:
    """A table of medians and the worst."""
    lines = [
        "Slowdown by category, median and the worst; misses of near memory, tiered:", "",
        "| category | workloads | " + " | ".join(slower) + " | misses |",
        "| --- | ---: | " + "---: | " * len(slower) + "---: |",
    ]  # fmt: skip
    for category in dict.fromkeys(categories):
        of = np.array([c == category for c in categories])
        cells = [f"{np.median(s[of]):.1f} %, {s[of].max():.1f} %" for s in slower.values()]
        lines.append(
            f"| {category} | {of.sum()} | {' | '.join(cells)} | {np.median(misses[of]):.0f} % |"
        )
    return "\n".join(lines)


def _each(points: list[Point], slower: dict[str, np.ndarray]) -> str:
    """A table of all workloads; GB are the paper's."""
    lines = [
        "Slowdown of each:", "",
        "| workload | cores | GB | " + " | ".join(slower) + " |",
        "| --- | ---: | ---: | " + "---: | " * len(slower),
    ]  # fmt: skip
    for i, point in enumerate(points):
        name = f"{point['category']}: {point.get('program') or point['kernel']}"
        cells = " | ".join(f"{some[i]:.1f} %" for some in slower.values())
        size = point["vm_bytes"] * SCALE >> 30
        lines.append(f"| {name} | {point['cores']} | {size} | {cells} |")
    return "\n".join(lines)


STUDY = FlatSlowdown()
