# SPDX-License-Identifier: Apache-2.0
"""Renders Altair charts as SVG in the project's style, for a page or a file.

    frame = Frame(HALF, 260, left=70, right=120)
    rows = alt.Chart(table(load=loads, tail=tails)).mark_line(stroke=theme.series(0))
    line = rows.encode(x="load:Q", y=alt.Y("tail:Q", axis=frame.y("p99 latency (ns)")))
    picture = svg(frame, "Tail latency over load", data(line, "tail"))
    save(picture, Path("docs/results/tail.svg"))

`Figure` adds a caption and a `Hover`; a page's template (parts.html) takes it. Use the colours of
`theme.colour`, `theme.series` and `theme.heat`: they are CSS variables, so that one picture serves
the light and the dark theme.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import altair as alt
import numpy as np
import pyarrow as pa
import vl_convert
from markupsafe import Markup

from anemone.report import theme
from anemone.report.theme import LEVELS

alt.data_transformers.disable_max_rows()  # the limit is for charts drawn in a browser

WIDE, HALF = 1120, 540  # px, width of a picture over the whole page, and over half of it
LABEL_GAP = 17  # px between two labels at the right of a plot


@dataclass(frozen=True)
class Frame:
    """Size and margins of a picture in px at full width. The plot is the area inside the
    margins.
    """

    width: int
    height: int
    left: int
    right: int
    top: int = 14
    bottom: int = 46

    @property
    def across(self) -> int:
        """Width of the plot, px."""
        return self.width - self.left - self.right

    @property
    def down(self) -> int:
        """Height of the plot, px."""
        return self.height - self.top - self.bottom

    def y(self, title: str, **more: object) -> alt.Axis:
        """The vertical axis, with its title at the left edge so that titles of all pictures
        align.
        """
        where = {"titleX": 16 - self.left, "titleAngle": -90, "titleBaseline": "middle"}
        return alt.Axis(title=title, **where, **more)


@dataclass(frozen=True)
class Hover:
    """Tooltips of a picture: a grid of cells over its plot, and their text.

    x, y: edges of columns and rows in the plot, px, ascending or descending; a gap between two rows
    belongs to the row before. words: the text; {row}, {column} and {value} in it are replaced by
    the entries of rows, columns and values[column][row].
    """

    x: Sequence[float]
    y: Sequence[float]
    columns: Sequence[str]
    rows: Sequence[str] = ("",)
    values: Sequence[Sequence[object]] = ()
    words: str = "{column}"

    def data(self, frame: Frame) -> dict:
        """The JSON data for the page's script, in the picture's coordinates."""
        x = [round(frame.left + float(v), 1) for v in self.x]
        y = [round(frame.top + float(v), 1) for v in self.y]
        names = {"columns": list(self.columns), "rows": list(self.rows)}
        return {"x": x, "y": y, **names, "values": list(self.values), "words": self.words}


@dataclass(frozen=True)
class Figure:
    """One figure of a page: svg from `svg`, caption in HTML, hover from `Hover.data` or None."""

    key: str
    title: str
    svg: Markup
    caption: Markup
    wide: bool = True
    hover: dict | None = None


def table(**columns: Sequence | np.ndarray) -> pa.Table:
    """A chart's data by column name; columns of equal length with numbers or strings."""
    return pa.table({name: pa.array(column) for name, column in columns.items()})


def data(chart: alt.Chart, name: str) -> alt.Chart:
    """Mark a layer as one that shows data, by a name that is unique in its picture.

    The page's test counts the marks of such layers, not backgrounds, rules and text.
    """
    return chart.properties(name=f"data_{name}")


def svg(frame: Frame, label: str, *layers: alt.Chart) -> Markup:
    """Render layers as one SVG element for a page, in the colours of the page's theme.

    label: a description for screen readers. Raises Altair's SchemaValidationError for a chart that
    Vega-Lite's schema does not allow.
    """
    chart = alt.layer(*layers).properties(width=frame.across, height=frame.down)
    spec = chart.to_dict()
    margins = ("left", "right", "top", "bottom")
    spec["padding"] = {side: getattr(frame, side) for side in margins}
    drawn = vl_convert.vegalite_to_svg(spec, vl_version="6.4", config=theme.config())
    return Markup(_simplified(drawn, frame, label))


