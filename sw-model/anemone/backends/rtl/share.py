# SPDX-License-Identifier: Apache-2.0
"""Latencies of a receiver's loads of messages between two hosts through one Verilated expander."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np

from anemone.backends.rtl.builder import build
from anemone.backends.rtl.drive import Progress, run_program
from anemone.backends.rtl.simulators import shared
from anemone.hardware.geometry import Geometry

CLOCK_MHZ = 400  # of the kit, docs/agilex.md
HOSTS = 2
GEOMETRY = Geometry(channels=2, pipelines=1, states=512, table=512)


@dataclass(frozen=True)
class Setting:
    """The traffic of the two hosts. The order of the fields is that of sim/share/main.cpp.

    messages, lines: number of successive messages, and lines of 64 B in each; one host writes them,
    the other loads them with in_flight parallel loads. load: other requests of both hosts per cycle
    and channel, to random lines, 0 to 1 (1 is a channel's maximum); reads: the share of reads in
    these. latency: of memory, in cycles. refresh_every, refresh_for: in cycles; 0, 0 for none.
    """

    messages: int = 200
    lines: int = 16
    in_flight: int = 1
    load: float = 0.0
    reads: float = 2 / 3
    latency: int = 40
    refresh_every: int = 0
    refresh_for: int = 0
    seed: int = 1


@dataclass(frozen=True)
class Latencies:
    """A histogram: `counts` loads took `cycles` cycles; cycles are ascending."""

    cycles: np.ndarray
    counts: np.ndarray

    @property
    def mean(self) -> float:
        return float(np.average(self.cycles, weights=self.counts))

    def quantile(self, share: float) -> int:
        """The least number of cycles that this share of the loads does not exceed."""
        whole = np.cumsum(self.counts)
        return int(self.cycles[np.searchsorted(whole, share * whole[-1])])


@dataclass(frozen=True)
class Shared:
    """loads: the receiver's loads of messages. other: the other reads, empty without any. requests:
    accepted requests per cycle and channel.
    """

    loads: Latencies
    other: Latencies
    requests: float


def share(setting: Setting, progress: Progress | None = None) -> Shared:
    """Run the traffic on the RTL, which is built if necessary. Raises BackendError.

    Every load is checked to return its line of the message that was written last.
    """
    program = build(shared(GEOMETRY, HOSTS))
    report = run_program([program, *astuple(setting)], progress)
    return Shared(
        _latencies(report["latency"]),
        _latencies(report["other"]),
        report["requests"] / report["cycles"] / GEOMETRY.channels,
    )


def _latencies(pairs: Sequence[Sequence[int]]) -> Latencies:
    table = np.array(pairs, np.int64).reshape(-1, 2)
    return Latencies(table[:, 0], table[:, 1])
