# SPDX-License-Identifier: Apache-2.0
"""From telemetry reads to what an OS policy would see in them (NEMO §5).

Everything here is computed from what the backend's reads returned, as a driver would; the trace
itself gives only the clock (when poll i was taken) and the tenants' names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from anemone.analysis.compare import Output, Rows
from anemone.analysis.hot_set import HotSet, hot_set
from anemone.analysis.polls import Polls
from anemone.analysis.skewness import Skewness, skewness
from anemone.hardware.geometry import LINE_BYTES, Geometry
from anemone.telemetry.paper_rules import BANDWIDTH, HOTNESS, SKEW
from anemone.telemetry.rules import Rule
from anemone.trace import Trace
from anemone.trace.pages import page_owners, tenants


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

    cap: accesses a poll of one tenant, all channels. notifications: as the backend counted them.
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
class Analysis:
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
) -> Analysis:
    """The analysis of one trace, from one backend's output of the paper's listings.

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
    return Analysis(
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
