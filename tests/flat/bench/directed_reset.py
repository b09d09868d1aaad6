# SPDX-License-Identifier: Apache-2.0
"""cocotb tests: a warm reset in every cycle of a swap. No answered write is lost."""

from __future__ import annotations

import os
from typing import Any

import cocotb

from anemone.flat.config import FlatConfig
from tests.bench.requests import FULL, OKAY
from tests.flat.bench.build import BUILDS
from tests.flat.bench.directed_environment import DirectedEnvironment

LINES = 4  # near lines
A, B, C = 1, 1 + LINES, 2  # A and B are in one set
OLD_A, OLD_B, NEW = 0xA, 0xB, 0xC
LATENCY = 8  # of memory, so that a reset falls between any two handshakes
LONGEST = 120  # cycles of a swap
VERY_LATE = 60  # most cycles of a response of a memory that is not reset
STEP = 5  # cycles


async def _cut(environment: DirectedEnvironment, kind: str, cycle: int, late: bool = False) -> None:
    """Reset during a miss of B after some cycles, and check all contents. late: memory is not reset
    and responds after the reset.
    """
    case = f"{kind}, cycle {cycle}"
    await environment.begin(FlatConfig(LINES, environment.build.ratio), latency=LATENCY)
    await environment.written((B, OLD_B), (A, OLD_A), latency=VERY_LATE if late else LATENCY)
    environment.ask(C)  # has the first MSHR
    environment.ask(B, *{"read": (), "line": (NEW,), "part": (NEW, FULL >> 32)}[kind])
    await environment.cycles(cycle)
    written = kind != "read" and bool(environment.answers.writes)
    await (environment.cut() if late else environment.warm_reset())
    # Use the same MSHRs again at once, first for another set: it must not get the late responses.
    for id, line in enumerate((C, B)):
        environment.ask(line, id=id)
    await environment.answered(2, 0)
    found = {id: (resp, data & FULL) for _, id, resp, data in environment.answers.reads}
    assert found[0] == (OKAY, ~C & FULL), f"{case}: a line of another set is {found[0]}"
    ((resp_a, a),) = await environment.read([A])
    resp_b, b = found[1]
    assert (resp_a, a) == (OKAY, OLD_A), f"{case}: the other line is {resp_a}, {a:#x}"
    may = {NEW} if written else {OLD_B} if kind == "read" else {OLD_B, NEW}
    assert resp_b == OKAY and b in may, f"{case}: the line is {resp_b}, {b:#x}"
    await environment.settle()
    environment.one_place()


@cocotb.test()
async def a_reset_in_any_cycle_of_a_swap_loses_no_line(dut: Any) -> None:
    """Every kind of access; the last resets are after its end."""
    environment = DirectedEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    for kind in ("read", "line", "part"):
        for cycle in range(1, LONGEST):
            await _cut(environment, kind, cycle)
        assert environment.near.accesses.counts["writes"], f"{kind}: {LONGEST} cycles are too few"


@cocotb.test()
async def a_memory_that_is_not_reset_may_answer_late(dut: Any) -> None:
    """Late responses are not mistaken for responses of other requests, and do not block."""
    environment = DirectedEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    strays = 0
    for kind in ("read", "line", "part"):
        for cycle in range(1, 2 * LONGEST, STEP):
            await _cut(environment, kind, cycle, late=True)
            strays += int(dut.counters_strays.value)
    assert strays > 2 * LONGEST // STEP, strays


@cocotb.test()
async def answers_that_nobody_waits_for_are_dropped(dut: Any) -> None:
    """Stray responses of any kind and id in an idle controller; later requests work normally."""
    build = BUILDS[os.environ["BENCH_SIZE"]]
    environment = DirectedEnvironment(dut, build)
    await environment.start()
    await environment.begin(FlatConfig(LINES, build.ratio))
    environment.judged(False)
    sent = 0
    for memory in (environment.near, environment.far):
        for id in (0, 1, build.requests - 1):
            environment.take_requests()
            memory.send_stray_answers(id)
            await environment.cycles(6)
            sent += 2
            environment.ask(B, sent)
            await environment.answered(0, 1)
            assert await environment.read((B, C)) == [(OKAY, sent), (OKAY, ~C & FULL)]
            await environment.settle()
    assert int(dut.counters_strays.value) == sent


