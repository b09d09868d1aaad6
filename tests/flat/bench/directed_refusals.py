# SPDX-License-Identifier: Apache-2.0
"""cocotb tests: near or far memory refuses one access at each step of a swap. No line is lost."""

from __future__ import annotations

import os
from itertools import product
from typing import Any

import cocotb

from anemone.flat.config import FlatConfig
from tests.bench.profile import StimulusProfile
from tests.bench.requests import FULL, OKAY, Request
from tests.bench.store import bits
from tests.flat.bench.build import BUILDS
from tests.flat.bench.directed_environment import DirectedEnvironment, everywhere

LINES = 4  # near lines
A, B = 1, 1 + LINES  # two lines of a set; A is near
OLD_A, OLD_B, NEW = 0xA, 0xB, 0xC
MANY, ROUNDS = 8, 40  # near lines, phases of traffic


@cocotb.test()
async def a_refused_step_loses_no_line(dut: Any) -> None:
    """Every kind of access and every step; memory may have stored the refused data or not."""
    environment = DirectedEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    steps = (("near", False), ("far", False), ("far", True), ("near", True))
    for kind, (port, write), stored in product(("read", "line", "part"), steps, (False, True)):
        case = f"{kind}, {port} {'write' if write else 'read'}, stored: {stored}"
        await environment.begin(FlatConfig(LINES, environment.build.ratio))
        await environment.written((B, OLD_B), (A, OLD_A))
        memory = getattr(environment, port)
        memory.stores_refused = stored
        memory.refusals.append(write)
        environment.ask(B, *{"read": (), "line": (NEW,), "part": (NEW, FULL >> 32)}[kind])
        await environment.answered(int(kind == "read"), int(kind != "read"))
        await environment.settle()
        done = environment.answers
        unmet = bool(memory.refusals)
        assert unmet == ((kind, port, write) == ("line", "far", False)), f"{case}: not met"
        resp = done.reads[0][2] if kind == "read" else done.writes[0][2]
        fails = not unmet and (kind != "read" or not write)
        assert (resp != OKAY) == fails, f"{case}: answered {resp}"
        if kind == "read" and not fails:
            assert done.reads[0][3] & (1 << 64) - 1 == OLD_B, f"{case}: {done.reads[0][3]:x}"
        memory.refusals.clear()
        environment.take_requests()
        (resp_a, a), (resp_b, b) = await environment.read((A, B))
        assert (resp_a, a) == (OKAY, OLD_A), f"{case}: the other line is {resp_a}, {a:#x}"
        may = {OLD_B} if kind == "read" else {OLD_B, NEW}
        assert resp_b == OKAY and b in may, f"{case}: the line is {resp_b}, {b:#x}"
        if not fails:
            assert b == (OLD_B if kind == "read" else NEW), f"{case}: {b:#x}"
        await environment.settle()
        environment.one_place()
        counted = {
            name: int(getattr(dut, f"counters_{name}Errors").value) for name in ("near", "far")
        }
        expected = {name: int(name == port and not unmet) for name in counted}
        assert counted == expected, f"{case}: {counted}"


@cocotb.test()
async def a_refused_write_of_far_is_answered_so(dut: Any) -> None:
    """Whole and partial writes that do not swap."""
    environment = DirectedEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    for strobe, stored in product((FULL, FULL >> 32), (False, True)):
        await environment.begin(FlatConfig(LINES, environment.build.ratio, policy="never"))
        environment.ask(B, OLD_B)
        await environment.answered(0, 1)
        await environment.settle()
        environment.take_requests()
        environment.far.stores_refused = stored
        environment.far.refusals.append(True)
        environment.ask(B, NEW, strobe)
        await environment.answered(0, 1)
        ((_, _, resp),) = environment.answers.writes
        assert resp != OKAY, f"{strobe:x}, {stored}"
        await environment.settle()
        environment.take_requests()
        ((resp, value),) = await environment.read([B])
        assert (resp, value) == (OKAY, NEW if stored else OLD_B), f"{strobe:x}, {stored}: {value:x}"


@cocotb.test()
async def a_burst_is_refused_with_its_first_beat(dut: Any) -> None:
    """Far memory refuses the first of a burst's writes; the response is that of the last beat."""
    environment = DirectedEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    for beats, refused in product((2, 3, 4), (False, True)):
        await environment.begin(FlatConfig(LINES, environment.build.ratio, policy="never"))
        request = Request(True, 1, LINES * 64, beats - 1)
        request.data = [(bits(everywhere(NEW)), FULL, 0)] * beats
        environment.far.refusals += [True] * refused
        environment.todo.append(request)
        await environment.answered(0, 1)
        ((_, _, resp),) = environment.answers.writes
        assert (resp != OKAY) == refused, f"{beats} beats, {refused}: {resp}"


