# SPDX-License-Identifier: Apache-2.0
"""cocotb tests: bits flip in the controller's memories. No wrong data come out unpoisoned.

FLIPS: number of flips of the campaign, for `make soak`.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge

from anemone.flat.config import FlatConfig
from anemone.hardware.registers import FaultMemory
from tests.bench.pins import Flag, reader, writer
from tests.bench.profile import StimulusProfile
from tests.bench.requests import FULL, OKAY
from tests.bench.upsets import Flipper, at
from tests.flat.bench.build import BUILDS
from tests.flat.bench.directed_environment import DirectedEnvironment
from tests.flat.bench.environment import Environment, random_config

FLIPS = int(os.environ.get("FLIPS", "300"))
CYCLES = 1500  # per seed
SEEDS = 30  # most seeds until a flipped bit of each memory was read
LINES = 8  # near lines
A, B, C = 1, 1 + LINES, 2  # A and B are in one set
BIT_PAIRS = 16  # pairs of bits
# The instance of each memory in the design.
MEMORIES = {
    FaultMemory.LINES: ["lines.rows.ram"],
    FaultMemory.WRITES: ["data.ram"],
    FaultMemory.ANSWERS: ["responses.answers.ram"],
    FaultMemory.LOOKUPS: ["lookup.lookups.queue"],
    FaultMemory.FETCHES: ["fetches.queue"],
    FaultMemory.LEAVING_ANSWERS: ["responses.out.queue"],
    FaultMemory.LEAVING_LINES: ["sequencer.queue.queue", "sequencer.queue_1.queue"],
}
# Memories that are rarely used.
RARELY_USED = {FaultMemory.FETCHES, FaultMemory.LEAVING_ANSWERS, FaultMemory.LEAVING_LINES}
LOCATION = ("id_valid", "id_bits", "line_valid", "line_bits")
PINS = ("fault_corrected", "fault_uncorrected", *LOCATION)


class Faults:
    """Reports of the memories by number: corrected, uncorrected, and the last id and line."""

    def __init__(self, dut: Any) -> None:
        self.counts: Counter[tuple[FaultMemory, str]] = Counter()
        self.last: dict[FaultMemory, tuple[int, ...]] = {}
        self._pins = {
            memory: {name: reader(getattr(dut, f"faults_{memory}_{name}")) for name in PINS}
            for memory in MEMORIES
        }

    def step(self, t: int) -> None:
        """Cycle t."""
        for memory, pins in self._pins.items():
            for kind in ("corrected", "uncorrected"):
                if pins[f"fault_{kind}"]():
                    self.counts[memory, kind] += 1
                    self.last[memory] = tuple(pins[name]() for name in LOCATION)


@cocotb.test()
async def a_flipped_bit_anywhere_is_corrected(dut: Any) -> None:
    """Under random traffic in lock-step with the golden model, as if no bit had flipped."""
    build = BUILDS[os.environ["BENCH_SIZE"]]
    environment = Environment(dut, build, Counter())
    await environment.start()
    faults = Faults(dut)
    paths = [path for there in MEMORIES.values() for path in there]
    flips, seed = 0, 1000
    required = MEMORIES.keys() - RARELY_USED
    while flips < FLIPS or (not required <= {n for n, _ in faults.counts} and seed < 1000 + SEEDS):
        seed += 1
        rng = Random(seed)
        environment.watchers = []
        await environment.restart(rng, random_config(rng, build))
        flipper = Flipper(dut, [[at(dut, path)] for path in paths], Random(seed))
        environment.watchers = [faults]
        cocotb.start_soon(flipper.run())
        end = environment.t + CYCLES
        while environment.t < end:
            environment.phase()
            await environment.cycles(rng.randint(60, 400))
        flipper.stopped = True
        await environment.check()
        flips += flipper.flips
    summary = {f"{memory.name} {kind}": n for (memory, kind), n in sorted(faults.counts.items())}
    print(f"{flips} flips, {seed - 1000} seeds: {summary}", flush=True)
    assert all(kind == "corrected" for _, kind in faults.counts), summary
    assert required <= {n for n, _ in faults.counts}, summary


class Injected(DirectedEnvironment):
    """Injects flips by pins."""

    async def arm(self, memory: FaultMemory, double: int) -> None:
        """Flip one or two bits of the next word of a memory."""
        writer(self.dut.inject_bits_memory)(memory)
        Flag(self.dut.inject_bits_double, 1 - double).set(double)
        self.inject.set(1)
        await self.cycles(1)
        self.inject.set(0)
        await self.cycles(1)


@cocotb.test()
async def two_flipped_bits_are_poison(dut: Any) -> None:
    """One flipped bit has no effect. Each is reported once, with its origin. A full write clears
    the poison.
    """
    build = BUILDS[os.environ["BENCH_SIZE"]]
    environment = Injected(dut, build)
    await environment.start()
    for memory in (FaultMemory.LINES, FaultMemory.WRITES, FaultMemory.ANSWERS):
        for double in (0, 1):
            await environment.begin(FlatConfig(LINES, build.ratio))
            faults = Faults(dut)
            environment.watchers = [faults]
            case = f"{memory.name}, {1 + double} bits"
            await environment.arm(memory, double)
            expected = {A: ~A & FULL, B: ~B & FULL, C: ~C & FULL}
            if memory == FaultMemory.LINES:  # A is kept while B moves near
                damaged, location = A, (0, 0, 1, A)
                await environment.read((B,))
                await environment.settle()
            elif memory == FaultMemory.WRITES:
                damaged, location = B, (0, 0, 1, A)
                expected[B] = 7
                environment.ask(B, 7)
                await environment.answered(0, 1)
                await environment.settle()
            else:  # the hit's answer waits for that of the miss
                damaged, location = C, (1, 3, 0, 0)
                environment.far.profile.answer = 0.0
                for line in (B, C):
                    environment.ask(line, id=3)
                await environment.cycles(60)
                environment.far.profile.answer = 1.0
                await environment.answered(2, 0)
                assert environment.answers.poisoned == [0, double], case
                assert environment.answers.reads[1][3] & FULL == expected[C] or double, case
            kind = ("corrected", "uncorrected")[double]
            assert faults.counts == {(memory, kind): 1}, f"{case}: {faults.counts}"
            assert faults.last[memory] == location, f"{case}: {faults.last}"
            environment.take_requests()
            read = await environment.read(expected)
            poison = [
                int(double and line == damaged and memory != FaultMemory.ANSWERS)
                for line in expected
            ]
            assert environment.answers.poisoned == poison, case
            for (resp, seen), (line, value), bad in zip(
                read, expected.items(), poison, strict=True
            ):
                assert resp == OKAY and (bad or seen == value), f"{case}: {line}: {seen:#x}"
            environment.ask(damaged, 9)
            await environment.answered(0, 1)
            environment.take_requests()
            assert await environment.read((damaged,)) == [(OKAY, 9)]
            assert environment.answers.poisoned == [0], case


@cocotb.test()
async def two_flipped_bits_side_by_side_are_poison(dut: Any) -> None:
    """At any position in a line that is kept during a swap. Two flips in different codes are
    corrected.
    """
    build = BUILDS[os.environ["BENCH_SIZE"]]
    environment = DirectedEnvironment(dut, build)
    await environment.start()
    environment.watchers = []
    rows = at(dut, MEMORIES[FaultMemory.LINES][0])
    rng, damaged = Random(1), 0
    for _ in range(BIT_PAIRS):
        await environment.begin(FlatConfig(LINES, build.ratio))
        environment.far.profile = StimulusProfile(answer=0.0)
        environment.ask(B)
        await environment.cycles(60)
        bit = rng.randrange(len(rows[0]) - 1)
        await FallingEdge(dut.clock)  # when no row is being written
        for row in rows:
            row.value = int(row.value) ^ 3 << bit
        await environment.cycles(1)
        environment.far.profile = StimulusProfile()
        await environment.answered(1, 0)
        await environment.settle()
        environment.take_requests()
        (of_a, of_b) = await environment.read((A, B))
        (poisoned, clean) = environment.answers.poisoned
        assert not clean and of_b == (OKAY, ~B & FULL), bit
        assert poisoned or of_a == (OKAY, ~A & FULL), bit
        damaged += poisoned
    assert damaged > BIT_PAIRS // 2, damaged


@cocotb.test()
async def what_is_on_its_way_is_corrected_or_lost_aloud(dut: Any) -> None:
    """Responses that the host does not accept, and lines that near memory does not accept: more
    than fit the register slices. Two flipped bits lose one of them, which is reported.
    """
    environment = Injected(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    lines = range(2, LINES)
    for memory in (FaultMemory.LEAVING_ANSWERS, FaultMemory.LEAVING_LINES):
        for double in (0, 1):
            await environment.begin(FlatConfig(LINES, environment.build.ratio))
            faults = Faults(dut)
            environment.watchers = [faults]
            case = f"{memory.name}, {1 + double} bits"
            await environment.arm(memory, double)
            if memory == FaultMemory.LEAVING_ANSWERS:
                environment.master.profile.r = 0.0
                for line in lines:
                    environment.ask(line, id=3)
                await environment.cycles(100)
                environment.master.profile.r = 1.0
                await environment.answered(len(lines), 0)
                location, expected = (1, 3, 0, 0), [~line & FULL for line in lines]
            else:
                environment.near.profile.aw_ready = 0.0
                for line in lines:
                    environment.ask(line, line)
                await environment.cycles(200)
                environment.near.profile.aw_ready = 1.0
                await environment.answered(0, len(lines))
                await environment.settle()
                environment.take_requests()
                await environment.read(lines)
                location, expected = (0, 0, 0, 0), list(lines)
            answers = environment.answers
            read = [(resp, data & FULL) for _, _, resp, data in answers.reads]
            lost = [
                poisoned or resp != OKAY
                for (resp, _), poisoned in zip(read, answers.poisoned, strict=True)
            ]
            assert faults.counts == {(memory, ("corrected", "uncorrected")[double]): 1}, case
            assert faults.last[memory] == location, f"{case}: {faults.last}"
            assert sum(lost) == double, f"{case}: {lost}"
            for (_, data), gone, right in zip(read, lost, expected, strict=True):
                assert gone or data == right, f"{case}: {data:#x} for {right:#x}"
