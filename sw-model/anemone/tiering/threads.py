# SPDX-License-Identifier: Apache-2.0
"""The program's threads in the kernel: who issues next, and what each one's TLB holds."""

from __future__ import annotations

from numba import njit

from anemone.tiering.state import BASE, I_ACTIVE, I_SPAN


@njit(cache=True, nogil=True, inline="always")
def _before(key, a, b):  # type: ignore[no-untyped-def]
    return key[a] < key[b] or (key[a] == key[b] and a < b)


@njit(cache=True, nogil=True, inline="always")
def sift_down(key, heap, size):  # type: ignore[no-untyped-def]
    """The first of a heap of threads has a later key, or is another: put it where it belongs."""
    thread, at = heap[0], 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _before(key, heap[child + 1], heap[child]):
            child += 1
        if not _before(key, heap[child], thread):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = thread


@njit(cache=True, nogil=True)
def insert(whole, threads, thread):  # type: ignore[no-untyped-def]
    """A thread that is not in the heap comes back."""
    heap, key, at = threads.heap, threads.key, whole[I_ACTIVE]
    whole[I_ACTIVE] += 1
    while at and _before(key, thread, heap[(at - 1) // 2]):
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = thread


@njit(cache=True, nogil=True)
def interrupt(threads, cost):  # type: ignore[no-untyped-def]
    """Each thread loses `cost` ns before its next access."""
    if cost > 0:
        for thread in range(len(threads.stall)):
            threads.stall[thread] += cost
            threads.ready[thread] = False


@njit(cache=True, nogil=True, inline="always")
def translation(whole, frame, entry):  # type: ignore[no-untyped-def]
    """What the TLB calls the translation of a frame: whole pages are even, split ones odd."""
    if entry & BASE:
        return 2 * frame + 1
    return 2 * (frame // whole[I_SPAN])


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def forget(threads, what):  # type: ignore[no-untyped-def]
    """No TLB holds this translation any more."""
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
