# SPDX-License-Identifier: Apache-2.0
"""Fits a machine's constants to microbenchmarks on its DRAM and its slow memory (§4.4.1).

First p and q are fitted to the measured scaling factor R_Lat / R_MLP - 1 over MLP / L on DRAM
(Figure 4f), then each k by least squares. A fit of all of Eq. 5 at once would leave a common factor
undetermined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anemone.models.camp.slowdown import CONSTANTS, Calibration, predict, stalls

FEWEST = 3  # points that a reliable fit needs
NARROWEST = 1.5  # least ratio of largest to smallest MLP / L at which p and q can be separated
LARGEST_RESIDUAL = 0.2  # root mean square, as a share of the largest measured slowdown or factor


@dataclass(frozen=True)
class Point:
    """One microbenchmark on both memories. Counters are checked and include P11; those of the run
    on the slow memory are scaled to the work of the run on DRAM.
    """

    name: str
    dram: Mapping[str, float]
    cxl: Mapping[str, float]


@dataclass(frozen=True)
class Fit:
    """The constants, with the fit's residuals and the reasons why it may be unreliable.

    factors: (L / MLP in cycles, measured factor, fitted factor) of each point that p and q were
    fitted to. parts: (measured, predicted) slowdown of each point, for drd, cache and store.
    residuals: root mean squares. doubts: the reasons, empty if the fit is reliable.
    """

    calibration: Calibration
    factors: tuple[tuple[float, float, float], ...]
    parts: Mapping[str, tuple[tuple[float, float], ...]]
    residuals: Mapping[str, float]
    doubts: tuple[str, ...]

    def toml(self) -> str:
        """The content of CAL.toml."""
        lines = ["# by anemone camp calibrate"]
        lines += [f"{name} = {getattr(self.calibration, name)!r}" for name in CONSTANTS]
        lines += ["", "[measured]"]
        lines += [f"residual_{name} = {value!r}" for name, value in self.residuals.items()]
        lines += [f"# not to be trusted: {doubt}" for doubt in self.doubts]
        return "\n".join(lines) + "\n"


def fit(points: Sequence[Point], platform: str) -> Fit:
    """The constants that fit the points best. Raises ValueError if no point has demand reads that
    are slower on the slow memory, or if the fitted p and q do not give every point a factor above
    0.
    """
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
    """MLP / L on DRAM and the factor R_Lat / R_MLP - 1, of the points with a factor above 0."""
    found = []
    for point in points:
        d, s = point.dram, point.cxl
        if min(d["P12"], d["P13"], s["P12"], s["P13"]) <= 0:
            continue
        # L / MLP is P13 / P12, because P11 cancels out.
        factor = (s["P13"] / s["P12"]) / (d["P13"] / d["P12"]) - 1
        if factor > 0:
            found.append((d["P12"] / d["P13"], factor))
    return np.array(found).reshape(-1, 2).T


def _hyperbola(x: np.ndarray, y: np.ndarray, doubts: list[str]) -> tuple[float, float]:
    """Fit p and q of y = 1 / (p x + q) by least squares of 1 / y. The weight y² makes an error
    count as it does in y, to first order.
    """
    if len(x) < FEWEST:
        doubts.append(f"p and q are of {len(x)} points, fewer than {FEWEST}")
    if x.max() < NARROWEST * x.min():
        doubts.append("p and q are collinear: all points have nearly the same MLP / L")
        return 0.0, float(np.mean(y**3) / np.mean(y**4))
    rows = np.stack([x, np.ones_like(x)], axis=1) * y[:, None] ** 2
    (p, q), *_ = np.linalg.lstsq(rows, y, rcond=None)
    return float(p), float(q)


def _rise(point: Point, platform: str) -> list[float]:
    """The slow memory's added stalls in each component, over the cycles on DRAM (§2.4, Melody)."""
    before, after = stalls(point.dram, platform), stalls(point.cxl, platform)
    return [(b - a) / point.dram["c"] for a, b in zip(before, after, strict=True)]
