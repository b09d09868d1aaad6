# SPDX-License-Identifier: Apache-2.0
"""The agent that copies pages line by line through the queues of both tiers; compiled.

It copies one page at a time: the page is unmapped, its lines are read from one tier and written to
the other, and after the last write the page's translation changes. Until then the program uses the
old frame. During the copy both frames count against the tiers' capacities.
"""

from __future__ import annotations

import numpy as np

from anemone.tiering.banks import extra
from anemone.tiering.compiled import compiled
from anemone.tiering.config import FAST, SLOW
from anemone.tiering.state import (
    BASE,
    COPY,
    COPYING,
    F_COPY_BUSY,
    F_LAST_WRITE,
    F_NEXT_READ,
    F_READER,
    F_SHOOTDOWN,
    F_UNMAP,
    F_WRITER,
    I_ACTIVE,
    I_COPIED,
    I_COPY_LINES,
    I_DEMOTED,
    I_DOWN,
    I_DOWNS,
    I_GIVEN_UP,
    I_JOB,
    I_JOB_JOINS,
    I_JOB_LINES,
    I_JOB_TO,
    I_LOG_TIERS,
    I_LOGGED,
    I_PROMOTED,
    I_READ,
    I_REFUSED,
    I_RESTARTED,
    I_RETRIES,
    I_SHIFT,
    I_SPAN,
    I_TRIES,
    I_UP,
    I_UPS,
    I_WAITING,
    I_WRITTEN,
    KIND_SHIFT,
    LOG_SLOW,
    NEVER,
    PLACE,
    WRITE,
)
from anemone.tiering.threads import forget, interrupt, settle, translation

_LINE_SHIFT = 6


@compiled()
def _frames(whole, memory, frame, joins):  # type: ignore[no-untyped-def]
    """(first, number) of the frames that move together with a frame: a whole page, or itself."""
    span = whole[I_SPAN]
    if memory.table[frame] & BASE and not joins:
        return frame, 1
    return frame // span * span, span


@compiled()
def _movable(memory, first, count, to, joins):  # type: ignore[no-untyped-def]
    """Whether the frames are in use, split or whole as they were for the policy, and not all in the
    target tier.
    """
    elsewhere = False
    for frame in range(first, first + count):
        entry = memory.table[frame]
        if entry & PLACE == 0 or (joins and not entry & BASE):
            return False
        elsewhere |= entry & PLACE != to + 1
    return elsewhere or joins


@compiled()
def _take(s, at, number, to):  # type: ignore[no-untyped-def]
    """Start to copy a page: 1 if started, 0 if it cannot move, -1 if no frame is free."""
    whole, time, memory = s.whole, s.time, s.memory
    joins = number < 0
    first, count = _frames(whole, memory, -1 - number if joins else number, joins)
    if not _movable(memory, first, count, to, joins):
        return 0
    if memory.used[to] + count > memory.capacity[to]:
        return -1
    memory.used[to] += count
    for frame in range(first, first + count):
        memory.table[frame] |= np.uint8(COPYING)
    whole[I_JOB], whole[I_JOB_TO], whole[I_JOB_JOINS] = first, to, joins
    whole[I_JOB_LINES] = count << (whole[I_SHIFT] - _LINE_SHIFT)
    whole[I_READ] = whole[I_WRITTEN] = whole[I_TRIES] = 0
    time[F_READER], time[F_WRITER] = at + time[F_UNMAP], NEVER
    return 1


@compiled()
def _next_job(s, at):  # type: ignore[no-untyped-def]
    """Promote while the fast tier has free frames, else demote. Moves without a free frame are
    refused."""
    whole, copies = s.whole, s.copies
    while whole[I_UP] < whole[I_UPS] or whole[I_DOWN] < whole[I_DOWNS]:
        begun = -1
        if whole[I_UP] < whole[I_UPS]:
            begun = _take(s, at, copies.up[whole[I_UP]], FAST)
            if begun >= 0:
                whole[I_UP] += 1
        if begun < 0 and whole[I_DOWN] < whole[I_DOWNS]:
            begun = _take(s, at, copies.down[whole[I_DOWN]], SLOW)
            whole[I_DOWN] += 1
            if begun < 0:
                whole[I_REFUSED] += 1
                begun = 0
        if begun > 0:
            return
        if begun < 0:
            whole[I_REFUSED] += whole[I_UPS] - whole[I_UP]
            whole[I_UP] = whole[I_UPS]
    s.time[F_READER] = NEVER


@compiled(inline="always")
def _log(whole, log_addr, log_flags, tier, frame, line, write):  # type: ignore[no-untyped-def]
    """Log an access of the copy if its tier is logged. The log must not be full."""
    if whole[I_LOG_TIERS] >> tier & 1:
        log_addr[whole[I_LOGGED]] = frame << whole[I_SHIFT] | line << _LINE_SHIFT
        log_flags[whole[I_LOGGED]] = COPY << KIND_SHIFT | tier * LOG_SLOW | write
        whole[I_LOGGED] += 1


