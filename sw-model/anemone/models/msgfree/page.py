# SPDX-License-Identifier: Apache-2.0
"""The page of a prediction: costs by call site, where loads found their data, what CXL memory of
any size would gain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import altair as alt
from markupsafe import Markup

from anemone import __version__
from anemone.models.msgfree.predict import CallSite, frontier
from anemone.models.msgfree.site import SOURCES
from anemone.report import theme
from anemone.report.charts import HALF, WIDE, Figure, Frame, data, svg, table
from anemone.report.html import render

_MAX_SITES = 12  # call sites in a picture, those that cost most
_US = 1e3


def page(
    report: dict[str, Any], sites: Sequence[CallSite], how: str, gaps: Sequence[str] = ()
) -> str:
    """The whole document. report: as `predict --json` prints it. how: of the loads. gaps: what the
    run lacks, a phrase each.
    """
    taken = [site for site in sites if site.take]
    gain = report["gain_ns"] / _US
    verdict = f"CXL memory gains {gain:,.0f} µs" if taken else "Messages are better everywhere"
    shown = sorted(sites, key=_cost, reverse=True)[:_MAX_SITES]
    figures = [_costs(shown)]
    if any(site.samples for site in sites):
        figures.append(_sources([site for site in shown if site.samples]))
    if any(site.gain_ns > 0 for site in sites):
        figures.append(_capacity(sites, report["capacity"]))
    tiles = [
        ("", f"{report['receives']:,}", f"receives of {report['ranks']} ranks"),
        ("", f"{sum(site['bytes'] for site in report['sites']):,}", "bytes received"),
        ("good" if taken else "", f"{len(taken)} of {len(sites)}", "call sites to take"),
        ("", f"{sum(site.buffer_bytes for site in taken):,}", "bytes of CXL memory for them"),
    ]
    return render(
        "msgfree.html",
        verdict=verdict,
        report=report,
        how=how,
        weights=_weights(sites),
        gaps=gaps,
        sites=report["sites"],
        tiles=[dict(zip(("css", "value", "words"), tile, strict=True)) for tile in tiles],
        shown=figures,
        version=__version__,
    )


def _weights(sites: Sequence[CallSite]) -> list[str]:
    """The program's categories: each one's weight of later loads, and of first ones if it has one.
    They are of the whole program, so the same at each call site.
    """
    verdict = next((site.verdict for site in sites if site.samples), None)
    if verdict is None:
        return []
    first = {name: f"{weight:.0%} of first loads, " for name, weight in verdict.first.items()}
    return [f"{name} {first.get(name, '')}{weight:.0%} of later ones"
            for name, weight in verdict.later.items()]  # fmt: skip


def _parts(site: CallSite) -> list[tuple[str, str, float]]:
    """(side, part, µs), as they are stacked."""
    assert site.verdict is not None
    moved, access = site.verdict.transfer, site.verdict.access
    return [
        ("MPI", "transfer", moved.mpi_ns / _US), ("MPI", "access", access.mpi_ns / _US),
        ("CXL", "transfer", moved.cxl_ns / _US), ("CXL", "access", access.cxl_ns / _US),
    ]  # fmt: skip


def _cost(site: CallSite) -> float:
    return max(sum(us for side, _, us in _parts(site) if side == one) for one in ("MPI", "CXL"))


def _costs(sites: Sequence[CallSite]) -> Figure:
    """Two bars a call site, each of what it moves and of access to it."""
    frame = Frame(WIDE, 60 + 58 * len(sites), left=200, right=20)
    rows = [(f"{site.place}", side, part, us) for site in sites for side, part, us in _parts(site)]
    names = [str(site.place) for site in sites]
    columns = dict(zip(("site", "side", "part", "us"), zip(*rows, strict=True), strict=True))
    order = ["transfer", "access"]
    bars = (
        alt.Chart(table(**columns))
        .mark_bar()
        .encode(
            y=alt.Y("site:N", sort=names, axis=alt.Axis(title=None)),
            yOffset=alt.YOffset("side:N", sort=["MPI", "CXL"]),
            x=alt.X("us:Q", axis=alt.Axis(title="µs of all messages; MPI above, CXL below")),
            fill=alt.Fill(
                "part:N",
                sort=order,
                scale=alt.Scale(domain=order, range=[theme.series(0), theme.series(1)]),
                legend=alt.Legend(title=None, orient="top-right"),
            ),
        )
    )
    caption = Markup(
        "What the messages of each call site cost: moving them (Eq. 1 and 2) and, where loads were "
        "sampled, access to what they brought (Eq. 5 to 10)."
    )
    picture = svg(frame, "Costs by call site", data(bars, "costs"))
    return Figure("costs", "Transfer and access", picture, caption)


def _sources(sites: Sequence[CallSite]) -> Figure:
    """Where the sampled loads of each call site found their data."""
    frame = Frame(HALF, 86 + 34 * len(sites), left=150, right=20, top=40)
    rows = []
    for site in sites:
        found = Counter(source for _, source in site.samples)
        rows += [(str(site.place), s, found[s] / len(site.samples), SOURCES.index(s))
                 for s in SOURCES if found[s]]  # fmt: skip
    names = ("site", "source", "share", "order")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    bars = (
        alt.Chart(table(**columns))
        .mark_bar()
        .encode(
            y=alt.Y("site:N", sort=[str(s.place) for s in sites], axis=alt.Axis(title=None)),
            x=alt.X("share:Q", axis=alt.Axis(title="share of sampled loads", format="%")),
            order=alt.Order("order:Q"),
            fill=alt.Fill(
                "source:N",
                scale=alt.Scale(
                    domain=[*SOURCES], range=[theme.series(i) for i in range(len(SOURCES))]
                ),
                legend=alt.Legend(title=None, orient="top"),
            ),
        )
    )
    caption = Markup("Where loads of what was received found their data. LFB: on its way.")
    picture = svg(frame, "Source of loads by call site", data(bars, "sources"))
    return Figure("sources", "Where the loads were answered", picture, caption, wide=False)


def _capacity(sites: Sequence[CallSite], capacity: int | None) -> Figure:
    """The gain of the best choice of buffers for any size of CXL memory."""
    best = frontier([site for site in sites if site.gain_ns > 0])
    frame = Frame(HALF, 240, left=78, right=24)
    sizes = [size / 1024 for size, _, _ in best]
    maximum = max([*sizes, (capacity or 0) / 1024]) * 1.1
    points = table(x=[*sizes, maximum], y=[gain / _US for _, gain, _ in [*best, best[-1]]])
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, maximum]), axis=alt.Axis(title="KiB of CXL memory"))
    y = alt.Y("y:Q", axis=frame.y("gain (µs)"))
    line = alt.Chart(points).mark_line(interpolate="step-after", stroke=theme.series(0))
    layers = [data(line.encode(x=x, y=y), "gain")]
    if capacity is not None:
        rule = alt.Chart(table(x=[capacity / 1024])).mark_rule(stroke=theme.colour("ink"))
        layers.append(rule.encode(x=x))
    caption = Markup(
        "What the best choice of buffers gains, by how much CXL memory there is for them, of all "
        "ranks{}."
    ).format(". The rule is --capacity" if capacity is not None else "")
    return Figure("capacity", "What to take", svg(frame, "Gain over capacity", *layers), caption,
                  wide=False)  # fmt: skip