def save(picture: Markup, path: Path) -> None:
    """Write a picture that `svg` made to a file.

    A .svg follows the reader's theme; a .png is in the light theme, with two pixels for each px.
    """
    drawn = str(picture)  # Markup would escape the strings that are inserted below
    width, height = re.search(r'viewBox="0 0 (\d+) (\d+)"', drawn).groups()
    named = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
    named += f'font-family="{theme.MEASURED}"'
    if path.suffix == ".svg":
        styled = drawn.replace(">", f"><style>{theme.file_style()}</style>", 1)
        path.write_text(styled.replace("<svg", named, 1), encoding="utf-8")
    elif path.suffix == ".png":
        background = f'><rect width="{width}" height="{height}" fill="{theme.colour("card")}"/>'
        page = drawn.replace(">", background, 1).replace("<svg", named, 1)
        path.write_bytes(vl_convert.svg_to_png(theme.resolved(page), scale=2))
    else:
        raise ValueError(f"{path}: neither .svg nor .png")


# --- Parts of charts ----------------------------------------------------------------------------


def background(frame: Frame) -> alt.Chart:
    """The background of a heat map, visible in its empty cells."""
    box = alt.Chart(table(one=[0])).mark_rect(fill=theme.colour("ground"))
    return box.encode(
        x=alt.XValue(0), x2=alt.X2Value(frame.across), y=alt.YValue(0), y2=alt.Y2Value(frame.down)
    )


def steps(xs: np.ndarray, lines: np.ndarray, colours: Sequence[str]) -> pa.Table:
    """The data of step lines, for interpolate="step-after" and `apiece`.

    xs: float64[n + 1], edges. lines: float64[n, series]. The table's columns are x, y, the line's
    colour and its number; the last value is repeated at the last edge.
    """
    values = np.vstack([lines, lines[-1:]])
    rows, count = values.shape
    return table(
        x=np.repeat(xs, count),
        y=values.ravel(),
        colour=[*colours] * rows,
        number=[*range(count)] * rows,
    )


def per_series(chart: alt.Chart) -> alt.Chart:
    """Draw one line or area per series of `steps`, because two series may have the same colour."""
    return chart.encode(detail=alt.Detail("number:N"))


def whole_ticks(limit: int, about: int) -> dict:
    """About `about` ticks, at whole numbers up to `limit` only: for an axis of counts."""
    ticks = {"values": [*range(limit + 1)]} if limit <= about else {"tickCount": about}
    return {**ticks, "format": ",d"}


def data_colour(field: str) -> alt.Color:
    """A colour that is given in the data."""
    return alt.Color(f"{field}:N", scale=None, legend=None)


def labels(frame: Frame, texts: Sequence[tuple[float, str, str]]) -> alt.Chart:
    """Labels at the right of the plot, moved apart: (y in the plot in px, text, colour)."""
    texts = move_apart(texts, LABEL_GAP, 4, frame.down)
    columns = zip(*texts, strict=True)
    rows = table(**dict(zip(("at", "words", "colour"), columns, strict=True)))
    written = alt.Chart(rows).mark_text(align="left", fontWeight=600)
    return written.encode(
        x=alt.XValue(frame.across + 12),
        y=alt.Y("at:Q", scale=None, axis=None),
        text=alt.Text("words:N"),
        fill=alt.Fill("colour:N", scale=None, legend=None),
    )


def move_apart(
    ends: Sequence[tuple[float, str, str]], gap: float, top: float, bottom: float
) -> list[tuple[float, str, str]]:
    """Move labels up or down until they are at least `gap` px apart."""
    ends = sorted(ends)
    ys = [max(top, min(bottom, end[0])) for end in ends]
    for i in range(1, len(ys)):
        ys[i] = max(ys[i], ys[i - 1] + gap)
    ys[-1] = min(ys[-1], max(bottom, top + gap * (len(ys) - 1)))
    for i in range(len(ys) - 2, -1, -1):
        ys[i] = min(ys[i], ys[i + 1] - gap)
    return [(y, words, colour) for y, (_, words, colour) in zip(ys, ends, strict=True)]


def text_axis(places: Sequence[float], words: Sequence[str], **more: object) -> alt.Axis:
    """An axis with text at positions of the data's scale; overlapping labels are left out."""
    values = [float(place) for place in places]
    label = f"{_quoted(words)}[indexof({values}, datum.value)]"
    return alt.Axis(values=values, labelExpr=label, labelOverlap=True, **more)


