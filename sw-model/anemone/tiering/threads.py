# SPDX-License-Identifier: Apache-2.0
"""The program's threads in the kernel: who issues next, and what each one's TLB holds."""

from __future__ import annotations

from anemone.tiering.compiled import compiled
from anemone.tiering.state import BASE, I_SPAN


@compiled(inline="always")
def settle(key, winner, thread):  # type: ignore[no-untyped-def]
    """A thread's key has changed: play its matches again, up to the root, winner[1].

    A tournament: the left of two is of lower numbers, and wins if they are equal.
    """
    node = (len(key) + thread) >> 1
    while node:
        left, right = winner[2 * node], winner[2 * node + 1]
        winner[node] = left if key[left] <= key[right] else right
        node >>= 1


@compiled()
def interrupt(threads, cost):  # type: ignore[no-untyped-def]
    """Each thread loses `cost` ns before its next access."""
    if cost > 0:
        for thread in range(len(threads.stall)):
            threads.stall[thread] += cost
            threads.ready[thread] = False


@compiled(inline="always")
def translation(whole, frame, entry):  # type: ignore[no-untyped-def]
    """What the TLB calls the translation of a frame: whole pages are even, split ones odd."""
    if entry & BASE:
        return 2 * frame + 1
    return 2 * (frame // whole[I_SPAN])


@compiled()
def look_up(tlb, thread, what):  # type: ignore[no-untyped-def]
    """Put a translation first in its set of a thread's TLB; whether it was there."""
    number, most = what % tlb.shape[1], tlb.shape[2]
    found, hit = most - 1, False
    for way in range(most):
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
