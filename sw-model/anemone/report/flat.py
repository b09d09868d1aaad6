# SPDX-License-Identifier: Apache-2.0
"""Flat memory mode in the report: a table of all traces, and of each its pictures."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from anemone.analysis.telemetry import Analysis
from anemone.flat.analysis import PlacedRun
from anemone.flat.result import HIT
from anemone.report.figures import WIDE, Clock, Figure, address, apart, steps, time_frame
from anemone.report.svg import Canvas, Scale, plain
from anemone.trace import Trace
from anemone.trace.pages import tenant_ranks, touched_pages

COLUMNS = 200  # huge pages that get a column of their own
HEADS = (
    "trace", "pages", "near", "hit rate", "swaps", "near reads", "near writes", "far reads",
    "far writes", "wrong lines",
)  # fmt: skip


def mark(unlike: str) -> str:
    """Whether two sides are equal, or what is unlike."""
    if not unlike:
        return '<span class="verdict good">✓ equal</span>'
    return f'<span class="verdict bad">✗ {escape(unlike)}</span>'


def cells(run: PlacedRun) -> list[str]:
    """What a table tells of a run, behind the trace's name: in the order of HEADS."""
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


def table(runs: Sequence[tuple[str, Sequence[PlacedRun]]]) -> str:
    """A row a placement of a trace."""
    heads = [*HEADS]
    placed = [run for _, group in runs for run in group]
    if any(run.agreed is not None for run in placed):
        heads.append("RTL = model")
    heads.append("= trace")
    rows = []
    for name, group in runs:
        for run in group:
            link = f'<a href="#{escape(name)}">{escape(name)}</a>'
            shown = [
                link,
                *cells(run),
                *(mark("".join(c[:1])) for c in (run.agreed, run.counted) if c is not None),
            ]
            rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in shown) + "</tr>")
    head = "".join(f"<th>{h}</th>" for h in heads)
    return (
        '<h2 class="next">Flat memory mode</h2>\n'
        "<p>The same accesses through the swap controller, near memory "
        "half of what the trace touches, a swap on every miss. A page of 4 KiB shares its place in "
        "near memory with one other: of the same tenant (isolated) or, where there are two, of "
        "another (conflicting, Memstrata §3.3). Traffic is in lines of 64 B.</p>\n"
        f'<div class="card scroll"><table class="summary"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>\n"
    )


def pictures(runs: Sequence[PlacedRun], trace: Trace, analysis: Analysis) -> list[Figure]:
    """Hit rate over time, and misses by page."""
    return [hit_rate(runs, trace, analysis), misses(runs[0], trace, analysis)]


def hit_rate(runs: Sequence[PlacedRun], trace: Trace, analysis: Analysis) -> Figure:
    """A step line a tenant; dashed where tenants conflict."""
    clock, polls, names = Clock.of(analysis.polls), analysis.polls, analysis.bandwidth.names
    frame = time_frame(196)
    canvas = Canvas(WIDE, 242, "Hit rate in near memory over time")
    up = Scale(0, 1, frame.bottom, frame.top)
    frame.y_axis(canvas, up, lambda v: f"{v * 100:.0f} %", "hits")
    poll = np.repeat(np.arange(len(polls)), np.diff(polls.edges))
    of = tenant_ranks(trace)
    xs = clock.edges(frame)
    ends = []
    for run in runs:
        conflicting = run.placement != runs[0].placement
        for i, name in enumerate(names):
            rates = run.hit_rates(poll, len(polls), of == i)
            line = [up(v) for v in rates]
            canvas.path(steps(xs, line), f"line {'dashed ' if conflicting else ''}mark t{i % 6}")
            ends.append(
                (float(np.mean(line[-3:])), "… conflicting" if conflicting else name, f"t{i % 6}")
            )
    for y, words, css in apart(ends, 17, frame.top + 4, frame.bottom):
        canvas.text(frame.right + 12, y + 4, words, f"tag {css}")
    clock.axis(canvas, frame)
    caption = (
        f"Accesses that near memory of {runs[0].near_bytes / (1 << 20):.1f} MiB has the line of, "
        "by poll and tenant; every other one swaps. "
    ) + _neighbours(runs, names, of)
    return Figure("hitrate", "Hits in near memory", canvas.svg(), caption)


def _neighbours(runs: Sequence[PlacedRun], names: Sequence[str], of: np.ndarray) -> str:
    """What conflicting does to each tenant, in words; nothing where there is one placement."""
    if len(runs) == 1:
        return ""
    apart_, mixed = (run.hit_rates(of, len(names)) for run in runs)
    said = [
        f"{escape(name)} hits {apart_[i]:.1%} isolated and {mixed[i]:.1%} conflicting"
        for i, name in enumerate(names)
    ]
    return f"Dashed: tenants share places. <strong>{'; '.join(said)}.</strong>"


def misses(run: PlacedRun, trace: Trace, analysis: Analysis) -> Figure:
    """A column a huge page: all accesses behind, misses before."""
    pages, page_of = touched_pages(trace)
    total = np.bincount(page_of, minlength=len(pages))
    missed = np.bincount(page_of, run.first.outcomes != HIT, len(pages)).astype(np.int64)
    owner = analysis.heat.owner
    share = -(-len(pages) // COLUMNS)  # huge pages a column
    starts = np.arange(0, len(pages), share)
    totals, misses_ = (np.add.reduceat(counts, starts) for counts in (total, missed))
    frame = time_frame(196)
    canvas = Canvas(WIDE, 242, "Accesses and misses by huge page")
    up = Scale(0, max(1, int(totals.max())) * 1.06, frame.bottom, frame.top)
    across = Scale(0, len(starts), frame.left, frame.right)
    frame.y_axis(canvas, up, plain, "accesses")
    for i, start in enumerate(starts):
        x, wide = across(i + 0.1), across(i + 0.9) - across(i + 0.1)
        css = f"t{owner[start] % 6}"
        tip = (
            f"{address(int(pages[start]))}: {misses_[i]:,} of {totals[i]:,} accesses missed "
            f"({misses_[i] / max(totals[i], 1):.0%})"
        )
        for count, kind in ((totals[i], f"area faint {css}"), (misses_[i], f"area mark {css}")):
            canvas.rect(x, up(count), wide, frame.bottom - up(count), kind, tip)
    canvas.line(frame.left, frame.bottom, frame.right, frame.bottom, "axis")
    for i in np.unique(np.linspace(0, len(starts) - 1, min(9, len(starts))).round().astype(int)):
        words = address(int(pages[starts[i]]))
        canvas.text(across(i + 0.5), frame.bottom + 18, words, "tick", "middle")
    title = "huge page (address order)"
    canvas.text((frame.left + frame.right) / 2, frame.bottom + 38, title, "title", "middle")
    together = f" A column is {share} huge pages." if share > 1 else ""
    caption = (
        f"Strong: misses; faint: all accesses to the page, {run.placement}.{together} What a rule "
        "that asks for near-misses counts by page, the outcomes of the accesses say here."
    )
    return Figure("misses", "Misses by page", canvas.svg(), caption)