@cocotb.test()
async def answers_to_nobody_amid_others_are_dropped(dut: Any) -> None:
    """Stray responses of an unused id while another id is in use, in any cycle of a swap and of an
    access to dedicated memory. The right response is still expected and accepted.
    """
    build = BUILDS[os.environ["BENCH_SIZE"]]
    environment = DirectedEnvironment(dut, build)
    await environment.start()
    first = LINES * (build.ratio + 1)
    await environment.begin(
        FlatConfig(LINES, build.ratio, dedicated=(first * 64, first * 64 + 4096))
    )
    environment.judged(False)
    values = {line: 100 + line for line in (A, B, C, first)}
    for line, value in values.items():
        environment.ask(line, value)
    await environment.answered(0, len(values))
    sent = 0
    for memory in (environment.near, environment.far):
        for cycle in range(1, 60, 3):
            for write in (False, True):
                await environment.settle()
                environment.take_requests(LATENCY)
                for line in (A, B, first):
                    environment.ask(line, *((values[line],) if write else ()))
                await environment.cycles(cycle)
                # Three accesses have three MSHRs, the first ones; and past the MSHRs are none.
                past = build.requests
                memory.send_stray_answers(
                    past if cycle % 2 and past >> build.id_bits == 0 else build.requests - 1
                )
                sent += 2
                await environment.answered(*((0, 3) if write else (3, 0)))
        await environment.settle()
        environment.take_requests()
        read = await environment.read(list(values))
        assert read == [(OKAY, value) for value in values.values()], read
        environment.one_place()
    assert int(dut.counters_strays.value) == sent


@cocotb.test()
async def a_quiet_controller_may_be_reset(dut: Any) -> None:
    """During traffic: after the quiesce no request is accepted, and all accepted ones are
    answered.
    """
    environment = DirectedEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    await environment.begin(FlatConfig(LINES, environment.build.ratio))
    ids = 1 << environment.build.id_bits
    for cycle in range(1, 100, 7):
        environment.take_requests(VERY_LATE)
        values = {}
        for n in range(40):
            line = n % (2 * LINES)
            values[line] = 100 * cycle + n
            environment.ask(line, values[line], id=n % ids)
            environment.ask(line, id=n % ids)
        await environment.cycles(cycle)
        environment.quiesce.set(1)
        await environment.cycles(2)
        taken = len(environment.answers.accepted)
        while not environment.quiet():
            await environment.cycles(1)
        answers = environment.answers
        # The address of a write whose data were accepted is still accepted.
        assert len(answers.accepted) <= taken + 2, f"cycle {cycle}"
        assert len(answers.reads) + len(answers.writes) == len(answers.accepted), f"cycle {cycle}"
        assert environment.near.idle and environment.far.idle
        await environment.cut()
        environment.quiesce.set(0)
        await environment.cycles(2)
        assert not int(dut.counters_strays.value)
        written = len(answers.writes)
        held = {n % (2 * LINES): 100 * cycle + n for n in range(written)}
        read = await environment.read(list(held))
        assert read == [(OKAY, value) for value in held.values()], f"cycle {cycle}"


@cocotb.test()
async def what_belongs_to_a_write_is_taken_once_quiesced(dut: Any) -> None:
    """The address after its data and the data after its address are still accepted, but no other
    write.
    """
    environment = DirectedEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    await environment.begin(FlatConfig(LINES, environment.build.ratio))
    for n, first in enumerate(("w", "aw") * 8):
        environment.take_requests()
        profile, valid = environment.master.profile, environment.master.valid
        profile.ahead, profile.w = (1.0, 1.0) if first == "w" else (0.0, 0.0)
        environment.ask(A, n)
        while not valid[first].value:
            await environment.cycles(1)
        while valid[first].value:
            await environment.cycles(1)
        alone = not environment.master.idle
        environment.quiesce.set(1)
        await environment.cycles(2)
        profile.w = 1.0
        environment.ask(B, n)
        if alone:
            await environment.answered(0, 1)
        while not environment.quiet():
            await environment.cycles(1)
        await environment.cycles(40)
        assert len(environment.answers.accepted) == 1, f"write {n}, {first} first"
        environment.quiesce.set(0)
        await environment.answered(0, 2)
        assert await environment.read((A, B)) == [(OKAY, n)] * 2
