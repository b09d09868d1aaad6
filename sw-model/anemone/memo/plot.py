# SPDX-License-Identifier: Apache-2.0
"""One SVG picture per test, with nodes side by side like the devices in the paper's Figures 3,
4.
"""

from __future__ import annotations

from typing import Any

from anemone.memo.results import Rows


def pictures(rows: Rows) -> dict[str, str]:
    """The SVG pictures by file name."""
    import vl_convert

    draw = {"latency": _latency, "chase": _chase, "cache": _cache, "bandwidth": _bandwidth,
            "copy": _copy}  # fmt: skip
    return {
        f"{test}.svg": vl_convert.vegalite_to_svg(drawn(rows[test]).to_dict())
        for test, drawn in draw.items()
        if test in rows
    }


def _of(rows: list[dict[str, Any]]) -> Any:
    import altair as alt

    nodes = [{**row, "node": f"node {row['node']}"} for row in rows]
    return alt.Chart(alt.InlineData(nodes))


def _latency(rows: list[dict[str, Any]]) -> Any:
    import altair as alt

    x = alt.X("access:N", sort=["ld", "nt-ld", "st", "nt-st"], title=None)
    side = alt.XOffset("node:N")
    bars = (
        _of(rows)
        .mark_bar()
        .encode(
            x=x, y=alt.Y("ns:Q", title="ns an access, 16 at once"), xOffset=side, color="node:N"
        )
    )
    spread = _of(rows).mark_rule().encode(x=x, y="p10_ns:Q", y2="p90_ns:Q", xOffset=side)
    return (bars + spread).properties(width=320, title="latency, 10 % to 90 %")


def _chase(rows: list[dict[str, Any]]) -> Any:
    import altair as alt

    x = alt.X("bytes:Q", scale=alt.Scale(type="log", base=2), title="working set, bytes")
    y = alt.Y("ns:Q", scale=alt.Scale(type="log"), title="ns a load")
    lines = _of(rows).mark_line(point=True).encode(x=x, y=y, color="node:N")
    return lines.properties(width=480, title="pointer chase")


def _cache(rows: list[dict[str, Any]]) -> Any:
    import altair as alt

    sets = (("half_ns", "half of the cache"), ("past_ns", "four times the cache"))
    named = [{"node": r["node"], "set": text, "ns": r[of]} for r in rows for of, text in sets]
    bars = _of(named).mark_bar().encode(
        x=alt.X("node:N", title=None), xOffset=alt.XOffset("set:N", sort=None),
        y=alt.Y("ns:Q", title="ns a load"), color=alt.Color("set:N", title=None, sort=None),
    )  # fmt: skip
    return bars.properties(width=320, title="does the last-level cache serve a node")


def _bandwidth(rows: list[dict[str, Any]]) -> Any:
    import altair as alt

    named = [{**r, "ratio": f"{r['reads']:g}:{r['writes']:g}"} for r in rows]
    hints = {"none": "ld, st", "nt": "nt-ld, nt-st"}
    named = [{**r, "what": f"{r['order']}, {hints.get(r['hint'], r['hint'])}"} for r in named]
    return (
        _of(named)
        .mark_line(point=True)
        .encode(
            x=alt.X("threads:Q"),
            y=alt.Y("gb_per_s:Q", title="GB/s"),
            color=alt.Color("ratio:N", title="reads:writes", sort=None),
            strokeDash="node:N",
        )
        .properties(width=240, height=200)
        .facet(alt.Facet("what:N", title=None, sort=None), columns=2)
    )


def _copy(rows: list[dict[str, Any]]) -> Any:
    import altair as alt

    x = alt.X("block_bytes:Q", scale=alt.Scale(type="log", base=2), title="block, bytes")
    y = alt.Y("gb_per_s:Q", title="GB/s copied")
    lines = _of(rows).mark_line(point=True).encode(x=x, y=y, color="by:N", strokeDash="node:N")
    return lines.properties(width=480, title="copies")
