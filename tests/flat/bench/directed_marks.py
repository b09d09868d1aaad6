# SPDX-License-Identifier: Apache-2.0
"""cocotb tests: what becomes of a set behind an error, which marks it or hides its tags."""

from __future__ import annotations

import os
from typing import Any

import cocotb

from anemone.flat.config import FlatConfig
from tests.expander.bench.requests import OKAY
from tests.flat.bench.build import BUILDS
from tests.flat.bench.hand import Hand

LINES = 4  # near lines
A, B = 1, 1 + LINES  # two lines of a set; A is near
OLD_A, OLD_B = 0xA, 0xB


async def begin(world: Hand) -> None:
    """A near, B far, and both written."""
    await world.begin(FlatConfig(LINES, world.build.ratio))
    for line, value in ((B, OLD_B), (A, OLD_A)):
        world.ask(line, value)
        await world.answered(0, len(world.answers.writes) + 1)
    await world.settle()
    world.play()


@cocotb.test()
async def a_marked_set_is_not_swapped(dut: Any) -> None:
    """Far refuses the read of a swap; the set stays as it is from then on, and counts so."""
    world = Hand(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await world.start()
    await begin(world)
    world.far.refusals.append(False)
    world.ask(B)
    await world.answered(1, 0)
    await world.settle()
    assert int(dut.counters_marked.value) == 1
    world.play()
    swaps, misses = int(dut.counters_swaps.value), int(dut.counters_misses.value)
    for _ in range(3):
        assert await world.read((B, A)) == [(OKAY, OLD_B), (OKAY, OLD_A)]
    await world.settle()
    assert int(dut.counters_swaps.value) == swaps
    assert int(dut.counters_misses.value) == misses + 3
    assert world.tags(A)[0] == 0, "A is near no more"


@cocotb.test()
async def requests_behind_tags_that_were_not_told_are_refused(dut: Any) -> None:
    """Near does not say what it holds: all that share the lock are refused, nothing changes."""
    world = Hand(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await world.start()
    await begin(world)
    world.play(latency=30)
    world.near.refusals.append(False)
    world.ask(A, id=0)
    world.ask(B, id=1)
    world.ask(B, 0xBAD, id=2)
    await world.answered(2, 1)
    await world.settle()
    answers = [resp for _, _, resp, _ in world.answers.reads]
    answers += [resp for _, _, resp in world.answers.writes]
    assert OKAY not in answers, answers
    world.play()
    assert await world.read((A, B)) == [(OKAY, OLD_A), (OKAY, OLD_B)]
    await world.settle()
    world.one_place()
