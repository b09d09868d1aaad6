# SPDX-License-Identifier: Apache-2.0
"""The pictures of one trace: three charts over the same time axis, and three by page or poll."""

from __future__ import annotations

import altair as alt
import numpy as np
from markupsafe import Markup

from anemone.analysis.hot_set import HOT_SHARE, MOVED
from anemone.analysis.skewness import FAST_SHARE, Skewness
from anemone.analysis.telemetry import Analysis, Bandwidth
from anemone.report import charts
from anemone.report.charts import HALF, Figure, Frame, Hover
from anemone.report.clock import RATE_UNITS, Clock, address, pick_unit, time_frame
from anemone.report.theme import LEVELS, colour, series

ROWS = 160  # rows of the hotness picture; more huge pages than that share rows
STRIPS = 12  # number of huge pages whose base pages are drawn


def pictures(analysis: Analysis) -> list[Figure]:
    clock = Clock.of(analysis.polls)
    return [
        hotness(analysis, clock),
        bandwidth(analysis, clock),
        hotset(analysis, clock),
        skew_scores(analysis.skewness),
        skew_strips(analysis.skewness),
        similarity(analysis, clock),
    ]


def _moves(analysis: Analysis, clock: Clock) -> list[alt.Chart]:
    """A line at each move, over a wider one in the background colour that sets it off."""
    moves = alt.Chart(charts.table(x=clock.edges[analysis.hotset.moves]))
    looks = ((5, 0.75, "card"), (2, 1, "move"))
    return [
        moves.mark_rule(strokeWidth=wide, opacity=opacity, stroke=colour(name)).encode(
            x=clock.axis("x")
        )
        for wide, opacity, name in looks
        if analysis.hotset.moves
    ]


