# SPDX-License-Identifier: Apache-2.0
"""A ProtectedRam, and a VotedRam, in lock-step with plain Python."""

from __future__ import annotations

from collections import deque
from random import Random
from typing import Any

from cocotb.triggers import FallingEdge, RisingEdge

from tests.bench.secded import CLEAN, of_word
from tests.bench.upsets import words
from tests.units.bench.pins import Pins

LATENCY = 3  # cycles from a read to its answer
EARLY = 2  # to its data, in some
COUNTED = 2  # cycles from a read that counts to what was corrected


class _Unit:
    """What both kinds have: words, and an injector that flips bits of the next one written."""

    def __init__(self, dut: Any, module: str, pins: dict[str, int], rng: Random) -> None:
        self.name, self.rng = module, rng
        self._rise, self._fall = RisingEdge(dut.clock), FallingEdge(dut.clock)
        self.pins = Pins(dut, module, pins)
        self.checked = 0
        self.masks: list[int] = []  # bits to flip of the first words, once

    async def _inputs(self, write: tuple[int, int] | None, inject: int, **values: int) -> None:
        pins = self.pins
        if write:
            pins.set(write_bits_address=write[0], write_bits_data=write[1])
        pins.set(write_valid=int(write is not None), **values)
        pins.set(inject_valid=int(inject > 0), inject_bits=int(inject > 1))
        if self.masks:
            await self._fall  # no word is being written at this edge
            for address, mask in enumerate(self.masks):
                self.flip(address, mask)
            self.masks = []
        await self._rise

    def flip(self, address: int, mask: int) -> None:
        """Check how a word is stored, and flip bits of it."""
        raise NotImplementedError

    def data(self) -> int:
        """A random word."""
        return self.rng.getrandbits(self.width)

    async def flips(self, masks: list[int]) -> None:
        """Write a word for each mask, flip these bits of it, and read it."""
        for first in range(0, len(masks), self.depth):
            some = masks[first : first + self.depth]
            for address in range(len(some)):
                await self.cycle(write=(address, self.data()))
            self.masks = some
            await self.cycle()
            for address in range(len(some)):
                await self.cycle(address)
        for _ in range(LATENCY):
            await self.cycle()
        assert self.checked


