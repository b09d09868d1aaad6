# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of resets that memory does not share, after a quiesce and without one."""

from __future__ import annotations

from anemone.hardware import registers
from tests.bench.profile import StimulusProfile
from tests.bench.requests import Request
from tests.expander.bench.directed_environment import SEED, directed_test, opened
from tests.expander.bench.environment import Environment

SLOW = 13  # cycles from a late answer to the next one
ALL_ERRORS = (1 << len(registers.ERROR_STATUS.fields)) - 1


def busy(environment: Environment, seed: int) -> None:
    """Traffic of all kinds with slow memory; write data sometimes comes before its address."""
    for master, memory in zip(environment.masters, environment.memories, strict=True):
        master.profile = StimulusProfile(ahead=0.5, bursts=0.2, w=(1.0, 0.3)[seed % 2])
        memory.profile = StimulusProfile(latency=(20, 100)[seed // 2 % 2])


@directed_test
async def a_quiesce_drains_all_that_is_under_way(environment: Environment) -> None:
    """A quiesce by the register or by the pin during traffic: everything accepted is answered and
    nothing more is accepted, so a reset afterwards loses nothing.
    """
    for seed in range(8):
        busy(environment, seed)
        await environment.cycles(300 + 7 * seed)
        if seed % 2:
            environment.quiesce.set(1)
        else:
            stop = registers.QUIESCE.pack(stop=1)
            environment.control.write(registers.QUIESCE.offset, stop)
        await environment.quiesced()
        assert all(part.idle for part in (*environment.scoreboards, *environment.memories))
        accepted = [s.counts["beats"] + s.counts["write beats"] for s in environment.scoreboards]
        status = await environment.registers([registers.QUIESCE_STATUS.offset])
        assert status == [registers.QUIESCE_STATUS.pack(quiet=1)]
        await environment.cycles(100)
        now = [s.counts["beats"] + s.counts["write beats"] for s in environment.scoreboards]
        assert environment.quiet() and accepted == now
        await environment.check_memories()
        if seed % 4 == 3:
            await environment.restart(SEED + seed)
            environment.quiesce.set(0)
            await environment.program()
            assert not sum(memory.late for memory in environment.memories)
            continue
        environment.quiesce.set(0)
        environment.control.write(registers.QUIESCE.offset, 0)
        await environment.cycles(200)
        assert not environment.quiet()
    await environment.check()


@directed_test
async def answers_from_before_a_reset_are_dropped(environment: Environment) -> None:
    """A reset during traffic while memory keeps running: its outstanding answers are counted,
    reported and dropped. New requests with the same ids get none of them.
    """
    late = 0
    for seed in range(8):
        busy(environment, seed)
        await environment.cycles(300 + 7 * seed)
        await environment.restart(SEED + seed)
        await environment.program()
        late += sum(memory.late for memory in environment.memories)
        busy(environment, seed)
        await environment.cycles(300)
        await environment.check()
        assert not any(memory.idle is False for memory in environment.memories)
    assert late > 100, late


@directed_test
async def answers_to_nobody_hide_no_late_ones(environment: Environment) -> None:
    """Unexpected answers come while nothing is in flight; then a reset comes during traffic. They
    must not lower the count of outstanding answers, and requests wait for all of those.
    """
    late = 0
    for seed in range(6):
        environment.judged(False)
        for memory in environment.memories:
            memory.late_every = 1
            memory._late_reads += [(3, f"{5:0512b}", 0, 1, 0)] * 3
            memory._late_answers += [(3, 0)] * 3
        await environment.cycles(20)
        busy(environment, seed)
        await environment.cycles(300 + 7 * seed)
        for memory in environment.memories:
            memory.late_every = SLOW
        await environment.restart(SEED + seed)
        busy(environment, seed)  # at once, during the late answers
        await environment.cycles(80 * SLOW)
        await environment.program()
        late += sum(memory.late for memory in environment.memories)
        busy(environment, seed)
        await environment.cycles(300)
        await environment.check()
    assert late > 60, late


@directed_test
async def one_answer_that_nobody_waits_for(environment: Environment) -> None:
    """One unexpected beat of R or B while nothing is in flight does not block the channel."""
    memory, master = environment.memories[0], environment.masters[0]
    environment.judged(False)
    memory._late_reads.append((3, f"{5:0512b}", 0, 1, 0))
    memory._late_answers.append((3, 0))
    await environment.cycles(20)
    environment.judged(True)
    stray = registers.ERROR_STATUS.pack(stray=1)
    count, status = await environment.registers(
        [registers.STRAY_ANSWERS.offset, registers.ERROR_STATUS.offset]
    )
    assert (count, status & ALL_ERRORS) == (2, stray)
    data = [(f"{9:0512b}", (1 << 64) - 1, 0)]
    master.source = opened([Request(k % 2 == 0, 3, 0x40 * k, data=data) for k in range(12)])
    master.profile = StimulusProfile()
    await environment.cycles(200)
    await environment.check()
