# SPDX-License-Identifier: Apache-2.0
"""The SECDED code of the memories, bit by bit from docs/expander.md ("A flipped bit in the
expander").
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

PART, LAST = 64, 72


def check_bits(width: int) -> int:
    """Number of check bits of so many data bits: each bit has another column of odd weight."""
    return next(n for n in range(2, 16) if 1 << n - 1 >= width + n)


def columns(width: int) -> list[int]:
    """The columns of so many data bits."""
    odd = [n for n in range(1 << check_bits(width)) if n.bit_count() % 2 and n.bit_count() > 1]
    return sorted(odd, key=lambda n: (n.bit_count(), n))[:width]


@dataclass(frozen=True)
class Part:
    """The positions of a part's data bits and check bits in the stored word."""

    data: range
    checks: range

    @property
    def bits(self) -> list[int]:
        return [*self.data, *self.checks]

    @cached_property
    def columns(self) -> list[int]:
        return columns(len(self.data))

    def checked(self, word: int) -> int:
        """The check bits of the part's data."""
        found = 0
        for bit, column in zip(self.data, self.columns, strict=True):
            found ^= column if word >> bit & 1 else 0
        return found

    def syndrome(self, word: int) -> int:
        """The part's check bits, as computed and as stored: zero if they agree."""
        stored = word >> self.checks.start & (1 << len(self.checks)) - 1
        return self.checked(word) ^ stored


@dataclass(frozen=True)
class Verdict:
    """What a reader is told of a stored word. wrong: the data bits that are not as stored."""

    wrong: int
    corrected: bool
    uncorrected: bool


CLEAN = Verdict(0, False, False)


class Secded:
    """The code of words of `width` data bits."""

    def __init__(self, width: int) -> None:
        self.width = width
        count = 1 + -(-max(width - LAST, 0) // PART)
        ends = [*range(PART, count * PART, PART), width]
        high, self.parts = width, list[Part]()
        for first, end in zip([0, *ends], ends, strict=False):
            checks = range(high, high + check_bits(end - first))
            self.parts.append(Part(range(first, end), checks))
            high = checks.stop
        self.bits = high

    def encoded(self, data: int) -> int:
        """The stored word."""
        return data | sum(part.checked(data) << part.checks.start for part in self.parts)

    def verdict(self, flips: int) -> Verdict:
        """What is found in a stored word with these bits flipped; the word itself is the same."""
        wrong, flipped, beyond = flips & (1 << self.width) - 1, False, False
        for part in self.parts:
            if syndrome := part.syndrome(flips):
                flipped = True
                if syndrome in part.columns:
                    wrong ^= 1 << part.data[part.columns.index(syndrome)]
                elif syndrome.bit_count() > 1:
                    beyond = True
        return Verdict(wrong, flipped and not beyond, beyond)


def of_word(bits: int) -> Secded:
    """The code whose stored words have so many bits. Raises ValueError if there is none."""
    for width in range(1, bits):
        if (code := Secded(width)).bits == bits:
            return code
    raise ValueError(f"no code word has {bits} bits")
