# SPDX-License-Identifier: Apache-2.0
"""The code of near memory's sidebands, implemented bit by bit from docs/flat.md."""

from __future__ import annotations

from enum import Enum
from functools import cache, cached_property

COUNT_BITS = 8


def _by_weight(numbers: list[int]) -> list[int]:
    return sorted(numbers, key=lambda n: (n.bit_count(), n))


class Verdict(Enum):
    """The result of checking a word."""

    CLEAN = 0
    CORRECTED = 1
    BAD = 2


class SidebandCode:
    """The code of a controller with `ratio` far lines per set."""

    def __init__(self, ratio: int) -> None:
        self.ratio = ratio
        self.tag_bits = ratio.bit_length()
        self.payload_bits = ratio * self.tag_bits + 1 + COUNT_BITS + self.tag_bits
        self.check_bits = 8 + self.payload_bits % 2
        self.bits = self.payload_bits + self.check_bits
        self.top = 1 << (self.check_bits - 1)

    @cached_property
    def payload_columns(self) -> list[int]:
        """The check bits that depend on each payload bit."""
        threes = [n for n in range(self.top) if n.bit_count() == 3]
        return [self.top + 3, *_by_weight(threes)][: self.payload_bits]

    @cached_property
    def set_columns(self) -> list[int]:
        """The check bits that depend on each bit of the set's number."""
        even = [n for n in range(1, self.top) if n.bit_count() % 2 == 0]
        odd_ones, others = [n for n in even if n & 1], [n for n in even if not n & 1]
        return _by_weight(odd_ones) + _by_weight(others)

    @cache  # noqa: B019  (a bench has one of these)
    def checks(self, set_index: int, payload: int) -> int:
        """The check bits of a set's word."""
        checks = self.top + 1
        for columns, value in ((self.payload_columns, payload), (self.set_columns, set_index)):
            for bit, column in enumerate(columns):
                checks ^= column if value >> bit & 1 else 0
        return checks

    def word(self, set_index: int, payload: int = 0) -> int:
        """A set's word."""
        return self.checks(set_index, payload) << self.payload_bits | payload

    def tags(self, payload: int) -> list[int]:
        """The tag in each slot; a tag occurs twice if the payload is not a permutation."""
        width = self.tag_bits
        tags = [(payload >> s * width & ((1 << width) - 1)) ^ s for s in range(self.ratio)]
        left = set(range(self.ratio + 1)) - set(tags)
        return [*tags, *sorted(left)]

    def legal(self, payload: int) -> bool:
        """Whether the payload is a permutation."""
        return sorted(self.tags(payload)) == list(range(self.ratio + 1))

    def read(self, set_index: int, word: int, poison: bool = False) -> tuple[Verdict, int]:
        """(verdict, payload) of a word read for a set. A poisoned word is not corrected."""
        payload = word & (1 << self.payload_bits) - 1
        syndrome = self.checks(set_index, payload) ^ word >> self.payload_bits
        verdict = Verdict.CLEAN
        if syndrome in self.payload_columns:
            payload ^= 1 << self.payload_columns.index(syndrome)
        if syndrome:
            single = syndrome.bit_count() == 1 or syndrome in self.payload_columns
            verdict = Verdict.CORRECTED if single and not poison else Verdict.BAD
        return (verdict if self.legal(payload) else Verdict.BAD), payload
