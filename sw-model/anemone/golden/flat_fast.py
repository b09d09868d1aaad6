# SPDX-License-Identifier: Apache-2.0
"""The fast model of flat memory mode: `flat` on arrays, compiled, and tested against it.

Cache misses limit its speed, so the whole state of a set is in one row of a few 32-bit words. Each
touched set has a row, which a hash table finds. Rows are in the order of first touches, so sets
that are accessed together are close. For a line's content a row stores the number of the trace row
that wrote it, or the tag of an unwritten line. A dedicated line also has a row, with the number of
its near line, which no set has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numba import njit

from anemone.flat.config import POLICIES, FlatConfig, check_policy
from anemone.flat.result import DEDICATED, HIT, MISS, SWAP, Counts

EVERY, NTH, ONE_IN, NEVER = range(len(POLICIES))

# Indices of the parameters and of the counts.
P_LINES, P_RATIO, P_FIRST, P_LAST, P_POLICY, P_N = range(6)
(C_HITS, C_MISSES, C_SWAPS, C_NEAR_READS, C_NEAR_WRITES, C_FAR_READS, C_FAR_WRITES, C_MISMATCHES,
 C_CHANNEL, C_ROWS) = range(10)  # fmt: skip
# Indices of a row's words. R_LOW, R_HIGH: the halves of the set's number. From R_CONTENTS on are
# the contents of each slot (near, then far), then the data last written to the line of each tag.
R_LOW, R_HIGH, R_STATE, R_CONTENTS = range(4)
# R_STATE has the slot of tag t from bit 3t on, then the near tag, the tag last missed and its
# consecutive misses.
_NEAR_TAG, _MISSED, _MISSES = (np.uint32(shift) for shift in (15, 18, 21))
_RESET = np.uint32(sum(t << 3 * t for t in range(5)))
_TAG, _COUNT = np.uint32(7), np.uint32(0xFF)  # masks
# The content of an unwritten line, with its tag in the low bits.
UNWRITTEN = 0xFFFF_FFF8
_UNWRITTEN = np.uint32(UNWRITTEN)

_0, _1, _4, _6, _15, _32 = (np.uint64(n) for n in (0, 1, 4, 6, 15, 32))
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing
_DEDICATED = 8  # bit of _find's results for dedicated memory, between the tag and the row
_CACHE_LINE = 16  # words
_BLOCK = 1024  # accesses whose rows fit the processor's cache
_CHUNK = 1 << 20  # accesses between two progress reports and two checks of the space for rows


@njit(cache=True, nogil=True, inline="always")
def _hash_slot(index, set_index):  # type: ignore[no-untyped-def]
    """The hash table's first slot for a set; sixteen neighbouring sets share a cache line."""
    size = np.uint64(len(index))
    return (((set_index >> _4) * _SPREAD) >> np.uint64(20) << _4 | set_index & _15) & (size - _1)


@njit(cache=True, nogil=True, inline="always")
def _number(rows, row):  # type: ignore[no-untyped-def]
    """The number of a row's set."""
    return np.uint64(rows[row, R_LOW]) | np.uint64(rows[row, R_HIGH]) << _32


@njit(cache=True, nogil=True)
def _enter(index, rows, used):  # type: ignore[no-untyped-def]
    """Insert the rows in use into an empty index."""
    mask = np.uint64(len(index)) - _1
    for row in range(used):
        at = _hash_slot(index, _number(rows, row))
        while index[at]:
            at = (at + _1) & mask
        index[at] = row + 1


@njit(cache=True, nogil=True)
def _find(p, index, rows, counts, addr, first, last, found):  # type: ignore[no-untyped-def]
    """Find or create the row of each access of a block. There must be space for new rows.

    This is a separate pass, because its accesses are independent, so that the processor can overlap
    their cache misses.
    """
    lines, ratio = p[P_LINES], np.int64(p[P_RATIO])
    dedicated, dedicated_end = p[P_FIRST], p[P_LAST]
    mask = np.uint64(len(index)) - _1
    used = np.int64(counts[C_ROWS])
    for i in range(first, last):
        line = addr[i] >> _6
        if dedicated <= line and line < dedicated_end:
            set_index, kind = line - dedicated + lines, _DEDICATED
        else:
            tag = line // lines
            set_index, kind = line - tag * lines, np.int64(tag)
        at = _hash_slot(index, set_index)
        while index[at] and _number(rows, index[at] - 1) != set_index:
            at = (at + _1) & mask
        if index[at] == 0:
            rows[used, R_LOW], rows[used, R_HIGH] = set_index, set_index >> _32
            rows[used, R_STATE] = _RESET
            for t in range(ratio + 1):
                rows[used, R_CONTENTS + t] = _UNWRITTEN + t
                rows[used, R_CONTENTS + ratio + 1 + t] = _UNWRITTEN + t
            used += 1
            index[at] = used
        found[i - first] = (np.int64(index[at]) - 1) << 4 | kind
    counts[C_ROWS] = used


