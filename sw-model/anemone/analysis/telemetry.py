# SPDX-License-Identifier: Apache-2.0
"""What an OS policy would see in the telemetry reads (NEMO §5).

Everything is computed from the values that the backend's reads returned, as a driver would do. The
trace gives only the time of each poll and the owners of the pages.
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
    """The result of Listing 2.

    pages: touched huge pages, ascending. counts: int64[polls, pages]. owner: index of each page's
    tenant.
    """

    pages: np.ndarray
    counts: np.ndarray
    owner: np.ndarray


@dataclass(frozen=True)
class Bandwidth:
    """The result of Listing 3.

    counts: int64[polls, tenants]. fired: bool[polls, tenants], whether the notify predicate held.
    cap: accesses per poll that a tenant may make, over all channels. notifications: the backend's
    count.
    """

    names: list[str]
    counts: np.ndarray
    fired: np.ndarray
    cap: int
    notifications: int

    def rate(self, polls: Polls) -> np.ndarray:
        """Bytes per second (per event if there is no clock): float64[polls, tenants]."""
        return self.counts * LINE_BYTES / polls.spans[:, None]


@dataclass(frozen=True)
class Analysis:
    """Everything that the report shows of one trace."""

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
    """Analyse one backend's output of the paper's listings for one trace.

    programs: names of the tenants, by number, where known.
    """
    number = {rule.name: i for i, rule in enumerate(rules)}
    rows = output.rows("reads").joined(output.rows("states"))
    polls = Polls.of(rules[number[HOTNESS]], trace)
    pages, owners = page_owners(trace)
    heat = _heat(rows.of(number[HOTNESS]), polls, pages, owners)
    rule = rules[number[BANDWIDTH]]
    notifications = output.report["rules"][number[BANDWIDTH]]["notifications"]
    known = programs or {}
    names = [f"tenant {t}" + (f" ({known[t]})" if t in known else "") for t in tenants(trace)]
    skews = [i for i, r in enumerate(rules) if r.name.startswith(SKEW)]
    return Analysis(
        polls,
        heat,
        _bandwidth(rows.of(number[BANDWIDTH]), polls, rule, names, geometry, notifications),
        skewness([(rules[i], rows.of(i)) for i in skews]),
        hot_set(heat.counts),
    )


def _heat(rows: Rows, polls: Polls, pages: np.ndarray, owners: np.ndarray) -> Heat:
    """Counts by poll and huge page. The rule maps huge page i to counter i."""
    touched = np.unique(rows.index)
    counts = np.zeros((len(polls), len(touched)), np.int64)
    at = np.searchsorted(touched, rows.index)
    np.add.at(counts, (polls.number(rows), at), rows.value.astype(np.int64))
    return Heat(touched, counts, owners[np.searchsorted(pages, touched)])


def _bandwidth(
    rows: Rows,
    polls: Polls,
    rule: Rule,
    names: list[str],
    geometry: Geometry,
    notifications: int,
) -> Bandwidth:
    counts = np.zeros((len(polls), len(names)), np.int64)
    fired = np.zeros(counts.shape, bool)
    at = polls.number(rows), rows.index
    np.add.at(counts, at, rows.value.astype(np.int64))
    np.logical_or.at(fired, at, rows.value >= rule.notify_operand)
    cap = rule.notify_operand * geometry.channels
    return Bandwidth(names, counts, fired, cap, notifications)
