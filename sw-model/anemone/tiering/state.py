# SPDX-License-Identifier: Apache-2.0
"""The state of a run for the compiled kernel: groups of arrays.

A page has one frame, or 512 frames of 4 KiB if pages may split. A frame's entry in the page table
is a byte: its tier plus one (0 before the first touch), and flags. Times are in ns, float64. The
state does not depend on the policy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anemone.hardware.geometry import LINE_BYTES
from anemone.tiering import banks, near
from anemone.tiering.config import BASE_PAGE, FAST, ON_WRITE, STARTS, TierConfig

NEVER = np.inf
# Bits of a frame's entry. BASE: its page is split, so the frame moves by itself.
PLACE, COPYING, TRAP, ACCESSED, DIRTY, BASE = 3, 4, 8, 16, 32, 64
# Bits of a row's flags.
WRITE, DEP, KIND_SHIFT = 1, 2, 2
# Bits of a logged access besides WRITE: the tier in bit 1, above it the kind, which is COPY for
# copies.
LOG_SLOW, COPY = 2, 5

# Indices of State.whole.
(I_SHIFT, I_SPAN, I_START, I_WEIGHT_FAST, I_WEIGHTS, I_TOUCHED, I_ACTIVE, I_POSTED, I_OUTSTANDING,
 I_MARK, I_LOG_TIERS, I_LOGGED, I_SAMPLE_PERIOD, I_SAMPLE_TIERS, I_SAMPLE_KINDS, I_SAMPLED,
 I_DROPPED, I_FAULTS, I_WALKS, I_OPS, I_BLOCK, I_BLOCKS_FREE, I_WHO, I_PAGE,
 I_ON_WRITE, I_RETRIES, I_COPY_LINES, I_JOB, I_JOB_TO, I_JOB_JOINS, I_READ, I_WRITTEN, I_TRIES,
 I_UP, I_UPS, I_DOWN, I_DOWNS, I_WAITING, I_PROMOTED, I_DEMOTED, I_COPIED, I_RESTARTED, I_GIVEN_UP,
 I_REFUSED, I_PHASE, I_LINE, I_LINES, I_ACK, I_JOB_LINES) = range(49)  # fmt: skip
WHOLE = 49
# Indices of State.time.
(F_END, F_AGENT, F_READER, F_WRITER, F_HARVEST, F_LAST_WRITE, F_COPY_BUSY, F_UNMAP, F_SHOOTDOWN,
 F_SAMPLE_COST, F_FAULT_COST, F_WALK, F_LINE_COST, F_LINE_DONE,
 F_NEXT_READ) = range(15)  # fmt: skip
TIMES = 15


class Rows(NamedTuple):
    """Rows of the trace that have not issued yet, in a pool of blocks; each thread has a linked
    list.

    Columns that the trace does not have are empty.
    """

    addr: np.ndarray  # uint64[blocks * block]
    flags: np.ndarray  # uint8
    gap: np.ndarray  # float64
    op: np.ndarray  # uint64
    after: np.ndarray  # int32[blocks]: the next block of the thread
    free: np.ndarray  # int32[blocks]: a stack of the free blocks


class Threads(NamedTuple):
    """The program's threads, indexed in the order of their numbers."""

    key: np.ndarray  # float64: when its next row issues; a lower bound if it is not ready;
    # NEVER if it has no row or waits for a copy. Padded to a power of two.
    winner: np.ndarray  # int64: a tournament tree of keys, whose winner is at 1 (threads.settle)
    ready: np.ndarray  # bool: whether the key is final
    issued: np.ndarray  # float64: time of its last issue
    at: np.ndarray  # int64: position of its next row in the pool
    tail: np.ndarray  # int64: position after its last row
    rows: np.ndarray  # int64: number of its rows in the pool
    left: np.ndarray  # int64: number of its rows that have not issued
    reads: np.ndarray  # float64[n, outstanding]: ring of read completions
    read: np.ndarray  # int64: next position in the ring
    last_read: np.ndarray  # float64: completion of its last read
    writes: np.ndarray  # float64[n, posted]
    written: np.ndarray  # int64
    stall: np.ndarray  # float64: delay of its next access
    sample: np.ndarray  # int64: visible accesses until the next sample
    tlb: np.ndarray  # int64[n, sets, ways]: translations, most recent first; -1 is empty
    waiting: np.ndarray  # int64: the first I_WAITING are the threads that wait for a copy


class Memory(NamedTuple):
    """Pages and tiers; index 0 is fast, 1 is slow."""

    table: np.ndarray  # uint8[frames]
    capacity: np.ndarray  # int64[2]: frames
    used: np.ndarray  # int64[2]
    tiers: np.ndarray  # float64[3, 2]: when each is free, ns per line, latency
    accesses: np.ndarray  # int64[2]: the program's accesses
    held: np.ndarray  # float64[2]: sum of their latencies in ns
    banks: banks.Banks  # state of the DRAM timing
    best: np.ndarray  # bool[pages]: pages that "optimum" places in the fast tier
    near: near.Near  # state of flat memory mode, in which all pages count as fast