@compiled()
def copy_line(  # type: ignore[no-untyped-def]
    whole, time, table, tiers, ring, log_addr, log_flags,
    banked, banks, at,
):  # fmt: skip
    """Do the agent's next read or write. Returns False if there is no line to copy.

    It takes arrays instead of the state because it is called for each line. tiers: float64[3, 2],
    when each tier is free, ns per line, latency. banked: use the DRAM timing, with the state
    `banks`.
    """
    lines, ahead, job = whole[I_JOB_LINES], whole[I_COPY_LINES], whole[I_JOB]
    if job < 0:
        return False
    per_frame = 1 << (whole[I_SHIFT] - _LINE_SHIFT)
    writes = time[F_WRITER] == at
    line = whole[I_WRITTEN] if writes else whole[I_READ]
    if line == lines:
        return False
    frame = job + line // per_frame
    tier = whole[I_JOB_TO] if writes else np.int64(table[frame] & PLACE) - 1
    start = max(at, tiers[0, tier])
    tiers[0, tier] = start + tiers[1, tier]
    completion = start + tiers[2, tier]
    if banked:
        at_line = frame * per_frame + line % per_frame
        completion += extra(banks, tier, start, at_line, writes)
    _log(whole, log_addr, log_flags, tier, frame, line % per_frame, WRITE if writes else 0)
    if writes:
        time[F_LAST_WRITE] = at
        whole[I_WRITTEN] += 1
        if line + 1 == lines:
            time[F_WRITER] = completion
        elif line + 1 < whole[I_READ]:
            time[F_WRITER] = max(ring[(line + 1) % ahead], at)
        else:
            time[F_WRITER] = NEVER
        if time[F_READER] == NEVER and whole[I_READ] < lines:
            time[F_READER] = max(time[F_NEXT_READ], at)
        return True
    ring[line % ahead] = completion
    if time[F_WRITER] == NEVER:
        # After a restart, a write must not issue before the last write of the attempt before.
        time[F_WRITER] = max(completion, time[F_LAST_WRITE])
    whole[I_READ] += 1
    time[F_NEXT_READ] = at + time[F_COPY_BUSY]
    more = line + 1 < lines and line + 1 - whole[I_WRITTEN] < ahead
    time[F_READER] = time[F_NEXT_READ] if more else NEVER
    return True


@compiled()
def advance_copy(s, at):  # type: ignore[no-untyped-def]
    """Finish the current copy or start the next one, when there is no line to copy."""
    if s.whole[I_JOB] < 0:
        _next_job(s, at)
    else:
        _finish(s, at, _frames(s.whole, s.memory, s.whole[I_JOB], s.whole[I_JOB_JOINS])[1])


@compiled()
def _finish(s, at, count):  # type: ignore[no-untyped-def]
    """Complete the copy of a page."""
    whole, time, memory, threads = s.whole, s.time, s.memory, s.threads
    to, moved = whole[I_JOB_TO], False
    for frame in range(whole[I_JOB], whole[I_JOB] + count):
        entry = np.int64(memory.table[frame])
        memory.used[(entry & PLACE) - 1] -= 1
        moved |= entry & PLACE != to + 1
        if frame == whole[I_JOB] or entry & BASE:
            forget(threads, translation(whole, frame, entry))
        entry &= ~(PLACE | COPYING)
        if whole[I_JOB_JOINS]:
            entry &= ~BASE
        memory.table[frame] = entry | to + 1
    whole[I_PROMOTED] += moved and to == FAST
    whole[I_DEMOTED] += moved and to == SLOW
    whole[I_COPIED] += count
    interrupt(threads, time[F_SHOOTDOWN])
    whole[I_ACTIVE] += whole[I_WAITING]
    for i in range(whole[I_WAITING]):
        thread = threads.waiting[i]
        threads.key[thread] = at
        settle(threads.key, threads.winner, thread)
    whole[I_WAITING] = 0
    whole[I_JOB], time[F_WRITER], time[F_READER] = -1, NEVER, at


@compiled()
def copy_stops(s, at):  # type: ignore[no-untyped-def]
    """The program wrote to the page that is being copied: restart the copy, or give it up."""
    whole, time, memory = s.whole, s.time, s.memory
    whole[I_TRIES] += 1
    time[F_WRITER] = NEVER
    if whole[I_TRIES] <= whole[I_RETRIES]:
        whole[I_RESTARTED] += 1
        # If the page is still being unmapped, no line has been read yet.
        if whole[I_READ]:
            whole[I_READ] = whole[I_WRITTEN] = 0
            time[F_READER] = max(time[F_NEXT_READ], at)
        return
    whole[I_GIVEN_UP] += 1
    first, count = _frames(whole, memory, whole[I_JOB], whole[I_JOB_JOINS])
    memory.used[whole[I_JOB_TO]] -= count
    for frame in range(first, first + count):
        memory.table[frame] &= np.uint8(~COPYING & 0xFF)
    whole[I_JOB], time[F_READER] = -1, at


@compiled()
def split(s, frame):  # type: ignore[no-untyped-def]
    """Split a whole page into its frames, in place. Returns False if it is split, unused or being
    copied.
    """
    whole, memory = s.whole, s.memory
    first, count = _frames(whole, memory, frame, False)
    entry = np.int64(memory.table[first])
    if count == 1 or entry & COPYING or not entry & PLACE:
        return False
    forget(s.threads, translation(whole, first, entry))
    for at in range(first, first + count):
        memory.table[at] |= np.uint8(BASE)
    interrupt(s.threads, s.time[F_SHOOTDOWN])
    return True
