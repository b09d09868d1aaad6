# SPDX-License-Identifier: Apache-2.0
"""Bits that flip in the memories of a design, at random, amid whatever goes on."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from cocotb.triggers import FallingEdge


def words(scope: Any) -> Any:
    """The words of a memory: of a queue, or of a RAM."""
    for name in ("ram_ext", "memory_ext"):
        if (memory := getattr(scope, name, None)) is not None:
            return memory.Memory
    return None


class Flipper:
    """Flips a bit of any word of these memories now and then, but none of a word in which one is
    flipped.

    every: cycles between two flips, at least and at most.
    """

    def __init__(
        self, dut: Any, arrays: Sequence[Any], rng: Random, every: tuple[int, int]
    ) -> None:
        self.rng, self.flips, self.stopped = rng, 0, False
        self._fall = FallingEdge(dut.clock)  # when no memory is being written
        self._arrays, self._every = arrays, every
        self._flipped: dict[tuple[int, int], int] = {}

    async def run(self) -> None:
        """Until stopped."""
        while True:
            for _ in range(self.rng.randint(*self._every)):
                await self._fall
            if self.stopped:
                return
            self._flip()

    def _flip(self) -> None:
        rng = self.rng
        memory = rng.randrange(len(self._arrays))
        array = self._arrays[memory]
        row = rng.randrange(len(array))
        word = array[row]
        value = int(word.value)
        if self._flipped.get((memory, row)) == value:
            return
        value ^= 1 << rng.randrange(len(word))
        word.value = value
        self._flipped[memory, row] = value
        self.flips += 1
