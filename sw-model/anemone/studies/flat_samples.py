# SPDX-License-Identifier: Apache-2.0
"""Samples for Memstrata's classifier: profiles of the workloads at possible places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anemone.memstrata.outliers import METRICS
from anemone.studies.flat_slowdown import STUDY
from anemone.studies.profiles import Place, profile, slowdown
from anemone.studies.study import Point

# Shares of dedicated pages, 0 is tiered; and shares of the bandwidth that other machines leave.
_DEDICATED = (0.0, 0.17, 0.33, 0.5, 0.67, 0.83)
_BANDWIDTH = (1.0, 0.5, 0.25)


def grid(quick: bool) -> list[list[Place]]:
    """The profiled places by bandwidth, each list with local memory first."""
    shares, bandwidths = (_DEDICATED[::2], _BANDWIDTH[:1]) if quick else (_DEDICATED, _BANDWIDTH)
    return [[Place(dedicated, b) for dedicated in (1.0, *shares)] for b in bandwidths]


def samples(
    quick: bool, seed: int, progress: Callable[[int, int], None] | None = None
) -> list[dict[str, Any]]:
    """Samples of every workload at every place; copies of a captured program are one program."""
    points = STUDY.points(quick, seed)
    found = []
    for i, point in enumerate(points):
        name = point.get("program") or f"{point['category']} {i}"
        for places in grid(quick):
            found += _of(point, name, places)
        if progress:
            progress(i + 1, len(points))
    return found


def _of(point: Point, name: str, places: list[Place]) -> list[dict[str, Any]]:
    local, *others = profile(point, places)
    return [
        {"program": name, **{metric: there[metric] for metric in METRICS},
         "miss_ratio": there["miss_ratio"], "slowdown": slowdown(there, local),
         "captured": "program" in point}
        for there in others
    ]  # fmt: skip
