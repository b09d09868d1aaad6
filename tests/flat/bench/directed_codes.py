# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the code of each of the controller's memories, bit by bit and part by part.

A memory is filled by stalling its consumer. Then bits of its words are flipped, and the consumer
continues. All bits of all words are set before, so that other words are in use.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge

from anemone.flat.config import FlatConfig
from anemone.hardware.registers import FaultMemory
from tests.bench.profile import StimulusProfile
from tests.bench.requests import OKAY, Request
from tests.bench.secded import of_word
from tests.bench.store import bits
from tests.bench.upsets import at, double_flips, single_flips
from tests.flat.bench.build import BUILDS
from tests.flat.bench.directed_environment import DirectedEnvironment
from tests.flat.bench.directed_upsets import LINES, MEMORIES, Faults
from tests.flat.bench.memories import Lines
from tests.flat.bench.sideband import SidebandCode

FILL_CYCLES = 80  # cycles until all requests wait
ID = 3
PARTS = 8  # rounds of partial writes
PART_LINES = 5  # lines of each round: all but one wait in registers


@dataclass(frozen=True)
class Setup:
    """How the bench keeps words in a memory. near, far: number of lines to read or write in each,
    all in different sets. in_registers: how many of them wait in registers behind
    the memory. stalled: the handshake that `part` withholds meanwhile.
    """

    memory: FaultMemory
    path: str
    part: str
    stalled: str
    near: int = 0
    far: int = 0
    writes: bool = False
    in_registers: int = 0


(NEAR_LINES, FAR_LINES) = MEMORIES[FaultMemory.LEAVING_LINES]
LEAVING_IN_REGISTERS = 1  # leaving lines that wait behind their memory
SETUPS = [
    Setup(FaultMemory.LINES, MEMORIES[FaultMemory.LINES][0], "far", "answer", far=8),
    Setup(FaultMemory.WRITES, MEMORIES[FaultMemory.WRITES][0], "far", "answer", far=8, writes=True),
    Setup(FaultMemory.ANSWERS, MEMORIES[FaultMemory.ANSWERS][0], "far", "answer", near=7, far=1),
    Setup(
        FaultMemory.LOOKUPS,
        MEMORIES[FaultMemory.LOOKUPS][0],
        "near",
        "answer",
        near=7,
        in_registers=3,
    ),
    Setup(
        FaultMemory.FETCHES,
        MEMORIES[FaultMemory.FETCHES][0],
        "far",
        "ar_ready",
        far=7,
        in_registers=5,
    ),
    Setup(
        FaultMemory.LEAVING_ANSWERS,
        "responses.out.queue",
        "master",
        "r",
        near=8,
        in_registers=2,
    ),
    Setup(
        FaultMemory.LEAVING_LINES,
        NEAR_LINES,
        "near",
        "aw_ready",
        near=8,
        writes=True,
        in_registers=LEAVING_IN_REGISTERS,
    ),
    Setup(
        FaultMemory.LEAVING_LINES,
        FAR_LINES,
        "far",
        "aw_ready",
        far=8,
        in_registers=LEAVING_IN_REGISTERS,
    ),
]
# Memories whose words have a line number in their last part.
NUMBERED = (FaultMemory.LOOKUPS, FaultMemory.FETCHES, FaultMemory.LEAVING_LINES)


class Codes(DirectedEnvironment):
    """Flips bits of the words that are kept in a memory."""

    async def restart_empty(self) -> None:
        """Power up."""
        await self.begin(FlatConfig(LINES, self.build.ratio))
        self.expected = Lines(lambda line: line)
        self.faults = Faults(self.dut)
        self.watchers = [self.faults]

    async def upset(self, setup: Setup, masks: list[set[int]]) -> int:
        """Fill a memory, flip bits of its words by the last masks, and continue. Returns the number
        of words.
        """
        rows = list(at(self.dut, setup.path))
        await self.mark_unused(rows)
        self.take_requests()
        part = getattr(self, setup.part)
        part.profile = StimulusProfile(**{setup.stalled: 0.0})
        self.lines = self._ask(setup)
        await self.cycles(FILL_CYCLES)
        used = _used(rows)[setup.in_registers :][: len(masks)]
        await self.flip([rows[i] for i in used], masks[::-1][: len(used)])
        part.profile = StimulusProfile()
        await self.cycles(FILL_CYCLES)
        return len(used)

    async def mark_unused(self, rows: list[Any]) -> None:
        """Set all bits of the words of a memory."""
        await FallingEdge(self.dut.clock)  # no word is being written at this edge
        for row in rows:
            row.value = _unused(row)
        await self.cycles(1)

    async def flip(self, rows: list[Any], masks: list[set[int]]) -> None:
        """Flip bits of words."""
        await FallingEdge(self.dut.clock)
        for row, mask in zip(rows, masks, strict=True):
            row.value = int(row.value) ^ sum(1 << bit for bit in mask)
        await self.cycles(1)

    async def check_corrected(self, setup: Setup) -> None:
        """Check all responses, and all lines by reading them."""
        await self.answered(*((0, len(self.lines)) if setup.writes else (len(self.lines), 0)))
        if not setup.writes:
            self._compare(setup)
        await self.settle()
        self.take_requests()
        self.lines = list(range((self.build.ratio + 1) * LINES))
        for line in self.lines:
            self.ask(line, id=ID)
        await self.answered(len(self.lines), 0)
        self._compare(setup)
        await self.settle()

    def _compare(self, setup: Setup) -> None:
        answers = zip(self.lines, self.answers.reads, self.answers.poisoned, strict=True)
        for line, (_, _, resp, data), bad in answers:
            assert bad or resp != OKAY or data == self.expected.read(line)[0], (setup, line)

    def _ask(self, setup: Setup) -> list[int]:
        """The requested lines."""
        slots = [0] * setup.near + [1] * setup.far
        lines = [
            self.tags(set_index)[slot] * LINES + set_index for set_index, slot in enumerate(slots)
        ]
        lines.sort(key=self._is_near)  # what is near waits for what is not
        for line in lines:
            request = Request(setup.writes, ID, line * 64)
            if setup.writes:
                data, strobe = bits(self.rng.getrandbits(512)), self.rng.getrandbits(64)
                request.data = [(data, strobe, 0)]
                self.expected.write(line, data, strobe, 0)
            self.todo.append(request)
        return lines

    def _is_near(self, line: int) -> bool:
        return self.tags(line % LINES)[0] == line // LINES


