# SPDX-License-Identifier: Apache-2.0
"""cocotb test of bit flips in accesses that flat memory mode has not decided yet."""

from __future__ import annotations

from itertools import product

from anemone.hardware import registers
from anemone.hardware.registers import FaultMemory
from tests.bench.requests import Request
from tests.expander.bench import control as reg
from tests.expander.bench.directed_tiered import counts, program, run_requests, tiered
from tests.expander.bench.tiered import TieredEnvironment

HITS = 40
TOLD = (
    registers.FAULTS_CORRECTED,
    registers.FAULTS_UNCORRECTED,
    registers.FIRST_FAULT,
    registers.ERROR_STATUS,
)
EVERY = (1 << len(reg.ERRORS)) - 1


def arm(environment: TieredEnvironment, memory: FaultMemory, channel: int, double: int = 0) -> None:
    """Flip one or two bits of the next word that is written to a memory."""
    control, fields = environment.control, {"memory": memory, "channel": channel, "double": double}
    control.write(registers.FAULT_INJECT.offset, registers.FAULT_INJECT.pack(**fields))
    control.write(registers.FAULT_CONTROL.offset, registers.FAULT_CONTROL.pack(inject=1))


def forget(environment: TieredEnvironment) -> None:
    """Clear what was told of faults."""
    control = environment.control
    control.write(registers.ERROR_STATUS.offset, EVERY)
    control.write(registers.FAULT_CONTROL.offset, registers.FAULT_CONTROL.pack(rearm=1))


@tiered
async def a_flipped_access_is_the_event_it_was_or_is_told(environment: TieredEnvironment) -> None:
    """Flips in an access of the last channel. After one flipped bit, its event comes unchanged in
    the same cycle. Two flipped bits are reported as not corrected, and all other events are
    unchanged.
    """
    await program(environment, [counts("all", "any", (0, 15), dict.fromkeys(range(16), 0))])
    channels = environment.build.engine.channels
    c, lockstep = channels - 1, environment.lockstep
    wrong: list[tuple[int, ...]] = []
    for double in (0, 1):
        arm(environment, FaultMemory.EVENTS, c, double)
        if double:  # this event is not predictable
            compare = lockstep._compare

            def tolerant(t: int, of: int, event: tuple[int, bool, str], compare=compare) -> None:
                try:
                    compare(t, of, event)
                except AssertionError:
                    wrong.append((of, *event))

            lockstep._compare = tolerant
        await environment.settle()
        await run_requests(environment, [Request(False, k % 8, (k % 64) * 64) for k in range(HITS)])
        status = {"corrected": 1 - double, "uncorrected": double}
        first = {"memory": FaultMemory.EVENTS, "channel": c, "uncorrected": double, "valid": 1}
        seen = await environment.registers([register.offset for register in TOLD])
        assert seen == [
            1,
            double,
            registers.FIRST_FAULT.pack(**first),
            registers.ERROR_STATUS.pack(**status),
        ]
        forget(environment)
        if not double:
            await environment.check()
    assert [of for of, *_ in wrong] == [c], wrong


@tiered
async def a_flip_in_the_order_of_events_and_reads_is_told(environment: TieredEnvironment) -> None:
    """Of each channel: one flipped bit of an event or of a telemetry read is corrected."""
    await program(environment, [counts("all", "any", (0, 15), dict.fromkeys(range(16), 0))])
    channels = environment.build.engine.channels
    both = product((FaultMemory.ORDERED_EVENTS, FaultMemory.ORDERED_READS), range(channels))
    for number, (memory, c) in enumerate(both, 1):
        arm(environment, memory, c)
        await environment.settle()
        line = environment.windows.address(0, 0, c, effect=False)
        accesses = [((k % 32) * channels + c) * 64 for k in range(HITS)]
        mixed = [Request(False, k % 8, line if k % 2 else accesses[k]) for k in range(HITS)]
        await run_requests(environment, mixed)
        first = registers.FIRST_FAULT.pack(memory=memory, channel=c, valid=1)
        seen = await environment.registers([register.offset for register in TOLD])
        assert seen == [number, 0, first, registers.ERROR_STATUS.pack(corrected=1)], (memory, c)
        forget(environment)
        await environment.check()


@tiered
async def an_injection_into_another_memory_flips_no_access(environment: TieredEnvironment) -> None:
    """Of any other memory of flat memory mode: what is told is not of an undecided access."""
    for memory in FaultMemory:
        if memory == FaultMemory.EVENTS or memory >= FaultMemory.READ_ORDER:
            continue
        for c in range(environment.build.engine.channels):
            arm(environment, memory, c)
        await environment.settle()
        await run_requests(environment, [Request(False, k % 8, (k % 64) * 64) for k in range(HITS)])
        (first,) = await environment.registers([registers.FIRST_FAULT.offset])
        told = registers.FIRST_FAULT.unpack(first)
        assert not told["valid"] or told["memory"] == memory, (memory, told)
        forget(environment)
