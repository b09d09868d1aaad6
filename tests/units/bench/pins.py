# SPDX-License-Identifier: Apache-2.0
"""A unit's ports as numbers: written for the next cycle, read as they settled in the last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.bench.pins import reader, writer


class Pins:
    """The pins of one unit. One that was not emitted reads as its default and ignores writes."""

    def __init__(self, dut: Any, module: str, defaults: dict[str, int]) -> None:
        handles = {name: getattr(dut, f"{module}_io_{name}", None) for name in defaults}
        there = {name: handle for name, handle in handles.items() if handle is not None}
        self._widths = {name: len(handle) for name, handle in there.items()}
        self._readers = {name: reader(handle) for name, handle in there.items()}
        self._writers = {name: writer(handle) for name, handle in there.items()}
        self._defaults, self._values = defaults, dict[str, int]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._readers)

    def width(self, name: str) -> int:
        """The pin's number of bits."""
        return self._widths[name]

    def __contains__(self, name: str) -> bool:
        return name in self._readers

    def get(self, name: str) -> int:
        """The value in the cycle that ends."""
        return self._readers[name]() if name in self._readers else self._defaults[name]

    def shows(self, name: str, value: int) -> bool:
        """Whether the pin has this value in the cycle that ends, or was not emitted."""
        return name not in self._readers or self._readers[name]() == value

    def set(self, **values: int) -> None:
        """Set inputs from the next cycle on."""
        for name, value in values.items():
            if name in self._writers and self._values.get(name) != value:
                self._values[name] = value
                self._writers[name](value)


class Item:
    """An item whose fields are pins of their own, as one number; the first field is the lowest."""

    def __init__(self, dut: Any, module: str, prefix: str, fields: list[str]) -> None:
        handles = [getattr(dut, f"{module}_io_{prefix}{name}") for name in fields]
        self._widths = [len(handle) for handle in handles]
        self._read = [reader(handle) for handle in handles]
        self._write = [writer(handle) for handle in handles]
        self.width = sum(self._widths)

    def get(self) -> int:
        """The value in the cycle that ends."""
        value, low = 0, 0
        for read, width in zip(self._read, self._widths, strict=True):
            value |= read() << low
            low += width
        return value

    def set(self, value: int) -> None:
        """Set the value from the next cycle on."""
        for write, width in zip(self._write, self._widths, strict=True):
            write(value & (1 << width) - 1)
            value >>= width
