# SPDX-License-Identifier: Apache-2.0
"""Bits that flip in the memories of a design, at random, amid whatever goes on."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from cocotb.triggers import FallingEdge

EVERY = (1, 12)  # cycles between two flips, at least and at most
EMITTED = ("ram_ext", "memory_ext", "words_ext")  # of a Queue, a Ram1R1W, a VotedRamCopy


def words(scope: Any) -> Any:
    """The words of the memory in an instance; None: there is none."""
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


class Flipper:
    """Flips a bit of any word of these memories now and then, but none of a word in which one is
    flipped.

    memories: of each all copies of its words.
    """

    def __init__(self, dut: Any, memories: Sequence[Sequence[Any]], rng: Random) -> None:
        self.rng, self.flips, self.stopped = rng, 0, False
        self._fall = FallingEdge(dut.clock)  # when no memory is being written
        self._memories = memories
        self._flipped: dict[tuple[int, int], tuple[Any, int]] = {}

    async def run(self) -> None:
        """Until stopped."""
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
