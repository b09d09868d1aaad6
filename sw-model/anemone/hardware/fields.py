# SPDX-License-Identifier: Apache-2.0
"""Registers and their bit fields; `anemone.hardware.registers` lists all of them."""

from __future__ import annotations

from dataclasses import dataclass

WORD_BYTES = 8


@dataclass(frozen=True)
class Field:
    """Bits `low` to `low + width - 1` of a word."""

    low: int
    width: int

    @property
    def mask(self) -> int:
        """A word in which exactly the field's bits are set."""
        return ((1 << self.width) - 1) << self.low

    def put(self, value: int) -> int:
        """A word in which only this field is set. Raises ValueError if the value does not fit."""
        if not 0 <= value < 1 << self.width:
            raise ValueError(f"{value} does not fit {self.width} bits")
        return value << self.low

    def get(self, word: int) -> int:
        """The field's value in a word."""
        return (word & self.mask) >> self.low


class Register:
    """A 64-bit register at a byte offset; in an array, the offset is from the block's start."""

    def __init__(self, offset: int, **fields: Field) -> None:
        self.offset = offset
        self.fields = fields

    def pack(self, **values: int) -> int:
        """A word with these field values; other fields are zero. Raises KeyError, ValueError."""
        return sum(self.fields[name].put(value) for name, value in values.items())

    def unpack(self, word: int) -> dict[str, int]:
        """The value of every field of a word, by name."""
        return {name: field.get(word) for name, field in self.fields.items()}


@dataclass(frozen=True)
class Array:
    """`count` blocks of registers, `stride` bytes apart, the first at `offset`."""

    offset: int
    stride: int
    count: int

    def at(self, index: int, register: Register | None = None) -> int:
        """Byte offset of a block, or of a register in it. Raises IndexError."""
        if not 0 <= index < self.count:
            raise IndexError(f"{index} of {self.count}")
        return self.offset + index * self.stride + (register.offset if register else 0)
