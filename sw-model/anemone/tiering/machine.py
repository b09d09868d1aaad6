# SPDX-License-Identifier: Apache-2.0
"""The simulated machine as telemetry sources and the simulator's loop use it: its kernel's state.

Frames are numbered by address: frame f of a machine whose pages may split is 4 KiB, otherwise a
page. A unit is what moves: a whole page, by its first frame, or a frame of a split one.
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

_LOG = 1 << 20  # accesses between two looks at the log
_FAULTS = 1 << 20


@dataclass(frozen=True)
class Units:
    """What may move. frame: int64[n], ascending. tier: uint8[n], 0 fast, 1 slow. split: bool[n]."""

    frame: np.ndarray
    tier: np.ndarray
    split: np.ndarray

    def __len__(self) -> int:
        return len(self.frame)


class Machine:
    """config, geometry: as given. columns: those of the trace. splits: pages may split."""

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
        self.now = 0.0  # ns, when a source or policy is called

    # What sources ask for, before the run.

    def log(self, tiers: tuple[int, ...]) -> None:
        """Give the source every access of these tiers (`Source.events`), copies too."""
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
        """Keep every period-th access of each thread, of these kinds and tiers.

        Each costs its thread cost_ns. What does not fit the buffer, of `buffer` samples, is
        dropped. Threads begin at random places of the period.
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
        """Keep which frames were read or written, as page tables do (`take_marks`)."""
        self.state.whole[I_MARK] = 1

    def fault(self, cost_ns: float) -> None:
        """Frames may be made to fault (`trap`) at their next access, which costs its thread."""
        self.state.time[F_FAULT_COST] = cost_ns * self.config.scale
        self._replace_seen(fault_frame=np.empty(_FAULTS, np.int64), fault_time=np.empty(_FAULTS))

    def period(self, period: int) -> None:
        """Another one of the samples, from each thread's next on."""
        self.state.whole[I_SAMPLE_PERIOD] = period

    def prefer(self, best: np.ndarray) -> None:
        """bool[pages]: what the placement "optimum" puts into the fast tier."""
        self.state = self.state._replace(memory=self.state.memory._replace(best=best))

    def _replace_seen(self, **arrays: np.ndarray) -> None:
        self.state = self.state._replace(seen=self.state.seen._replace(**arrays))

    # What sources saw.

    def take_log(self) -> tuple[np.ndarray, np.ndarray]:
        """(addr uint64[n], flags uint8[n]) of the accesses logged since the last call.

        Views, good until the next access. flags: bit 0 write, bit 1 slow tier, then the position
        in KINDS, or past them for a copy of a page.
        """
        whole, seen = self.state.whole, self.state.seen
        n, whole[I_LOGGED] = int(whole[I_LOGGED]), 0
        return seen.log_addr[:n], seen.log_flags[:n]

    def take_samples(self) -> tuple[np.ndarray, np.ndarray]:
        """(addr uint64[n], store bool[n]) of the samples since the last call; views."""
        whole, seen = self.state.whole, self.state.seen
        n, whole[I_SAMPLED] = int(whole[I_SAMPLED]), 0
        return seen.sample_addr[:n], seen.sample_store[:n]

    def take_faults(self) -> tuple[np.ndarray, np.ndarray]:
        """(frame int64[n], ns float64[n]) of the faults since the last call; views."""
        whole, seen = self.state.whole, self.state.seen
        n, whole[I_FAULTS] = int(whole[I_FAULTS]), 0
        return seen.fault_frame[:n], seen.fault_time[:n]

    def take_marks(self, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(read or written bool[n], written bool[n]) of frames since last asked."""
        entries = self.state.memory.table[frames]
        self.state.memory.table[frames] = entries & np.uint8(~(ACCESSED | DIRTY) & 0xFF)
        return entries & ACCESSED != 0, entries & DIRTY != 0

    def trap(self, frames: np.ndarray) -> None:
        """The next access to each of these frames, which are in use, faults."""
        self.state.memory.table[frames] |= np.uint8(TRAP)

    # What there is.

    def units(self) -> Units:
        """All that may move, by frame."""
        table = self.state.memory.table
        frame = np.flatnonzero(table)
        if self.span > 1:
            whole = table[frame] & BASE == 0
            frame = frame[~whole | (frame % self.span == 0)]
        entry = table[frame]
        return Units(frame, (entry & PLACE) - np.uint8(1), entry & BASE != 0)

    @property
    def free(self) -> tuple[int, int]:
        """Frames that are free, fast and slow."""
        memory = self.state.memory
        fast, slow = (memory.capacity - memory.used).tolist()
        return fast, slow

    def frames_of(self, addr: np.ndarray) -> np.ndarray:
        """int64[n], the frames of byte addresses."""
        return (addr >> np.uint64(self.frame_shift)).astype(np.int64)

    def rows_left(self) -> np.ndarray:
        """int64[threads], rows of the trace that each thread has not issued yet."""
        return self.state.threads.left.copy()

    # What changes the machine.

    def hold(self, ns: np.ndarray) -> None:
        """float64[threads]: each loses at least so much before an access, once."""
        np.maximum(self.state.threads.stall, ns, out=self.state.threads.stall)

    def read_lines(self, lines: int, cost_ns: float, acknowledge: bool, now: float) -> None:
        """Begin to read telemetry lines, one after the other (kernel.LINE), at a time to come."""
        whole, time = self.state.whole, self.state.time
        whole[[I_LINE, I_PHASE]] = 0
        whole[I_LINES], whole[I_ACK] = lines, acknowledge
        time[F_LINE_COST], time[F_HARVEST] = cost_ns, now
        time[F_AGENT] = min(time[F_AGENT], now)

    @property
    def reading(self) -> bool:
        """Telemetry lines are still to be read or acknowledged."""
        return bool(self.state.time[F_HARVEST] < NEVER)

    def move(self, up: np.ndarray, down: np.ndarray, join: np.ndarray, now: float) -> None:
        """Units that are to move from now on, in this order; those not begun before are forgotten.

        join: first frames of split pages that become whole again, fast if all of it is, else slow.
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
        """Split the whole pages that these frames are the first of; returns how many were."""
        return sum(bool(split(self.state, frame)) for frame in frames.tolist())

    def more_requests(self) -> None:
        """A larger table of requests."""
        old = self.state.ops
        into = Ops(*(np.zeros(2 * len(column), column.dtype) for column in old))
        kernel.larger(old, into)
        self.state = self.state._replace(ops=into)
