# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of interrupts from event to message: none is lost and none is sent twice."""

from __future__ import annotations

from dataclasses import replace

from cocotb.triggers import RisingEdge

from anemone.telemetry.rules import Rule
from tests.bench.profile import StimulusProfile
from tests.bench.requests import Request
from tests.expander.bench import control as reg
from tests.expander.bench.directed_environment import directed_test, opened
from tests.expander.bench.environment import Environment
from tests.expander.bench.host import Host, hosted

# Every access counts in counter 0; the third and all later ones are noteworthy.
NOTE = Rule(name="note", end=1 << 20, primary_mask=0, notify_op="ge", notify_operand=3)
EVERY = replace(NOTE, notify_operand=1)
LATENCY = 16  # cycles from the request's acceptance to its message


async def noted(host: Host, rule: Rule = NOTE, *pipelines: int) -> None:
    """Program a rule and enable its interrupts."""
    for p in pipelines or (0,):
        await host.rule(p, rule)
        await host.map(p, (0, 4 + p))
    await host.set(reg.INTERRUPT_ENABLE, (1 << 1 + host.size.pipelines) - 1)


@hosted
async def a_threshold_sends_a_message(host: Host) -> None:
    """It is sent a fixed number of cycles after the request; the notification has the counter."""
    await noted(host)
    await host.touch(0x40, 2)
    await host.silence()
    host.memory[1].init_read(0x40, 64)
    dut = host.dut
    while not (dut.upstream_1_arvalid.value and dut.upstream_1_arready.value):
        await RisingEdge(dut.clock)
    vector, cycles = await host.message()
    # `message` looks from the cycle behind the acceptance on.
    assert (vector, cycles + 1) == (1, LATENCY)
    assert await host.get(reg.PENDING) == 2
    notification = await host.get(reg.pipeline(0, reg.NOTIFICATION))
    assert notification == 1 | 1 << 8 | 4 << 32
    assert await host.get(reg.pipeline(1, reg.NOTIFICATION)) & 1 == 0


@hosted
async def a_storm_sends_one(host: Host) -> None:
    """A predicate that always holds sends one message, and one for the first hit after an
    acknowledge.
    """
    await noted(host, EVERY)
    await host.touch(0, 30)
    assert (await host.message())[0] == 1
    await host.touch(0, 30)
    await host.silence()
    for _ in range(3):
        await host.set(reg.ACKNOWLEDGE, 2)
        assert await host.get(reg.PENDING) == 0
        await host.silence()
        await host.touch(0)
        assert (await host.message())[0] == 1
        await host.touch(64, 3)
        await host.silence()
    assert await host.get(reg.pipeline(0, reg.COUNTERS["notifications"])) == 60 + 3 * 4


@directed_test
async def an_acknowledge_races_the_next_hit(environment: Environment) -> None:
    """At every distance, there is one message each time the latch is set."""
    p, master = 0, environment.masters[0]
    environment.interrupts.enabled = 6
    environment.control.write(reg.INTERRUPT_ENABLE, 6)
    environment.operator.rule(p, EVERY, True)
    environment.lockstep.tables.append((p, 0, 0, True))
    environment.control.write(*reg.entry(environment.build.engine, p, 0, 0, True))
    await environment.settle()
    outcomes = set()
    for distance in range(-24, 25):
        before = environment.lockstep.latches[p]
        master.profile = StimulusProfile()
        master.source = opened([Request(False, 0, 0)])
        await environment.cycles(60)
        for cycle in range(60):
            if cycle == 30:
                environment.operator.acknowledge(2)
            if cycle == 30 + distance:
                master.source = opened([Request(False, 1, 0)])
            await environment.cycles(1)
        await environment.settle()
        again = environment.lockstep.latches[p] - before
        outcomes.add(again)
        assert environment.interrupts.taken[1 + p] == environment.lockstep.latches[p], distance
        assert (environment.lockstep.models[p].notified is not None) == (again == 2)
        environment.operator.acknowledge(2)
        await environment.settle()
    assert outcomes == {1, 2}
    assert environment.cover["interrupt/acknowledge/hit"], "none in the very cycle"
    await environment.check()


@hosted
async def a_mask_holds_back(host: Host) -> None:
    """A disabled vector stays pending and sends its message when it is enabled."""
    await noted(host, EVERY, 0, 1)
    await host.set(reg.INTERRUPT_ENABLE, 4)
    await host.touch(0)
    assert (await host.message())[0] == 2
    await host.silence()
    assert await host.get(reg.PENDING) == 6
    await host.set(reg.INTERRUPT_ENABLE, 2)
    assert (await host.message())[0] == 1
    await host.set(reg.INTERRUPT_ENABLE, 6)
    await host.silence()
    await host.set(reg.INTERRUPT_ENABLE, 0)
    await host.set(reg.ACKNOWLEDGE, 6)
    await host.touch(0)
    await host.silence()
    await host.set(reg.ACKNOWLEDGE, 6)
    await host.set(reg.INTERRUPT_ENABLE, 6)
    await host.silence()
    assert await host.get(reg.PENDING) == 0


@hosted
async def all_vectors_get_through(host: Host) -> None:
    """All vectors at once, accepted late: each message is sent once."""
    await noted(host, EVERY, 0, 1)
    await host.set(reg.ERROR_ENABLE, 1 << reg.ERRORS.index("refused_read"))
    await host.touch(0)
    await host.memory[1].read(host.windows.address(0, 0, 0, False), 64)
    await host.touch(0, 20)
    seen = [(await host.message())[0] for _ in range(3)]
    assert sorted(seen) == [0, 1, 2]
    await host.silence()
    assert await host.get(reg.PENDING) == 7


@hosted
async def errors_send_what_is_enabled(host: Host) -> None:
    """Vector 0 is sent only for enabled errors, and again after an acknowledge while one is set."""
    await noted(host, replace(NOTE, type=""))
    dropped = 1 << reg.ERRORS.index("dropped_write")
    await host.set(reg.ERROR_ENABLE, dropped)
    nowhere = host.windows.address(0, 0, 1, False)
    await host.memory[0].read(nowhere, 64)
    await host.silence()
    assert await host.get(reg.PENDING) == 0
    await host.memory[0].write(nowhere, bytes(64))
    assert (await host.message())[0] == 0
    await host.memory[0].write(nowhere, bytes(64))
    await host.silence()
    await host.set(reg.ACKNOWLEDGE, 1)
    assert (await host.message())[0] == 0, "the error still stands"
    await host.set(reg.ERROR_STATUS, dropped)
    await host.set(reg.ACKNOWLEDGE, 1)
    await host.silence()
    await host.memory[0].write(nowhere, bytes(64))
    assert (await host.message())[0] == 0


@hosted
async def a_reset_forgets(host: Host) -> None:
    """A reset clears messages, masks and notifications."""
    await noted(host, EVERY)
    await host.touch(0, 3)
    host.dut.reset.value = 1
    for _ in range(3):
        await RisingEdge(host.dut.clock)
    host.dut.reset.value = 0
    await host.silence()
    assert await host.get(reg.PENDING) == 0
    assert await host.get(reg.INTERRUPT_ENABLE) == 0
    assert await host.get(reg.pipeline(0, reg.COUNTERS["matched"])) == 0
