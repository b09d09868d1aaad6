# SPDX-License-Identifier: Apache-2.0
"""The control port: a fast AXI4-Lite master, and the shadow registers of a rule."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any

from anemone.hardware import registers
from anemone.telemetry.rules import NEAR, Rule
from tests.bench.difference import Difference
from tests.bench.pins import Flag, reader, writer
from tests.engine.bench.script import registers as ports
from tests.engine.bench.sizes import Size

ID, CAPABILITY = registers.ID.offset, registers.CAPABILITY.offset
WINDOW_BYTES = registers.WINDOW.offset
EFFECT_WINDOW, SNAPSHOT_WINDOW = registers.EFFECT_WINDOW.offset, registers.SNAPSHOT_WINDOW.offset
ERROR_STATUS, ERROR_ENABLE = registers.ERROR_STATUS.offset, registers.ERROR_ENABLE.offset
DROPPED_WRITES, REFUSED_READS = registers.DROPPED_WRITES.offset, registers.REFUSED_READS.offset
PENDING, INTERRUPT_ENABLE = registers.INTERRUPT_PENDING.offset, registers.INTERRUPT_ENABLE.offset
ACKNOWLEDGE, COMMIT = registers.INTERRUPT_ACKNOWLEDGE.offset, registers.RULE_COMMIT.offset
COUNTERS = {
    "matched": registers.PIPELINE_MATCHED,
    "unmapped": registers.PIPELINE_UNMAPPED,
    "out_of_range": registers.PIPELINE_OUT_OF_RANGE,
    "notifications": registers.PIPELINE_NOTIFICATIONS,
}
PARITY_ERRORS, NOTIFICATION = registers.PIPELINE_PARITY_ERRORS, registers.PIPELINE_NOTIFICATION
CLEAR, STATUS = registers.PIPELINE_CONTROL, registers.PIPELINE_STATUS
TABLE = registers.TABLE.offset

ERRORS = tuple(registers.ERROR_STATUS.fields)


def pipeline(p: int, register: registers.Register) -> int:
    """The address of a pipeline's register."""
    return registers.PIPELINE.at(p, register)


def entry(size: Size, p: int, key: int, base: int, mapped: bool) -> tuple[int, int]:
    """The address and the value that write a table entry."""
    value = registers.TABLE_ENTRY.pack(base=base, mapped=int(mapped))
    return registers.TABLE.at(p * size.table + key), value


def shadow(rule: Rule, enable: bool, size: Size) -> dict[int, int]:
    """The shadow registers of a rule, by address."""
    f = ports(rule, enable, size)
    packed = {
        registers.RULE_CONTROL: {
            "enable": f["enable"],
            "reads": f["reads"],
            "writes": f["writes"],
            "near": NEAR.index(rule.near),
            "hash": rule.hash_size > 0,
            "counter_width": f["counterWidth"],
            "operand_source": f["operandSource"],
            "op": f["op"],
            "notify_op": f["notifyOp"],
            "effect_kind": f["effectKind"],
            "effect_op": f["effectOp"],
        },
        registers.RULE_START: {"address": f["start"]},
        registers.RULE_END: {"address": f["end"]},
        registers.RULE_PRIMARY_MASK: {"value": f["primaryMask"]},
        registers.RULE_SUB_MASK: {"value": f["subMask"]},
        registers.RULE_SHIFTS: {"primary": f["primaryShift"], "sub": f["subShift"]},
        registers.RULE_HASH: {"multiplier": rule.hash_multiplier, "size": rule.hash_size},
        registers.RULE_OPERAND: {"value": f["operand"]},
        registers.RULE_NOTIFY_OPERAND: {"value": f["notifyOperand"]},
        registers.RULE_EFFECT_OPERAND: {"value": f["effectOperand"]},
    }
    return {register.offset: register.pack(**fields) for register, fields in packed.items()}


Answer = Callable[[int, int], None]  # callback: (response, a read's data)


class Control:
    """Makes writes and reads, each kind in order and pipelined.

    A read is offered when earlier writes have been answered, and a write when earlier reads have.
    """

    def __init__(self, dut: Any, rng: Random, prefix: str = "control_") -> None:
        def pin(name: str) -> Any:
            return getattr(dut, f"{prefix}{name}")

        self.rng = rng
        self._valid = {name: Flag(pin(f"{name}valid")) for name in ("aw", "w", "ar")}
        self._ready = {name: reader(pin(f"{name}ready")) for name in ("aw", "w", "ar")}
        self._set = {name: writer(pin(name)) for name in ("awaddr", "wdata", "wstrb", "araddr")}
        self._answer = {name: reader(pin(f"{name}valid")) for name in ("b", "r")}
        self._take = {name: Flag(pin(f"{name}ready")) for name in ("b", "r")}
        self._resp = {name: reader(pin(f"{name}resp")) for name in ("b", "r")}
        self._data = reader(pin("rdata"))
        self._todo: deque[tuple[bool, int, tuple[int, int], Answer | None]] = deque()
        self._waiting: deque[tuple[bool, int, Answer | None]] = deque()
        self._addresses: deque[int] = deque()
        self._values: deque[tuple[int, int]] = deque()  # with the strobes
        self.slow = 0.0  # the chance, a cycle, to do nothing
        self.done = 0

    @property
    def idle(self) -> bool:
        """Everything was answered."""
        return not (self._todo or self._waiting)

    def write(
        self, address: int, value: int, answer: Answer | None = None, strobe: int = 0xFF
    ) -> None:
        """Write a register, or those of its bytes that have a strobe, when its turn comes."""
        self._todo.append((True, address, (value, strobe), answer))

    def read(self, address: int, answer: Answer) -> None:
        """Read a register when its turn comes."""
        self._todo.append((False, address, (0, 0), answer))

    def step(self, t: int) -> None:
        """Process cycle t and drive the next one."""
        for name, flag in self._valid.items():
            if flag.value and self._ready[name]():
                flag.set(0)
        for name in ("b", "r"):
            if self._answer[name]() and self._take[name].value:
                if not self._waiting or self._waiting[0][0] != (name == "b"):
                    raise Difference(f"cycle {t}: an answer on control_{name} to nothing")
                _, address, answer = self._waiting.popleft()
                resp = self._resp[name]()
                self.done += 1
                if answer:
                    answer(resp, self._data() if name == "r" else 0)
                elif resp:
                    raise Difference(f"cycle {t}: register {address:#x} answers {resp}")
        self._take["b"].set(int(self.rng.random() >= self.slow))
        self._take["r"].set(int(self.rng.random() >= self.slow))
        if self._todo and (not self._waiting or self._waiting[0][0] == self._todo[0][0]):
            write, address, value, answer = self._todo.popleft()
            self._waiting.append((write, address, answer))
            self._addresses.append(address if write else ~address)
            if write:
                self._values.append(value)
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
            value, strobe = self._values.popleft()
            self._set["wdata"](value)
            self._set["wstrb"](strobe)
            self._valid["w"].set(1)
