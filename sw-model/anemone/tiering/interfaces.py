# SPDX-License-Identifier: Apache-2.0
"""What a policy and a telemetry source are: classes to derive from; docs/tiering.md builds both.

Both are made with their parameters, as keywords: those of their table in TIER.toml.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from anemone.tiering.machine import Machine, Units

_NONE = np.empty(0, np.int64)


@dataclass(frozen=True)
class Heat:
    """What a source saw since it was last asked: accesses, as it estimates them.

    units: float64[n], of each unit. writes: float64[n], those of them by stores; zeros where the
    source cannot tell. base_page, base: int64[m] and float64[m, span], of the frames of some whole
    pages, by their first frame, ascending. threads: float64[t], accesses by thread of the program,
    of a source that tells whose they are. cpu_ns: what it cost to process.
    """

    units: np.ndarray
    writes: np.ndarray
    base_page: np.ndarray = field(default_factory=lambda: _NONE)
    base: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    threads: np.ndarray | None = None
    cpu_ns: float = 0.0


@dataclass(frozen=True)
class Statistics:
    """What a policy is told at the end of an interval.

    now_ns: the time. units: what may move. heat: what the source saw of them in the interval.
    free, capacity: frames free and in all of the fast and the slow tier. span: frames of a whole
    page. frame_bytes: of one.
    accesses, mean latency of an access (ns) by tier: of the interval, as the memory controllers
    tell.
    """

    now_ns: float
    units: Units
    heat: Heat
    free: tuple[int, int]
    capacity: tuple[int, int]
    span: int
    frame_bytes: int
    accesses: tuple[int, int]
    latency_ns: tuple[float, float]

    def frames(self) -> np.ndarray:
        """int64[n], the frames that each unit has."""
        return np.where(self.units.split, 1, self.span)


@dataclass(frozen=True)
class Answer:
    """What a policy asks for; each int64[k], frames of units.

    promote, demote: move to the fast, the slow tier, in this order; promotions go first while the
    fast tier has free frames. split: whole pages. join: first frames of pages that are split.
    watch: first frames of the pages whose frames the source should count next, where it cannot
    count all; None leaves it to the source.
    quota: float64[t], the share of its processor that each thread may take from the next period of
    the scheduler on (costs.toml); None leaves them as they are.
    cpu_ns: what it took to decide; the answer counts from then on.
    """

    promote: np.ndarray = field(default_factory=lambda: _NONE)
    demote: np.ndarray = field(default_factory=lambda: _NONE)
    split: np.ndarray = field(default_factory=lambda: _NONE)
    join: np.ndarray = field(default_factory=lambda: _NONE)
    watch: np.ndarray | None = None
    quota: np.ndarray | None = None
    cpu_ns: float = 0.0


class Policy:
    """Decides, each interval, which pages move. `act` is what a policy must have."""

    interval_ms = 1000.0  # unless TIER.toml says otherwise
    splits = False  # whether it asks for pages to be split or joined
    by_thread = False  # whether it needs a source that tells whose the accesses are

    def start(self, threads: int, trace: object) -> None:
        """The program has so many threads. trace: what errors call it. Raises InputError."""

    def act(self, seen: Statistics) -> Answer:
        raise NotImplementedError


class Source:
    """Tells how hot pages are. `heat` is what a source must have.

    sample_ms: how often `sample` is called; None: never. line_ns: instructions a telemetry line,
    beside its access. acknowledges: each is written back.
    """

    needs: tuple[str, ...] = ()  # columns of the trace
    sample_ms = None
    line_ns = 0.0
    acknowledges = False
    by_thread = False  # whether it tells whose the accesses are: Heat.threads

    def start(self, machine: Machine) -> None:
        """Ask for what it needs: Machine.log, sample, mark, fault."""

    def events(self, addr: np.ndarray, flags: np.ndarray) -> None:
        """Accesses that were logged, in the order in which the memory served them."""

    def sample(self, machine: Machine) -> bool:
        """Called every sample_ms. True: an interrupt, ask the policy now."""
        return False

    def lines(self, machine: Machine) -> int:
        """An interval ends: how many telemetry lines are to be read through the slow tier."""
        return 0

    def read_line(self, number: int) -> None:
        """Line `number` is read now: all events before it have been seen, and none after."""

    def heat(self, machine: Machine, units: Units) -> Heat:
        """After the last line: what was seen since the last call."""
        raise NotImplementedError

    def watch(self, frames: np.ndarray | None) -> None:
        """The pages begin to move; what of them the policy wants counted (Answer.watch)."""

    def counts(self, machine: Machine) -> dict[str, float]:
        """What the report says of it."""
        return {}

    def close(self) -> None:
        """The run is over, well or not."""
