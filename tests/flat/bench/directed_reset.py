# SPDX-License-Identifier: Apache-2.0
"""cocotb tests: a warm reset in every cycle of a swap. Nothing that was answered is lost."""

from __future__ import annotations

import os
from typing import Any

import cocotb

from anemone.flat.config import FlatConfig
from tests.bench.requests import FULL, OKAY
from tests.flat.bench.build import BUILDS
from tests.flat.bench.directed_environment import DirectedEnvironment

LINES = 4  # near lines
A, B, C = 1, 1 + LINES, 2  # A and B are of one set
OLD_A, OLD_B, NEW = 0xA, 0xB, 0xC
LATENCY = 8  # of memory, so that a cut falls between every two handshakes
LONGEST = 120  # cycles of a swap


async def _cut(environment: DirectedEnvironment, kind: str, cycle: int) -> None:
    """Cut an access of B that misses after so many cycles, and look at all that is there."""
    case = f"{kind}, cycle {cycle}"
    await environment.begin(FlatConfig(LINES, environment.build.ratio), latency=LATENCY)
    for line, value in ((B, OLD_B), (A, OLD_A)):  # A is near behind these
        environment.ask(line, value)
        await environment.answered(0, len(environment.answers.writes) + 1)
    await environment.settle()
    environment.play(LATENCY)
    environment.ask(B, *{"read": (), "line": (NEW,), "part": (NEW, FULL >> 32)}[kind])
    await environment.cycles(cycle)
    written = kind != "read" and bool(environment.answers.writes)
    await environment.warm_reset()
    (resp_a, a), (resp_b, b) = await environment.read((A, B))
    assert (resp_a, a) == (OKAY, OLD_A), f"{case}: the other line is {resp_a}, {a:#x}"
    may = {NEW} if written else {OLD_B} if kind == "read" else {OLD_B, NEW}
    assert resp_b == OKAY and b in may, f"{case}: the line is {resp_b}, {b:#x}"
    await environment.settle()
    environment.one_place()


@cocotb.test()
async def a_reset_in_any_cycle_of_a_swap_loses_no_line(dut: Any) -> None:
    """Every kind of access. The last cuts come when all is done."""
    environment = DirectedEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    for kind in ("read", "line", "part"):
        for cycle in range(1, LONGEST):
            await _cut(environment, kind, cycle)
        assert environment.near.accesses.counts["writes"], f"{kind}: {LONGEST} cycles are too few"
