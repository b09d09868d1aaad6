# SPDX-License-Identifier: Apache-2.0
"""Memory contents as 64 B lines with poison, and the effect of writes on them."""

from __future__ import annotations

from functools import cache

from tests.bench.requests import FULL, LINE_BITS

BLANK = int.from_bytes(bytes((i * 37 + 11) & 255 for i in range(64)), "little") | 1
WHOLE = (1 << LINE_BITS) - 1


def bits(value: int) -> str:
    """A line in the format of the pins."""
    return f"{value:0512b}"


@cache
def mask(strobe: int) -> int:
    """A mask of the bytes that a strobe selects."""
    return sum(255 << 8 * i for i in range(64) if strobe >> i & 1)


class Store:
    """Lines by number, each (data, poison); lines that were never written all differ."""

    def __init__(self) -> None:
        self.lines: dict[int, tuple[int, int]] = {}

    def read(self, line: int) -> tuple[int, int]:
        """A line and whether it is poisoned."""
        return self.lines.get(line) or ((line + 1) * BLANK & WHOLE, 0)

    def write(self, line: int, data: str, strobe: int, poison: int) -> None:
        """Write bytes of a line. A whole line sets its poison; a partial write can only add
        poison.
        """
        value = int(data, 2)
        if strobe != FULL:
            if not strobe:
                return
            old, bad = self.read(line)
            chosen = mask(strobe)
            value = old & ~chosen | value & chosen
            poison |= bad
        self.lines[line] = value, poison
