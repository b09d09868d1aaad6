# SPDX-License-Identifier: Apache-2.0
"""The timing of flat memory mode: which accesses hit near memory, and the times of near and far.

docs/flat.md defines hits, misses and swaps; golden.flat is the reference with the contents. A set's
state is a 16-bit word, so that the processor's caches hold many sets.

Near memory is busy for the lines that an access reads and writes there. After near memory's
response a miss goes to far memory, which is busy for its lines there; a swap's write follows its
read. A read that misses and a write that misses without a swap complete with far memory; all other
accesses complete with near memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anemone.flat.config import POLICIES, FlatConfig
from anemone.flat.result import DEDICATED, HIT, MISS, SWAP, Counts
from anemone.tiering.compiled import compiled
from anemone.tiering.config import FAST, SLOW

# Additional outcomes to those of anemone.flat: a miss that does not swap but is counted in its set
# (`nth`), and an address outside memory.
COUNTED, OUTSIDE = 4, -1
# Lines that near and far memory transfer, by 2 * outcome + write.
NEAR_LINES = np.array([1, 2, 1, 1, 2, 2, 1, 1, 2, 2])
FAR_LINES = np.array([0, 0, 1, 1, 2, 1, 0, 0, 1, 1])

# Indices of Near.sizes. N_CHANNEL: misses of the channel since its last swap (`one_in`).
N_SETS, N_END, N_FIRST, N_LAST, N_POLICY, N_N, N_CHANNEL = range(7)
_EVERY, _NTH, _ONE_IN = (POLICIES.index(name) for name in ("every", "nth", "one_in"))
# A set's word: mask of the near tag; shift of the last missed tag; shift of its consecutive misses.
_TAG, _MISSED, _MISSES = 7, 3, 6


class Near(NamedTuple):
    """Near memory's sets. words: empty if memory is not flat."""

    words: np.ndarray  # uint16[sets]
    sizes: np.ndarray  # int64[7], by the indices above, in lines
    counts: np.ndarray  # int64[10]: accesses by 2 * outcome + write


def make(config: FlatConfig | None) -> Near:
    """The state after reset: tag 0 of each set is near."""
    sizes = np.zeros(7, np.int64)
    if config:
        ends = config.dedicated_lines.start, config.dedicated_lines.stop
        policy = POLICIES.index(config.policy), config.n
        sizes[:N_CHANNEL] = (config.near_lines, config.lines, *ends, *policy)
    return Near(np.zeros(sizes[N_SETS], np.uint16), sizes, np.zeros(len(NEAR_LINES), np.int64))


def counts(near: Near) -> Counts:
    """The counters of the accesses so far."""
    by = near.counts.reshape(-1, 2)
    reads, writes = by[:, 0], by[:, 1]
    total, swaps = by.sum(axis=1), by[SWAP]
    misses = total[MISS] + total[COUNTED]
    return Counts(
        hits=int(total[HIT]),
        misses=int(misses + total[SWAP]),
        swaps=int(total[SWAP]),
        near_reads=int(total.sum() - writes[DEDICATED]),
        near_writes=int(writes[HIT] + writes[DEDICATED] + total[SWAP] + total[COUNTED]),
        far_reads=int(reads[MISS] + reads[COUNTED] + swaps[0]),
        far_writes=int(writes[MISS] + writes[COUNTED] + total[SWAP]),
    )


@compiled(inline="always")
def access(near, line, write):  # type: ignore[no-untyped-def]
    """The outcome of an access to a physical line."""
    words, sizes = near.words, near.sizes
    if sizes[N_FIRST] <= line < sizes[N_LAST]:
        outcome = DEDICATED
    elif line >= sizes[N_END]:
        return OUTSIDE
    else:
        tag = line // sizes[N_SETS]
        set_index = line - tag * sizes[N_SETS]
        word = np.int64(words[set_index])
        if word & _TAG == tag:
            outcome = HIT
        else:
            policy, misses = sizes[N_POLICY], np.int64(1)
            swaps = policy == _EVERY
            if policy == _ONE_IN:
                sizes[N_CHANNEL] += 1
                swaps = sizes[N_CHANNEL] == sizes[N_N]
                if swaps:
                    sizes[N_CHANNEL] = 0
            elif policy == _NTH:
                if word >> _MISSED & _TAG == tag:
                    misses += word >> _MISSES
                swaps = misses >= sizes[N_N]
            if swaps:
                outcome = SWAP
                words[set_index] = tag
            elif policy == _NTH:
                outcome = COUNTED
                words[set_index] = word & _TAG | tag << _MISSED | misses << _MISSES
            else:
                outcome = MISS
    near.counts[2 * outcome + write] += 1
    return outcome


@compiled(inline="always")
def serve(near, tiers, at, line, write):  # type: ignore[no-untyped-def]
    """(tier that had the line, completion) of an access; (OUTSIDE, 0.0) outside memory.

    tiers: float64[3, 2], when each tier is free, ns per line, latency.
    """
    outcome = access(near, line, write)
    if outcome == OUTSIDE:
        return OUTSIDE, 0.0
    start = max(at, tiers[0, FAST])
    tiers[0, FAST] = start + NEAR_LINES[2 * outcome + write] * tiers[1, FAST]
    completion = start + tiers[2, FAST]
    if outcome in (HIT, DEDICATED):
        return FAST, completion
    start = max(completion, tiers[0, SLOW])
    tiers[0, SLOW] = start + FAR_LINES[2 * outcome + write] * tiers[1, SLOW]
    if not (write and outcome == SWAP):
        completion = start + tiers[2, SLOW]
    return SLOW, completion


@compiled()
def outcomes(near, addr, write, found):  # type: ignore[no-untyped-def]
    """The outcomes of successive accesses. addr: uint64[n] in bytes, write: bool[n], found:
    int8[n], the result.
    """
    for i in range(len(addr)):
        found[i] = access(near, np.int64(addr[i] >> np.uint64(6)), np.int64(write[i]))
