# SPDX-License-Identifier: Apache-2.0
"""Base classes of policies and telemetry sources; docs/tiering.md shows how to write both.

Their constructors take the parameters of their table in TIER.toml as keywords.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from anemone.tiering.machine import Machine, Units

_NONE = np.empty(0, np.int64)


@dataclass(frozen=True)
class Heat:
    """A source's estimate of the accesses since the last call.

    units: float64[n], accesses of each unit. writes: float64[n], those by stores; zeros if the
    source cannot distinguish them. base_page, base: int64[m] and float64[m, span], first frame of
    some whole pages, ascending, and the accesses of each of their frames. exact: base has every
    access to them in the interval, and not samples. threads: float64[t], accesses by thread, if the
    source knows the thread. cpu_ns: cost of processing.
    """

    units: np.ndarray
    writes: np.ndarray
    base_page: np.ndarray = field(default_factory=lambda: _NONE)
    base: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    exact: bool = False
    threads: np.ndarray | None = None
    cpu_ns: float = 0.0


@dataclass(frozen=True)
class Statistics:
    """The input of a policy at the end of an interval.

    now_ns: the time. units: everything that may move. heat: the source's estimate for the interval.
    free, capacity: free frames and all frames of the fast and the slow tier. span: frames of a
    whole page. frame_bytes: size of a frame. accesses, latency_ns: accesses and their mean latency
    in the interval by tier, from the memory controllers.
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
        """The number of frames of each unit: int64[n]."""
        return np.where(self.units.split, 1, self.span)


@dataclass(frozen=True)
class Answer:
    """The decision of a policy. Units are given by their frames, int64[k].

    promote, demote: units to move to the fast and to the slow tier, in order; promotions go first
    while the fast tier has free frames. split: whole pages to split. join: first frames of split
    pages to join. watch: first frames of the pages whose frames the source should count before
    others, if it cannot count all; of these it counts each in turn. quota: float64[t], the share of
    its processor that each thread may use from the scheduler's next period on (costs.toml); None
    changes nothing. cpu_ns: time to decide, after which the answer takes effect.
    """

    promote: np.ndarray = field(default_factory=lambda: _NONE)
    demote: np.ndarray = field(default_factory=lambda: _NONE)
    split: np.ndarray = field(default_factory=lambda: _NONE)
    join: np.ndarray = field(default_factory=lambda: _NONE)
    watch: np.ndarray | None = None
    quota: np.ndarray | None = None
    cpu_ns: float = 0.0


class Policy:
    """Decides each interval which pages move. A subclass must define `act`."""

    interval_ms = 1000.0  # default; TIER.toml can change it
    splits = False  # whether it splits or joins pages
    by_thread = False  # whether it needs a source with accesses by thread

    def start(self, threads: int, trace: object) -> None:
        """Called before the run. threads: the program's threads. trace: its name in errors. Raises
        InputError.
        """

    def act(self, seen: Statistics) -> Answer:
        raise NotImplementedError


class Source:
    """Estimates how hot pages are. A subclass must define `heat`.

    sample_ms: interval of calls of `sample`; None for no calls. line_ns: processing time of a
    telemetry line, in addition to its access. acknowledges: whether each line is written back.
    """

    needs: tuple[str, ...] = ()  # columns of the trace
    sample_ms = None
    line_ns = 0.0
    acknowledges = False
    by_thread = False  # whether it sets Heat.threads

    def start(self, machine: Machine) -> None:
        """Called before the run, to set up its inputs: Machine.log, sample, mark, fault."""

    def events(self, addr: np.ndarray, flags: np.ndarray) -> None:
        """Logged accesses, in the order in which memory served them."""

    def sample(self, machine: Machine) -> bool:
        """Called every sample_ms. True raises an interrupt: the policy is called now."""
        return False

    def lines(self, machine: Machine) -> int:
        """Called at the end of an interval: the number of telemetry lines to read from the slow
        tier.
        """
        return 0

    def read_line(self, number: int) -> None:
        """Line `number` is read now. All events before this moment have been delivered, none
        after.
        """

    def heat(self, machine: Machine, units: Units) -> Heat:
        """Called after the last line: the estimate since the last call."""
        raise NotImplementedError

    def watch(self, frames: np.ndarray | None) -> None:
        """Called when pages begin to move. frames: Answer.watch."""

    def counts(self, machine: Machine) -> dict[str, float]:
        """The source's entries in the report."""
        return {}

    def close(self) -> None:
        """Called at the end of the run, also after an error."""