class RamUnit(_Unit):
    """Drives the ProtectedRam `module`. kind: from params.json: whether data come `early`."""

    def __init__(self, dut: Any, module: str, kind: dict[str, Any], rng: Random) -> None:
        names = (
            *("read_valid", "read_bits", "data", "fault_corrected", "fault_uncorrected"),
            *("write_valid", "write_bits_address", "write_bits_data"),
            *("inject_valid", "inject_bits"),
        )
        super().__init__(dut, module, dict.fromkeys(names, 0), rng)
        self.rows = list(words(getattr(dut, f"unit_{module}").ram))
        self.code = of_word(len(self.rows[0]))
        self.depth, self.width = len(self.rows), self.code.width
        self.data_latency = EARLY if kind["early"] else LATENCY

    def restart(self) -> None:
        """It is being reset; the words stay."""
        self.pins.set(read_valid=0, write_valid=0, inject_valid=0)
        self.stored = dict[int, tuple[int, int]]()  # data and flips, by address
        self.answers = deque([(0, CLEAN)] * LATENCY)  # of the reads in the last cycles
        self.armed = 0

    async def cycle(
        self, read: int | None = None, write: tuple[int, int] | None = None, inject: int = 0
    ) -> None:
        """A cycle with these inputs. write: address and data."""
        address = {} if read is None else {"read_bits": read}
        await self._inputs(write, inject, read_valid=int(read is not None), **address)
        data, verdict = 0, CLEAN
        if read is not None:
            stored, flips = self.stored[read]
            verdict = self.code.verdict(flips) if flips else CLEAN
            data = stored ^ verdict.wrong
        self.answers.append((data, verdict))
        shown = self.pins.get("data"), self.answers[LATENCY - self.data_latency][0]
        assert shown[0] == shown[1], (self.name, shown)
        verdict = self.answers.popleft()[1]
        for what in ("corrected", "uncorrected"):
            told = self.pins.shows(f"fault_{what}", int(getattr(verdict, what)))
            assert told, (self.name, verdict)
        if write:
            self.stored[write[0]] = write[1], (1 << self.armed) - 1
        self.armed = inject or (0 if write else self.armed)
        self.checked += read is not None

    async def random(self, cycles: int) -> None:
        """Random reads and writes, never both of a word, with injected flips."""
        rng, depth = self.rng, self.depth
        for k in range(cycles):
            busy = (0.1, 0.9, 0.5)[k // 40 % 3]
            write = (rng.randrange(depth), self.data()) if rng.random() < busy else None
            reads = [a for a in self.stored if not write or a != write[0]]
            read = rng.choice(reads) if reads and rng.random() < busy else None
            await self.cycle(read, write, rng.choice((1, 2)) if rng.random() < 0.05 else 0)
        await self.cycle(inject=1)  # a reset forgets it

    def flip(self, address: int, mask: int) -> None:
        data, flips = self.stored[address]
        word = self.code.encoded(data) ^ flips
        assert int(self.rows[address].value) == word, (self.name, address)
        self.rows[address].value = word ^ mask
        self.stored[address] = data, flips ^ mask


class VotedUnit(_Unit):
    """Drives the VotedRam `module`."""

    def __init__(self, dut: Any, module: str, kind: dict[str, Any], rng: Random) -> None:
        names = (
            *("read", "data", "write_valid", "write_bits_address", "write_bits_data"),
            *("counts", "corrected", "inject_valid", "inject_bits"),
        )
        super().__init__(dut, module, dict.fromkeys(names, 0), rng)
        unit = getattr(dut, f"unit_{module}")
        self.copies = [list(words(getattr(unit, f"copy_{n}"))) for n in range(3)]
        self.depth, self.width = len(self.copies[0]), len(self.copies[0][0])

    def restart(self) -> None:
        """It is being reset; the words stay."""
        self.pins.set(write_valid=0, counts=0, inject_valid=0)
        self.stored = dict[int, tuple[int, bool]]()  # data and whether a copy differs, by address
        self.differed = deque([False] * COUNTED)
        self.armed = 0

    async def cycle(
        self,
        read: int | None = None,
        write: tuple[int, int] | None = None,
        inject: int = 0,
        counts: bool = True,
    ) -> None:
        """A cycle with these inputs. write: address and data. counts: the word read is used."""
        address = {} if read is None else {"read": read}
        counts &= read is not None
        await self._inputs(write, inject, counts=int(counts), **address)
        differs = False
        if read is not None:
            data, differs = self.stored[read]
            assert self.pins.get("data") == data, self.name
            self.checked += 1
        self.differed.append(differs and counts)
        told = self.pins.get("corrected"), int(self.differed.popleft())
        assert told[0] == told[1], (self.name, told)
        if write:
            self.stored[write[0]] = write[1], self.armed > 0
        self.armed = inject or (0 if write else self.armed)

    async def random(self, cycles: int) -> None:
        """Random reads and writes, with injected flips; not every read counts."""
        rng, depth = self.rng, self.depth
        for k in range(cycles):
            busy = (0.1, 0.9, 0.5)[k // 40 % 3]
            write = None
            if rng.random() < busy:
                write = rng.randrange(depth), self.data()
            read = rng.choice(list(self.stored)) if self.stored and rng.random() < busy else None
            inject = rng.choice((1, 2)) if rng.random() < 0.05 else 0
            await self.cycle(read, write, inject, rng.random() < 0.5)
        await self.cycle(inject=1)  # a reset forgets it

    def flip(self, address: int, mask: int) -> None:
        """Flip bits of one copy, and in half of the cases others of another one: the vote is
        right.
        """
        data = self.stored[address][0]
        for copy in self.copies:
            assert int(copy[address].value) == data, (self.name, address)
        one, other = self.rng.sample(self.copies, 2)
        one[address].value = data ^ mask
        if self.rng.random() < 0.5:
            other[address].value = data ^ (self.rng.getrandbits(self.width) & ~mask)
        self.stored[address] = data, True
