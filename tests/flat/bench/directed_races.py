# SPDX-License-Identifier: Apache-2.0
"""cocotb test: what comes for a set, at any time of a swap whose writes are refused."""

from __future__ import annotations

import os
from itertools import product
from typing import Any

import cocotb

from anemone.flat.config import FlatConfig
from tests.expander.bench.requests import OKAY
from tests.flat.bench.build import BUILDS
from tests.flat.bench.hand import Hand

LINES = 4  # near lines
A, B, C = 1, 1 + LINES, 1 + 2 * LINES  # lines of a set; A is near. C is there from a ratio of 2 on
OLD = {A: 0xA, B: 0xB, C: 0xC}
NEW = 0xD
LATENCY = 20  # of both memories, of which a swap asks near, far, far and near again
SWAP = 5 * LATENCY
STEP = 7  # cycles
MANY = 40

# What comes: (line, what is written to it or None).
COMES = (
    [(A, None)],
    [(B, NEW), (A, None)],
    [(A, NEW), (B, None)],
    [(C, None)],
    [(C, NEW)],
)


@cocotb.test()
async def what_comes_in_a_refused_swap_loses_no_line(dut: Any) -> None:
    """A read of B swaps; others come behind it. Of what is answered OKAY all is true; the swap is
    taken back and none is made behind it, as the set is marked; a memory that refuses everything is
    not asked for ever.
    """
    world = Hand(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await world.start()
    config = FlatConfig(LINES, world.build.ratio)
    lines = [line for line in (C, B, A) if line < config.lines]
    comes = [later for later in COMES if {line for line, _ in later} <= set(lines)]
    for later, port, times in product(comes, ("near", "far"), (1, 2, MANY)):
        for delay in range(0, SWAP, STEP):
            case = f"{later} {delay} cycles behind, {port} refuses {times}"
            await world.begin(config)
            for line in lines:
                world.ask(line, OLD[line])
                await world.answered(0, len(world.answers.writes) + 1)
            await world.settle()
            world.play(LATENCY)
            before = world.tags(A)
            refusals = getattr(world, port).refusals
            refusals += [True] * times
            world.ask(B, id=B)
            await world.cycles(delay)
            for line, value in later:
                world.ask(line, value, id=line)
            written = {line: value for line, value in later if value is not None}
            await world.answered(1 + len(later) - len(written), len(written))
            await world.settle()
            holds = {line: {OLD[line], written.get(line, OLD[line])} for line in lines}
            for _, line, resp, data in world.answers.reads:
                value = data & (1 << 64) - 1
                assert resp != OKAY or value in holds[line], f"{case}: {line}, {value:x}"
            for _, line, resp in world.answers.writes:
                if resp == OKAY:
                    holds[line] = {written[line]}
            assert len(refusals) in ((0,) if times < MANY else range(MANY - 6, MANY)), case
            refusals.clear()
            world.play()
            for line, (resp, value) in zip(lines, await world.read(lines), strict=True):
                assert resp == OKAY and value in holds[line], f"{case}: {line}, {resp}, {value:x}"
            assert world.tags(A) == before, f"{case}: {world.tags(A)}, not {before}"
