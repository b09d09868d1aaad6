# SPDX-License-Identifier: Apache-2.0
"""cocotb tests: bits flip in the memories of telemetry lines. No wrong data come out unpoisoned.

FLIPS: number of flips of the campaign, for `make soak`.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge

from anemone.hardware import registers
from anemone.hardware.registers import FaultMemory
from tests.bench.pins import reader
from tests.bench.upsets import Flipper, at
from tests.expander.bench.directed_faults import arm
from tests.expander.bench.directed_parity import poisoned
from tests.expander.bench.directed_region import COUNTED, counted
from tests.expander.bench.environment import Environment
from tests.expander.bench.host import Host, hosted
from tests.expander.bench.sizes import BUILDS

FLIPS = int(os.environ.get("FLIPS", "300"))
CYCLES = 1500  # of a seed
SEEDS = 30  # at most, until a flipped bit of each memory was read
PHASE = (60, 400)  # cycles
TELEMETRY = 0.7  # share of reads
HANGS = 400  # clock cycles in which a line that is there has come
# As a channel's `io_faults` has them, behind those of counts and writes, with their copies.
FIRST = 4
MEMORIES = {
    FaultMemory.TELEMETRY_LINES: ["lines.ram"],
    FaultMemory.LINE_ORDER: ["slotOrder.queue"],
    FaultMemory.READY_LINES: [f"ready.data.copy_{n}" for n in range(3)],
}
KINDS = ("corrected", "uncorrected")


class Faults:
    """Reports of the memories of all channels, by memory and kind."""

    def __init__(self, environment: Environment) -> None:
        self.counts: Counter[tuple[FaultMemory, str]] = Counter()
        self._pins = {
            (memory, kind, c): reader(getattr(channel, pin))
            for n, memory in enumerate(MEMORIES, FIRST)
            for kind in KINDS
            for c in range(environment.build.engine.channels)
            # The copies of a word tell of none that was not corrected.
            if hasattr(
                channel := getattr(environment.dut, f"channel_{c}"),
                pin := f"io_faults_{n}_fault_{kind}",
            )
        }

    def __call__(self, t: int) -> None:
        """Cycle t."""
        for (memory, kind, _), pin in self._pins.items():
            self.counts[memory, kind] += pin()


@cocotb.test()
async def a_flipped_bit_anywhere_is_corrected(dut: Any) -> None:
    """Under random traffic in lock-step with the golden models, as if no bit had flipped."""
    build = BUILDS[os.environ["BENCH_SIZE"]]
    environment = Environment(dut, build, Counter())
    await environment.start()
    faults = environment.watch = Faults(environment)
    memories = [
        [at(dut, f"channel_{c}.telemetry.buffer.{path}") for path in copies]
        for copies in MEMORIES.values()
        for c in range(build.engine.channels)
    ]
    flips, seed = 0, 1000

    def all_reported() -> bool:
        return all(faults.counts[memory, "corrected"] for memory in MEMORIES)

    while flips < FLIPS or (not all_reported() and seed < 1000 + SEEDS):
        seed += 1
        await environment.restart(seed)
        await environment.program()
        flipper = Flipper(dut, memories, Random(seed))
        cocotb.start_soon(flipper.run())
        end = environment.t + CYCLES
        while environment.t < end:
            environment.phase()
            for master in environment.masters:
                master.profile.telemetry = TELEMETRY
            await environment.cycles(environment.rng.randint(*PHASE))
        flipper.stopped = True
        await environment.settle()
        (corrected,) = await environment.registers([registers.FAULTS_CORRECTED.offset])
        environment.scoreboards[0].counts["error corrected"] += corrected
        await environment.check()
        flips += flipper.flips
    summary = {
        f"{memory.name} {kind}": n for (memory, kind), n in sorted(faults.counts.items()) if n
    }
    print(f"{flips} flips, {seed - 1000} seeds: {summary}", flush=True)
    assert all_reported() and not any(faults.counts[memory, KINDS[1]] for memory in MEMORIES), (
        summary
    )


async def injected(host: Host, memory: FaultMemory, double: int) -> None:
    """Flip one or two bits of the next word of a memory of channel 0."""
    await host.set(registers.FAULT_CONTROL.offset, registers.FAULT_CONTROL.pack(rearm=1))
    await arm(host, memory, double)


async def status(host: Host) -> tuple[int, int, dict[str, int]]:
    """(corrected words, uncorrected words, the first fault)."""
    await ClockCycles(host.dut.clock, 20)  # what comes with an answer is counted a little later
    counts = [
        await host.get(register.offset)
        for register in (registers.FAULTS_CORRECTED, registers.FAULTS_UNCORRECTED)
    ]
    first = registers.FIRST_FAULT
    return *counts, first.unpack(await host.get(first.offset))


@hosted
async def one_flipped_bit_is_corrected_and_told(host: Host) -> None:
    """In each memory, and two in the memory with copies; for a line the report has its origin."""
    await counted(host)
    cases = [*((memory, 0) for memory in MEMORIES), (FaultMemory.READY_LINES, 1)]
    for count, (memory, double) in enumerate(cases, 1):
        await injected(host, memory, double)
        assert await poisoned(host) == (COUNTED, False), memory.name
        corrected, uncorrected, first = await status(host)
        assert (corrected, uncorrected) == (count, 0), memory.name
        expected = {"memory": memory, "channel": 0, "uncorrected": 0, "valid": 1}
        expected["id_valid"] = int(memory != FaultMemory.LINE_ORDER)
        assert {name: first[name] for name in expected} == expected, (memory.name, first)


@hosted
async def two_flipped_bits_of_a_line_are_poison(host: Host) -> None:
    """Only this read is poisoned; the next one returns the line."""
    await counted(host)
    await injected(host, FaultMemory.TELEMETRY_LINES, 1)
    assert (await poisoned(host))[1]
    corrected, uncorrected, first = await status(host)
    assert (corrected, uncorrected) == (0, 1) and first["uncorrected"] and first["id_valid"]
    assert await poisoned(host) == (COUNTED, False)


@hosted
async def two_flipped_bits_of_the_order_leave_no_line_to_be_trusted(host: Host) -> None:
    """The line is not answered, because its destination is unknown, and later lines are
    poisoned.
    """
    await counted(host)
    await injected(host, FaultMemory.LINE_ORDER, 1)
    lost = cocotb.start_soon(poisoned(host))
    for _ in range(HANGS):
        await RisingEdge(host.dut.clock)
    assert not lost.done() or lost.result()[1]
    corrected, uncorrected, first = await status(host)
    assert (corrected, uncorrected) == (0, 1)
    assert first["memory"] == FaultMemory.LINE_ORDER and first["uncorrected"]
    # Of other ids, which do not wait for that one.
    for id in (5, 6):
        answer = await host.memory[0].read(host.windows.address(0, 0, 0, False), 64, arid=id)
        assert any(answer.user), id