@njit(cache=True, nogil=True, inline="always")
def _with(state, shift, mask, value):  # type: ignore[no-untyped-def]
    return np.uint32((state & ~(mask << shift)) | (np.uint32(value) << shift))


@njit(cache=True, nogil=True)
def _access(p, rows, counts, write, outcomes, before, first, last, found):  # type: ignore[no-untyped-def]
    """Run a block of accesses on their rows. before: number of accesses in earlier calls."""
    policy, n = p[P_POLICY], p[P_N]
    golden = R_CONTENTS + np.int64(p[P_RATIO]) + 1
    hits = misses = swaps = near_writes = far_reads = far_writes = mismatches = near_reads = 0
    channel = counts[C_CHANNEL]
    for i in range(first, last):
        row, tag = found[i - first] >> 4, found[i - first] & 7
        is_dedicated = found[i - first] & _DEDICATED
        state, writes = rows[row, R_STATE], write[i]
        slot = np.int64((state >> np.uint32(3 * tag)) & _TAG)
        held = R_CONTENTS + slot
        # The line is written in its present slot; then a swap moves it.
        if writes:
            rows[row, golden + tag] = rows[row, held] = before + i + 1
        elif rows[row, held] != rows[row, golden + tag]:
            mismatches += 1
        if is_dedicated:
            outcomes[i] = DEDICATED
            near_reads += not writes
            near_writes += writes
            continue
        near_reads += 1
        if slot == 0:
            outcomes[i] = HIT
            hits += 1
            near_writes += writes
            continue

        misses += 1
        swap = policy == EVERY
        if policy == ONE_IN:
            channel += _1
            swap = channel == n
            if swap:
                channel = _0
        elif policy == NTH:
            count = _1
            if (state >> _MISSED) & _TAG == tag:
                count += (state >> _MISSES) & _COUNT
            swap = count >= n
            if not swap:
                state = _with(state, _MISSED, _TAG, tag)
                state = _with(state, _MISSES, _COUNT, count)
                near_writes += 1
        far_reads += not writes
        if swap:
            outcomes[i] = SWAP
            swaps += 1
            near_writes += 1
            far_writes += 1
            rows[row, held], rows[row, R_CONTENTS] = rows[row, R_CONTENTS], rows[row, held]
            victim = (state >> _NEAR_TAG) & _TAG
            state = _with(state, np.uint32(3) * victim, _TAG, slot)
            state = _with(state, np.uint32(3 * tag), _TAG, 0)
            state = _with(state, _NEAR_TAG, _TAG, tag)
            state = _with(state, _MISSES, _COUNT, 0)
        else:
            outcomes[i] = MISS
            far_writes += writes
        rows[row, R_STATE] = state
    for at, value in (
        (C_HITS, hits), (C_MISSES, misses), (C_SWAPS, swaps), (C_NEAR_READS, near_reads),
        (C_NEAR_WRITES, near_writes), (C_FAR_READS, far_reads), (C_FAR_WRITES, far_writes),
        (C_MISMATCHES, mismatches),
    ):  # fmt: skip
        counts[at] += np.uint64(value)
    counts[C_CHANNEL] = channel


@njit(cache=True, nogil=True)
def _run(p, index, rows, counts, addr, write, outcomes, before, first, last):  # type: ignore[no-untyped-def]
    """Run accesses first to last in blocks."""
    found = np.empty(_BLOCK, np.int64)
    for at in range(first, last, _BLOCK):
        end = min(at + _BLOCK, last)
        _find(p, index, rows, counts, addr, at, end, found)
        _access(p, rows, counts, write, outcomes, before, at, end, found)


def _rows(count: int, words: int) -> np.ndarray:
    """Space for rows, aligned so that each row is in as few cache lines as possible."""
    words = 1 << (words - 1).bit_length()
    space = np.empty(count * words + _CACHE_LINE, np.uint32)
    first = -space.ctypes.data // space.itemsize % _CACHE_LINE
    return space[first : first + count * words].reshape(count, words)


