# SPDX-License-Identifier: Apache-2.0
"""Flat memory mode in the report: its table and its pictures of a trace."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
from markupsafe import Markup

from anemone.analysis.telemetry import Analysis
from anemone.flat.analysis import PlacedRun
from anemone.flat.result import HIT
from anemone.report import charts
from anemone.report.charts import Figure, Hover
from anemone.report.clock import Clock, address, time_frame
from anemone.report.theme import series
from anemone.trace import Trace
from anemone.trace.pages import tenant_ranks, touched_pages

COLUMNS = 200  # columns of the picture of misses; more huge pages than that share columns
HEADS = (
    "trace", "pages", "near", "hit rate", "swaps", "near reads", "near writes", "far reads",
    "far writes", "wrong lines",
)  # fmt: skip


def cells(run: PlacedRun) -> list[str]:
    """The cells of a run's row after the trace's name, in the order of HEADS."""
    counts, result = run.first.counts, run.first
    return [
        run.placement,
        f"{run.near_bytes / (1 << 20):.1f} MiB",
        f"{run.hit_rate:.1%}",
        f"{counts.swaps:,}",
        f"{counts.near_reads:,}",
        f"{counts.near_writes:,}",
        f"{counts.far_reads:,}",
        f"{counts.far_writes:,}",
        f"{result.mismatches:,}",
    ]


def pictures(runs: Sequence[PlacedRun], trace: Trace, analysis: Analysis) -> list[Figure]:
    """The pictures of a trace: hit rate over time, and misses by page."""
    return [hit_rate(runs, trace, analysis), misses(runs[0], trace, analysis)]


def hit_rate(runs: Sequence[PlacedRun], trace: Trace, analysis: Analysis) -> Figure:
    """Hit rate over time: one step line per tenant, dashed for conflicting tenants."""
    clock, polls, names = Clock.of(analysis.polls), analysis.polls, analysis.bandwidth.names
    frame = time_frame(242, len(names) * len(runs))
    poll = np.repeat(np.arange(len(polls)), np.diff(polls.edges))
    of = tenant_ranks(trace)
    colours = [series(i) for i in range(len(names))]
    place = {
        "x": clock.axis("x"),
        "y": alt.Y(
            "y:Q",
            scale=alt.Scale(domain=[0, 1]),
            axis=frame.y("hits", tickCount=4, labelExpr="round(datum.value * 100) + ' %'"),
        ),
    }
    lines, ends, texts = [], [], [""] * len(polls)
    for run in runs:
        mixed = run is not runs[0]
        rates = [run.hit_rates(poll, len(polls), of == i) for i in range(len(names))]
        drawn = charts.steps(clock.edges, np.stack(rates, axis=1), colours)
        look = {"strokeDash": [5, 4]} if mixed else {}
        line = charts.per_series(alt.Chart(drawn)).mark_line(interpolate="step-after", **look)
        line = line.encode(**place, stroke=charts.data_colour("colour"))
        lines.append(charts.data(line, run.placement))
        for i, name in enumerate(names):
            at = (1 - float(rates[i][-3:].mean())) * frame.down
            ends.append((at, "… conflicting" if mixed else name, colours[i]))
            how = f" {run.placement}" if len(runs) > 1 else ""
            texts = [
                f"{text}\n{name}: {rate:.1%}{how}"
                for text, rate in zip(texts, rates[i], strict=True)
            ]
    picture = charts.svg(
        frame, "Hit rate in near memory over time", *lines, charts.labels(frame, ends)
    )
    caption = Markup(
        "Accesses that near memory of {:.1f} MiB has the line of, by poll and tenant; every other "
        "one swaps. "
    ).format(runs[0].near_bytes / (1 << 20)) + _neighbours(runs, names, of)
    hover = clock.hover(frame, [text.lstrip() for text in texts])
    return Figure("hitrate", "Hits in near memory", picture, caption, hover=hover)


def _neighbours(runs: Sequence[PlacedRun], names: Sequence[str], of: np.ndarray) -> Markup:
    """A sentence on the effect of conflicts on each tenant; empty if there is one placement."""
    if len(runs) == 1:
        return Markup("")
    apart_, mixed = (run.hit_rates(of, len(names)) for run in runs)
    sentences = [
        f"{name} hits {apart_[i]:.1%} isolated and {mixed[i]:.1%} conflicting"
        for i, name in enumerate(names)
    ]
    return Markup("Dashed: tenants share places. <strong>{}.</strong>").format("; ".join(sentences))


def misses(run: PlacedRun, trace: Trace, analysis: Analysis) -> Figure:
    """Misses by huge page: a column for each, misses in front of all accesses."""
    pages, page_of = touched_pages(trace)
    total = np.bincount(page_of, minlength=len(pages))
    missed = np.bincount(page_of, run.first.outcomes != HIT, len(pages)).astype(np.int64)
    owner = analysis.heat.owner
    share = -(-len(pages) // COLUMNS)  # huge pages per column
    starts = np.arange(0, len(pages), share)
    totals, misses_ = (np.add.reduceat(counts, starts) for counts in (total, missed))
    frame = time_frame(242)
    column = np.arange(len(starts))
    rows = charts.table(
        x=column + 0.1,
        x2=column + 0.9,
        all=totals,
        missed=misses_,
        colour=[series(i) for i in owner[starts]],
    )
    labelled = np.unique(np.linspace(0, len(starts) - 1, min(9, len(starts))).round().astype(int))
    names = [address(int(pages[i])) for i in starts]
    axis = charts.text_axis(
        labelled + 0.5, [names[i] for i in labelled], ticks=False, labelPadding=10
    )
    title = "huge page (address order)"
    scale = alt.Scale(domain=[0, len(starts)], nice=False)
    across = alt.X("x:Q", scale=scale, axis=axis, title=title)
    up = alt.Scale(domain=[0, max(1, int(totals.max())) * 1.06], nice=False)
    bars = [
        alt.Chart(rows)
        .mark_rect(opacity=opacity)
        .encode(
            x=across,
            x2=alt.X2("x2:Q"),
            y=alt.Y(
                f"{field}:Q",
                scale=up,
                axis=frame.y("accesses", **charts.whole_ticks(int(totals.max()), 4)),
            ),
            y2=alt.Y2Datum(0),
            fill=charts.data_colour("colour"),
        )
        for field, opacity in (("all", 0.28), ("missed", 1))
    ]
    picture = charts.svg(
        frame, "Accesses and misses by huge page", bars[0], charts.data(bars[1], "missed")
    )
    hover = Hover(
        np.linspace(0, frame.across, len(starts) + 1),
        [0, frame.down],
        [
            f"{name}\n{miss:,} of {all_:,} accesses missed ({miss / max(all_, 1):.0%})"
            for name, miss, all_ in zip(names, misses_, totals, strict=True)
        ],
    )
    caption = Markup(
        "Strong: misses; faint: all accesses to the page, {}.{} What a rule that asks for "
        "near-misses counts by page, the outcomes of the accesses say here."
    ).format(run.placement, f" A column is {share} huge pages." if share > 1 else "")
    return Figure("misses", "Misses by page", picture, caption, hover=hover.data(frame))
