# SPDX-License-Identifier: Apache-2.0
"""Flips bits in the memories of what a cocotb bench plays."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from cocotb.triggers import FallingEdge

EVERY = (1, 12)  # cycles between two flips
EMITTED = ("memory_ext", "ram_ext", "words_ext")  # of a Ram1R1W, a Queue, a VotedRamCopy


def array(dut: Any, path: str) -> Any:
    """The words of the memory in the instance at a path."""
    scope = dut
    for name in path.split("."):
        scope = getattr(scope, name)
    return next(getattr(scope, name) for name in EMITTED if hasattr(scope, name)).Memory


class Flipper:
    """Flips a bit of any word now and then, but none of a word in which one is flipped.

    memories: the paths of each, of all copies of its words.
    """

    def __init__(self, dut: Any, rng: Random, memories: Sequence[Sequence[str]]) -> None:
        self.rng, self.flips, self.stopped = rng, 0, False
        self._fall = FallingEdge(dut.clock)  # when no memory is being written
        self._memories = [[array(dut, path) for path in copies] for copies in memories]
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
