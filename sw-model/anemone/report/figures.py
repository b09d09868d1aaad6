# SPDX-License-Identifier: Apache-2.0
"""The pictures of one trace: three panels over the same time axis, and three of the pages."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np

from anemone.analysis.hot_set import HOT_SHARE, MOVED
from anemone.analysis.polls import Polls
from anemone.analysis.skewness import FAST_SHARE, Skewness
from anemone.analysis.telemetry import Analysis, Bandwidth
from anemone.report.svg import (
    RATE_UNITS,
    TIME_UNITS,
    Canvas,
    Frame,
    Scale,
    cells,
    levels,
    pick_unit,
    plain,
)
from anemone.trace.pages import HUGE_SHIFT

WIDE, HALF = 1120, 540
LEFT, RIGHT = 96, 150  # margins of the time panels, equal so that their time axes line up
LEVELS = 8
ROWS = 160  # rows of the hotness picture; more huge pages than that share rows
STRIPS = 12  # huge pages whose base pages are drawn


@dataclass(frozen=True)
class Figure:
    """One figure. caption is HTML; cells is what the page's script tells on hovering."""

    key: str
    title: str
    svg: str
    caption: str
    wide: bool = True
    cells: dict | None = None


@dataclass(frozen=True)
class Clock:
    """The shared time axis: its scale, unit and words."""

    polls: Polls
    unit: float
    name: str

    @staticmethod
    def of(polls: Polls) -> Clock:
        if not polls.timed:
            return Clock(polls, 1.0, "events")
        return Clock(polls, *pick_unit(float(polls.times[-1]) / 2, TIME_UNITS))

    def scale(self, frame: Frame) -> Scale:
        return Scale(0, float(self.polls.times[-1]) / self.unit, frame.left, frame.right)

    def edges(self, frame: Frame) -> list[float]:
        scale = self.scale(frame)
        return [scale(t) for t in self.polls.times / self.unit]

    def axis(self, canvas: Canvas, frame: Frame) -> None:
        title = f"time ({self.name})" if self.polls.timed else "events"
        frame.x_axis(canvas, self.scale(frame), plain, title)

    def say(self, poll: int) -> str:
        """When poll interval `poll` began."""
        at = self.polls.times[poll] / self.unit
        return f"{at:.3g} {self.name}" if self.polls.timed else f"event {round(at):,}"


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


def address(page: int) -> str:
    """Where a huge page begins in the device, exactly."""
    return f"{page << (HUGE_SHIFT - 20):,} MiB"


def time_frame(bottom: int, top: int = 14) -> Frame:
    return Frame(LEFT, top, WIDE - RIGHT, bottom)


def _moves(canvas: Canvas, frame: Frame, analysis: Analysis, clock: Clock, words: bool) -> None:
    """A line at each move; `words` beside it, where the words before leave room."""
    edges = clock.edges(frame)
    taken = frame.left
    for poll in analysis.hotset.moves:
        canvas.line(edges[poll], frame.top, edges[poll], frame.bottom, "move-under")
        canvas.line(edges[poll], frame.top, edges[poll], frame.bottom, "move")
        # The dip is a poll wide on either side of the line.
        said = f"hot set moved at {clock.say(poll)}"
        wide = 7.5 * len(said)
        late = edges[poll] > (frame.left + frame.right) * 0.6
        near = max(poll - 1, 0) if late else min(poll + 2, len(edges) - 1)
        first = edges[near] - 8 - wide if late else edges[near] + 8
        if words and first > taken:
            low = frame.bottom - (frame.bottom - frame.top) * 0.22
            at, anchor = (first + wide, "end") if late else (first, "start")
            canvas.text(at, low, said, "callout", anchor)
            taken = first + wide


def _legend_levels(
    canvas: Canvas, x: float, top: float, edges: np.ndarray, title: tuple[str, ...], step: int = 22
) -> None:
    """A column of the colour levels, the largest on top, with their lower edges."""
    for i, line in enumerate(title):
        canvas.text(x, top + 10 + 15 * i, line, "tick")
    top += 15 * len(title) + 6
    for i in range(LEVELS):
        level = LEVELS - i
        canvas.rect(x, top + i * step, 16, step - 2, f"heat h{level}")
        canvas.text(x + 24, top + i * step + step / 2 + 3, _from(edges, level), "tick")


def _from(edges: np.ndarray, level: int) -> str:
    """The words of a level: from its lower edge up, the lowest below its upper edge."""
    return f"≥ {_brief(edges[level - 1])}" if level > 1 else f"< {_brief(edges[1])}"