def hotness(analysis: Analysis, clock: Clock) -> Figure:
    """Accesses by huge page and time (Listing 2)."""
    heat, polls = analysis.heat, analysis.polls
    frame = time_frame(380)
    share = -(-len(heat.pages) // ROWS)
    starts = np.arange(0, len(heat.pages), share)
    # A short last interval is scaled to full length, so that its colours are comparable.
    full = np.diff(polls.edges)[0] / np.diff(polls.edges)
    sizes = np.diff(np.append(starts, len(heat.pages)))
    rows = np.add.reduceat(heat.counts * full[:, None], starts, axis=1).T / sizes[:, None]
    level, edges = charts.levels(rows)
    down = np.arange(len(starts) + 1.0)  # low addresses at the bottom
    boxes = alt.Chart(charts.cells(level, clock.edges, down[:-1], down[1:])).mark_rect()
    labelled = np.unique(np.linspace(0, len(starts) - 1, min(7, len(starts))).round().astype(int))
    names = [address(int(heat.pages[i])) for i in starts]
    places = charts.text_axis(
        labelled + 0.5, [names[i] for i in labelled], grid=False, labelPadding=14
    )
    scale = alt.Scale(domain=[0, len(starts)], nice=False)
    height = alt.Y("y:Q", scale=scale, axis=places, title=None)
    key = charts.ramp(edges, ("accesses a poll", "a huge page"))
    drawn = charts.data(
        boxes.encode(x=clock.axis("x"), x2=alt.X2("x2:Q"), y=height, y2=alt.Y2("y2:Q"), color=key),
        "heat",
    )
    shown = [charts.background(frame), drawn]
    tenants = len(np.unique(heat.owner))
    if tenants > 1:
        shown.append(_owners(heat.owner[starts], height))
    hover = Hover(
        clock.pixels(frame),
        frame.down - down / len(starts) * frame.down,
        columns=[clock.start_text(i) for i in range(len(polls))],
        rows=names,
        values=np.add.reduceat(heat.counts, starts, axis=1).tolist(),
        words="{row}, from {column}\n{value} accesses in the poll",
    )
    caption = Markup(
        "One row for each of the {:,} touched 2 MiB pages in address order, untouched ones left "
        "out.{}{} From the reads of rule <code>hotness</code> (Listing 2), reset on read."
    ).format(
        len(heat.pages),
        f" Each row is {share} huge pages together." if share > 1 else "",
        " The strip at the left shows whose page it is." if tenants > 1 else "",
    )
    picture = charts.svg(frame, "Accesses by huge page and time", *shown, *_moves(analysis, clock))
    title = "Hotness by address and time"
    return Figure("hotness", title, picture, caption, hover=hover.data(frame))


def _owners(owner: np.ndarray, height: alt.Y) -> alt.Chart:
    """A strip left of the plot with the colour of each row's tenant. owner: int64[rows], index."""
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    rows = charts.table(
        y=first, y2=np.append(first[1:], len(owner)), colour=[series(i) for i in owner[first]]
    )
    strip = alt.Chart(rows).mark_rect()
    left, right = alt.XValue(-9), alt.X2Value(-3)
    return strip.encode(
        x=left, x2=right, y=height, y2=alt.Y2("y2:Q"), fill=charts.data_colour("colour")
    )


def bandwidth(analysis: Analysis, clock: Clock) -> Figure:
    """Listing 3: a step line per tenant, the cap, and the polls in which the predicate held."""
    traffic, polls = analysis.bandwidth, analysis.polls
    frame = time_frame(242, len(traffic.names) + 1)
    rates = traffic.rate(polls)
    cap = traffic.cap * 64 / polls.spans
    # The cap is per full poll; the shorter last poll must not raise its rate.
    cap[-1] = cap[-2] if len(cap) > 1 else cap[-1]
    top = max(float(rates.max()), float(cap.max())) * 1.08
    unit, name = pick_unit(top, RATE_UNITS) if polls.timed else (1.0, "bytes an event")
    rates, cap, top = rates / unit, cap / unit, top / unit
    height = alt.Y(
        "y:Q",
        scale=alt.Scale(domain=[0, top], nice=False),
        axis=frame.y(f"bandwidth ({name})", tickCount=4),
        stack=False,
    )
    colours = [series(i) for i in range(len(traffic.names))]
    lines = charts.per_series(alt.Chart(charts.steps(clock.edges, rates, colours)))
    across = {"x": clock.axis("x"), "y": height}
    limit = alt.Chart(charts.steps(clock.edges, cap[:, None], [colour("muted")]))
    poll, who = np.nonzero(traffic.fired)
    fired = alt.Chart(
        charts.table(x=clock.middles[poll], y=rates[poll, who], colour=[colours[i] for i in who])
    )
    ends = [(1 - rates[-3:, i].mean() / top, n, colours[i]) for i, n in enumerate(traffic.names)]
    ends.append((1 - cap[-1] / top, "cap", colour("muted")))
    picture = charts.svg(
        frame,
        "Bandwidth by tenant over time",
        limit.mark_line(interpolate="step-after", strokeDash=[6, 5], strokeWidth=1.4).encode(
            **across, stroke=charts.data_colour("colour")
        ),
        lines.mark_area(interpolate="step-after", opacity=0.1).encode(
            **across, fill=charts.data_colour("colour")
        ),
        charts.data(
            lines.mark_line(interpolate="step-after").encode(
                **across, stroke=charts.data_colour("colour")
            ),
            "rates",
        ),
        fired.mark_point(
            shape="triangle-down", size=60, yOffset=-9, filled=True,
            stroke=colour("card"), strokeWidth=1, opacity=1,
        ).encode(**across, fill=charts.data_colour("colour")),
        charts.labels(frame, [(at * frame.down, words, c) for at, words, c in ends]),
        *_moves(analysis, clock),
    )  # fmt: skip
    says = [
        "\n".join(
            f"{n}: {rates[poll, i]:.3g} {name}, {traffic.counts[poll, i]:,} accesses"
            + (" ▾ notify" if traffic.fired[poll, i] else "")
            for i, n in enumerate(traffic.names)
        )
        for poll in range(len(polls))
    ]
    caption = _bandwidth_words(traffic)
    hover = clock.hover(frame, says)
    return Figure("bandwidth", "Bandwidth by tenant", picture, caption, hover=hover)


def _bandwidth_words(traffic: Bandwidth) -> Markup:
    fired = [f"{traffic.names[i]} in {n}" for i, n in enumerate(traffic.fired.sum(axis=0)) if n]
    alone = (
        ", since one tenant alone cannot have twice its share" if len(traffic.names) == 1 else ""
    )
    polls = f"It held in no poll{alone}"
    if fired:
        polls = f"It held for {' and '.join(fired)} of {len(traffic.fired)} polls"
    return Markup(
        "Every huge page of a tenant maps to one counter (Listing 3); 64 B an access. The dashed "
        "line is the cap of {:,} accesses a poll; ▾ marks a poll in which the notify predicate "
        "held on a channel. {} ({:,} notifications)."
    ).format(traffic.cap, polls, traffic.notifications)


def hotset(analysis: Analysis, clock: Clock) -> Figure:
    """The share of the traffic that the hot set of the earlier polls still takes."""
    hot = analysis.hotset
    frame = time_frame(202)
    height = alt.Y(
        "y:Q",
        scale=alt.Scale(domain=[0, 1]),
        axis=frame.y("traffic kept", values=[0, 0.5, 1], labelExpr="datum.value * 100 + ' %'"),
    )
    known = np.flatnonzero(~np.isnan(hot.kept))
    kept = alt.Chart(charts.table(x=clock.middles[known], y=hot.kept[known]))
    across = {"x": clock.axis("x"), "y": height}
    bar = (1 - MOVED) * frame.down
    picture = charts.svg(
        frame,
        "Traffic that the hot set of the polls before still takes",
        alt.Chart().mark_rule(strokeDash=[6, 5], strokeWidth=1.4).encode(y=alt.YDatum(MOVED)),
        kept.mark_line(stroke=series(0)).encode(**across),
        charts.data(
            kept.mark_point(
                filled=True, fill=series(0), size=34, stroke=colour("card"), strokeWidth=1.2,
                opacity=1,
            ).encode(**across),
            "kept",
        ),
        charts.labels(frame, [(bar, "moved below", colour("muted"))]),
        *_moves(analysis, clock),
        *_callouts(analysis, clock, frame),
    )  # fmt: skip
    says = [
        "no poll before it" if np.isnan(v) else f"{v * 100:.0f} % of the traffic kept"
        for v in hot.kept
    ]
    caption = _hotset_words(analysis, clock)
    hover = clock.hover(frame, says)
    return Figure("hotset", "Where the hot set is", picture, caption, hover=hover)


def _callouts(analysis: Analysis, clock: Clock, frame: Frame) -> list[alt.Chart]:
    """Text beside the line of each move; left out if it would overlap the text before."""
    edges = clock.pixels(frame)
    taken, texts = 0.0, []
    for poll in analysis.hotset.moves:
        # The curve dips for one poll on either side of the line; the text goes beside the dip.
        words = f"hot set moved at {clock.start_text(poll)}"
        wide = 7.5 * len(words)
        late = edges[poll] > frame.across * 0.6
        near = max(poll - 1, 0) if late else min(poll + 2, len(edges) - 1)
        first = edges[near] - 8 - wide if late else edges[near] + 8
        if first > taken:
            texts.append((first, words))
            taken = first + wide
    if not texts:
        return []
    xs, words = zip(*texts, strict=True)
    callouts = alt.Chart(charts.table(x=xs, words=words))
    place = {"x": alt.X("x:Q", scale=None, axis=None), "y": alt.YValue(frame.down * 0.78)}
    words = callouts.mark_text(
        align="left",
        fontWeight=600,
        fill=colour("move"),
        stroke=colour("card"),
        strokeWidth=4,
        strokeJoin="round",
    )
    return [words.encode(**place, text=alt.Text("words:N"))]


def _hotset_words(analysis: Analysis, clock: Clock) -> Markup:
    hot = analysis.hotset
    pages = "the most accessed huge page" if hot.size == 1 else f"the {hot.size:,} hottest pages"
    how = Markup(
        "The accesses of each poll to the hot set of all polls since it last moved ({}, {:.0%} of "
        "those touched), over the accesses to the poll's own hot set. "
    ).format(pages, HOT_SHARE)
    if not hot.stable:
        return how + "It never settles here: the program moves through its memory."
    if not hot.moves:
        return how + "It stays where it is."
    when = ", ".join(clock.start_text(poll) for poll in hot.moves)
    return how + Markup("<strong>It moves in the poll that begins at {}.</strong>").format(when)


def skew_scores(skew: Skewness) -> Figure:
    """Histogram of the huge pages' skewness (Listing 1)."""
    frame = Frame(HALF, 292, left=62, right=16)
    bins = max(6, int(np.ceil(skew.score.max() + 1e-9)))
    count, _ = np.histogram(skew.score, bins=np.arange(bins + 1))
    score = np.arange(bins)
    rows = charts.table(x=score + 0.03, x2=score + 0.97, middle=score + 0.5, y=count)
    drawn = alt.Chart(rows)
    scale = alt.Scale(domain=[0, max(1, int(count.max())) * 1.1], nice=False)
    height = alt.Y(
        "y:Q", scale=scale, axis=frame.y("huge pages", **charts.whole_ticks(int(count.max()), 4))
    )
    ticks = alt.Axis(**charts.whole_ticks(bins, 12))
    across = alt.X("x:Q", scale=alt.Scale(domain=[0, bins]), axis=ticks, title="skewness score")
    picture = charts.svg(
        frame,
        "Distribution of the skewness score",
        charts.data(
            drawn.mark_rect(fill=series(0)).encode(
                x=across, x2=alt.X2("x2:Q"), y=height, y2=alt.Y2Datum(0)
            ),
            "bars",
        ),
        drawn.transform_filter("datum.y > 0")
        .mark_text(dy=-9, fontSize=12.5, fill=colour("muted"))
        .encode(x=alt.X("middle:Q"), y=height, text=alt.Text("y:Q", format=",")),
    )
    hover = Hover(
        np.linspace(0, frame.across, bins + 1),
        [0, frame.down],
        [f"score {i} to {i + 1}\n{n:,} huge pages" for i, n in enumerate(count)],
    )
    caption = Markup(
        "Score of a huge page = log<sub>2</sub>(1 + S), S = Σ h<sub>j</sub>² / U² over its 512 "
        "base pages: h<sub>j</sub> is base page j's accesses over the mean of all touched ones, U "
        "counts the hot ones (here ≥ {:,} accesses: the hottest {:.0%}, a 1:2 fast tier); 0 if "
        "U = 0. After MEMTIS; a high score is a page worth splitting."
    ).format(skew.threshold, FAST_SHARE)
    title = "Skewness within huge pages"
    return Figure("skewness", title, picture, caption, wide=False, hover=hover.data(frame))


def skew_strips(skew: Skewness) -> Figure:
    """The base pages of the most skewed huge pages."""
    frame = Frame(HALF, 292, left=82, right=62)
    order = np.lexsort((-skew.base.sum(axis=1), -skew.score))[:STRIPS]
    # Four base pages per cell: the picture cannot show more than 128 cells in a row.
    strongest = skew.base[order].reshape(len(order), -1, 4).max(axis=2)
    level, _ = charts.levels(strongest)
    top = np.arange(len(order)) + 0.0
    low = top + 1 - 3 / (frame.down / len(order))  # a gap of three px between two strips
    names = [address(int(page)) for page in skew.pages[order]]
    places = charts.text_axis(top + 0.45, names, grid=False)
    scale = alt.Scale(domain=[len(order), 0], nice=False)
    height = alt.Y("y:Q", scale=scale, axis=places, title=None)
    ticks = alt.Axis(values=[0, 128, 256, 384, 512])
    title = "4 KiB base page"
    across = alt.X("x:Q", scale=alt.Scale(domain=[0, 512], nice=False), axis=ticks, title=title)
    where = {"x": across, "x2": alt.X2("x2:Q"), "y": height, "y2": alt.Y2("y2:Q")}
    whole = np.zeros(len(order), int)
    strips = alt.Chart(charts.table(x=whole, x2=whole + 512, y=top, y2=low))
    boxes = alt.Chart(charts.cells(level, np.arange(0.0, 513, 4), top, low))
    scores = alt.Chart(charts.table(y=top + 0.45, score=skew.score[order]))
    at = alt.XValue(frame.across + 56)
    picture = charts.svg(
        frame,
        "Base pages of the most skewed huge pages",
        strips.mark_rect(fill=colour("ground")).encode(**where),
        charts.data(boxes.mark_rect().encode(**where, color=charts.ramp()), "heat"),
        scores.mark_text(align="right", fontWeight=600, fontSize=12.5).encode(
            x=at, y=height, text=alt.Text("score:Q", format=".1f")
        ),
        alt.Chart(charts.table(words=["score"]))
        .mark_text(align="right", fontSize=12.5, fill=colour("muted"))
        .encode(x=at, y=alt.YValue(frame.down + 16.5), text=alt.Text("words:N")),
    )
    hover = Hover(
        np.linspace(0, frame.across, 129),
        np.append(top, len(order)) * frame.down / len(order),
        columns=[f"base pages {i} to {i + 3}" for i in range(0, 512, 4)],
        rows=names,
        values=strongest.T.tolist(),
        words="{row}, {column}\nat most {value} accesses of one",
    )
    caption = Markup(
        "The {} most skewed of {:,} tracked huge pages; stronger colours are more accesses (log "
        "scale), the number at the right is the score."
    ).format(len(order), len(skew.pages))
    title = "Inside the most skewed pages"
    return Figure("basepages", title, picture, caption, wide=False, hover=hover.data(frame))


def similarity(analysis: Analysis, clock: Clock) -> Figure:
    """Cosine similarity of every pair of polls."""
    frame = Frame(HALF, 400, left=74, right=130, bottom=50)
    matrix = analysis.hotset.similarity
    count = len(matrix)
    # The scale covers at least 0.8 to 1, because smaller differences are noise.
    low = min(0.8, float(np.floor(matrix.min() * 10) / 10))
    edges = np.linspace(low, 1, LEVELS + 1)
    level = np.digitize(matrix, edges[1:-1]) + 1
    polls = np.arange(count + 1.0)
    scale = alt.Scale(domain=[0, count], nice=False)
    ticks = {**charts.whole_ticks(count, 6), "grid": False}
    across = alt.X("x:Q", scale=scale, axis=alt.Axis(title="poll", **ticks))
    height = alt.Y("y:Q", scale=scale, axis=frame.y("poll", **ticks))
    boxes = alt.Chart(charts.cells(level, polls, polls[:-1], polls[1:])).mark_rect()
    drawn = boxes.encode(
        x=across,
        x2=alt.X2("x2:Q"),
        y=height,
        y2=alt.Y2("y2:Q"),
        color=charts.ramp(edges, ("cosine",), 26),
    )
    moves = alt.Chart(charts.table(x=analysis.hotset.moves, y=analysis.hotset.moves))
    lines = [
        moves.mark_rule(strokeWidth=wide, opacity=opacity, stroke=colour(name)).encode(**place)
        for wide, opacity, name in ((5, 0.75, "card"), (2, 1, "move"))
        for place in ({"x": across}, {"y": height})
        if analysis.hotset.moves
    ]
    hover = Hover(
        polls / count * frame.across,
        frame.down - polls / count * frame.down,
        columns=[f"poll {i}, from {clock.start_text(i)}" for i in range(count)],
        rows=[f"poll {i}" for i in range(count)],
        values=matrix.round(2).tolist(),
        words="{column}, and {row}\ncosine {value}",
    )
    caption = Markup(
        "Cosine similarity of two polls' accesses by huge page. A strong square on the diagonal "
        "is a time in which the same pages were hot."
    )
    picture = charts.svg(
        frame, "Similarity of each poll to each other poll", charts.data(drawn, "heat"), *lines
    )
    title = "Polls that look alike"
    return Figure("similarity", title, picture, caption, wide=False, hover=hover.data(frame))
