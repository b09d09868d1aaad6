# SPDX-License-Identifier: Apache-2.0
"""M2 (§6.1): fits the weights of Equation 1 by least squares to samples at several ratios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from anemone.io.errors import Bare, InputError

_MIN_R2 = 0.8
_MIN_RATIOS = 4
_RANK = 1e-9  # cutoff relative to the largest singular value; columns are scaled to 1


@dataclass(frozen=True)
class Point:
    """values: of the counters, in their order; ratio: percent on CXL; throughput: in any unit."""

    values: tuple[float, ...]
    ratio: float
    throughput: float


@dataclass(frozen=True)
class Fit:
    """r2: share of the throughput's variance that the estimate explains. r2_left_out: the same with
    each ratio estimated by a fit without its samples (None for fewer than three ratios). direction:
    share of the pairs of adjacent ratios for which estimate and throughput change in the same
    direction, which is all that Algorithm 1 needs. doubts: why the fit may be unreliable.
    """

    beta: tuple[float, ...]
    r2: float
    r2_left_out: float | None
    pearson: float
    direction: float
    estimates: tuple[float, ...]
    doubts: tuple[str, ...]


def fit(points: Sequence[Point], counters: Sequence[str], file: object) -> Fit:
    """Fit the points. Raises InputError if there is no unique solution."""
    wanted = len(counters) + 2
    if len(points) < wanted:
        allowed = f"at least {wanted} lines for {len(counters) + 1} coefficients"
        raise InputError(file, "file", "samples", len(points), allowed)
    x = np.array([p.values for p in points])
    y = np.array([p.throughput for p in points])
    ratios = np.array([p.ratio for p in points])
    if np.ptp(y) == 0:
        value = Bare(f"always {y[0]:g}")
        raise InputError(file, "file", "throughput", value, "samples at ratios that differ in it")
    beta = _solve(x, y)
    if beta is None:
        flat = [n for n, column in zip(counters, x.T, strict=True) if np.ptp(column) == 0]
        what = f"{flat[0]} always the same" if flat else "a sum of others"
        allowed = "counters that vary, none of them a sum of others: more ratios, or --counters"
        raise InputError(file, "file", "counters", Bare(what), allowed)
    found = beta[0] + x @ beta[1:]
    out = _left_out(x, y, ratios)
    fitted = Fit(
        tuple(beta.tolist()),
        _r2(y, found),
        None if out is None else _r2(y, out),
        float(np.corrcoef(found, y)[0, 1]) if np.ptp(found) > 0 else 0.0,
        _direction(y, found, ratios),
        tuple(found.tolist()),
        (),
    )
    return Fit(**{**fitted.__dict__, "doubts": tuple(_doubts(fitted, ratios))})


def _solve(x: np.ndarray, y: np.ndarray) -> np.ndarray | None:
    """b0, b1, ...; None if the solution is not unique."""
    middle, spread = x.mean(axis=0), x.std(axis=0)
    if not (spread > 1e-12 * np.abs(middle)).all():
        return None
    scaled = np.column_stack([np.ones(len(x)), (x - middle) / spread])
    weights, _, rank, _ = np.linalg.lstsq(scaled, y, rcond=_RANK)
    if rank < scaled.shape[1]:
        return None
    slopes = weights[1:] / spread
    return np.concatenate([[weights[0] - slopes @ middle], slopes])


def _left_out(x: np.ndarray, y: np.ndarray, ratios: np.ndarray) -> np.ndarray | None:
    """Estimates of each ratio's samples from a fit to the other ratios."""
    if len(set(ratios)) < 3:
        return None
    found = np.empty_like(y)
    for ratio in set(ratios):
        out = ratios == ratio
        beta = _solve(x[~out], y[~out]) if (~out).sum() > x.shape[1] + 1 else None
        if beta is None:
            return None
        found[out] = beta[0] + x[out] @ beta[1:]
    return found


def _r2(y: np.ndarray, found: np.ndarray) -> float:
    return float(1 - ((y - found) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def _direction(y: np.ndarray, found: np.ndarray, ratios: np.ndarray) -> float:
    at = sorted(set(ratios))
    means = [(y[ratios == r].mean(), found[ratios == r].mean()) for r in at]
    pairs = list(pairwise(means))
    if not pairs:
        return 0.0
    return sum((b[0] - a[0]) * (b[1] - a[1]) > 0 for a, b in pairs) / len(pairs)


def _doubts(found: Fit, ratios: np.ndarray) -> list[str]:
    doubts = []
    if len(set(ratios)) < _MIN_RATIOS:
        doubts.append(f"{len(set(ratios))} ratios; {_MIN_RATIOS} or more are wanted")
    if found.r2 < _MIN_R2:
        doubts.append(f"R² is {found.r2:.3f}, below {_MIN_R2}")
    elif found.r2_left_out is not None and found.r2_left_out < _MIN_R2:
        doubts.append(f"R² of ratios that it was not fitted on is {found.r2_left_out:.3f}")
    if found.direction < 1:
        doubts.append(f"of steps from ratio to ratio, {found.direction:.0%} go the way they should")
    return doubts


def picture(points: Sequence[Point], found: Fit) -> str:
    """SVG of throughput and estimate over the ratio, and of estimate over throughput."""
    import altair as alt
    import vl_convert

    both = zip(points, found.estimates, strict=True)
    data = [
        {"ratio": p.ratio, "throughput": p.throughput, "estimate": e, "value": v, "what": what}
        for p, e in both
        for what, v in (("throughput", p.throughput), ("estimate", e))
    ]
    chart = alt.Chart(alt.InlineData(data))
    color = alt.Color("what:N", title=None)
    y = alt.Y("value:Q", title="throughput", scale=alt.Scale(zero=False))
    x = alt.X("ratio:Q", title="pages to CXL, %")
    left = chart.mark_point().encode(x=x, y=y, color=color)
    left += chart.mark_line().encode(x=x, y=alt.Y("mean(value):Q"), color=color)
    free = alt.Scale(zero=False)
    right = chart.mark_point().encode(
        x=alt.X("throughput:Q", scale=free), y=alt.Y("estimate:Q", scale=free)
    )
    title = f"R² {found.r2:.3f}, Pearson {found.pearson:.3f}"
    return vl_convert.vegalite_to_svg(alt.hconcat(left, right.properties(title=title)).to_dict())
