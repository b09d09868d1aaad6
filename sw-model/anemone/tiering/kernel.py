# SPDX-License-Identifier: Apache-2.0
"""The event loop of the simulator, compiled: the program's accesses in order of issue.

Without a policy its times are bit-exactly those of golden.tier. Besides the program's threads, two
agents issue accesses: one copies pages (copying.py), one harvests telemetry. The earliest access
goes first. At equal times threads go before agents, and lower thread numbers go first.
"""

from __future__ import annotations

import numpy as np

from anemone.tiering.banks import extra
from anemone.tiering.compiled import compiled
from anemone.tiering.config import FAST, ON_WRITE, SLOW
from anemone.tiering.copying import advance_copy, copy_line, copy_stops
from anemone.tiering.near import OUTSIDE, serve
from anemone.tiering.state import (
    ACCESSED,
    COPYING,
    DEP,
    DIRTY,
    F_AGENT,
    F_END,
    F_FAULT_COST,
    F_HARVEST,
    F_LINE_COST,
    F_LINE_DONE,
    F_READER,
    F_SAMPLE_COST,
    F_WALK,
    F_WRITER,
    I_ACK,
    I_ACTIVE,
    I_BLOCK,
    I_BLOCKS_FREE,
    I_DROPPED,
    I_FAULTS,
    I_LINE,
    I_LINES,
    I_LOG_TIERS,
    I_LOGGED,
    I_MARK,
    I_ON_WRITE,
    I_OPS,
    I_OUTSTANDING,
    I_PAGE,
    I_PHASE,
    I_POSTED,
    I_SAMPLE_KINDS,
    I_SAMPLE_PERIOD,
    I_SAMPLE_TIERS,
    I_SAMPLED,
    I_SHIFT,
    I_SPAN,
    I_START,
    I_TOUCHED,
    I_WAITING,
    I_WALKS,
    I_WEIGHT_FAST,
    I_WEIGHTS,
    I_WHO,
    KIND_SHIFT,
    LOG_SLOW,
    NEVER,
    PLACE,
    TRAP,
    WRITE,
)
from anemone.tiering.threads import look_up, settle, translation
from anemone.trace import KINDS

# Why the kernel returned. UNTIL: the requested time was reached. END: the trace ended. ROWS: thread
# I_WHO has no rows in the pool. LOG, OPS: the log or the table of requests is full. LINE: telemetry
# line I_LINE was read. HARVESTED: the last line was written back. FULL: page I_PAGE has no free
# frame or is outside flat memory.
UNTIL, END, ROWS, LOG, OPS, LINE, HARVESTED, FULL = range(8)
_RESTART = ON_WRITE.index("restart")
_RFO = KINDS.index("rfo")
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing
_32 = np.uint64(32)
_LINE = np.uint64(6)


