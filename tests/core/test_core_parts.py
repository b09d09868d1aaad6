# SPDX-License-Identifier: Apache-2.0
"""Parts of a program's data with separate shares of dedicated pages, and their counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from anemone.models.core import Kernel, Memory, Placed, Tier, machine, parts_of, simulate

SIZE = 8 << 20
# Two arrays: one is read in order, the other randomly.
GATHER = Kernel("gather", {"bytes": SIZE, "work": 20})
ON = machine("spr").with_(page_bits=15, l3_kib=1920)
FLAT = Memory(
    Tier(114.0, 191.0), Tier(239.4, 150.0), near_lines=(32 << 20) * 2 // 3 // 8192 * 64,
    dedicated=1 / 3, filled=0.5,
)  # fmt: skip
N = 40_000


def parted(*shares: float, filled: float = 0.5) -> Memory:
    (ranges,) = parts_of(ON, [GATHER])
    every = [Placed(a, b, s, filled) for (a, b), s in zip(ranges, shares, strict=True)]
    return replace(FLAT, parts=tuple(every))


def test_the_parts_are_the_arrays() -> None:
    one, two = parts_of(ON, [GATHER, Kernel("hash", {"bytes": SIZE, "hot": 0.5})])
    assert [b - a for a, b in one] == [SIZE] * 2 and one[0][1] <= one[1][0]
    assert [b - a for a, b in two] == [SIZE]  # what is hot is part of it
    assert one[0][0] >> 40 != two[0][0] >> 40


def test_all_that_is_asked_for_is_counted_by_part() -> None:
    found = simulate(ON, parted(1 / 3, 1 / 3), [GATHER], N)
    flat = found.near_hits + found.near_misses + found.dedicated
    tables = flat - sum(p.asked for p in found.parts)  # page table lines are in no part
    assert 0 <= tables <= sum(p.walks for p in found.parts)
    missed = sum(p.missed for p in found.parts)
    assert missed > 100 and 0 <= found.near_misses - missed <= tables
    assert sum(p.walks for p in found.parts) == pytest.approx(found.counters["tlb_miss"], rel=0.05)
    warm = simulate(ON, parted(1 / 3, 1 / 3), [GATHER], N // 2, N // 2)
    assert sum(p.asked for p in warm.parts) < sum(p.asked for p in found.parts)
    plain = simulate(ON, FLAT, [GATHER], N)
    assert plain.parts == ()
    assert plain.near_misses == pytest.approx(found.near_misses, rel=0.15)


def test_dedicated_parts_do_not_miss() -> None:
    """Dedicated parts do not conflict with others either."""
    none = simulate(ON, parted(0.0, 0.0), [GATHER], N)
    random, ordered = (simulate(ON, parted(*s), [GATHER], N) for s in ((1.0, 0.0), (0.0, 1.0)))
    assert random.parts[0].missed == 0 < random.parts[1].missed
    assert ordered.parts[1].missed == 0 < ordered.parts[0].missed
    assert random.parts[0].asked <= random.dedicated
    assert random.seconds < none.seconds
    everything = simulate(ON, parted(1.0, 1.0), [GATHER], N)
    assert sum(p.missed for p in everything.parts) == 0 < none.near_misses
    assert everything.seconds < random.seconds


def test_each_part_is_filled_by_itself() -> None:
    """A part without conflicts hits."""
    found = simulate(ON, parted(0.0, 0.0, filled=0.0001), [GATHER], N)
    assert sum(p.missed for p in found.parts) < 0.02 * found.near_hits


def test_until_a_cycle() -> None:
    """With a limit in cycles all cores end at the same time, with different amounts of work."""
    slow = Kernel("chase", {"bytes": 64 << 20, "work": 1})
    fast = Kernel("stream", {"bytes": 1 << 20, "work": 20})
    found = simulate(ON, replace(FLAT, near_lines=0), [slow, fast], 100_000, 20_000, True)
    done = [core["operations"] for core in found.cores]
    assert done[1] > 4 * done[0] > 0
    assert all(core["c"] == pytest.approx(100_000, rel=0.05) for core in found.cores)
