# SPDX-License-Identifier: Apache-2.0
"""The place of the telemetry windows, which move when the registers take what software wrote.

The registers are looked at because software can't know in which cycle a write takes effect, only
that it has when it is answered.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

from anemone.hardware import registers
from tests.bench.difference import Difference
from tests.bench.pins import reader
from tests.expander.bench.control import Answer
from tests.expander.bench.windows import Windows

# The windows that software moves at random, and all that have a register.
REGISTERS = {"effect": registers.EFFECT_WINDOW, "snapshot": registers.SNAPSHOT_WINDOW}
ALL = REGISTERS | {"acknowledge": registers.ACKNOWLEDGE_WINDOW}


class Placement:
    """Moves `windows` together with the registers, whose pins are in `scope`."""

    def __init__(self, scope: Any, windows: Windows, cover: Counter[str]) -> None:
        self.windows, self.cover = windows, cover
        self._pins = {
            name: {
                field: reader(getattr(scope, f"io_out_{name}Window_{field}"))
                for field in register.fields
            }
            for name, register in ALL.items()
        }
        self._value = dict.fromkeys(ALL, 0)
        self._written: dict[str, deque[int]] = {name: deque() for name in ALL}
        self._moves: Counter[str] = Counter()  # moves that took effect or were written

    def writes(self, name: str, value: int) -> Answer:
        """Note that a register is about to be written. Returns a callback for the answer."""
        self._written[name].append(value)
        self._moves[name] += 1
        number = self._moves[name]

        def answered(resp: int, _: int) -> None:
            if resp or self._moves[name] - len(self._written[name]) < number:
                raise Difference(f"{value:#x} to the {name} window: {resp}, and not in force")

        return answered

    def step(self, t: int, burst: bool) -> None:
        """Update the windows in cycle t. `burst`: lines of a burst still have to be read."""
        for name, pins in self._pins.items():
            value = ALL[name].pack(**{field: pin() for field, pin in pins.items()})
            written = self._written[name]
            if written and written[0] == value:
                self._move(name, written.popleft(), burst)
            elif value != self._value[name]:
                raise Difference(f"cycle {t}: the {name} window is {value:#x}, not {list(written)}")

    def _move(self, name: str, value: int, burst: bool) -> None:
        self._value[name] = value
        base = value & -self.windows.build.window_bytes if value & 1 else None
        setattr(self.windows, name, base)
        self.cover[f"window/{name}/{'closed' if base is None else 'open'}"] += 1
        self.cover["window/amid a burst"] += burst