@compiled()
def _first_touch(whole, memory, frame):  # type: ignore[no-untyped-def]
    """Assign a tier to a page. Returns its entry, 0 if no frame is free."""
    span, start = whole[I_SPAN], whole[I_START]
    wanted, other = FAST, SLOW
    if start == 1:
        other = FAST
    elif start == 2:
        wanted = SLOW
    elif start == 4:
        wanted = other = FAST if memory.best[frame // span] else SLOW
    elif start == 3 and whole[I_TOUCHED] % whole[I_WEIGHTS] >= whole[I_WEIGHT_FAST]:
        wanted, other = SLOW, FAST
    if memory.used[wanted] + span > memory.capacity[wanted]:
        wanted = other
        if memory.used[wanted] + span > memory.capacity[wanted]:
            whole[I_PAGE] = frame // span
            return 0
    memory.used[wanted] += span
    whole[I_TOUCHED] += 1
    first = frame // span * span
    memory.table[first : first + span] = wanted + 1
    return wanted + 1


@compiled()
def _request(whole, ops, number, issue, completion):  # type: ignore[no-untyped-def]
    """Record an access of a request. The table must not be full."""
    mask = np.uint64(len(ops.number) - 1)
    at = (number * _SPREAD) >> _32 & mask
    while ops.number[at] != number:
        if ops.number[at] == 0:
            ops.number[at], ops.first[at], ops.last[at] = number, issue, completion
            whole[I_OPS] += 1
            return
        at = (at + np.uint64(1)) & mask
    if completion > ops.last[at]:
        ops.last[at] = completion


@compiled()
def larger(ops, into):  # type: ignore[no-untyped-def]
    """Move the requests into a larger, empty table."""
    mask = np.uint64(len(into.number) - 1)
    for i in range(len(ops.number)):
        if ops.number[i]:
            at = (ops.number[i] * _SPREAD) >> _32 & mask
            while into.number[at]:
                at = (at + np.uint64(1)) & mask
            into.number[at] = ops.number[i]
            into.first[at], into.last[at] = ops.first[i], ops.last[i]


@compiled()
def _harvest(s, whole, time, tiers, at):  # type: ignore[no-untyped-def]
    """The next access of the harvest to the slow tier. Returns LINE if it read a line, else UNTIL,
    or HARVESTED after the last write-back.

    Each line is read, then written back if the source acknowledges, then processed; then the next
    line is read.
    """
    start = max(at, tiers[0, SLOW])
    tiers[0, SLOW] = start + tiers[1, SLOW]
    completion = start + tiers[2, SLOW]
    acknowledges = whole[I_PHASE] > 0
    if len(s.memory.banks.shape):
        completion += extra(s.memory.banks, SLOW, start, whole[I_LINE], acknowledges)
    status = UNTIL
    if not acknowledges:
        status = LINE
        if whole[I_ACK]:
            whole[I_PHASE], time[F_HARVEST] = 1, completion
            return status
        at = completion
    whole[I_PHASE] = 0
    whole[I_LINE] += 1
    time[F_LINE_DONE] = at + time[F_LINE_COST]
    time[F_HARVEST] = time[F_LINE_DONE] if whole[I_LINE] < whole[I_LINES] else NEVER
    return HARVESTED if time[F_HARVEST] == NEVER and whole[I_ACK] else status


@compiled(inline="always")
def _issue(time, flags, reads, last_read, writes):  # type: ignore[no-untyped-def]
    """When a row issues, as in golden.tier.

    time: issue of the thread's previous access plus the gap. reads, writes: completion of the read
    and of the write that it may have to wait for.
    """
    if flags & WRITE:
        return max(time, writes)
    time = max(time, reads)
    return max(time, last_read) if flags & DEP else time


@compiled()
def _make_ready(s, thread):  # type: ignore[no-untyped-def]
    """Set a thread's key for its next row. Returns ROWS if the row is not in the pool."""
    whole, threads = s.whole, s.threads
    if threads.rows[thread] == 0:
        if threads.left[thread]:
            whole[I_WHO] = thread
            return ROWS
        whole[I_ACTIVE] -= 1
        threads.key[thread] = NEVER
    else:
        place = threads.at[thread]
        issue = _issue(
            threads.issued[thread] + (s.rows.gap[place] if len(s.rows.gap) else 0.0),
            s.rows.flags[place],
            threads.reads[thread, threads.read[thread]],
            threads.last_read[thread],
            threads.writes[thread, threads.written[thread]] if whole[I_POSTED] else 0.0,
        )
        if threads.stall[thread]:
            issue = max(issue, threads.key[thread]) + threads.stall[thread]
            threads.stall[thread] = 0
        threads.key[thread] = issue
        threads.ready[thread] = True
    settle(threads.key, threads.winner, thread)
    return UNTIL


@compiled()
def _hint_fault(s, thread, frame):  # type: ignore[no-untyped-def]
    """Record a hint fault and make the frame accessible. Returns the fault's cost."""
    table, seen = s.memory.table, s.seen
    fault = s.whole[I_FAULTS]
    if fault < len(seen.fault_frame):
        seen.fault_frame[fault], seen.fault_time[fault] = frame, s.threads.key[thread]
        s.whole[I_FAULTS] += 1
    table[frame] = np.int64(table[frame]) & ~TRAP
    return s.time[F_FAULT_COST]


@compiled()
def _waits(s, thread, at):  # type: ignore[no-untyped-def]
    """Handle a write to a page that is being copied. Returns True if it waits; otherwise the copy
    restarts or is given up.
    """
    whole, time, threads = s.whole, s.time, s.threads
    if whole[I_ON_WRITE] == _RESTART:
        copy_stops(s, at)
        time[F_AGENT] = min(time[F_READER], time[F_WRITER], time[F_HARVEST])
        return False
    threads.waiting[whole[I_WAITING]] = thread
    whole[I_WAITING] += 1
    whole[I_ACTIVE] -= 1
    threads.key[thread] = NEVER
    settle(threads.key, threads.winner, thread)
    return True


@compiled()
def _sample(s, thread, addr, flags):  # type: ignore[no-untyped-def]
    """Take a sample. Writes and fetches for a store (RFO) count as stores."""
    whole, seen, threads = s.whole, s.seen, s.threads
    threads.sample[thread] = whole[I_SAMPLE_PERIOD]
    threads.stall[thread] += s.time[F_SAMPLE_COST]
    at = whole[I_SAMPLED]
    if at < len(seen.sample_addr):
        seen.sample_addr[at] = addr
        seen.sample_store[at] = flags & WRITE or flags >> KIND_SHIFT == _RFO
        whole[I_SAMPLED] += 1
    else:
        whole[I_DROPPED] += 1


@compiled()
def run(s, until):  # type: ignore[no-untyped-def]
    """Issue all accesses before `until`. Returns why it stopped; the next call continues."""
    # Arrays are taken out of their tuples only once, because each time costs a reference count.
    whole, time = s.whole, s.time
    row_addr, row_flags, row_gap, row_op = s.rows.addr, s.rows.flags, s.rows.gap, s.rows.op
    after, free_blocks = s.rows.after, s.rows.free
    key, winner, ready = s.threads.key, s.threads.winner, s.threads.ready
    issued = s.threads.issued
    place_of, in_pool, left = s.threads.at, s.threads.rows, s.threads.left
    reads, read, last_read = s.threads.reads, s.threads.read, s.threads.last_read
    writes, written = s.threads.writes, s.threads.written
    stall, sample, tlb = s.threads.stall, s.threads.sample, s.threads.tlb
    table, accesses, held = s.memory.table, s.memory.accesses, s.memory.held
    tiers, ring = s.memory.tiers, s.copies.ring
    log_addr, log_flags = s.seen.log_addr, s.seen.log_flags
    shift, within = np.uint64(whole[I_SHIFT]), whole[I_BLOCK] - 1
    posted, outstanding = whole[I_POSTED], whole[I_OUTSTANDING]
    mark, log_tiers, period = whole[I_MARK], whole[I_LOG_TIERS], whole[I_SAMPLE_PERIOD]
    sample_tiers, sample_kinds = whole[I_SAMPLE_TIERS], whole[I_SAMPLE_KINDS]
    has_tlb, has_op, has_gap = tlb.shape[1] > 0, len(row_op) > 0, len(row_gap) > 0
    walk = time[F_WALK]
    max_ops = len(s.ops.number) // 2
    banks, near = s.memory.banks, s.memory.near
    banked, flat = len(banks.shape) > 0, len(near.words) > 0
    while True:
        thread = winner[1]
        at = key[thread]
        agent = time[F_AGENT]
        if agent < at:
            if whole[I_ACTIVE] == 0 and whole[I_WAITING] == 0:
                return END
            if agent >= until:
                return UNTIL
            if log_tiers and whole[I_LOGGED] == len(log_addr):
                return LOG
            status = UNTIL
            if time[F_HARVEST] == agent:
                status = _harvest(s, whole, time, tiers, agent)
            elif not copy_line(
                whole, time, table, tiers, ring, log_addr, log_flags, banked, banks, agent
            ):
                advance_copy(s, agent)
            time[F_AGENT] = min(time[F_READER], time[F_WRITER], time[F_HARVEST])
            if status != UNTIL:
                return status
            continue
        if at >= until:
            return END if at == NEVER else UNTIL
        if not ready[thread]:
            status = _make_ready(s, thread)
            if status != UNTIL:
                return status
            continue

        place = place_of[thread]
        addr, flags = row_addr[place], np.int64(row_flags[place])
        frame = np.int64(addr >> shift)
        entry = np.int64(table[frame])
        write = flags & WRITE
        if entry == 0:
            entry = np.int64(_first_touch(whole, s.memory, frame))
            if entry == 0:
                return FULL
        if has_op and whole[I_OPS] >= max_ops:
            return OPS
        if log_tiers and whole[I_LOGGED] == len(log_addr):
            return LOG
        delay = 0.0
        if has_tlb and not look_up(tlb, thread, translation(whole, frame, entry)):
            whole[I_WALKS] += 1
            delay = walk
        if entry & TRAP:
            delay += _hint_fault(s, thread, frame)
        if delay > 0:
            key[thread] += delay
            settle(key, winner, thread)
            continue
        if entry & COPYING and write and _waits(s, thread, at):
            continue
        tier = (entry & PLACE) - 1
        if mark:
            table[frame] |= np.uint8(ACCESSED | DIRTY if write else ACCESSED)

        if flat:
            tier, completion = serve(near, tiers, at, np.int64(addr >> _LINE), write)
            if tier == OUTSIDE:
                whole[I_PAGE] = frame // whole[I_SPAN]
                return FULL
        else:
            start = max(at, tiers[0, tier])
            tiers[0, tier] = start + tiers[1, tier]
            completion = start + tiers[2, tier]
            if banked:
                completion += extra(banks, tier, start, np.int64(addr >> _LINE), write > 0)
        accesses[tier] += 1
        held[tier] += completion - at
        time[F_END] = max(time[F_END], completion)
        issued[thread] = at
        if not write:
            number = read[thread]
            reads[thread, number] = completion
            read[thread] = number + 1 if number + 1 < outstanding else 0
            last_read[thread] = completion
        elif posted:
            number = written[thread]
            writes[thread, number] = completion
            written[thread] = number + 1 if number + 1 < posted else 0
        if has_op and row_op[place]:
            _request(whole, s.ops, row_op[place], at, completion)
        if log_tiers >> tier & 1:
            log_addr[whole[I_LOGGED]] = addr
            log_flags[whole[I_LOGGED]] = flags >> KIND_SHIFT << KIND_SHIFT | tier * LOG_SLOW | write
            whole[I_LOGGED] += 1
        if period and sample_tiers >> tier & sample_kinds >> (flags >> KIND_SHIFT) & 1:
            sample[thread] -= 1
            if sample[thread] == 0:
                _sample(s, thread, addr, flags)

        # Advance to the thread's next row.
        in_pool[thread] -= 1
        left[thread] -= 1
        place += 1
        if place & within == 0:
            done = place // whole[I_BLOCK] - 1
            place = np.int64(after[done]) * whole[I_BLOCK]
            free_blocks[whole[I_BLOCKS_FREE]] = done
            whole[I_BLOCKS_FREE] += 1
        place_of[thread] = place
        if in_pool[thread] == 0 or stall[thread] > 0:
            ready[thread] = False
        else:
            key[thread] = _issue(
                at + row_gap[place] if has_gap else at,
                row_flags[place],
                reads[thread, read[thread]],
                last_read[thread],
                writes[thread, written[thread]] if posted else 0.0,
            )
        settle(key, winner, thread)


@compiled()
def append(s, index, addr, write, gap, dep, kind, op, reserve):  # type: ignore[no-untyped-def]
    """Put rows into the pool. Returns how many: all, unless it runs out of blocks.

    index: int64[n], the thread of each row; empty if all are of thread 0. Other columns are empty
    if the trace does not have them. reserve: number of blocks that must stay free.
    """
    whole, rows, threads = s.whole, s.rows, s.threads
    block = whole[I_BLOCK]
    within = block - 1
    for i in range(len(addr)):
        thread = index[i] if len(index) else 0
        place = threads.tail[thread]
        if place < 0 or place & within == 0:
            # The thread's last block is full, or was consumed and freed.
            if whole[I_BLOCKS_FREE] <= reserve:
                return i
            whole[I_BLOCKS_FREE] -= 1
            fresh = rows.free[whole[I_BLOCKS_FREE]]
            rows.after[fresh] = -1
            if threads.rows[thread]:
                rows.after[place // block - 1] = fresh
            else:
                threads.at[thread] = np.int64(fresh) * block
            place = np.int64(fresh) * block
        rows.addr[place] = addr[i]
        flags = np.uint8(write[i])
        if len(dep) and dep[i]:
            flags |= np.uint8(DEP)
        if len(kind):
            flags |= np.uint8(kind[i] << KIND_SHIFT)
        rows.flags[place] = flags
        if len(gap):
            rows.gap[place] = gap[i]
        if len(op):
            rows.op[place] = op[i]
        threads.tail[thread] = place + 1
        threads.rows[thread] += 1
    return len(addr)
