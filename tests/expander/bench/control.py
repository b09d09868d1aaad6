# SPDX-License-Identifier: Apache-2.0
"""The control port: a fast AXI4-Lite master, and what a rule is in the shadow registers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any

from anemone.rules import Rule
from tests.cocotb.bench.player import Difference
from tests.cocotb.bench.script import registers
from tests.cocotb.bench.sizes import Size
from tests.expander.bench.pins import Flag, reader, writer

ID, CAPABILITY, WINDOW_BYTES = 0x000, 0x010, 0x020
EFFECT_WINDOW, SNAPSHOT_WINDOW = 0x040, 0x048
ERROR_STATUS, ERROR_ENABLE, DROPPED_WRITES, REFUSED_READS = 0x080, 0x088, 0x090, 0x098
PENDING, INTERRUPT_ENABLE, ACKNOWLEDGE = 0x0C0, 0x0C8, 0x0D0
RULE_CONTROL, RULE_START, RULE_END = 0x100, 0x108, 0x110
PRIMARY_MASK, SUB_MASK, SHIFTS = 0x118, 0x120, 0x128
OPERAND, NOTIFY_OPERAND, EFFECT_OPERAND, COMMIT = 0x130, 0x138, 0x140, 0x148
PIPELINE, PIPELINE_STRIDE = 0x1000, 0x100
COUNTERS = {"matched": 0x00, "unmapped": 0x08, "out_of_range": 0x10, "notifications": 0x18}
PARITY_ERRORS, NOTIFICATION, CLEAR, STATUS = 0x20, 0x28, 0x30, 0x38
TABLE = 0x200000

ERRORS = ("parity", "dropped_write", "refused_read", "memory_read", "memory_write")


def pipeline(p: int, register: int) -> int:
    """The address of a pipeline's register."""
    return PIPELINE + PIPELINE_STRIDE * p + register


def entry(size: Size, p: int, key: int, base: int, mapped: bool) -> tuple[int, int]:
    """The address and the value that write a table entry."""
    return TABLE + 8 * (p * size.table + key), base | mapped << 63


def shadow(rule: Rule, enable: bool, size: Size) -> dict[int, int]:
    """The shadow registers of a rule, by address."""
    f = registers(rule, enable, size)
    control = f["enable"] | f["reads"] << 1 | f["writes"] << 2 | f["counterWidth"] << 8
    control |= f["operandSource"] << 16 | f["op"] << 24 | f["notifyOp"] << 32
    control |= f["effectKind"] << 40 | f["effectOp"] << 48
    return {
        RULE_CONTROL: control,
        RULE_START: f["start"],
        RULE_END: f["end"],
        PRIMARY_MASK: f["primaryMask"],
        SUB_MASK: f["subMask"],
        SHIFTS: f["primaryShift"] | f["subShift"] << 8,
        OPERAND: f["operand"],
        NOTIFY_OPERAND: f["notifyOperand"],
        EFFECT_OPERAND: f["effectOperand"],
    }


Answer = Callable[[int, int], None]  # of the response and, of a read, the data


class Control:
    """Writes and reads, each kind in its order, one behind the other without waiting for answers.

    A read is offered when the writes before it have been answered, and the other way round.
    """

    def __init__(self, dut: Any, rng: Random, prefix: str = "control_") -> None:
        def pin(name: str) -> Any:
            return getattr(dut, f"{prefix}{name}")

        self.rng = rng
        self._valid = {name: Flag(pin(f"{name}valid")) for name in ("aw", "w", "ar")}
        self._ready = {name: reader(pin(f"{name}ready")) for name in ("aw", "w", "ar")}
        self._set = {name: writer(pin(name)) for name in ("awaddr", "wdata", "wstrb", "araddr")}
        self._set["wstrb"](0xFF)
        self._answer = {name: reader(pin(f"{name}valid")) for name in ("b", "r")}
        self._take = {name: Flag(pin(f"{name}ready")) for name in ("b", "r")}
        self._resp = {name: reader(pin(f"{name}resp")) for name in ("b", "r")}
        self._data = reader(pin("rdata"))
        self._todo: deque[tuple[bool, int, int, Answer | None]] = deque()
        self._waiting: deque[tuple[bool, int, int, Answer | None]] = deque()
        self._addresses: deque[int] = deque()
        self._values: deque[int] = deque()
        self.slow = 0.0  # the chance, a cycle, to do nothing
        self.done = 0

    @property
    def idle(self) -> bool:
        """Everything was answered."""
        return not (self._todo or self._waiting)

    def write(self, address: int, value: int, answer: Answer | None = None) -> None:
        """Write a register when its turn comes."""
        self._todo.append((True, address, value, answer))

    def read(self, address: int, answer: Answer) -> None:
        """Read a register when its turn comes."""
        self._todo.append((False, address, 0, answer))

    def step(self, t: int) -> None:
        """Cycle t is over; what the next one shows."""
        for name, flag in self._valid.items():
            if flag.value and self._ready[name]():
                flag.set(0)
        for name in ("b", "r"):
            if self._answer[name]() and self._take[name].value:
                if not self._waiting or self._waiting[0][0] != (name == "b"):
                    raise Difference(f"cycle {t}: an answer on control_{name} to nothing")
                _, address, _, answer = self._waiting.popleft()
                resp = self._resp[name]()
                self.done += 1
                if answer:
                    answer(resp, self._data() if name == "r" else 0)
                elif resp:
                    raise Difference(f"cycle {t}: register {address:#x} answers {resp}")
        self._take["b"].set(int(self.rng.random() >= self.slow))
        self._take["r"].set(int(self.rng.random() >= self.slow))
        if self._todo and (not self._waiting or self._waiting[0][0] == self._todo[0][0]):
            item = self._todo.popleft()
            self._waiting.append(item)
            if item[0]:
                self._addresses.append(item[1])
                self._values.append(item[2])
            else:
                self._addresses.append(~item[1])
        self._offer()

    def _offer(self) -> None:
        rng, slow = self.rng, self.slow
        if self._addresses and rng.random() >= slow:
            first = self._addresses[0]
            name, address = ("aw", first) if first >= 0 else ("ar", ~first)
            if not self._valid[name].value:
                self._addresses.popleft()
                self._set[f"{name}addr"](address)
                self._valid[name].set(1)
        if self._values and not self._valid["w"].value and rng.random() >= slow:
            self._set["wdata"](self._values.popleft())
            self._valid["w"].set(1)
