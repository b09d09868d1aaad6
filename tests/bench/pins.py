# SPDX-License-Identifier: Apache-2.0
"""Pins without cocotb's conversions, which would cost more than the simulation.

At a rising edge a pin reads as the settled value of the cycle before; writes show after the edge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cocotb.clock import Clock
from cocotb.handle import Immediate
from cocotb.triggers import RisingEdge, Timer

DEPOSIT = 0  # takes effect after the edge
NARROW = 32  # bits that fit a plain integer, less one for its sign


def reader(handle: Any) -> Callable[[], int]:
    """A function that reads a pin as an unsigned number."""
    if len(handle) < NARROW:
        return handle._handle.get_signal_val_long
    binary = handle._handle.get_signal_val_binstr
    return lambda: int(binary(), 2)


def text_reader(handle: Any) -> Callable[[], str]:
    """A function that reads a wide pin as a string of its bits."""
    return handle._handle.get_signal_val_binstr


def writer(handle: Any) -> Callable[[int], None]:
    """A function that writes a number to a pin."""
    width = len(handle)
    if width < NARROW:
        number = handle._handle.set_signal_val_int
        return lambda value: number(DEPOSIT, value)
    binary = handle._handle.set_signal_val_binstr
    return lambda value: binary(DEPOSIT, f"{value:0{width}b}")


def text_writer(handle: Any) -> Callable[[str], None]:
    """A function that writes a string of bits to a wide pin."""
    binary = handle._handle.set_signal_val_binstr
    return lambda bits: binary(DEPOSIT, bits)


async def power_on(dut: Any) -> None:
    """Start the clock under reset, and return after the first edge.

    The simulator starts with random state: also in clock and reset, which must be set before that
    edge, and in clock gates, which may miss it (docs/ports.md).
    """
    dut.clock.value = Immediate(0)
    dut.reset.value = Immediate(1)
    await Timer(1, "step")
    Clock(dut.clock, 2, unit="step").start()
    await RisingEdge(dut.clock)


class Flag:
    """A one-bit input that is written only when it changes."""

    def __init__(self, handle: Any, value: int = 0) -> None:
        self._write = handle._handle.set_signal_val_int
        self.value = value
        self._write(DEPOSIT, value)

    def set(self, value: int) -> None:
        """Set the value from the next cycle on."""
        if value != self.value:
            self.value = value
            self._write(DEPOSIT, value)


class Fields:
    """The pins of one AXI channel's payload, `text` among them as strings of bits."""

    def __init__(self, dut: Any, prefix: str, names: tuple[str, ...], text: str = "") -> None:
        handles = [getattr(dut, f"{prefix}{name}") for name in names]
        kinds = [name == text for name in names]
        pairs = list(zip(handles, kinds, strict=True))
        self._readers = [text_reader(h) if wide else reader(h) for h, wide in pairs]
        self._handles = pairs
        self._writers: list[Callable[[Any], None]] | None = None

    def read(self) -> tuple[Any, ...]:
        """Read all pins."""
        return tuple([read() for read in self._readers])

    def write(self, values: tuple[Any, ...]) -> None:
        """Write all pins for the next cycle."""
        if self._writers is None:
            self._writers = [text_writer(h) if wide else writer(h) for h, wide in self._handles]
        for write, value in zip(self._writers, values, strict=True):
            write(value)


ADDRESS = ("id", "addr", "len", "size", "burst")
WRITE = ("data", "strb", "last", "user")
RESPONSE = ("id", "resp")
READ = ("id", "data", "resp", "last", "user")
