# SPDX-License-Identifier: Apache-2.0
"""The constants of a machine from microbenchmarks on its DRAM and on its slow memory (§4.4.1).

p and q come first, from the scaling factor that was measured, R_Lat / R_MLP - 1 over MLP / L on
DRAM (Figure 4f); then each k by least squares. All of Eq. 5 at once would leave a common factor
open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anemone.models.camp.slowdown import CONSTANTS, Calibration, predict, stalls

FEWEST = 3  # points that a fit needs to be trusted
NARROWEST = 1.5  # largest over smallest MLP / L, for p and q to be told apart
LARGEST_RESIDUAL = 0.2  # root mean square, of the largest slowdown or factor that was measured


@dataclass(frozen=True)
class Point:
    """One microbenchmark on both memories. Counters are checked, and have P11; for equal work:
    those of the run on the slow memory are scaled to the work of the other."""

    name: str
    dram: Mapping[str, float]
    cxl: Mapping[str, float]


@dataclass(frozen=True)
class Fit:
    """Constants, what is left of each fit, and why not to trust it.

    factors: (L / MLP in cycles, measured factor, fitted) by point that went into p and q; parts:
    for drd, cache and store, (measured, predicted) slowdown by point; residuals: root mean
    squares.
    """

    calibration: Calibration
    factors: tuple[tuple[float, float, float], ...]
    parts: Mapping[str, tuple[tuple[float, float], ...]]
    residuals: Mapping[str, float]
    doubts: tuple[str, ...]

    def toml(self) -> str:
        """CAL.toml."""
        lines = ["# by anemone camp calibrate"]
        lines += [f"{name} = {getattr(self.calibration, name)!r}" for name in CONSTANTS]
        lines += ["", "[measured]"]
        lines += [f"residual_{name} = {value!r}" for name, value in self.residuals.items()]
        lines += [f"# not to be trusted: {doubt}" for doubt in self.doubts]
        return "\n".join(lines) + "\n"


def fit(points: Sequence[Point], platform: str) -> Fit:
    """The constants that fit the points best. Raises ValueError if none has a demand read that is
    slower on the slow memory, or if no p and q give all of them a factor above 0."""
    doubts: list[str] = []
    x, y = _factors(points)
    if len(x) == 0:
        raise ValueError("no point has demand reads that the slow memory slows")
    p, q = _hyperbola(x, y, doubts)
    if not (p * x + q > 0).all():
        raise ValueError("no p and q fit the scaling factors that were measured")
    unit = Calibration(1.0, p, q, 1.0, 1.0)
    one = [predict(point.dram, unit, platform) for point in points]
    rise = [_rise(point, platform) for point in points]
    found, parts, residuals = {}, {}, {}
    for i, name in enumerate(("drd", "cache", "store")):
        shape = np.array([getattr(s, name) for s in one])
        measured = np.array([r[i] for r in rise])
        used = shape > 1e-6
        if used.sum() < FEWEST:
            doubts.append(f"k_{name} is of {used.sum()} points, fewer than {FEWEST}")
        weight = (shape**2).sum()
        k = max(float(shape @ measured / weight), 0.0) if weight else 0.0
        found[f"k_{name}"] = k
        parts[name] = tuple(zip(measured.tolist(), (k * shape).tolist(), strict=True))
        residuals[name] = float(np.sqrt(np.mean((measured - k * shape) ** 2)))
        largest = float(measured.max())
        if residuals[name] > LARGEST_RESIDUAL * largest:
            doubts.append(f"k_{name} leaves {residuals[name]:.1%} of slowdown, of {largest:.1%}")
    fitted = 1 / (p * x + q)
    residuals["factor"] = float(np.sqrt(np.mean((y - fitted) ** 2)))
    if residuals["factor"] > LARGEST_RESIDUAL * y.max():
        doubts.append(f"p and q leave {residuals['factor']:.3g} of the factor, of {y.max():.3g}")
    factors = zip((1 / x).tolist(), y.tolist(), fitted.tolist(), strict=True)
    return Fit(Calibration(p=p, q=q, **found), tuple(factors), parts, residuals, tuple(doubts))


def _factors(points: Sequence[Point]) -> tuple[np.ndarray, np.ndarray]:
    """MLP / L on DRAM, and R_Lat / R_MLP - 1, of the points where it is above 0."""
    found = []
    for point in points:
        d, s = point.dram, point.cxl
        if min(d["P12"], d["P13"], s["P12"], s["P13"]) <= 0:
            continue
        # L / MLP is P13 / P12, whatever P11 is.
        factor = (s["P13"] / s["P12"]) / (d["P13"] / d["P12"]) - 1
        if factor > 0:
            found.append((d["P12"] / d["P13"], factor))
    return np.array(found).reshape(-1, 2).T


def _hyperbola(x: np.ndarray, y: np.ndarray, doubts: list[str]) -> tuple[float, float]:
    """p and q of y = 1 / (p x + q): least squares of 1 / y, in which an error counts as it does in
    y (to first order), the weight being y²."""
    if len(x) < FEWEST:
        doubts.append(f"p and q are of {len(x)} points, fewer than {FEWEST}")
    if x.max() < NARROWEST * x.min():
        doubts.append("p and q are collinear: all points have nearly the same MLP / L")
        return 0.0, float(np.mean(y**3) / np.mean(y**4))
    rows = np.stack([x, np.ones_like(x)], axis=1) * y[:, None] ** 2
    (p, q), *_ = np.linalg.lstsq(rows, y, rcond=None)
    return float(p), float(q)


def _rise(point: Point, platform: str) -> list[float]:
    """What of each component the slow memory added, of the cycles on DRAM (§2.4, Melody)."""
    before, after = stalls(point.dram, platform), stalls(point.cxl, platform)
    return [(b - a) / point.dram["c"] for a, b in zip(before, after, strict=True)]
