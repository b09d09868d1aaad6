# SPDX-License-Identifier: Apache-2.0
"""The intervals between two polls of the telemetry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anemone.analysis.compare import Rows
from anemone.telemetry.rules import Rule
from anemone.trace import Trace


@dataclass(frozen=True)
class Polls:
    """The intervals between polls. Interval i has the events edges[i] to edges[i + 1].

    edges: int64[n + 1], event numbers. times: float64[n + 1], seconds since the trace's first
    access; event numbers (timed is False) if the trace has no clock or its clock never advances.
    The last interval ends with the trace; its counts come from the final snapshot.
    """

    edges: np.ndarray
    times: np.ndarray
    timed: bool

    @staticmethod
    def of(rule: Rule, trace: Trace) -> Polls:
        events = len(trace)
        step = rule.read_every or events
        edges = np.append(np.arange(0, events, step), events)
        if trace.time_ns is None or not np.ptp(trace.time_ns):
            return Polls(edges, edges.astype(float), False)
        clock = trace.time_ns[np.minimum(edges, events - 1)].astype(np.int64)
        # Times of several cores may be slightly out of order; the axis has to be monotonic.
        return Polls(edges, np.maximum.accumulate(clock - clock[0]) / 1e9, True)

    def __len__(self) -> int:
        return len(self.edges) - 1

    @property
    def spans(self) -> np.ndarray:
        """Length of each interval (s or events); never 0, so that rates are finite."""
        return np.maximum(np.diff(self.times), 1e-9)

    def number(self, rows: Rows) -> np.ndarray:
        """The interval of each row."""
        return np.searchsorted(self.edges, rows.event) - 1
