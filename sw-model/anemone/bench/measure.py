# SPDX-License-Identifier: Apache-2.0
"""A figure of `anemone bench`, and common parts of its measurements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

SEED = 20261121
REPEATS = 3  # the best run counts

Log = Callable[[str], None]


@dataclass(frozen=True)
class Measure:
    """A figure and its bar. exact: whether it is a count, whose bar must hold."""

    group: str
    name: str
    value: float
    unit: str
    bar: str = ""
    holds: bool | None = None
    exact: bool = False
    note: str = ""

    @property
    def missed(self) -> bool:
        return self.exact and not self.holds


def speed_measure(group: str, name: str, speed: float, bar: int | None, cpu: float) -> Measure:
    note = f"{cpu:,.0f} a second of CPU time"
    if bar is None:
        return Measure(group, name, speed, "events/s", note=note)
    return Measure(group, name, speed, "events/s", f">= {bar:,}", speed >= bar, False, note)
