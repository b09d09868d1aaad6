# SPDX-License-Identifier: Apache-2.0
"""Just enough SVG for the report: scales, ticks, axes and a canvas that collects elements.

Colours are CSS classes of style.css, so that one picture serves light and dark. A data mark carries
the class `mark`; the page's test counts those.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np


@dataclass(frozen=True)
class Scale:
    """A linear map from data [low, high] to pixels [start, end]."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        span = self.high - self.low or 1.0
        return round(self.start + (value - self.low) / span * (self.end - self.start), 2)

    def ticks(self, about: int) -> list[float]:
        """Round values within the domain, about `about` of them: steps of 1, 2 or 5 times 10^n."""
        span = self.high - self.low
        if span <= 0:
            return [self.low]
        rough = span / max(about, 1)
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [i * step for i in range(first, last + 1)]


class Canvas:
    """Collects SVG elements. Sizes in user units, which are CSS pixels at full width."""

    def __init__(self, width: int, height: int, label: str) -> None:
        self.width, self.height, self.label = width, height, label
        self.parts: list[str] = []

    def add(self, tag: str, css: str = "", tip: str = "", **attributes: object) -> None:
        """One element; underscores in attribute names become hyphens, `tip` a hover text."""
        named = {"class": css, "data_tip": tip, **attributes}
        said = "".join(
            f' {k.replace("_", "-")}="{escape(str(v))}"' for k, v in named.items() if v != ""
        )
        self.parts.append(f"<{tag}{said}/>")

    def rect(
        self, x: float, y: float, w: float, h: float, css: str, tip: str = "", **more: object
    ) -> None:
        x, y, w, h = (round(v, 2) for v in (x, y, w, h))
        self.add("rect", css, tip, x=x, y=y, width=w, height=h, **more)

    def line(self, x1: float, y1: float, x2: float, y2: float, css: str) -> None:
        x1, y1, x2, y2 = (round(v, 2) for v in (x1, y1, x2, y2))
        self.add("line", css, x1=x1, y1=y1, x2=x2, y2=y2)

    def path(self, d: str, css: str, tip: str = "") -> None:
        if d:
            self.add("path", css, tip, d=d)

    def text(
        self, x: float, y: float, words: str, css: str = "", anchor: str = "start", turn: int = 0
    ) -> None:
        at = f'x="{x:.1f}" y="{y:.1f}"'
        turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
        kind = f' class="{css}"' if css else ""
        self.parts.append(f'<text {at} text-anchor="{anchor}"{kind}{turned}>{escape(words)}</text>')

    def svg(self) -> str:
        return (
            f'<svg viewBox="0 0 {self.width} {self.height}" role="img" '
            f'aria-label="{escape(self.label)}" style="--natural:{self.width}px">'
            + "".join(self.parts)
            + "</svg>"
        )


@dataclass(frozen=True)
class Frame:
    """The plot area of a canvas, in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def x_axis(
        self, canvas: Canvas, scale: Scale, tick: Callable[[float], str], title: str, about: int = 8
    ) -> None:
        canvas.line(self.left, self.bottom, self.right, self.bottom, "axis")
        for value in scale.ticks(about):
            canvas.line(scale(value), self.bottom, scale(value), self.bottom + 5, "axis")
            canvas.text(scale(value), self.bottom + 18, tick(value), "tick", "middle")
        if title:
            canvas.text((self.left + self.right) / 2, self.bottom + 38, title, "title", "middle")

    def y_axis(
        self, canvas: Canvas, scale: Scale, tick: Callable[[float], str], title: str, about: int = 4
    ) -> None:
        for value in scale.ticks(about):
            canvas.line(self.left, scale(value), self.right, scale(value), "grid")
            canvas.text(self.left - 8, scale(value) + 4, tick(value), "tick", "end")
        self.y_title(canvas, title)

    def y_title(self, canvas: Canvas, title: str) -> None:
        canvas.text(16, (self.top + self.bottom) / 2, title, "title", "middle", -90)


def plain(value: float) -> str:
    """A tick label without needless zeros: 0, 0.5, 12, 2000 as 2,000."""
    if abs(value - round(value)) < 1e-9:
        return f"{round(value):,}"
    return f"{value:.10f}".rstrip("0").rstrip(".") if abs(value) >= 1e-6 else f"{value:.1e}"


def pick_unit(largest: float, units: Sequence[tuple[float, str]]) -> tuple[float, str]:
    """The last of `units` (size, name; ascending) of which `largest` holds at least one."""
    fitting = [unit for unit in units if largest >= unit[0]]
    return fitting[-1] if fitting else units[0]


TIME_UNITS = ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s"))
RATE_UNITS = ((1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s"))


def levels(values: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Sort values into `count` levels of equal width in log scale; 0 stays out of them.

    The scale leaves out the lowest and the highest hundredth, which go to the outer levels, and
    spans a factor of `count` at least, so that noise does not look like structure.
    Returns (level of each value: 0 for zero, else 1 to count; the count + 1 edges).
    """
    positive = values[values > 0]
    if len(positive) == 0:
        return np.zeros(values.shape, int), np.ones(count + 1)
    low, high = np.percentile(positive, [1, 99])
    edges = np.geomspace(min(low, high / count), high, count + 1)
    level = np.digitize(values, edges[1:-1]) + 1
    return np.where(values > 0, level, 0), edges


def cells(level: np.ndarray, xs: Sequence[float], ys: Sequence[float]) -> dict[int, str]:
    """Path data of a grid of coloured cells, one path a level; equal neighbours in a row join.

    level: int[rows, columns]; xs: columns + 1 edges; ys: rows + 1 edges, in pixels.
    """
    paths: dict[int, list[str]] = {}
    for row, line in enumerate(level):
        y, h = ys[row], ys[row + 1] - ys[row]
        ends = np.flatnonzero(np.diff(line)) + 1
        starts = [0, *ends.tolist()]
        for first, last in zip(starts, [*ends.tolist(), len(line)], strict=True):
            if line[first] > 0:
                box = f"M{xs[first]:g} {y:g}H{xs[last]:g}v{h:g}H{xs[first]:g}z"
                paths.setdefault(int(line[first]), []).append(box)
    return {key: "".join(boxes) for key, boxes in sorted(paths.items())}
