# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of a set after an error that disables its swaps or hides its tags."""

from __future__ import annotations

import os
from typing import Any

import cocotb

from anemone.flat.config import FlatConfig
from tests.bench.requests import OKAY
from tests.flat.bench.build import BUILDS
from tests.flat.bench.directed_environment import DirectedEnvironment

LINES = 4  # near lines
A, B = 1, 1 + LINES  # two lines of a set; A is near
OLD_A, OLD_B = 0xA, 0xB


async def begin(environment: DirectedEnvironment) -> None:
    """Start with A near, B far, and both written."""
    await environment.begin(FlatConfig(LINES, environment.build.ratio))
    for line, value in ((B, OLD_B), (A, OLD_A)):
        environment.ask(line, value)
        await environment.answered(0, len(environment.answers.writes) + 1)
    await environment.settle()
    environment.take_requests()


@cocotb.test()
async def a_marked_set_is_not_swapped(dut: Any) -> None:
    """Far memory refuses a swap's read. The set does not swap any more and is counted."""
    environment = DirectedEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    await begin(environment)
    environment.far.refusals.append(False)
    environment.ask(B)
    await environment.answered(1, 0)
    await environment.settle()
    assert int(dut.counters_marked.value) == 1
    environment.take_requests()
    swaps, misses = int(dut.counters_swaps.value), int(dut.counters_misses.value)
    for _ in range(3):
        assert await environment.read((B, A)) == [(OKAY, OLD_B), (OKAY, OLD_A)]
    await environment.settle()
    assert int(dut.counters_swaps.value) == swaps
    assert int(dut.counters_misses.value) == misses + 3
    assert environment.tags(A)[0] == 0, "A is near no more"


@cocotb.test()
async def requests_behind_tags_that_were_not_told_are_refused(dut: Any) -> None:
    """Near memory does not return its tags: all requests of the MSHR are refused without
    effects.
    """
    environment = DirectedEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    await begin(environment)
    environment.take_requests(latency=30)
    environment.near.refusals.append(False)
    environment.ask(A, id=0)
    environment.ask(B, id=1)
    environment.ask(B, 0xBAD, id=2)
    await environment.answered(2, 1)
    await environment.settle()
    answers = [resp for _, _, resp, _ in environment.answers.reads]
    answers += [resp for _, _, resp in environment.answers.writes]
    assert OKAY not in answers, answers
    environment.take_requests()
    assert await environment.read((A, B)) == [(OKAY, OLD_A), (OKAY, OLD_B)]
    await environment.settle()
    environment.one_place()