def _unused(row: Any) -> int:
    return (1 << len(row)) - 1


def _used(rows: list[Any]) -> list[int]:
    """The indices of the words in use, from the head of a queue on."""
    used = [i for i, row in enumerate(rows) if int(row.value) != _unused(row)]
    first = next((k for k, i in enumerate(used) if (i - 1) % len(rows) not in used), 0)
    return used[first:] + used[:first]


@cocotb.test()
async def each_bit_of_each_memory_is_corrected(dut: Any) -> None:
    """Including check bits. Each read word reports the flip, and no response or line is wrong."""
    environment = Codes(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    await environment.restart_empty()
    for setup in SETUPS:
        masks = single_flips(len(at(dut, setup.path)[0]))
        while masks:
            environment.faults.counts.clear()
            count = await environment.upset(setup, masks)
            assert count, setup
            await environment.check_corrected(setup)
            assert environment.faults.counts == {(setup.memory, "corrected"): count}, (setup, masks)
            del masks[-count:]


@cocotb.test()
async def two_flipped_bits_of_each_part_are_told(dut: Any) -> None:
    """For each part of each memory. No wrong data come out unpoisoned, except if the part has a
    line number (docs/flat.md, "What a flipped bit does").
    """
    environment = Codes(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    for setup in SETUPS:
        width = len(at(dut, setup.path)[0])
        of_numbers = of_word(width).parts[-1].bits if setup.memory in NUMBERED else []
        for mask in double_flips(width):
            await environment.restart_empty()
            assert await environment.upset(setup, [mask]) == 1, (setup, mask)
            if not mask & set(of_numbers):
                await environment.check_corrected(setup)
            assert environment.faults.counts == {(setup.memory, "uncorrected"): 1}, (setup, mask)


@cocotb.test()
async def parts_of_lines_that_wait_are_written(dut: Any) -> None:
    """Partial writes in near or far memory have the code of the stored data. The strobes of two
    bytes are flipped: without poison the write would be lost unnoticed.
    """
    environment = Codes(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    ratio, sound = environment.build.ratio, environment.watchers
    # Dedicated lines are written in near memory, lines that never swap in far memory. In the word,
    # the strobes follow the sideband and the poison.
    ends = tuple(n * LINES * 64 for n in (ratio + 1, ratio + 2))
    dedicated = FlatConfig(LINES, ratio, dedicated=ends)
    no_swaps = FlatConfig(LINES, ratio, policy="never")
    for config, path, part, first, strobes in (
        (dedicated, NEAR_LINES, "near", (ratio + 1) * LINES, SidebandCode(ratio).bits + 1),
        (no_swaps, FAR_LINES, "far", LINES, 1),
    ):
        rows, lines = list(at(dut, path)), range(first, first + PART_LINES)
        environment.watchers = sound
        await environment.begin(config)
        for turn in range(PARTS + 1):
            flips = turn == PARTS
            environment.take_requests()
            await environment.mark_unused(rows)
            port = getattr(environment, part)
            port.profile = StimulusProfile(aw_ready=0.0)
            for line in lines:
                strobe = 3 if flips else environment.rng.getrandbits(64)
                environment.ask(line, 9, strobe=strobe, id=ID)
            await environment.cycles(FILL_CYCLES)
            used = [rows[i] for i in _used(rows)[LEAVING_IN_REGISTERS:]]
            assert used, path
            if flips:
                environment.watchers = []
                await environment.flip(used, [{strobes, strobes + 1}] * len(used))
            port.profile = StimulusProfile()
            await environment.answered(0, len(lines))
            await environment.settle()
        environment.take_requests()
        await environment.read(lines)
        assert environment.answers.poisoned.count(1) == len(used), path
