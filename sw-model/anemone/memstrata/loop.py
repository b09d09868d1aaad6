# SPDX-License-Identifier: Apache-2.0
"""Memstrata's allocator as a loop over intervals (§4.3): machines come and go, and every interval
who is an outlier, and what moves, is decided anew.

What is measured comes from outside, a simulator or a host, and so does the judge.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import floor

from anemone.memstrata.colouring import Exchange, Layout, PageAllocator
from anemone.memstrata.launch import balance, spread
from anemone.memstrata.outliers import EWMA, smoothed
from anemone.memstrata.plan import STEP_RATIO, Migration, Vm, plan
from anemone.tiering.config import Migration as Copying

INTERVAL_S = 10.0  # §4.3
# One thread copies so fast, as the tiering simulator's does (docs/tiering.md).
COPY_GB_PER_S = Copying().gb_per_s
FREE = ""  # the donor, where pages were free


@dataclass(frozen=True)
class Reading:
    """A machine in an interval. metrics: as in outliers.METRICS; requests: of memory, in all;
    misses: of near memory, which NEMO counts by tenant and no core does."""

    metrics: dict[str, float]
    requests: float
    misses: float


@dataclass(frozen=True)
class Judged:
    """misses: of near memory in an interval, as the judge knows or guesses them."""

    is_outlier: bool
    misses: float


@dataclass(frozen=True)
class Moved:
    """An exchange that was done. donor: FREE where the pages were nobody's."""

    donor: str
    borrower: str
    exchange: Exchange

    @property
    def copy_s(self) -> float:
        """Processor time of the thread that copies."""
        return self.exchange.bytes / (COPY_GB_PER_S * 1e9)


# Who is an outlier, of readings by machine.
Judge = Callable[[Mapping[str, Reading]], Mapping[str, Judged]]


class Host:
    """A host's pages. share: of dedicated pages, of all; judge: None moves nothing, ever."""

    def __init__(
        self, layout: Layout, share: float, judge: Judge | None = None,
        step_ratio: float = STEP_RATIO, ewma: float = EWMA,
    ) -> None:  # fmt: skip
        self.pages = PageAllocator(layout)
        self.judged: Mapping[str, Judged] = {}  # as of the last round
        self._share, self._judge = share, judge
        self._step_ratio, self._ewma = step_ratio, ewma
        self._sizes: dict[str, int] = {}
        self._smooth: dict[str, list[float]] = {}

    def launch(self, name: str, pages: int) -> list[Moved]:
        """A machine of free pages, which then gets its share of dedicated ones from the others."""
        others = self._vms()
        dedicated = min(floor(self._share * pages), self.pages.free_dedicated)
        dedicated = max(dedicated, pages - self.pages.free_tiered)
        self.adopt(name, pages, dedicated)
        if not self._judge:
            return []
        return self.exchange(balance(others, self._vm(name), self._share))

    def adopt(self, name: str, pages: int, dedicated: int) -> None:
        """A machine that runs already, as it is."""
        self.pages.launch(name, pages - dedicated, dedicated)
        self._sizes[name] = pages

    def terminate(self, name: str) -> None:
        """Its pages are free; what is too many of the dedicated ones the next round gives away."""
        self.pages.terminate(name)
        del self._sizes[name]
        self._smooth.pop(name, None)

    def round(self, readings: Mapping[str, Reading]) -> list[Moved]:
        """Of every machine that runs what was measured in the interval that ends. Listing 1."""
        if not self._judge:
            return []
        moved = self._given()
        self.judged = self._judge({name: self._smoothed(name, r) for name, r in readings.items()})
        vms = [self._vm(name, self.judged[name]) for name in readings]
        return moved + self.exchange(plan(vms, self._step_ratio))

    def dedicated(self, name: str) -> float:
        """The share of a machine's pages."""
        return len(self.pages.dedicated(name)) / self._sizes[name]

    def exchange(self, migrations: Sequence[Migration]) -> list[Moved]:
        """In this order; what was done of them."""
        done = [
            Moved(m.donor, m.borrower, self.pages.exchange(m.donor, m.borrower, m.pages))
            for m in migrations
        ]
        return [each for each in done if each.exchange.pages]

    def _vms(self) -> list[Vm]:
        return [self._vm(name) for name in self._sizes]

    def _vm(self, name: str, judged: Judged | None = None) -> Vm:
        pages, dedicated = self._sizes[name], len(self.pages.dedicated(name))
        judged = judged or Judged(False, 0.0)
        misses = judged.misses / (pages - dedicated) if pages > dedicated else 0.0
        return Vm(name, pages, judged.is_outlier, misses, dedicated)

    def _smoothed(self, name: str, reading: Reading) -> Reading:
        row = [*reading.metrics.values(), reading.requests, reading.misses]
        row = smoothed([self._smooth.get(name, row), row], self._ewma)[-1]
        self._smooth[name] = row
        metrics = dict(zip(reading.metrics, row, strict=False))
        return Reading(metrics, *row[-2:])

    def _given(self) -> list[Moved]:
        """Dedicated pages that are free and not wanted for the next launch."""
        unused = self.pages.free_dedicated
        free = unused + self.pages.free_tiered
        parts = spread(self._vms(), unused, free, self._share)
        done = [Moved(FREE, name, self.pages.dedicate(name, n)) for name, n in parts.items()]
        return [each for each in done if each.exchange.pages]
