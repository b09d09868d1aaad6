# SPDX-License-Identifier: Apache-2.0
"""Flips random bits in the memories of a running design."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from random import Random
from typing import Any

from cocotb.triggers import FallingEdge

from tests.bench.pins import text_reader, text_writer
from tests.bench.secded import of_word

EVERY = (1, 12)  # minimum and maximum cycles between two flips
SOON = 3  # cycles
EMITTED = ("ram_ext", "memory_ext", "words_ext")  # of a Queue, a Ram1R1W, a VotedRamCopy


def words(scope: Any) -> Any:
    """The words of the memory in an instance; None if there is no memory."""
    for name in EMITTED:
        if (memory := getattr(scope, name, None)) is not None:
            return memory.Memory
    return None


def at(dut: Any, path: str) -> Any:
    """The words of the memory at a path."""
    scope = dut
    for name in path.split("."):
        scope = getattr(scope, name)
    return words(scope)


class EveryWord:
    """Keeps a bit of each part of each word of these memories flipped, from soon after the word is
    written. The bit changes at each write and at times in between, in turn over all bits.
    """

    def __init__(self, dut: Any, memories: Sequence[Any]) -> None:
        self.flips, self.stopped = 0, False
        self._fall = FallingEdge(dut.clock)  # no memory is written at this edge
        self._memories = [_Memory(memory) for memory in memories]

    async def run(self) -> None:
        """Run until stopped."""
        self.stopped = False
        while not self.stopped:
            self.flips += sum(memory.flip() for memory in self._memories)
            for _ in range(SOON):
                await self._fall


class _Memory:
    """Words with a record of their flipped bits."""

    def __init__(self, rows: Any) -> None:
        self._pins = [(text_reader(row), text_writer(row)) for row in rows]
        self._flipped = [("", 0)] * len(self._pins)
        masks = single_flips(len(rows[0]))
        self._masks = cycle([sum(1 << bit for bit in mask) for mask in masks])
        self._again = cycle(range(len(self._pins)))

    def flip(self) -> int:
        """Flip bits in the words that were written and in one other; returns their number."""
        count, again = 0, next(self._again)
        for i, (read, write) in enumerate(self._pins):
            word = read()
            stays = word == self._flipped[i][0]
            if not stays or i == again:
                mask = next(self._masks)
                flip = mask ^ self._flipped[i][1] if stays else mask
                self._flipped[i] = f"{int(word, 2) ^ flip:0{len(word)}b}", mask
                write(self._flipped[i][0])
                count += 1
        return count


class Flipper:
    """Flips a bit of a random word of these memories from time to time, but at most one per word.

    memories: all copies of each memory's words.
    """

    def __init__(self, dut: Any, memories: Sequence[Sequence[Any]], rng: Random) -> None:
        self.rng, self.flips, self.stopped = rng, 0, False
        self._fall = FallingEdge(dut.clock)  # no memory is written at this edge
        self._memories = memories
        self._flipped: dict[tuple[int, int], tuple[Any, int]] = {}

    async def run(self) -> None:
        """Run until stopped."""
        while True:
            for _ in range(self.rng.randint(*EVERY)):
                await self._fall
            if self.stopped:
                return
            self._flip()

    def _flip(self) -> None:
        rng = self.rng
        memory = rng.randrange(len(self._memories))
        copies = self._memories[memory]
        row = rng.randrange(len(copies[0]))
        before = self._flipped.get((memory, row))
        if before and int(before[0].value) == before[1]:
            return
        word = rng.choice(copies)[row]
        value = int(word.value) ^ 1 << rng.randrange(len(word))
        word.value = value
        self._flipped[memory, row] = word, value
        self.flips += 1


def single_flips(word: int) -> list[set[int]]:
    """Sets of bits of a code word that cover every bit, also check bits: first one bit of each part
    together, then one of a part alone. All are corrected.
    """
    each = [part.bits for part in of_word(word).parts]
    together = [{part[k % len(part)] for part in each} for k in range(max(map(len, each)))]
    return together + [{part[0]} for part in each]


def double_flips(word: int) -> list[set[int]]:
    """Two bits of each part of a code word, one part at a time. None is corrected."""
    return [set(part.bits[:2]) for part in of_word(word).parts]
