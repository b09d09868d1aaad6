# SPDX-License-Identifier: Apache-2.0
"""What a queue must do, a cycle at a time, from the scaladoc of ProtectedQueue."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field


@dataclass
class Stored:
    """An item, and the bits of its stored word that are flipped."""

    data: int
    flips: int = 0


@dataclass
class Queue:
    """A ProtectedQueue: memory, the registers behind it (`large`), and the output register.

    entries: of the memory. flow: an item that finds the queue empty skips the memory. out: the item
    at the output; fresh: it came in this cycle. stored: items that went to the memory so far.
    """

    entries: int
    registers: int
    flow: bool
    memory: deque[Stored] = field(default_factory=deque)
    out: Stored | None = None
    fresh: bool = False
    stored: int = 0

    def __post_init__(self) -> None:
        self.stages: list[Stored | None] = [None] * self.registers

    @property
    def ready(self) -> bool:
        """Whether the queue takes an item in this cycle."""
        return len(self.memory) < self.entries

    @property
    def items(self) -> int:
        """Items in the queue."""
        return len(self.memory) + sum(one is not None for one in [*self.stages, self.out])

    def clock(self, offered: int | None, take: bool, armed: int) -> None:
        """The edge that ends this cycle. armed: bits to flip if the item is stored."""
        line = [*self.stages, self.out]
        if take:
            line[-1] = None
        free, full = line[-1] is None, len(self.memory) == self.entries
        waits = bool(self.memory) or any(one is not None for one in self.stages)
        # From the output backwards, each item moves on if there is room.
        for k in range(len(line) - 1, 0, -1):
            if line[k] is None:
                line[k], line[k - 1] = line[k - 1], None
        if line[0] is None and self.memory:
            line[0] = self.memory.popleft()
        if offered is not None and self.flow and free and not waits:
            line[-1] = Stored(offered)
        elif offered is not None and not full:
            self.memory.append(Stored(offered, armed))
            self.stored += 1
        self.fresh = free and line[-1] is not None
        *self.stages, self.out = line