def _brief(value: float) -> str:
    if value >= 10_000:
        return f"{value / 1000:.0f}k"
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def hotness(analysis: Analysis, clock: Clock) -> Figure:
    """Listing 2 over address and time."""
    heat, polls = analysis.heat, analysis.polls
    frame = time_frame(334)
    canvas = Canvas(WIDE, 380, "Accesses by huge page and time")
    share = -(-len(heat.pages) // ROWS)
    starts = np.arange(0, len(heat.pages), share)
    # A short last interval is scaled up to a whole one, so that its colours mean the same.
    full = np.diff(polls.edges)[0] / np.diff(polls.edges)
    sizes = np.diff(np.append(starts, len(heat.pages)))
    rows = np.add.reduceat(heat.counts * full[:, None], starts, axis=1).T / sizes[:, None]
    level, edges = levels(rows, LEVELS)
    down = Scale(0, len(starts), frame.bottom, frame.top)  # low addresses at the bottom
    ys = [down(i) for i in range(len(starts) + 1)]
    canvas.rect(frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top, "ground")
    for key, d in cells(level, clock.edges(frame), ys).items():
        canvas.path(d, f"heat h{key} mark")
    owners = np.unique(heat.owner)
    if len(owners) > 1:
        strip = cells((heat.owner[starts] + 1)[:, None], [frame.left - 9, frame.left - 3], ys)
        for key, d in strip.items():
            canvas.path(d, f"area t{(key - 1) % 6}")
    for i in np.unique(np.linspace(0, len(starts) - 1, min(7, len(starts))).round().astype(int)):
        y = down(i + 0.5)
        canvas.text(frame.left - 14, y + 4, address(int(heat.pages[starts[i]])), "tick", "end")
    _moves(canvas, frame, analysis, clock, words=False)
    clock.axis(canvas, frame)
    _legend_levels(canvas, frame.right + 22, frame.top, edges, ("accesses a poll", "a huge page"))
    together = f" Each row is {share} huge pages together." if share > 1 else ""
    strip_words = " The strip at the left shows whose page it is." if len(owners) > 1 else ""
    caption = (
        f"One row for each of the {len(heat.pages):,} touched 2 MiB pages in address order, "
        f"untouched ones left out.{together}{strip_words} From the reads of rule "
        "<code>hotness</code> (Listing 2), reset on read."
    )
    said = {
        "x": clock.edges(frame),
        "y": ys,
        "rows": [address(int(heat.pages[i])) for i in starts],
        "columns": [clock.say(i) for i in range(len(polls))],
        "counts": np.add.reduceat(heat.counts, starts, axis=1).tolist(),
        "what": "accesses in the poll",
    }
    title = "Hotness by address and time"
    return Figure("hotness", title, canvas.svg(), caption, cells=said)


def bandwidth(analysis: Analysis, clock: Clock) -> Figure:
    """Listing 3: a step line a tenant, the cap, and the polls in which the predicate held."""
    told, polls = analysis.bandwidth, analysis.polls
    frame = time_frame(196)
    canvas = Canvas(WIDE, 242, "Bandwidth by tenant over time")
    rates = told.rate(polls)
    cap = told.cap * 64 / polls.spans
    cap[-1] = cap[-2] if len(cap) > 1 else cap[-1]  # a cap is of a whole poll; the last is shorter
    top = max(float(rates.max()), float(cap.max())) * 1.08
    unit, name = pick_unit(top, RATE_UNITS) if polls.timed else (1.0, "bytes an event")
    up = Scale(0, top / unit, frame.bottom, frame.top)
    frame.y_axis(canvas, up, plain, f"bandwidth ({name})")
    xs = clock.edges(frame)
    limit = [up(v / unit) for v in cap]
    canvas.path(steps(xs, limit), "cap")
    for i in range(len(told.names)):
        line = [up(v / unit) for v in rates[:, i]]
        css = f"t{i % 6}"
        area = steps(xs, line) + f"V{frame.bottom:g}H{xs[0]:g}z"
        canvas.path(area, f"area wash {css}")
        canvas.path(steps(xs, line), f"line mark {css}")
    for poll, i in np.argwhere(told.fired):
        x, y = (xs[poll] + xs[poll + 1]) / 2, up(rates[poll, i] / unit)
        tip = (
            f"notify: {told.names[i]}, {told.counts[poll, i]:,} accesses in the poll from "
            f"{clock.say(int(poll))}"
        )
        canvas.path(f"M{x:g} {y - 4:g}l4.5 -8h-9z", f"fired t{i % 6}", tip)
    ends = [(up(rates[-3:, i].mean() / unit), n, f"t{i % 6}")
            for i, n in enumerate(told.names)]  # fmt: skip
    ends.append((limit[-1], "cap", "t-cap"))
    for y, words, css in apart(ends, 17, frame.top + 4, frame.bottom):
        canvas.text(frame.right + 12, y + 4, words, f"tag {css}")
    _moves(canvas, frame, analysis, clock, words=False)
    clock.axis(canvas, frame)
    return Figure("bandwidth", "Bandwidth by tenant", canvas.svg(), _bandwidth_words(told))


def _bandwidth_words(told: Bandwidth) -> str:
    fired = [f"{told.names[i]} in {n}" for i, n in enumerate(told.fired.sum(axis=0)) if n]
    alone = ", since one tenant alone cannot have twice its share" if len(told.names) == 1 else ""
    polls = f"It held in no poll{alone}"
    if fired:
        polls = f"It held for {' and '.join(fired)} of {len(told.fired)} polls"
    return (
        "Every huge page of a tenant maps to one counter (Listing 3); 64 B an access. The dashed "
        f"line is the cap of {told.cap:,} accesses a poll; ▾ marks a poll in which the notify "
        f"predicate held on a channel. {polls} ({told.notifications:,} notifications)."
    )


def steps(xs: list[float], ys: list[float]) -> str:
    path = f"M{xs[0]:g} {ys[0]:g}"
    return path + "".join(f"V{y:g}H{x:g}" for x, y in zip(xs[1:], ys, strict=True))


def apart(
    ends: list[tuple[float, str, str]], gap: float, top: float, bottom: float
) -> list[tuple[float, str, str]]:
    """Move labels up or down until none is nearer than `gap` to the next."""
    ends = sorted(ends)
    ys = [max(top, min(bottom, e[0])) for e in ends]
    for i in range(1, len(ys)):
        ys[i] = max(ys[i], ys[i - 1] + gap)
    ys[-1] = min(ys[-1], max(bottom, top + gap * (len(ys) - 1)))
    for i in range(len(ys) - 2, -1, -1):
        ys[i] = min(ys[i], ys[i + 1] - gap)
    return [(y, words, css) for y, (_, words, css) in zip(ys, ends, strict=True)]


def hotset(analysis: Analysis, clock: Clock) -> Figure:
    """How much of its traffic the hot set keeps."""
    hot = analysis.hotset
    frame = time_frame(156)
    canvas = Canvas(WIDE, 202, "Traffic that the hot set of the polls before still takes")
    up = Scale(0, 1, frame.bottom, frame.top)
    frame.y_axis(canvas, up, lambda v: f"{v * 100:.0f} %", "traffic kept", 3)
    canvas.line(frame.left, up(MOVED), frame.right, up(MOVED), "cap")
    canvas.text(frame.right + 12, up(MOVED) + 4, "moved below", "tag t-cap")
    xs = clock.edges(frame)
    dots = [((xs[i] + xs[i + 1]) / 2, up(v)) for i, v in enumerate(hot.kept) if not np.isnan(v)]
    canvas.path("M" + "L".join(f"{x:g} {y:g}" for x, y in dots) if dots else "", "line t0")
    for (x, y), poll in zip(dots, np.flatnonzero(~np.isnan(hot.kept)), strict=True):
        tip = f"poll from {clock.say(int(poll))}: {hot.kept[poll] * 100:.0f} % of the traffic kept"
        canvas.add("circle", "dot mark t0", tip, cx=f"{x:g}", cy=f"{y:g}", r=3.2)
    _moves(canvas, frame, analysis, clock, words=True)
    clock.axis(canvas, frame)
    return Figure("hotset", "Where the hot set is", canvas.svg(), _hotset_words(analysis, clock))


def _hotset_words(analysis: Analysis, clock: Clock) -> str:
    hot = analysis.hotset
    pages = "the most accessed huge page" if hot.size == 1 else f"the {hot.size:,} hottest pages"
    how = (
        f"The accesses of each poll to the hot set of all polls since it last moved ({pages}, "
        f"{HOT_SHARE:.0%} of those touched), over the accesses to the poll's own hot set. "
    )
    if not hot.stable:
        return how + "It never settles here: the program moves through its memory."
    if not hot.moves:
        return how + "It stays where it is."
    when = ", ".join(clock.say(poll) for poll in hot.moves)
    return how + f"<strong>It moves in the poll that begins at {escape(when)}.</strong>"


def skew_scores(skew: Skewness) -> Figure:
    """Listing 1: how many huge pages have which skewness."""
    frame = Frame(62, 14, HALF - 16, 246)
    canvas = Canvas(HALF, 292, "Distribution of the skewness score")
    bins = max(6, int(np.ceil(skew.score.max() + 1e-9)))
    count, _ = np.histogram(skew.score, bins=np.arange(bins + 1))
    across = Scale(0, bins, frame.left, frame.right)
    up = Scale(0, max(1, int(count.max())) * 1.1, frame.bottom, frame.top)
    frame.y_axis(canvas, up, plain, "huge pages")
    for i, n in enumerate(count):
        x, w = across(i), across(i + 1) - across(i)
        tip = f"score {i} to {i + 1}: {n} huge pages"
        canvas.rect(x + 1.5, up(n), w - 3, frame.bottom - up(n), "bar mark", tip)
        if n:
            canvas.text(x + w / 2, up(n) - 5, f"{n}", "tick", "middle")
    frame.x_axis(canvas, across, plain, "skewness score", min(bins, 12))
    caption = (
        "Score of a huge page = log<sub>2</sub>(1 + S), S = Σ h<sub>j</sub>² / U² over its 512 "
        "base pages: h<sub>j</sub> is base page j's accesses over the mean of all touched ones, U "
        f"counts the hot ones (here ≥ {skew.threshold:,} accesses: the hottest {FAST_SHARE:.0%}, a "
        "1:2 fast tier); 0 if U = 0. After MEMTIS; a high score is a page worth splitting."
    )
    return Figure("skewness", "Skewness within huge pages", canvas.svg(), caption, False)


def skew_strips(skew: Skewness) -> Figure:
    """The base pages of the most skewed huge pages."""
    frame = Frame(82, 14, HALF - 62, 246)
    canvas = Canvas(HALF, 292, "Base pages of the most skewed huge pages")
    order = np.lexsort((-skew.base.sum(axis=1), -skew.score))[:STRIPS]
    base = skew.base[order]
    # Four base pages a cell: 128 cells a row are as fine as the picture is.
    level, _ = levels(base.reshape(len(order), -1, 4).max(axis=2), LEVELS)
    across = Scale(0, 512, frame.left, frame.right)
    xs = [across(i) for i in range(0, 513, 4)]
    height = (frame.bottom - frame.top) / max(len(order), 1)
    for i, page in enumerate(skew.pages[order]):
        y = frame.top + i * height
        canvas.rect(frame.left, y, frame.right - frame.left, height - 3, "ground")
        for key, d in cells(level[i : i + 1], xs, [y, y + height - 3]).items():
            canvas.path(d, f"heat h{key} mark")
        canvas.text(frame.left - 8, y + height / 2 + 3, address(int(page)), "tick", "end")
        canvas.text(
            HALF - 10, y + height / 2 + 3, f"{skew.score[order[i]]:.1f}", "tick strong", "end"
        )
    frame.x_axis(canvas, Scale(0, 512, frame.left, frame.right), plain, "4 KiB base page", 4)
    canvas.text(HALF - 10, frame.bottom + 18, "score", "tick", "end")
    caption = (
        f"The {len(order)} most skewed of {len(skew.pages):,} tracked huge pages; stronger colours "
        "are more accesses (log scale), the number at the right is the score."
    )
    return Figure("basepages", "Inside the most skewed pages", canvas.svg(), caption, False)


def similarity(analysis: Analysis, clock: Clock) -> Figure:
    """Every poll against every other."""
    frame = Frame(74, 14, 410, 350)
    canvas = Canvas(HALF, 400, "Similarity of each poll to each other poll")
    matrix = analysis.hotset.similarity
    count = len(matrix)
    # A program that hardly changes uses a part of the scale, but never less than its upper fifth:
    # what differs by less is noise.
    low = min(0.8, float(np.floor(matrix.min() * 10) / 10))
    edges = np.linspace(low, 1, LEVELS + 1)
    level = np.digitize(matrix, edges[1:-1]) + 1
    across, up = (
        Scale(0, count, frame.left, frame.right),
        Scale(0, count, frame.bottom, frame.top),
    )
    xs, ys = [across(i) for i in range(count + 1)], [up(i) for i in range(count + 1)]
    for key, d in cells(level, xs, ys).items():
        canvas.path(d, f"heat h{key} mark")
    for poll in analysis.hotset.moves:
        for css in ("move-under", "move"):
            canvas.line(xs[poll], frame.top, xs[poll], frame.bottom, css)
            canvas.line(frame.left, ys[poll], frame.right, ys[poll], css)
    frame.x_axis(canvas, across, plain, "poll", 6)
    for value in up.ticks(6):
        canvas.text(frame.left - 8, up(value) + 4, plain(value), "tick", "end")
    frame.y_title(canvas, "poll")
    _legend_levels(canvas, 434, frame.top, edges, ("cosine",), 26)
    caption = (
        "Cosine similarity of two polls' accesses by huge page. A strong square on the diagonal "
        "is a time in which the same pages were hot."
    )
    return Figure("similarity", "Polls that look alike", canvas.svg(), caption, False)
