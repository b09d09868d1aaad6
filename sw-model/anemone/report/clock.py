# SPDX-License-Identifier: Apache-2.0
"""The time axis, units and address labels that all pictures of a trace share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np

from anemone.analysis.polls import Polls
from anemone.report.charts import LABEL_GAP, WIDE, Frame, Hover, whole_ticks
from anemone.trace.pages import HUGE_SHIFT

TIME_UNITS = ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s"))
RATE_UNITS = ((1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s"))


def time_frame(height: int, labels: int = 0) -> Frame:
    """A frame for a chart over time, high enough for `labels` labels at its right.

    All such frames have the same side margins, so that their time axes align.
    """
    return Frame(WIDE, max(height, 70 + LABEL_GAP * labels), left=96, right=150)


@dataclass(frozen=True)
class Clock:
    """The shared time axis: its scale, unit and labels."""

    polls: Polls
    unit: float
    name: str

    @staticmethod
    def of(polls: Polls) -> Clock:
        if not polls.timed:
            return Clock(polls, 1.0, "events")
        return Clock(polls, *pick_unit(float(polls.times[-1]) / 2, TIME_UNITS))

    @property
    def edges(self) -> np.ndarray:
        """Start of each poll interval and end of the last one, in the clock's unit."""
        return self.polls.times / self.unit

    @property
    def middles(self) -> np.ndarray:
        return (self.edges[1:] + self.edges[:-1]) / 2

    def axis(self, field: str) -> alt.X:
        """The horizontal axis for a field that is in the clock's unit."""
        title, ticks = f"time ({self.name})", {"tickCount": 8}
        if not self.polls.timed:
            title, ticks = "events", whole_ticks(int(self.edges[-1]), 8)
        scale = alt.Scale(domain=[0, float(self.edges[-1])], nice=False)
        return alt.X(f"{field}:Q", title=title, scale=scale, axis=alt.Axis(**ticks))

    def pixels(self, frame: Frame) -> np.ndarray:
        """The polls' edges in the plot, px."""
        return self.edges / self.edges[-1] * frame.across

    def start_text(self, poll: int) -> str:
        """The start of poll interval `poll`, as text."""
        at = self.polls.times[poll] / self.unit
        return f"{at:.3g} {self.name}" if self.polls.timed else f"event {round(at):,}"

    def hover(self, frame: Frame, texts: Sequence[str]) -> dict:
        """Tooltips of a chart over time: one text for each poll interval."""
        words = [f"from {self.start_text(poll)}\n{line}" for poll, line in enumerate(texts)]
        return Hover(self.pixels(frame), [0, frame.down], words).data(frame)


def pick_unit(largest: float, units: Sequence[tuple[float, str]]) -> tuple[float, str]:
    """The largest of `units` (size, name; ascending) that is not above `largest`."""
    fitting = [unit for unit in units if largest >= unit[0]]
    return fitting[-1] if fitting else units[0]


def address(page: int) -> str:
    """The start address of a huge page in the device, exactly."""
    return f"{page << (HUGE_SHIFT - 20):,} MiB"
