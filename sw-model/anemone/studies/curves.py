# SPDX-License-Identifier: Apache-2.0
"""Pictures with several curves, for all studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from anemone.report import theme
from anemone.report.charts import HALF, Frame, data, svg, table


def by_name(names: Sequence[str], legend: str, field: str = "of", **more: Any) -> alt.Color:
    """A colour for each name, in order. legend: its position; more: its other properties."""
    return alt.Color(
        f"{field}:N",
        scale=alt.Scale(domain=list(names), range=[theme.series(i) for i in range(len(names))]),
        legend=alt.Legend(title=None, orient=legend, **more),
    )


def curves(
    title: str,
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    x: str,
    y: str,
    legend: str = "bottom-right",
) -> Any:
    """One curve for each name.

    lines: (x values, y values) by name. x, y: titles of the axes. legend: its position; "top" is
    above the plot, with three names in a row.
    """
    rows = -(-len(lines) // 3) if legend == "top" else 0
    frame = Frame(HALF, 300, left=80, right=20, top=14 + 20 * rows)
    columns: dict[str, list] = {"x": [], "y": [], "of": []}
    for name, (across, up) in lines.items():
        columns["x"] += list(across)
        columns["y"] += list(up)
        columns["of"] += [name] * len(across)
    colour = by_name(list(lines), legend, **({"columns": 3} if rows else {}))
    across_axis = alt.X("x:Q", axis=alt.Axis(title=x), scale=alt.Scale(zero=False))
    chart = alt.Chart(table(**columns)).mark_line()
    chart = chart.encode(x=across_axis, y=alt.Y("y:Q", axis=frame.y(y)), color=colour)
    return svg(frame, title, data(chart, title))
