# SPDX-License-Identifier: Apache-2.0
"""A workload's profiles as a surface over its share of dedicated pages and of the bandwidth, and
what workloads that run side by side leave each other of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anemone.memstrata.outliers import METRICS
from anemone.studies.profiles import FAR, LOCAL, Place, profile
from anemone.studies.study import Point

_TURNS, _NEAR_ENOUGH = 100, 1e-4  # of the search for shares
_KEPT = ("seconds", "instructions", "near_gb", "far_gb", "miss_ratio", *METRICS)


@dataclass(frozen=True)
class State:
    """A workload's speed and counters in a place. near_gb_per_s, far_gb_per_s: bandwidth used."""

    seconds: float
    instructions: float
    near_gb_per_s: float
    far_gb_per_s: float
    miss_ratio: float
    metrics: dict[str, float]


@dataclass(frozen=True)
class Surface:
    """rows: profiles by (share of dedicated pages, share of bandwidth), on a full grid.

    Values are interpolated linearly in the share of pages and in the inverse of the share of
    bandwidth, because time is proportional to the inverse if bandwidth is the limit. Below the
    smallest share of bandwidth they are extrapolated.
    """

    rows: Mapping[tuple[float, float], Mapping[str, float]]

    @cached_property
    def _grid(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        dedicated = sorted({d for d, _ in self.rows})
        bandwidth = sorted({b for _, b in self.rows}, reverse=True)
        values = [[_kept(self.rows[d, b]) for b in bandwidth] for d in dedicated]
        return np.array(dedicated), 1 / np.array(bandwidth), np.array(values)

    def at(self, dedicated: float, bandwidth: float = 1.0) -> State:
        pages, inverse, values = self._grid
        of_pages = _between(pages, dedicated)
        total = sum(
            a * b * values[i, j] for i, a in of_pages for j, b in _between(inverse, 1 / bandwidth)
        )
        kept = dict(zip(_KEPT, np.maximum(total, 0.0).tolist(), strict=True))
        seconds = kept["seconds"]
        return State(
            seconds, kept["instructions"], kept["near_gb"] / seconds, kept["far_gb"] / seconds,
            min(1.0, kept["miss_ratio"]), {name: kept[name] for name in METRICS},
        )  # fmt: skip


def surface(workload: Point, places: Sequence[Place]) -> Surface:
    """The surface of these places; places without a kept profile are simulated."""
    at = [(place.dedicated, place.bandwidth) for place in places]
    return Surface(dict(zip(at, profile(workload, places), strict=True)))


def shares(
    machines: Sequence[tuple[Surface, float]], more: tuple[float, float] = (0.0, 0.0)
) -> list[float]:
    """The share of both memories' bandwidth of each machine: what the others leave, and at least an
    equal share.

    machines: (surface, share of dedicated pages). more: other traffic of near and far memory, GB/s.
    """
    found = [1.0] * len(machines)
    full = (LOCAL.gb_per_s, FAR.gb_per_s)
    for _ in range(_TURNS):
        states = [s.at(d, b) for (s, d), b in zip(machines, found, strict=True)]
        used = [(state.near_gb_per_s, state.far_gb_per_s) for state in states]
        total = [sum(own[t] for own in used) + more[t] for t in (0, 1)]
        left = [min(1 - (total[t] - own[t]) / full[t] for t in (0, 1)) for own in used]
        new = [max(1 / len(machines), share) for share in left]
        apart = max((abs(a - b) for a, b in zip(new, found, strict=True)), default=0.0)
        found = [(a + b) / 2 for a, b in zip(new, found, strict=True)]
        if apart < _NEAR_ENOUGH:
            break
    return found


def _kept(row: Mapping[str, float]) -> list[float]:
    far = row["far_gb_per_s"] * row["seconds"]
    volumes = {"far_gb": far, "near_gb": row["gb_per_s"] * row["seconds"] - far}
    return [volumes[name] if name in volumes else row[name] for name in _KEPT]


def _between(grid: np.ndarray, at: float) -> list[tuple[int, float]]:
    """Grid indices and weights for interpolation; extrapolates beyond the last grid point."""
    if len(grid) == 1 or at <= grid[0]:
        return [(0, 1.0)]
    i = min(int(np.searchsorted(grid, at)), len(grid) - 1)
    part = float((at - grid[i - 1]) / (grid[i] - grid[i - 1]))
    return [(i - 1, 1 - part), (i, part)]
