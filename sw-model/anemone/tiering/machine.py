# SPDX-License-Identifier: Apache-2.0
"""The simulated machine: the kernel's state, as telemetry sources and the run loop use it.

Frames are numbered by address. A frame is 4 KiB if pages may split, otherwise a page. A unit is
something that moves: a whole page, named by its first frame, or a frame of a split page.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anemone.hardware.geometry import Geometry
from anemone.tiering import kernel
from anemone.tiering.config import FAST, TierConfig
from anemone.tiering.copying import split
from anemone.tiering.feed import pool_size
from anemone.tiering.state import (
    ACCESSED,
    BASE,
    DIRTY,
    F_AGENT,
    F_FAULT_COST,
    F_HARVEST,
    F_LINE_COST,
    F_READER,
    F_SAMPLE_COST,
    I_ACK,
    I_DOWN,
    I_DOWNS,
    I_FAULTS,
    I_JOB,
    I_LINE,
    I_LINES,
    I_LOG_TIERS,
    I_LOGGED,
    I_MARK,
    I_PHASE,
    I_SAMPLE_KINDS,
    I_SAMPLE_PERIOD,
    I_SAMPLE_TIERS,
    I_SAMPLED,
    I_SHIFT,
    I_SPAN,
    I_UP,
    I_UPS,
    NEVER,
    PLACE,
    TRAP,
    Ops,
    make,
)
from anemone.trace import KINDS

_LOG = 1 << 20  # size of the log, in accesses
_FAULTS = 1 << 20


@dataclass(frozen=True)
class Units:
    """All units. frame: int64[n], ascending. tier: uint8[n], 0 fast, 1 slow. split: bool[n]."""

    frame: np.ndarray
    tier: np.ndarray
    split: np.ndarray

    def __len__(self) -> int:
        return len(self.frame)


class Machine:
    """config, geometry: as given. columns: of the trace. splits: whether pages may split."""

    def __init__(
        self,
        config: TierConfig,
        geometry: Geometry,
        threads: int,
        columns: frozenset[str],
        splits: bool = False,
    ) -> None:
        self.config, self.geometry, self.columns = config, geometry, columns
        self.state = make(
            config, geometry.device_bytes, threads, columns, *pool_size(threads), splits
        )
        self.span = int(self.state.whole[I_SPAN])
        self.frame_shift = int(self.state.whole[I_SHIFT])
        self.rng = np.random.default_rng(config.seed)
        self.now = 0.0  # ns, at each call of a source or policy

        # Setup by sources, before the run.

    def log(self, tiers: tuple[int, ...]) -> None:
        """Pass every access to these tiers to `Source.events`, including copies."""
        self.state.whole[I_LOG_TIERS] = sum(1 << tier for tier in set(tiers))
        self._replace_seen(log_addr=np.empty(_LOG, np.uint64), log_flags=np.empty(_LOG, np.uint8))

    def sample(
        self,
        period: int,
        cost_ns: float,
        buffer: int,
        kinds: tuple[str, ...],
        tiers: tuple[int, ...],
    ) -> None:
        """Sample every period-th access of each thread, of these kinds and tiers.

        Each sample costs its thread cost_ns. Samples beyond the buffer's size are dropped. Threads
        start at random positions in the period.
        """
        whole, threads = self.state.whole, self.state.threads
        whole[I_SAMPLE_PERIOD] = period
        whole[I_SAMPLE_TIERS] = sum(1 << tier for tier in set(tiers))
        whole[I_SAMPLE_KINDS] = sum(1 << KINDS.index(kind) for kind in set(kinds))
        self.state.time[F_SAMPLE_COST] = cost_ns * self.config.scale
        threads.sample[:] = self.rng.integers(1, period + 1, len(threads.sample))
        self._replace_seen(
            sample_addr=np.empty(buffer, np.uint64), sample_store=np.empty(buffer, np.bool_)
        )

    def mark(self) -> None:
        """Record which frames are read or written, as page tables do (`take_marks`)."""
        self.state.whole[I_MARK] = 1

    def fault(self, cost_ns: float) -> None:
        """Enable hint faults (`trap`). cost_ns: cost of a fault for its thread."""
        self.state.time[F_FAULT_COST] = cost_ns * self.config.scale
        self._replace_seen(fault_frame=np.empty(_FAULTS, np.int64), fault_time=np.empty(_FAULTS))

    def period(self, period: int) -> None:
        """Change the sampling period, from each thread's next sample on."""
        self.state.whole[I_SAMPLE_PERIOD] = period

    def prefer(self, best: np.ndarray) -> None:
        """Set the pages that the placement "optimum" puts into the fast tier: bool[pages]."""
        self.state = self.state._replace(memory=self.state.memory._replace(best=best))

    def _replace_seen(self, **arrays: np.ndarray) -> None:
        self.state = self.state._replace(seen=self.state.seen._replace(**arrays))

    # Results for sources.

    def take_log(self) -> tuple[np.ndarray, np.ndarray]:
        """(addr uint64[n], flags uint8[n]) of the accesses logged since the last call.

        The arrays are views, valid until the next access. flags: bit 0 write, bit 1 slow tier,
        above them the position in KINDS, or COPY for a copy of a page.
        """
        whole, seen = self.state.whole, self.state.seen
        n, whole[I_LOGGED] = int(whole[I_LOGGED]), 0
        return seen.log_addr[:n], seen.log_flags[:n]

    def take_samples(self) -> tuple[np.ndarray, np.ndarray]:
        """(addr uint64[n], store bool[n]) of the samples since the last call, as views."""
        whole, seen = self.state.whole, self.state.seen
        n, whole[I_SAMPLED] = int(whole[I_SAMPLED]), 0
        return seen.sample_addr[:n], seen.sample_store[:n]

    def take_faults(self) -> tuple[np.ndarray, np.ndarray]:
        """(frame int64[n], ns float64[n]) of the faults since the last call, as views."""
        whole, seen = self.state.whole, self.state.seen
        n, whole[I_FAULTS] = int(whole[I_FAULTS]), 0
        return seen.fault_frame[:n], seen.fault_time[:n]

    def take_marks(self, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(accessed bool[n], written bool[n]) of frames since the last call for them."""
        entries = self.state.memory.table[frames]
        self.state.memory.table[frames] = entries & np.uint8(~(ACCESSED | DIRTY) & 0xFF)
        return entries & ACCESSED != 0, entries & DIRTY != 0

    def trap(self, frames: np.ndarray) -> None:
        """Make the next access to each of these frames fault. They must be in use."""
        self.state.memory.table[frames] |= np.uint8(TRAP)

    # Queries.

    def units(self) -> Units:
        """All units, in order of frames."""
        table = self.state.memory.table
        frame = np.flatnonzero(table)
        if self.span > 1:
            whole = table[frame] & BASE == 0
            frame = frame[~whole | (frame % self.span == 0)]
        entry = table[frame]
        return Units(frame, (entry & PLACE) - np.uint8(1), entry & BASE != 0)

    @property
    def free(self) -> tuple[int, int]:
        """Free frames of the fast and of the slow tier."""
        memory = self.state.memory
        fast, slow = (memory.capacity - memory.used).tolist()
        return fast, slow

    def frames_of(self, addr: np.ndarray) -> np.ndarray:
        """The frames of byte addresses: int64[n]."""
        return (addr >> np.uint64(self.frame_shift)).astype(np.int64)

    def rows_left(self) -> np.ndarray:
        """Rows of the trace that each thread has not issued yet: int64[threads]."""
        return self.state.threads.left.copy()

    # Changes.

    def hold(self, ns: np.ndarray) -> None:
        """Delay the next access of each thread by at least this time: float64[threads]."""
        np.maximum(self.state.threads.stall, ns, out=self.state.threads.stall)

    def read_lines(self, lines: int, cost_ns: float, acknowledge: bool, now: float) -> None:
        """Start to read telemetry lines one after the other (kernel.LINE) at the time `now`."""
        whole, time = self.state.whole, self.state.time
        whole[[I_LINE, I_PHASE]] = 0
        whole[I_LINES], whole[I_ACK] = lines, acknowledge
        time[F_LINE_COST], time[F_HARVEST] = cost_ns, now
        time[F_AGENT] = min(time[F_AGENT], now)

    @property
    def reading(self) -> bool:
        """Whether telemetry lines still have to be read or acknowledged."""
        return bool(self.state.time[F_HARVEST] < NEVER)

    def move(self, up: np.ndarray, down: np.ndarray, join: np.ndarray, now: float) -> None:
        """Set the units to move from now on, in order; earlier moves that have not started are
        dropped.

        join: first frames of split pages to join: in the fast tier if all their frames are there,
        else in the slow tier.
        """
        state, whole = self.state, self.state.whole
        table = state.memory.table
        slow = np.zeros(len(join), np.bool_)
        for i, first in enumerate(join.tolist()):
            slow[i] = np.any(table[first : first + self.span] & PLACE != FAST + 1)
        copies = state.copies._replace(
            up=np.concatenate([up, -1 - join[~slow]]).astype(np.int64),
            down=np.concatenate([down, -1 - join[slow]]).astype(np.int64),
        )
        self.state = state._replace(copies=copies)
        whole[[I_UP, I_DOWN]] = 0
        whole[I_UPS], whole[I_DOWNS] = len(copies.up), len(copies.down)
        if whole[I_JOB] < 0:
            state.time[F_READER] = now
            state.time[F_AGENT] = min(state.time[F_AGENT], now)

    def split(self, frames: np.ndarray) -> int:
        """Split the whole pages that start at these frames. Returns how many were split."""
        return sum(bool(split(self.state, frame)) for frame in frames.tolist())

    def more_requests(self) -> None:
        """Enlarge the table of requests."""
        old = self.state.ops
        into = Ops(*(np.zeros(2 * len(column), column.dtype) for column in old))
        kernel.larger(old, into)
        self.state = self.state._replace(ops=into)
