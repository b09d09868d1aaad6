# SPDX-License-Identifier: Apache-2.0
"""From telemetry reads to what an OS policy would see in them (NEMO §5).

Everything here is computed from what the engine's reads returned, as a driver would; the trace
itself gives only the clock (when poll i was taken) and the tenants' names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from anemone.geometry import LINE_BYTES, Geometry
from anemone.listings import BANDWIDTH, BASE_PAGES, HOTNESS, SKEW, page_owners, tenants
from anemone.report.compare import Output, Rows
from anemone.rules import Rule
from anemone.traces import Trace

HOT_SHARE = 0.2  # the hot set: this share of the touched huge pages (§5.1's 20 %)
FAST_SHARE = 1 / 3  # base pages that fit the fast tier at §5.1's 1:2 fast to slow
MOVED = 0.6  # a hot set that keeps less than this of the traffic it could have is not one any more
SETTLED = 12  # polls in a row that agree make a hot set; a quarter of a trace


@dataclass(frozen=True)
class Polls:
    """The intervals between polls. Interval i holds events edges[i] to edges[i + 1].

    edges: int64[n + 1], event numbers. times: float64[n + 1], seconds from the trace's first
    access, or event numbers where the trace has no clock (timed is False). The last interval ends
    with the trace; its counts come from the final snapshot.
    """

    edges: np.ndarray
    times: np.ndarray
    timed: bool

    @staticmethod
    def of(rule: Rule, trace: Trace) -> Polls:
        events = len(trace)
        step = rule.read_every or events
        edges = np.append(np.arange(0, events, step), events)
        if trace.time_ns is None:
            return Polls(edges, edges.astype(float), False)
        clock = trace.time_ns[np.minimum(edges, events - 1)].astype(np.int64)
        # Several cores' clocks may step back a little; the axis may not.
        return Polls(edges, np.maximum.accumulate(clock - clock[0]) / 1e9, True)

    def __len__(self) -> int:
        return len(self.edges) - 1

    @property
    def spans(self) -> np.ndarray:
        """Length of each interval (s or events); never 0, so that rates stay finite."""
        return np.maximum(np.diff(self.times), 1e-9)

    def number(self, rows: Rows) -> np.ndarray:
        """The interval that each row counts."""
        return np.searchsorted(self.edges, rows.event) - 1


@dataclass(frozen=True)
class Heat:
    """Listing 2. pages: touched huge pages, ascending. counts: int64[polls, pages].

    owner: index of each page's tenant.
    """

    pages: np.ndarray
    counts: np.ndarray
    owner: np.ndarray


@dataclass(frozen=True)
class Bandwidth:
    """Listing 3. counts: int64[polls, tenants]; fired: bool, the notify predicate held in the poll.

    cap: accesses a poll of one tenant, all channels. notifications: as the engine counted them.
    """

    names: list[str]
    counts: np.ndarray
    fired: np.ndarray
    cap: int
    notifications: int

    def rate(self, polls: Polls) -> np.ndarray:
        """Bytes a second (or a event, without a clock): float64[polls, tenants]."""
        return self.counts * LINE_BYTES / polls.spans[:, None]


@dataclass(frozen=True)
class Skewness:
    """Listing 1. pages: huge page numbers tracked; base: int64[pages, 512], accesses of each base
    page over the whole trace; score: float64[pages]; threshold: accesses that make one hot.
    """

    pages: np.ndarray
    base: np.ndarray
    score: np.ndarray
    threshold: int


@dataclass(frozen=True)
class HotSet:
    """Whether the hot set of the polls before is still the hot set, and where it moved.

    kept: float64[polls], the traffic it takes over what the best set of its size takes (nan for
    the first poll). similarity: float64[polls, polls], cosine of the polls' access counts.
    moves: polls in which it was first seen elsewhere. stable: whether it ever settled.
    size: pages in the hot set.
    """

    kept: np.ndarray
    similarity: np.ndarray
    moves: list[int]
    stable: bool
    size: int


@dataclass(frozen=True)
class Story:
    """All that is drawn of one trace."""

    polls: Polls
    heat: Heat
    bandwidth: Bandwidth
    skewness: Skewness
    hotset: HotSet


def analyse(
    output: Output,
    rules: list[Rule],
    trace: Trace,
    geometry: Geometry,
    programs: Mapping[int, str] | None = None,
) -> Story:
    """The story of one trace, from one engine's output of the paper's listings.

    programs: what the tenants are called, by number, where that is known.
    """
    number = {rule.name: i for i, rule in enumerate(rules)}
    rows = output.rows("reads").joined(output.rows("states"))
    polls = Polls.of(rules[number[HOTNESS]], trace)
    pages, owners = page_owners(trace)
    heat = _heat(rows.of(number[HOTNESS]), polls, pages, owners)
    rule = rules[number[BANDWIDTH]]
    told = output.report["rules"][number[BANDWIDTH]]["notifications"]
    known = programs or {}
    names = [f"tenant {t}" + (f" ({known[t]})" if t in known else "") for t in tenants(trace)]
    skews = [i for i, r in enumerate(rules) if r.name.startswith(SKEW)]
    return Story(
        polls,
        heat,
        _bandwidth(rows.of(number[BANDWIDTH]), polls, rule, names, geometry, told),
        skewness([(rules[i], rows.of(i)) for i in skews]),
        hot_set(heat.counts),
    )


def _heat(rows: Rows, polls: Polls, pages: np.ndarray, owners: np.ndarray) -> Heat:
    """Counter i is huge page i: the map is the identity."""
    touched = np.unique(rows.index)
    counts = np.zeros((len(polls), len(touched)), np.int64)
    at = np.searchsorted(touched, rows.index)
    np.add.at(counts, (polls.number(rows), at), rows.value.astype(np.int64))
    return Heat(touched, counts, owners[np.searchsorted(pages, touched)])


def _bandwidth(
    rows: Rows, polls: Polls, rule: Rule, names: list[str], geometry: Geometry, told: int
) -> Bandwidth:
    counts = np.zeros((len(polls), len(names)), np.int64)
    fired = np.zeros(counts.shape, bool)
    at = polls.number(rows), rows.index
    np.add.at(counts, at, rows.value.astype(np.int64))
    np.logical_or.at(fired, at, rows.value >= rule.notify_operand)
    return Bandwidth(names, counts, fired, rule.notify_operand * geometry.channels, told)


def skewness(parts: list[tuple[Rule, Rows]]) -> Skewness:
    """MEMTIS's skewness of each tracked huge page, on a scale that does not depend on the trace.

    With h_j the accesses of base page j over the mean of all touched base pages, and U the huge
    page's hot base pages (those that a fast tier of a third of the touched base pages would hold):
    S = sum(h_j^2) / U^2, score = log2(1 + S), and 0 if U is 0. Even use of a huge page gives a
    score near 0; 32 times the mean's accesses, all in one base page, give 10.
    """
    pages, base = [], []
    for rule, rows in parts:
        counts = np.zeros((len(rule.map), BASE_PAGES), np.int64)
        first = np.argsort(rule.map[:, 1])
        slot, offset = np.divmod(rows.index, BASE_PAGES)
        np.add.at(counts, (first[slot], offset), rows.value.astype(np.int64))
        pages.append(rule.map[:, 0].astype(np.int64))
        base.append(counts)
    counts = np.concatenate(base)
    touched = counts[counts > 0]
    if len(touched) == 0:
        return Skewness(np.concatenate(pages), counts, np.zeros(len(counts)), 1)
    room = max(1, round(len(touched) * FAST_SHARE))
    threshold = int(np.partition(touched, -room)[-room])
    if threshold == touched.min():  # all alike: none of them is hot
        threshold += 1
    hot = (counts >= threshold).sum(axis=1)
    spread = ((counts / touched.mean()) ** 2).sum(axis=1)
    score = np.where(hot > 0, np.log2(1 + spread / np.maximum(hot, 1) ** 2), 0.0)
    return Skewness(np.concatenate(pages), counts, score, threshold)


def hot_set(counts: np.ndarray) -> HotSet:
    """When did the hottest fifth of the huge pages move? counts: int64[polls, pages].

    What a tiering daemon could do after each poll. It keeps the hot set of all polls since the last
    move, and asks how much of a poll's traffic that set takes, of what the poll's own hottest fifth
    takes: near 1, nothing is to be gained by another choice, be it because the hot set stays or
    because all pages are alike. The hot set has moved when a set that `SETTLED` polls had agreed
    with keeps less than `MOVED` for two polls together; one odd poll is none, and a program that
    scans its memory never settles.
    """
    polls, pages = counts.shape
    size = max(1, round(pages * HOT_SHARE))
    norm = np.sqrt((counts.astype(float) ** 2).sum(axis=1))
    unit = counts / np.maximum(norm, 1e-12)[:, None]
    kept = np.full(polls, np.nan)
    moves: list[int] = []
    agreed = longest = 0
    known = counts[0].copy()
    for poll in range(1, polls):
        kept[poll] = hot_traffic(known, counts[poll], size)
        if kept[poll] >= MOVED:
            known += counts[poll]
            agreed += 1
            longest = max(longest, agreed)
            continue
        if agreed >= SETTLED:
            if poll + 1 == polls or hot_traffic(known, counts[poll + 1], size) >= MOVED:
                continue  # an odd poll, or too late to tell
            moves.append(poll)
        agreed, known = 0, counts[poll].copy()
    return HotSet(kept, unit @ unit.T, moves, longest >= SETTLED, size)


def hot_traffic(known: np.ndarray, now: np.ndarray, size: int) -> float:
    """Accesses of `now` to the `size` hottest pages of `known`, over those to its own hottest."""
    old = np.argsort(-known, kind="stable")[:size]
    old = old[known[old] > 0]  # what was never touched is in nobody's hot set
    best = np.partition(now, len(now) - size)[-size:].sum()
    return float(now[old].sum() / best) if best else 1.0
