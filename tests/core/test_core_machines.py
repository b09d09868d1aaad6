# SPDX-License-Identifier: Apache-2.0
"""Several machines on one model: owners of flat memory's frames, a divided L3, repeated
programs.
"""

from __future__ import annotations

import numpy as np
import pytest

from anemone.models.core import OPERATION, Kernel, Memory, Owned, Tier, machine, simulate
from anemone.models.core.model import CoreError
from tests.core.ops import BARE, Program

PAGES = 256  # near pages
SMALL = BARE.with_(l1_kib=12, l2_kib=16, l3_kib=120, page_bits=12)
TIERS = Tier(100, 1000), Tier(250, 1000)
END = 1 << 62


def flat(*owned: Owned, filled: float = 0.0) -> Memory:
    return Memory(*TIERS, near_lines=PAGES * 64, filled=filled, owned=owned)


def touching(*pages: int) -> np.ndarray:
    """Accesses to the first line of each page in turn, which caches do not hold."""
    program, last = Program(), 0
    for _ in range(40):
        for page in pages:
            for line in range(64):
                last = program.load(page * 64 + line, last)
    return np.array(program.rows, OPERATION)


def test_pages_have_the_frames_of_their_owner() -> None:
    """Two pages that share near lines always miss; two that do not share hit once they are near."""
    pages = range(4)
    # The first frame is for the page table.
    apart, rivals = [20, 0, 1, 2, 3], [20, 0, PAGES, 1, PAGES + 1]
    on = SMALL.with_(l2_kib=2, l2_ways=2, l1_kib=1, l1_ways=1, l3_kib=1, l3_ways=1, page_bits=30)
    missed = []
    for frames in (apart, rivals):
        begin = Owned(4 << 12, END, np.array([10]))
        memory = flat(Owned(0, 4 << 12, np.array(frames)), begin)
        run = simulate(on, memory, [touching(*pages)], 1 << 40)
        missed.append(run.near_misses / (run.near_hits + run.near_misses))
    assert missed[0] == 0 and missed[1] > 0.9


def test_tables_are_their_programs() -> None:
    """Page tables also need frames: it fails without a frame for them."""
    one = np.array(Program().rows, OPERATION)
    simulate(SMALL, flat(Owned(0, END, np.array([0, 1]))), [one], 1)
    with pytest.raises(CoreError, match="no page left for its owner"):
        simulate(SMALL, flat(Owned(0, END, np.array([0]))), [one], 1)


@pytest.mark.parametrize(
    ("owned", "message"),
    [
        (Owned(0, END, np.array([2 * PAGES])), "no frame 512"),
        (Owned(0, 64, np.arange(9)), "no page left for its owner"),
    ],
)
def test_frames_that_there_are_not(owned: Owned, message: str) -> None:
    with pytest.raises(CoreError, match=message):
        simulate(SMALL, flat(owned), [np.array(Program().rows, OPERATION)], 1)


def test_halves_of_the_l3() -> None:
    """A scan evicts lines of a program that shares the L3, but not from the other half."""
    chase = Kernel("chase", {"bytes": 1 << 18, "work": 1})
    scan = Kernel("stream", {"bytes": 64 << 20, "step": 64})
    seconds = []
    for split, others in ((0, []), (0, [scan] * 3), (1, [scan] * 3)):
        on = machine("spr").with_(l2_kib=64, l3_kib=1920 if others else 960, l3_split=split)
        memory = Memory(*TIERS, fast_share=1.0)
        run = simulate(on, memory, [chase, *others], 300_000, 600_000, by_cycles=True)
        seconds.append(run.cores[0]["c"] / run.cores[0]["operations"])
    alone, shared, halves = seconds
    assert halves == pytest.approx(alone, rel=0.02)
    assert shared > 1.3 * alone


def test_operations_begin_again_until_a_cycle() -> None:
    program = np.array(Program().rows, OPERATION)  # one load
    memory = Memory(*TIERS)
    once = simulate(BARE, memory, [program], 1 << 40)
    again = simulate(BARE, memory, [program], 20_000, 5_000, by_cycles=True)
    assert once.counters["operations"] == 1
    assert again.counters["operations"] > 10_000