class FlatMemory:
    """Near and far memory with one controller, like flat.FlatMemory, for arrays of accesses.

    A trace may be divided into several calls of `accesses`. Contents, counts and row numbers
    continue, and the policy may change between calls. rows: accesses so far. mismatches: reads so
    far that did not return the data last written. counts: see Counts.
    """

    def __init__(self, config: FlatConfig) -> None:
        self.config = config
        self.rows = 0
        first, last = config.dedicated_lines.start, config.dedicated_lines.stop
        policy = POLICIES.index(config.policy)
        self._p = np.array(
            [config.near_lines, config.ratio, first, last, policy, config.n], np.uint64
        )
        self._counts = np.zeros(10, np.uint64)
        self._rows = _rows(0, R_CONTENTS + 2 * (config.ratio + 1))
        self._index = np.zeros(0, np.uint32)

    mismatches = property(lambda self: int(self._counts[C_MISMATCHES]))

    @property
    def counts(self) -> Counts:
        return Counts(*self._counts[: C_FAR_WRITES + 1].tolist())

    def accesses(
        self,
        addr: np.ndarray,
        write: np.ndarray,
        progress: Callable[[int, int], None] | None = None,
        name: object = "trace",
    ) -> np.ndarray:
        """Run accesses. addr: uint64[n] in bytes, write: bool[n]. Returns their outcomes, uint8[n]:
        HIT, MISS, SWAP or DEDICATED of anemone.flat.

        A write writes the whole line, with the row's number (from 1 in the first call) in every 8
        bytes. name: the trace's name in errors. progress: called with (accesses done, all accesses
        of this call). Raises InputError for an address outside memory, and ValueError above 2^32 -
        9 accesses in total; then no access is run.
        """
        if len(write) != len(addr):
            raise ValueError(f"{len(addr)} addresses, {len(write)} flags of writes")
        if self.rows + len(addr) >= UNWRITTEN:
            raise ValueError(f"{self.rows + len(addr)} accesses: not below {UNWRITTEN}")
        addr = np.ascontiguousarray(addr, np.uint64)
        write = np.ascontiguousarray(write, np.bool_)
        self.config.check(addr, name, self.rows)
        outcomes = np.empty(len(addr), np.uint8)
        for first in range(0, len(addr), _CHUNK):
            last = min(first + _CHUNK, len(addr))
            self._grow(last - first)
            state = (self._p, self._index, self._rows, self._counts)
            _run(*state, addr, write, outcomes, self.rows, first, last)
            if progress:
                progress(last, len(addr))
        self.rows += len(addr)
        return outcomes

    def set_policy(self, policy: str, n: int = 1) -> None:
        """Change the policy (one of POLICIES) from the next access on; n as in FlatConfig.

        Like a write of the policy register: if either changes, `one_in` counts misses from here on.
        A set's count of consecutive misses is kept until `nth` continues it. Raises ValueError for
        an unknown policy.
        """
        check_policy(policy, n)
        if (policy, n) != (self.config.policy, self.config.n):
            self.config = replace(self.config, policy=policy, n=n)
            self._p[P_POLICY], self._p[P_N] = POLICIES.index(policy), n
            self._counts[C_CHANNEL] = 0

    def _grow(self, accesses: int) -> None:
        """Make space for a new row for each access, with half of the index free."""
        used = int(self._counts[C_ROWS])
        if len(self._rows) >= used + accesses:
            return
        # Unused rows cost nothing, because the OS allocates memory at the first write.
        size = max(2 * len(self._rows), used + accesses)
        rows = _rows(size, self._rows.shape[1])
        rows[:used] = self._rows[:used]
        self._rows = rows
        self._index = np.zeros(1 << (2 * size - 1).bit_length(), np.uint32)
        _enter(self._index, rows, used)

    def _sets(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows in use, and the numbers of their sets."""
        rows = self._rows[: int(self._counts[C_ROWS])]
        return rows, rows[:, R_LOW] | rows[:, R_HIGH].astype(np.uint64) << _32

    def sets(self) -> tuple[np.ndarray, np.ndarray]:
        """(set uint64, near tag uint8) columns of the sets in which it is not 0, ascending."""
        rows, number = self._sets()
        tags = (rows[:, R_STATE] >> _NEAR_TAG & _TAG).astype(np.uint8)
        moved = np.flatnonzero(tags)
        moved = moved[np.argsort(number[moved])]
        return number[moved], tags[moved]

    def contents(self) -> dict[int, int]:
        """The 8-byte content of each line of touched sets, by physical line."""
        config, held = self.config, {}
        for row, set_index in zip(*(column.tolist() for column in self._sets()), strict=True):
            tags = range(config.ratio + 1)
            lines = [tag * config.near_lines + set_index for tag in tags]
            if is_dedicated := set_index >= config.near_lines:
                lines = [set_index - config.near_lines + config.dedicated_lines.start]
            for tag, line in enumerate(lines):
                code = row[R_CONTENTS + (row[R_STATE] >> 3 * tag & 7)]
                owner = lines[code - UNWRITTEN] if code >= UNWRITTEN else 0
                # Dedicated memory hides lines of sets at its addresses.
                if is_dedicated or line not in config.dedicated_lines:
                    held[line] = ~owner & (1 << 64) - 1 if code >= UNWRITTEN else code
        return held

    @staticmethod
    def warm_up() -> None:
        """Compile or load from the cache, so that this is not part of a measured run."""
        memory = FlatMemory(FlatConfig(near_lines=1))
        memory.accesses(np.zeros(1, np.uint64), np.zeros(1, np.bool_))
