# SPDX-License-Identifier: Apache-2.0
"""The program's threads in the kernel: which one issues next, and their TLBs."""

from __future__ import annotations

from anemone.tiering.compiled import compiled
from anemone.tiering.state import BASE, I_SPAN


@compiled(inline="always")
def settle(key, winner, thread):  # type: ignore[no-untyped-def]
    """Update the tournament tree, up to its root winner[1], after a change of a thread's key.

    The left child has lower thread numbers and wins ties.
    """
    node = (len(key) + thread) >> 1
    while node:
        left, right = winner[2 * node], winner[2 * node + 1]
        winner[node] = left if key[left] <= key[right] else right
        node >>= 1


@compiled()
def interrupt(threads, cost):  # type: ignore[no-untyped-def]
    """Delay the next access of each thread by `cost` ns."""
    if cost > 0:
        for thread in range(len(threads.stall)):
            threads.stall[thread] += cost
            threads.ready[thread] = False


@compiled(inline="always")
def translation(whole, frame, entry):  # type: ignore[no-untyped-def]
    """The TLB's tag of a frame's translation: even for whole pages, odd for split ones."""
    if entry & BASE:
        return 2 * frame + 1
    return 2 * (frame // whole[I_SPAN])


@compiled()
def look_up(tlb, thread, what):  # type: ignore[no-untyped-def]
    """Make a translation the most recent in its set of a thread's TLB. Returns whether it hit."""
    number, ways = what % tlb.shape[1], tlb.shape[2]
    found, hit = ways - 1, False
    for way in range(ways):
        if tlb[thread, number, way] == what:
            found, hit = way, True
            break
    for way in range(found, 0, -1):
        tlb[thread, number, way] = tlb[thread, number, way - 1]
    tlb[thread, number, 0] = what
    return hit


@compiled()
def forget(threads, what):  # type: ignore[no-untyped-def]
    """Remove a translation from all TLBs."""
    if threads.tlb.shape[1] == 0:
        return
    for thread in range(len(threads.tlb)):
        ways = threads.tlb[thread, what % threads.tlb.shape[1]]
        for way in range(len(ways)):
            if ways[way] == what:
                for after in range(way, len(ways) - 1):
                    ways[after] = ways[after + 1]
                ways[len(ways) - 1] = -1
                break
