# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of MSHR allocation, and of requests at any time of a swap whose writes are
refused."""

from __future__ import annotations

import os
from itertools import product
from typing import Any

import cocotb

from anemone.flat.config import FlatConfig
from tests.bench.profile import StimulusProfile
from tests.bench.requests import FULL, OKAY
from tests.flat.bench.build import BUILDS
from tests.flat.bench.directed_environment import DirectedEnvironment

LINES = 4  # near lines
A, B, C = 1, 1 + LINES, 1 + 2 * LINES  # lines of a set; A is near. C is there from a ratio of 2 on
OLD = {A: 0xA, B: 0xB, C: 0xC}
NEW = 0xD
LATENCY = 20  # of both memories, of which a swap asks near, far, far and near again
SWAP = 5 * LATENCY
STEP = 7  # cycles
MANY = 40

# Later requests: (line, written value or None).
COMES = (
    [(A, None)],
    [(B, NEW), (A, None)],
    [(A, NEW), (B, None)],
    [(C, None)],
    [(C, NEW)],
)


@cocotb.test()
async def what_comes_in_a_refused_swap_loses_no_line(dut: Any) -> None:
    """A read of B swaps, and other requests follow. OKAY responses are correct. The swap is
    reverted and the set does not swap any more. A memory that refuses everything is not retried
    forever.
    """
    environment = DirectedEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    config = FlatConfig(LINES, environment.build.ratio)
    lines = [line for line in (C, B, A) if line < config.lines]
    comes = [later for later in COMES if {line for line, _ in later} <= set(lines)]
    for later, port, times in product(comes, ("near", "far"), (1, 2, MANY)):
        for delay in range(0, SWAP, STEP):
            case = f"{later} {delay} cycles behind, {port} refuses {times}"
            await environment.begin(config)
            for line in lines:
                environment.ask(line, OLD[line])
                await environment.answered(0, len(environment.answers.writes) + 1)
            await environment.settle()
            environment.take_requests(LATENCY)
            before = environment.tags(A)
            refusals = getattr(environment, port).refusals
            refusals += [True] * times
            environment.ask(B, id=B)
            await environment.cycles(delay)
            for line, value in later:
                environment.ask(line, value, id=line)
            written = {line: value for line, value in later if value is not None}
            await environment.answered(1 + len(later) - len(written), len(written))
            await environment.settle()
            holds = {line: {OLD[line], written.get(line, OLD[line])} for line in lines}
            for _, line, resp, data in environment.answers.reads:
                value = data & (1 << 64) - 1
                assert resp != OKAY or value in holds[line], f"{case}: {line}, {value:x}"
            for _, line, resp in environment.answers.writes:
                if resp == OKAY:
                    holds[line] = {written[line]}
            assert len(refusals) in ((0,) if times < MANY else range(MANY - 6, MANY)), case
            refusals.clear()
            environment.take_requests()
            for line, (resp, value) in zip(lines, await environment.read(lines), strict=True):
                assert resp == OKAY and value in holds[line], f"{case}: {line}, {resp}, {value:x}"
            # A request for A before the near write swaps back, and this swap is reverted.
            to = {before[0]: B // LINES, B // LINES: before[0]}
            swapped = [to.get(tag, tag) for tag in before]
            may = [before, swapped] if any(line == A for line, _ in later) else [before]
            assert environment.tags(A) in may, f"{case}: {environment.tags(A)}, not {may}"


@cocotb.test()
async def sets_that_differ_in_one_bit_have_their_own_mshrs(dut: Any) -> None:
    """Swaps of two sets whose numbers differ in one bit, and of set 0, wait for far memory. Each
    near line finds its own MSHR, so near memory is read once per set.
    """
    environment = DirectedEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    build = environment.build
    near_lines = (1 << build.address_bits - 6) // (build.ratio + 1)
    await environment.begin(FlatConfig(near_lines, build.ratio))
    for bit in (1 << k for k in range((near_lines - 1).bit_length())):
        environment.take_requests()
        counts = environment.near.accesses.counts
        before = counts["reads"]
        environment.far.profile = StimulusProfile(answer=0.0)
        tags = {
            set_index: environment.tags(set_index)
            for set_index in (bit, bit ^ 1 if bit > 1 else 3, 0)
        }
        lines = [tag[1] * near_lines + set_index for set_index, tag in tags.items()]
        lines.append(tags[bit][0] * near_lines + bit)
        for n, line in enumerate(lines, 1):
            environment.ask(line, id=min(n, 3))
            await environment.cycles(STEP * 3)
        await environment.cycles(SWAP)
        assert counts["reads"] == before + 3, f"{bit:#x}: {counts['reads'] - before} reads of near"
        environment.far.profile = StimulusProfile()
        await environment.answered(len(lines), 0)
        await environment.settle()
        read = {data & FULL for _, _, resp, data in environment.answers.reads if resp == OKAY}
        assert read == {~line & FULL for line in lines}, f"{bit:#x}: {read}"


@cocotb.test()
async def a_full_write_restores_a_line_that_is_kept(dut: Any) -> None:
    """The poisoned line A is kept in the controller while B moves near; then A is written wholly or
    partly.
    """
    environment = DirectedEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    for strobe in (FULL, FULL >> 8):
        await environment.begin(FlatConfig(LINES, environment.build.ratio))
        environment.near.store.lines[A] = 0, 1
        environment.far.profile = StimulusProfile(answer=0.0)
        environment.ask(B)
        await environment.cycles(SWAP)
        environment.ask(A, NEW, strobe)
        await environment.cycles(SWAP)
        environment.far.profile = StimulusProfile()
        await environment.answered(1, 1)
        await environment.settle()
        environment.take_requests()
        await environment.read((A,))
        assert environment.answers.poisoned == [int(strobe != FULL)], f"{strobe:#x}"