def levels(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Assign values to the heat ramp's levels, which have equal widths on a log scale.

    The scale runs from the 1st to the 99th percentile; values outside are in the outer levels. It
    spans at least a factor of LEVELS, so that noise does not look like structure. Returns (level of
    each value: 0 for zero, else 1 to LEVELS; the LEVELS + 1 edges).
    """
    positive = values[values > 0]
    if len(positive) == 0:
        return np.zeros(values.shape, int), np.ones(LEVELS + 1)
    low, high = np.percentile(positive, [1, 99])
    edges = np.geomspace(min(low, high / LEVELS), high, LEVELS + 1)
    level = np.digitize(values, edges[1:-1]) + 1
    return np.where(values > 0, level, 0), edges


def cells(level: np.ndarray, xs: np.ndarray, ys: np.ndarray, below: np.ndarray) -> pa.Table:
    """The boxes of a heat map, x to x2 and y to y2, one for each run of equal cells in a row.

    level: int[rows, columns], 0 for an empty cell. xs: float64[columns + 1]. ys, below:
    float64[rows], start and end of each row. The boxes are sorted by level.
    """
    fresh = np.ones(level.shape, bool)
    fresh[:, 1:] = np.diff(level, axis=1) != 0
    row, first = np.nonzero(fresh)
    # A run ends where the next run of its row begins; the last run ends with the row.
    last = np.where(np.append(row[1:], -1) == row, np.append(first[1:], 0), level.shape[1])
    shown = level[row, first]
    order = np.argsort(shown, kind="stable")
    order = order[shown[order] > 0]
    row, first, last, shown = (part[order] for part in (row, first, last, shown))
    return table(x=xs[first], x2=xs[last], y=ys[row], y2=below[row], level=shown)


def ramp(edges: np.ndarray | None = None, title: Sequence[str] = (), step: int = 22) -> alt.Color:
    """The heat ramp for the field `level`, 1 to LEVELS; with a legend if `edges` is given.

    edges: float64[LEVELS + 1], the levels' edges. title: lines above the legend. step: px per
    level.
    """
    order = list(range(LEVELS, 0, -1))
    scale = alt.Scale(domain=order, range=[theme.heat(level) for level in order])
    if edges is None:
        return alt.Color("level:O", scale=scale, legend=None)
    words = [_from(edges, level) for level in order]
    key = alt.Legend(
        title=[*title],
        labelExpr=f"{_quoted(words)}[{LEVELS} - datum.value]",
        symbolType="square",
        symbolSize=256,
        labelOffset=8,
        rowPadding=step - 16,
        offset=22,
    )
    return alt.Color("level:O", scale=scale, legend=key)


def _from(edges: np.ndarray, level: int) -> str:
    """The legend of a level: its lower edge, or for the lowest level its upper edge."""
    return f"≥ {_rounded_text(edges[level - 1])}" if level > 1 else f"< {_rounded_text(edges[1])}"


def _rounded_text(value: float) -> str:
    if value >= 10_000:
        return f"{value / 1000:.0f}k"
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _quoted(words: Sequence[str]) -> str:
    """A list of strings as a Vega expression."""
    return json.dumps([*words], ensure_ascii=False)


# --- Smaller SVG --------------------------------------------------------------------------------
NEEDLESS = {  # attributes with SVG's default value, or that the page's style sets
    "font-family": None, "pointer-events": None, "aria-hidden": None, "opacity": "1",
    "fill-opacity": "1", "stroke-miterlimit": "10", "text-anchor": "start",
}  # fmt: skip


def _simplified(drawn: str, frame: Frame, label: str) -> str:
    """Vega's SVG as a page element with a label, sized by the page, in a third of the bytes."""
    root = ET.fromstring(re.sub(r' xmlns(:\w+)?="[^"]*"', "", drawn))
    for group in root.iter():
        for child in list(group):
            if child.get("class") in ("background", "foreground") and _invisible(child):
                group.remove(child)
        if group.get("class", "").startswith("mark-rect"):
            group.set("shape-rendering", "crispEdges")  # no seams between cells
            _join(group)
    for element in root.iter():
        if element.tag == "text" and "stroke" in element.attrib:
            element.set("paint-order", "stroke")  # fill over stroke, so that the text stays legible
        for name, value in list(element.items()):
            if name in NEEDLESS and NEEDLESS[name] in (None, value):
                del element.attrib[name]
            elif name in ("d", "transform", "x2", "y2"):
                element.set(name, re.sub(r"\d+\.\d{2,}", _rounded, value))
    root.attrib.clear()
    root.set("viewBox", f"0 0 {frame.width} {frame.height}")
    root.set("role", "img")
    root.set("aria-label", label)
    root.set("style", f"--natural:{frame.width}px")
    return ET.tostring(root, "unicode")


def _invisible(path: ET.Element) -> bool:
    """Whether a group's background or foreground is invisible."""
    return not {"fill", "stroke"} & {name for name, value in path.items() if value != "none"}


def _join(group: ET.Element) -> None:
    """Merge consecutive paths that differ only in position."""
    before = None
    for path in list(group):
        if before is not None and _style(path) == _style(before):
            before.set("d", before.get("d", "") + path.get("d", ""))
            group.remove(path)
        else:
            before = path


def _style(path: ET.Element) -> dict[str, str]:
    return {name: value for name, value in path.items() if name != "d"}


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