class Seen(NamedTuple):
    """Buffers for telemetry sources."""

    log_addr: np.ndarray  # uint64: every access to the logged tiers, in the tiers' order
    log_flags: np.ndarray  # uint8
    sample_addr: np.ndarray  # uint64: samples since the last take_samples
    sample_store: np.ndarray  # bool: whether the sample is of a store
    fault_frame: np.ndarray  # int64: hint faults since the last take_faults
    fault_time: np.ndarray  # float64


class Copies(NamedTuple):
    """Units to move, by their first frame f; a split page to join is -1 - f."""

    up: np.ndarray  # int64
    down: np.ndarray  # int64
    ring: np.ndarray  # float64: completions of reads whose writes have not issued yet


class Ops(NamedTuple):
    """The program's requests in a hash table; number 0 marks a free slot."""

    number: np.ndarray  # uint64
    first: np.ndarray  # float64: first issue
    last: np.ndarray  # float64: last completion


class State(NamedTuple):
    """The state of a run. whole, time: by the indices above."""

    whole: np.ndarray
    time: np.ndarray
    rows: Rows
    threads: Threads
    memory: Memory
    seen: Seen
    copies: Copies
    ops: Ops


def make(
    config: TierConfig,
    device_bytes: int,
    threads: int,
    columns: frozenset[str],
    blocks: int,
    block: int,
    splits: bool,
) -> State:
    """The state before the first row. columns: of the trace. block: rows in a block, a power of
    two.
    """
    frame_bytes = BASE_PAGE if splits else config.page_bytes
    span = config.page_bytes // frame_bytes
    whole, time = np.zeros(WHOLE, np.int64), np.zeros(TIMES)
    whole[I_SHIFT] = frame_bytes.bit_length() - 1
    whole[I_SPAN], whole[I_START] = span, STARTS.index(config.start)
    whole[I_WEIGHT_FAST], whole[I_WEIGHTS] = config.weights[FAST], sum(config.weights)
    whole[I_ACTIVE], whole[I_POSTED] = threads, config.posted or 0
    whole[I_OUTSTANDING] = config.outstanding
    whole[I_BLOCK], whole[I_BLOCKS_FREE] = block, blocks
    migration = config.migration
    whole[I_ON_WRITE], whole[I_RETRIES] = ON_WRITE.index(migration.on_write), migration.retries
    whole[I_COPY_LINES], whole[I_JOB] = migration.lines, -1
    time[[F_AGENT, F_READER, F_WRITER, F_HARVEST]] = NEVER
    time[F_COPY_BUSY] = LINE_BYTES / migration.gb_per_s
    time[F_UNMAP], time[F_SHOOTDOWN] = migration.unmap_ns, migration.shootdown_ns
    sets, ways = 0, 1
    if config.tlb:
        sets, ways = config.tlb.entries // config.tlb.ways, config.tlb.ways
        time[F_WALK] = config.tlb.walk_ns
    tiers = (config.fast, config.slow)
    frames = -(-device_bytes // frame_bytes)
    capacity = [tier.pages * span for tier in tiers]
    if config.flat:
        whole[I_START], capacity[FAST] = STARTS.index("fast"), frames
    pool = blocks * block

    leaves = 1 << max(1, (threads - 1).bit_length())
    key, winner = np.full(leaves, NEVER), np.zeros(2 * leaves, np.int64)
    key[:threads], winner[leaves:] = 0.0, np.arange(leaves)
    for node in range(leaves - 1, 0, -1):
        winner[node] = winner[2 * node]

    def column(name: str, dtype: type) -> np.ndarray:
        return np.empty(pool if name in columns else 0, dtype)

    def ints(value: int = 0) -> np.ndarray:
        return np.full(threads, value, np.int64)

    return State(
        whole,
        time,
        Rows(
            column("addr", np.uint64),
            np.empty(pool, np.uint8),
            column("gap_ns", np.float64),
            column("op", np.uint64),
            np.full(blocks, -1, np.int32),
            np.arange(blocks, dtype=np.int32)[::-1].copy(),
        ),
        Threads(
            key=key,
            winner=winner,
            ready=np.zeros(threads, np.bool_),
            issued=np.zeros(threads),
            at=ints(-1),
            tail=ints(-1),
            rows=ints(),
            left=ints(),
            reads=np.zeros((threads, config.outstanding)),
            read=ints(),
            last_read=np.zeros(threads),
            writes=np.zeros((threads, config.posted or 0)),
            written=ints(),
            stall=np.zeros(threads),
            sample=ints(),
            tlb=np.full((threads, sets, ways), -1, np.int64),
            waiting=ints(),
        ),
        Memory(
            table=np.zeros(frames, np.uint8),
            capacity=np.array(capacity),
            used=np.zeros(2, np.int64),
            tiers=np.array(
                [
                    [0.0, 0.0],
                    [LINE_BYTES / tier.gb_per_s for tier in tiers],
                    [tier.latency_ns for tier in tiers],
                ]
            ),
            accesses=np.zeros(2, np.int64),
            held=np.zeros(2),
            banks=banks.make(config),
            best=np.zeros(0, np.bool_),
            near=near.make(config.flat_config),
        ),
        Seen(*(np.empty(0, t) for t in (np.uint64, np.uint8, np.uint64, np.bool_, np.int64,
                                        np.float64))),
        Copies(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(migration.lines)),
        Ops(*(np.zeros(1 << 16 if "op" in columns else 0, t)
              for t in (np.uint64, np.float64, np.float64))),
    )  # fmt: skip
