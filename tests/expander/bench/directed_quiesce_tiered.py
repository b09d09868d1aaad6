# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of a quiesce in flat memory mode: during swaps, the start and a repair."""

from __future__ import annotations

from anemone.hardware import registers
from tests.bench.profile import StimulusProfile
from tests.bench.requests import Request
from tests.expander.bench.directed_environment import SEED, opened
from tests.expander.bench.directed_tiered import run_requests, tiered
from tests.expander.bench.environment import Environment
from tests.expander.bench.tiered import TieredEnvironment

STILL = 150  # cycles in which nothing may change
SLOW = 60  # memory's longest response in cycles
SET_INDEX = 5  # the set that is corrupted


def busy(environment: TieredEnvironment, seed: int) -> None:
    """Traffic of all kinds to other sets, with slow memory; write data sometimes comes before its
    address.
    """
    for master, traffic in zip(environment.masters, environment.traffic, strict=True):
        traffic.focus()
        traffic.draw_sets()
        master.profile = StimulusProfile(ahead=0.5, bursts=0.2, w=(1.0, 0.3)[seed % 2])
    for memory in environment.memories:
        memory.profile = StimulusProfile(latency=(20, SLOW)[seed // 2 % 2])


def stopped(environment: Environment, pin: bool) -> None:
    """From now on no request may be accepted."""
    if pin:
        environment.quiesce.set(1)
    else:
        environment.control.write(registers.QUIESCE.offset, registers.QUIESCE.pack(stop=1))


def resumed(environment: Environment) -> None:
    """Requests are accepted again."""
    environment.quiesce.set(0)
    environment.control.write(registers.QUIESCE.offset, 0)


def accepted(environment: Environment) -> list[int]:
    """Number of accepted beats by channel."""
    return [s.counts["beats"] + s.counts["write beats"] for s in environment.scoreboards]


def below(environment: TieredEnvironment) -> list[int]:
    """Number of accesses to each near and far memory."""
    memories = (*environment.near, *environment.far)
    return [memory.accesses.counts.total() for memory in memories]


async def still(environment: TieredEnvironment) -> None:
    """The expander is quiet, reports it by register too, and stays so: no port has anything in
    flight.
    """
    parts = (*environment.scoreboards, *environment.memories)
    assert all(part.idle for part in parts), [type(p).__name__ for p in parts if not p.idle]
    before = accepted(environment), below(environment)
    status = await environment.registers([registers.QUIESCE_STATUS.offset])
    assert status == [registers.QUIESCE_STATUS.pack(quiet=1)]
    for _ in range(STILL):
        await environment.cycles(1)
        assert environment.quiet()
    assert before == (accepted(environment), below(environment))


@tiered
async def a_quiesce_drains_all_swaps(environment: TieredEnvironment) -> None:
    """A quiesce by the register or by the pin during traffic: everything accepted is answered, each
    swap has ended, each line is in one place, and nothing more is accepted. Then traffic resumes,
    or after a reset all lines are unchanged and there is nothing to recover.
    """
    for seed in range(16):
        busy(environment, seed)
        await environment.cycles(300 + 7 * seed)
        stopped(environment, pin=bool(seed % 2))
        await environment.quiesced()
        await still(environment)
        await environment.check_memories()
        if seed % 4 == 3:
            await environment.restart(SEED + seed, warm=True)
            resumed(environment)
            await environment.program()
            await environment.check_memories()
            busy(environment, seed)
        else:
            resumed(environment)
        taken = accepted(environment)
        await environment.cycles(200)
        assert not environment.quiet()
        assert all(now > then for now, then in zip(accepted(environment), taken, strict=True))
    await environment.check()
    strays = [registers.FLAT.at(c, registers.FLAT_STRAYS) for c in range(len(environment.masters))]
    assert not any(await environment.registers(strays))


@tiered
async def requests_that_wait_for_the_start_are_under_way(environment: TieredEnvironment) -> None:
    """Waiting requests of either channel count as in flight, and so does the sweep of near memory.
    Without a request, nothing is in flight before the start.
    """
    channels = range(len(environment.masters))
    far = environment.now.near_lines * len(channels) * 64
    for write in (False, True):
        for c in channels:
            await environment.restart(SEED + c)
            await Environment.program(environment)
            stopped(environment, pin=True)
            await environment.quiesced()
            await environment.cycles(STILL)
            assert environment.quiet() and not any(below(environment))
            resumed(environment)
            await environment.cycles(20)
            data = [(f"{9:0512b}", (1 << 64) - 1, 0)]
            request = Request(write, 3, far + 64 * c, data=data)
            master = environment.masters[c]
            master.source, master.profile = opened([request]), StimulusProfile()
            await environment.cycles(40)
            stopped(environment, pin=True)
            for _ in range(STILL):
                await environment.cycles(1)
                assert not environment.quiet()
            environment.set_up()
            await environment.quiesced()
            for near in environment.near:
                assert near.accesses.counts["writes"] >= environment.now.near_lines, "swept"
            assert [bool(beats) for beats in accepted(environment)] == [n == c for n in channels]
            await still(environment)
            resumed(environment)


@tiered
async def a_repair_is_under_way(environment: TieredEnvironment) -> None:
    """A repair is in flight from its command until its last write has been answered."""
    channels, config = environment.build.engine.channels, environment.now
    c = channels - 1
    near, scoreboard = environment.near[c], environment.scoreboards[c]
    near.sidebands[SET_INDEX] ^= 3 << 7
    addr = (SET_INDEX * channels + c) * 64
    scoreboard.refused.add(addr)
    await run_requests(environment, [Request(False, 1, addr)])
    at = registers.FLAT.at(c, registers.FLAT_CONTROL)
    for memory in environment.memories:
        memory.profile = StimulusProfile(latency=SLOW)
    before = below(environment)
    environment.control.write(at, registers.FLAT_CONTROL.pack(repair=1))
    stopped(environment, pin=False)
    await environment.quiesced()
    done = sum(below(environment)) - sum(before)
    assert done == config.ratio + 1, f"quiet after {done} writes of the repair"
    await still(environment)
    untrusted = await environment.registers([registers.FLAT.at(c, registers.FLAT_UNTRUSTED_SET)])
    assert untrusted == [registers.FLAT_UNTRUSTED_SET.pack(set=SET_INDEX)]
