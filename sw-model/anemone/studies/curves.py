# SPDX-License-Identifier: Apache-2.0
"""Pictures of several curves, which studies share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from anemone.report import theme
from anemone.report.charts import HALF, Frame, data, svg, table


def curves(
    title: str,
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    x: str,
    y: str,
    legend: str = "bottom-right",
) -> Any:
    """lines: (x, y) of each name, in their order. x, y: titles of the axes."""
    frame = Frame(HALF, 300, left=80, right=20)
    columns: dict[str, list] = {"x": [], "y": [], "of": []}
    for name, (across, up) in lines.items():
        columns["x"] += list(across)
        columns["y"] += list(up)
        columns["of"] += [name] * len(across)
    colour = alt.Color(
        "of:N",
        scale=alt.Scale(domain=list(lines), range=[theme.series(i) for i in range(len(lines))]),
        legend=alt.Legend(title=None, orient=legend),
    )
    across_axis = alt.X("x:Q", axis=alt.Axis(title=x), scale=alt.Scale(zero=False))
    chart = alt.Chart(table(**columns)).mark_line()
    chart = chart.encode(x=across_axis, y=alt.Y("y:Q", axis=frame.y(y)), color=colour)
    return svg(frame, title, data(chart, title))