@cocotb.test()
async def a_read_behind_a_swap_that_is_taken_back_is_answered_once(dut: Any) -> None:
    """It was answered from the far line before the swap and waits to swap back; also if memory
    refuses the write that reverts the swap.
    """
    environment = DirectedEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    for port, times in product(("far", "near"), (1, 2)):
        await environment.begin(FlatConfig(LINES, environment.build.ratio))
        await environment.written((B, OLD_B), (A, OLD_A), latency=20)
        getattr(environment, port).refusals += [True] * times
        for id, line in enumerate((B, A)):
            environment.ask(line, id=id)
        await environment.answered(2, 0)
        await environment.settle()
        expected = [(0, OKAY, everywhere(OLD_B)), (1, OKAY, everywhere(OLD_A))]
        case = f"{port} refuses {times}"
        assert sorted(answer[1:] for answer in environment.answers.reads) == expected, case
        getattr(environment, port).refusals.clear()
        environment.take_requests()
        held = [(resp, data & (1 << 64) - 1) for resp, data in await environment.read((A, B))]
        assert held == [(OKAY, OLD_A), (OKAY, OLD_B)], f"{case}: {held}"
        environment.one_place()


@cocotb.test()
async def a_write_before_a_swap_is_not_refused_with_it(dut: Any) -> None:
    """A write of the near line waits for near memory, and a swap of its set follows. Far memory
    refuses the line that leaves near memory. The write's data return to near memory, so it is
    answered OKAY.
    """
    environment = DirectedEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    lines = 32
    for others in range(min(environment.build.requests - 2, 16)):
        await environment.begin(FlatConfig(lines, environment.build.ratio))
        environment.near.profile.aw_ready = environment.near.profile.w_ready = 0.0
        for other in range(others):
            environment.ask(A + 1 + other, OLD_A)
        environment.ask(A, NEW)
        await environment.cycles(10)
        environment.ask(A + lines, id=1)
        await environment.cycles(60)
        environment.far.refusals.append(True)
        environment.near.profile.aw_ready = environment.near.profile.w_ready = 1.0
        await environment.answered(1, 1 + others)
        assert all(resp == OKAY for *_, resp in environment.answers.writes), others
        await environment.settle()
        environment.take_requests()
        assert await environment.read([A]) == [(OKAY, NEW)], others


@cocotb.test()
async def a_swap_back_waits_for_what_is_being_written(dut: Any) -> None:
    """The evicted line is read and swaps back while a write of the first swap is in flight; then
    far memory refuses the line that leaves near memory. No line is lost.
    """
    environment = DirectedEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    for port, stored in product(("near", "far"), (False, True)):
        case = f"{port} is slow, stored: {stored}"
        await environment.begin(FlatConfig(LINES, environment.build.ratio))
        await environment.written((B, OLD_B), (A, OLD_A))
        slow = getattr(environment, port)
        environment.ask(B, id=1)
        before = slow.accesses.counts["writes"]
        while slow.accesses.counts["writes"] == before:
            await environment.cycles(1)
        slow.profile = StimulusProfile(answer=0.0)
        environment.far.stores_refused = stored
        environment.far.refusals.append(True)
        environment.ask(A, id=2)
        await environment.cycles(60)
        slow.profile = StimulusProfile(latency=1)
        await environment.answered(2, 0)
        await environment.settle()
        expected = [(1, OKAY, everywhere(OLD_B)), (2, OKAY, everywhere(OLD_A))]
        assert [answer[1:] for answer in environment.answers.reads] == expected, case
        assert not environment.far.refusals, case
        environment.take_requests()
        held = await environment.read((A, B))
        assert held == [(OKAY, OLD_A), (OKAY, OLD_B)], f"{case}: {held}"
        await environment.settle()
        environment.one_place()


@cocotb.test()
async def refused_reads_among_others(dut: Any) -> None:
    """Far memory refuses some of many reads with close responses while near lines are written; the
    host gets the same number of errors.
    """
    environment = DirectedEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    ids = 1 << environment.build.id_bits
    await environment.begin(FlatConfig(MANY, environment.build.ratio, policy="never"))
    rng, far = environment.rng, environment.far
    for _ in range(ROUNDS):
        environment.take_requests(rng.choice((1, 4)))
        far.profile = StimulusProfile(latency=rng.choice((1, 8)), errors=0.4)
        before, reads = far.refused[False], 0
        for n in range(3 * MANY):
            write = rng.random() < 0.4
            environment.ask(
                rng.randrange(MANY) + MANY * (not write), n if write else None, id=n % ids
            )
            reads += not write
        await environment.answered(reads, 3 * MANY - reads)
        refused = sum(resp != OKAY for _, _, resp, _ in environment.answers.reads)
        assert refused == far.refused[False] - before, refused
        assert all(resp == OKAY for _, _, resp in environment.answers.writes)
