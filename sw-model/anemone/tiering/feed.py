# SPDX-License-Identifier: Apache-2.0
"""Feeds a trace to its threads: each takes its own rows in order, and threads may drift apart.

Rows that were read but not issued are in a pool of fixed size. When it is full, rows go to a
temporary file, so that memory use does not grow with the trace.
"""

from __future__ import annotations

import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator

import numpy as np

from anemone.tiering.kernel import append
from anemone.tiering.state import I_BLOCK, I_BLOCKS_FREE, State
from anemone.trace import COLUMNS, Trace

POOL = 1 << 22  # rows
_BLOCKS = 16, 4096  # smallest and largest number of rows in a block
_SLICE = 1 << 16  # rows put into the pool at a time; fits the processor's cache
UNKNOWN = 1 << 62
_COLUMNS = ("addr", "write", "gap_ns", "dep", "kind", "op")  # in append's order


def pool_size(threads: int, rows: int = POOL) -> tuple[int, int]:
    """(blocks, rows per block): two blocks for each thread, and as many shared by all."""
    block = min(max(rows // (4 * threads), _BLOCKS[0]), _BLOCKS[1])
    block = 1 << block.bit_length() - 1
    return max(rows // block, 4 * threads), block


def thread_numbers(traces: Iterable[Trace]) -> tuple[np.ndarray, np.ndarray]:
    """(the threads' numbers, ascending; the number of rows of each)."""
    rows = np.zeros(1 << 16, np.int64)
    for trace in traces:
        rows += np.bincount(trace.thread, minlength=len(rows))
    numbers = np.flatnonzero(rows)
    return numbers, rows[numbers]


class Feed:
    """Puts rows of a trace into a state's pool when threads need them.

    read: rows read so far. seconds: wall-clock time spent on reading.
    """

    def __init__(self, state: State, traces: Iterable[Trace], numbers: np.ndarray) -> None:
        self.read, self.seconds = 0, 0.0
        self._state, self._traces = state, iter(traces)
        self._parts: Iterator[Trace] = iter(())
        self._index = np.zeros(1 << 16, np.int64)
        self._index[numbers] = np.arange(len(numbers))
        self._threads = len(numbers)
        # By thread: (position, rows) in the file, in order. A thread with rows in the file also
        # puts its later rows there.
        self._deferred: dict[int, deque[tuple[int, int]]] = {}
        self._file = None
        self._record = np.dtype([(name, COLUMNS[name].dtype) for name in _COLUMNS])
        self._has: set[str] = set()

    def need(self, thread: int) -> None:
        """Supply rows to a thread that has none in the pool, or find that the trace has no more."""
        threads = self._state.threads
        while not threads.rows[thread]:
            if thread in self._deferred:
                self._back(thread)
            elif not self._next():
                threads.left[:] = threads.rows
                return

    def close(self) -> None:
        if self._file:
            self._file.close()

    def _next(self) -> bool:
        """Put more rows of the trace into the pool. Returns False at the end of the trace."""
        part = next(self._parts, None)
        if part is None:
            started = time.perf_counter()
            trace = next(self._traces, None)
            self.seconds += time.perf_counter() - started
            if trace is None:
                return False
            ends = range(0, len(trace), _SLICE)
            self._parts = iter([trace.part(at, at + _SLICE) for at in ends])
            return True
        self.read += len(part)
        index = np.empty(0, np.int64)
        if self._threads > 1:
            index = self._index[part.thread]
            if self._deferred:
                late = np.isin(index, list(self._deferred))
                self._defer(part, index, np.flatnonzero(late))
                index, part = index[~late], _rows(part, ~late)
        done = self._append(part, index, self._threads)
        if done < len(part):
            index = index if len(index) else np.zeros(len(part), np.int64)
            self._defer(part, index, np.arange(done, len(part)))
        return True

    def _append(self, part: Trace, index: np.ndarray, reserve: int) -> int:
        columns = part.columns
        given = [columns.get(n, np.empty(0, COLUMNS[n].dtype)) for n in _COLUMNS]
        return append(self._state, index, *given, reserve)

    def _defer(self, part: Trace, index: np.ndarray, rows: np.ndarray) -> None:
        if not len(rows):
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="anemone-tier-")  # noqa: SIM115
        rows = rows[np.argsort(index[rows], kind="stable")]
        records = np.zeros(len(rows), self._record)
        for name in _COLUMNS:
            if name in part.columns:
                self._has.add(name)
                records[name] = part.columns[name][rows]
        place = self._file.seek(0, 2)
        self._file.write(records.tobytes())
        threads, counts = np.unique(index[rows], return_counts=True)
        for thread, count in zip(threads.tolist(), counts.tolist(), strict=True):
            self._deferred.setdefault(thread, deque()).append((place, count))
            place += count * self._record.itemsize

    def _back(self, thread: int) -> None:
        """Bring a block of a thread's rows back from the file; the pool has reserved a block for
        it.
        """
        whole, threads = self._state.whole, self._state.threads
        assert whole[I_BLOCKS_FREE] > 0
        block = int(whole[I_BLOCK])
        space = block - max(0, int(threads.tail[thread])) % block
        place, count = self._deferred[thread].popleft()
        some = min(count, space)
        self._file.seek(place)
        records = np.frombuffer(self._file.read(some * self._record.itemsize), self._record)
        columns = {name: np.ascontiguousarray(records[name]) for name in sorted(self._has)}
        done = self._append(Trace(**columns), np.full(some, thread), 0)
        assert done == some
        if some < count:
            self._deferred[thread].appendleft((place + some * self._record.itemsize, count - some))
        elif not self._deferred[thread]:
            del self._deferred[thread]


def _rows(trace: Trace, which: np.ndarray) -> Trace:
    return Trace(**{name: column[which] for name, column in trace.columns.items()})
