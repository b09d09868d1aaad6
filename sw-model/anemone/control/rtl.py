# SPDX-License-Identifier: Apache-2.0
"""Pipelines of the Verilated expander, through registers and telemetry region (docs/expander.md).

The expander is the co-simulation's server. Memory accesses and BAR accesses alternate: every memory
access is answered before software's next read or write, so they are in program order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anemone.control.pipelines import Pipeline, Pipelines
from anemone.cosim.function import CONTROL, TELEMETRY, Function
from anemone.cosim.server import Server, rows
from anemone.flat.config import POLICIES, FlatConfig
from anemone.hardware import registers as regs
from anemone.hardware.fields import Register
from anemone.hardware.geometry import LINE_BYTES, WORDS_PER_LINE, Geometry
from anemone.telemetry import Rule
from anemone.telemetry.rules import NEAR, OP_CODES, OPERANDS, PREDICATES, WIDTHS

_NO_EFFECT, _RESET, _OP = regs.ReadEffect
_WINDOWS = 4  # windows that the region has space for


class RtlPipelines(Pipelines):
    """Builds the simulator if necessary, which takes minutes, and runs it. Raises CosimError.

    flat: configuration of flat memory mode for every channel.
    """

    def __init__(self, geometry: Geometry, flat: FlatConfig | None = None) -> None:
        super().__init__(geometry)
        self._server = Server(geometry, ratio=flat.ratio if flat else 0).__enter__()
        self.function = Function(self._server)
        self._running: dict[int, RtlPipeline] = {}
        window = int(self.get(regs.WINDOW.offset))
        base = max(geometry.device_bytes, _WINDOWS * window)
        self.snapshots = window  # offset in the region
        self.set(regs.EFFECT_WINDOW.offset, base | 1)
        self.set(regs.SNAPSHOT_WINDOW.offset, base + window | 1)
        if flat:
            self._start(flat)

    def _start(self, flat: FlatConfig) -> None:
        policy = regs.FLAT_POLICY.pack(policy=POLICIES.index(flat.policy), n=flat.n)
        for channel in range(self.geometry.channels):
            for register, value in (
                (regs.FLAT_NEAR_LINES, flat.near_lines), (regs.FLAT_POLICY, policy),
                (regs.FLAT_CONTROL, regs.FLAT_CONTROL.pack(start=1)),
            ):  # fmt: skip
                self.set(regs.FLAT.at(channel, register), value)
            status = regs.FLAT.at(channel, regs.FLAT_STATUS)
            while not regs.FLAT_STATUS.unpack(int(self.get(status)))["ready"]:
                pass

    def close(self) -> None:
        self.function.close()
        self._server.__exit__(None, None, None)

    def add(self, rule: Rule) -> RtlPipeline:
        free = [n for n in range(self.geometry.pipelines) if n not in self._running]
        if not free:
            raise self._taken()
        self._running[free[0]] = RtlPipeline(self, free[0], rule)
        return self._running[free[0]]

    def remove(self, pipeline: Pipeline) -> None:
        number = next(n for n, one in self._running.items() if one is pipeline)
        self.set(regs.RULE_CONTROL.offset, 0)
        self.set(regs.RULE_COMMIT.offset, number)
        del self._running[number]

    def events(self, addr: np.ndarray, write: np.ndarray, idle: Sequence[Pipeline] = ()) -> None:
        if len(addr):
            self._server.inject(rows(addr, write))

    def get(self, offset: int) -> np.uint64:
        """Read a register of the control port."""
        return self.function.read(CONTROL, offset, 1)[0]

    def set(self, offset: int, value: int) -> None:
        self.function.write(CONTROL, offset, [value])


class RtlPipeline:
    """One pipeline that runs a rule; golden.Telemetry documents the methods."""

    def __init__(self, device: RtlPipelines, number: int, rule: Rule) -> None:
        self.rule, self._device, self._number = rule, device, number
        self.clear()
        self.acknowledge()
        for register, value in _rule_registers(rule):
            device.set(register.offset, value)
        device.set(regs.RULE_COMMIT.offset, number)
        if len(rule.map):
            self.set_translation(rule.map[:, 0], rule.map[:, 1])

    @property
    def per_line(self) -> int:
        return WORDS_PER_LINE * (64 // self.rule.width)

    @property
    def notified(self) -> tuple[int, int] | None:
        at = regs.PIPELINE.at(self._number, regs.PIPELINE_NOTIFICATION)
        found = regs.PIPELINE_NOTIFICATION.unpack(int(self._device.get(at)))
        return (found["channel"], found["index"]) if found["valid"] else None

    def acknowledge(self) -> None:
        word = regs.INTERRUPT_ACKNOWLEDGE.pack(pipelines=1 << self._number)
        self._device.set(regs.INTERRUPT_ACKNOWLEDGE.offset, word)

    def clear(self) -> None:
        self._device.set(regs.PIPELINE.at(self._number, regs.PIPELINE_CONTROL), 1)
        status = regs.PIPELINE.at(self._number, regs.PIPELINE_STATUS)
        while self._device.get(status):
            pass

    def set_translation(
        self, key: int | np.ndarray, base: int | np.ndarray, valid: bool = True
    ) -> None:
        geometry = self._device.geometry
        keys = np.atleast_1d(np.asarray(key, np.int64))
        bases = np.broadcast_to(np.asarray(base, np.int64), keys.shape)
        for name, values, end in (
            ("key", keys, geometry.table),
            ("base", bases, geometry.counters(self.rule.width)),
        ):
            if np.any((values < 0) | (values >= end)):
                raise ValueError(f"{name} {values}: 0 to {end - 1}")
        mapped = regs.TABLE_ENTRY.pack(mapped=1)
        words = bases.astype(np.uint64) | np.uint64(mapped) if valid else np.zeros_like(bases)
        for run in np.split(np.arange(len(keys)), np.flatnonzero(np.diff(keys) != 1) + 1):
            if len(run):
                first = regs.TABLE.at(self._number * geometry.table + int(keys[run[0]]))
                self._device.function.write(CONTROL, first, words[run].astype(np.uint64))

    def read_line(self, channel: int, line: int, effect: bool) -> list[int]:
        return self._words(line * self._device.geometry.channels + channel, 1, effect).tolist()

    def read(self, index: range, effect: bool = False) -> np.ndarray:
        channels = self._device.geometry.channels
        if not len(index):
            return np.empty((0, channels), np.uint64)
        first, last = index[0] // self.per_line, index[-1] // self.per_line
        # Lines of the channels alternate.
        words = self._words(first * channels, (last + 1 - first) * channels, effect)
        shifts = np.arange(0, 64, self.rule.width, dtype=np.uint64)
        counters = words[:, None] >> shifts & np.uint64((1 << self.rule.width) - 1)
        by_channel = counters.reshape(-1, channels, self.per_line).swapaxes(1, 2)
        return by_channel.reshape(-1, channels)[np.asarray(index) - first * self.per_line]

    def _words(self, first: int, count: int, effect: bool) -> np.ndarray:
        """The words of consecutive lines in the region: uint64[count * 8]."""
        geometry = self._device.geometry
        number = self._number * geometry.lines * geometry.channels + first
        at = (0 if effect else self._device.snapshots) + number * LINE_BYTES
        return self._device.function.read(TELEMETRY, at, count * WORDS_PER_LINE)


def _rule_registers(rule: Rule) -> list[tuple[Register, int]]:
    """The registers of a rule and their values, without the commit."""
    kind = {"none": _NO_EFFECT, "reset": _RESET}.get(rule.effect_op, _OP)
    control = regs.RULE_CONTROL.pack(
        enable=1, reads="R" in rule.type, writes="W" in rule.type, near=NEAR.index(rule.near),
        counter_width=WIDTHS.index(rule.width), operand_source=OPERANDS.index(rule.operand_kind),
        op=OP_CODES[rule.op], notify_op=PREDICATES.index(rule.notify_op), effect_kind=kind,
        effect_op=OP_CODES.get(rule.effect_op, 0), hash=rule.hash_size > 0,
    )  # fmt: skip
    shifts = regs.RULE_SHIFTS.pack(primary=rule.primary_shift, sub=rule.sub_shift)
    hashes = regs.RULE_HASH.pack(multiplier=rule.hash_multiplier, size=rule.hash_size)
    return [
        (regs.RULE_START, rule.start), (regs.RULE_END, rule.end),
        (regs.RULE_PRIMARY_MASK, rule.primary_mask), (regs.RULE_SUB_MASK, rule.sub_mask),
        (regs.RULE_SHIFTS, shifts), (regs.RULE_HASH, hashes), (regs.RULE_OPERAND, rule.operand),
        (regs.RULE_NOTIFY_OPERAND, rule.notify_operand),
        (regs.RULE_EFFECT_OPERAND, rule.effect_operand), (regs.RULE_CONTROL, control),
    ]  # fmt: skip
