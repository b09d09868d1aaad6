# SPDX-License-Identifier: Apache-2.0
"""The reference model of a telemetry pipeline: NEMO §3.1 and Table 1, one event at a time.

It is written to be compared with the paper; `fast` is the fast version. All values are Python
integers, so they wrap only where the code says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from anemone.hardware.geometry import WORDS_PER_LINE, Geometry
from anemone.telemetry.rules import HASH_BITS, Rule


def _shift_right(value: int, operand: int, width: int) -> int:
    amount = operand % 64
    return value >> amount if amount < width else 0


def _shift_left(value: int, operand: int, width: int) -> int:
    amount = operand % 64
    return value << amount if amount < width else 0


def _average(shift: int) -> Callable[[int, int, int], int]:
    """A step of value towards operand by 1 / 2^shift of their difference. It is rounded down, so a
    step down is never too short and a step up never too long.
    """
    return lambda value, operand, width: value + (operand - value >> shift)


def _saturating_add(value: int, operand: int, width: int) -> int:
    return min(value + operand, 2**width - 1)


# NEMO Table 1, "update op", and nine more that the hardware has. The operand is already truncated
# to the counter's width; the result is truncated afterwards.
OPS: dict[str, Callable[[int, int, int], int]] = {
    "add": lambda value, operand, width: value + operand,
    "sub": lambda value, operand, width: value - operand,
    "shr": _shift_right,
    "shl": _shift_left,
    "xor": lambda value, operand, width: value ^ operand,
    "or": lambda value, operand, width: value | operand,
    "max": lambda value, operand, width: max(value, operand),
    "addsat": _saturating_add,
    "min": lambda value, operand, width: min(value, operand),
    "subsat": lambda value, operand, width: max(value - operand, 0),
    "last": lambda value, operand, width: operand,
    "ewma2": _average(1),
    "ewma4": _average(2),
    "ewma8": _average(3),
}

# A counter after a written value is subtracted, with the value of a reset; modulo 2^width
# afterwards. For other ops nothing is subtracted.
TAKEN: dict[str, Callable[[int, int, int], int]] = {
    "add": lambda value, written, fresh: value - written + fresh,
    "sub": lambda value, written, fresh: value - written + fresh,
    "addsat": lambda value, written, fresh: value - written + fresh,
    "subsat": lambda value, written, fresh: value - written + fresh,
    "xor": lambda value, written, fresh: value ^ written ^ fresh,
    "or": lambda value, written, fresh: value & ~written | fresh,
    "max": lambda value, written, fresh: fresh if value == written else value,
    "min": lambda value, written, fresh: fresh if value == written else value,
    "last": lambda value, written, fresh: fresh if value == written else value,
}

# NEMO Table 1, "predicate"; unsigned.
PREDICATES: dict[str, Callable[[int, int], bool]] = {
    "none": lambda value, operand: False,
    "eq": lambda value, operand: value == operand,
    "ge": lambda value, operand: value >= operand,
    "gt": lambda value, operand: value > operand,
    "lt": lambda value, operand: value < operand,
    "le": lambda value, operand: value <= operand,
}


class Telemetry:
    """One rule on one pipeline, with the state of every channel.

    matched: events that updated a counter. unmapped: events whose key has no entry in the table.
    out_of_range: events whose index is past the last counter, or whose offset is too wide to be
    hashed. notifications: updates after which the predicate held. notified: the (channel, index) of
    the first of them since `acknowledge`. Events that the filter drops are not counted.
    """

    def __init__(self, rule: Rule, geometry: Geometry) -> None:
        self.rule = rule
        self.geometry = geometry
        self.table: dict[int, int] = {int(key): int(base) for key, base in rule.map}
        self.states = [[0] * geometry.states for _ in range(geometry.channels)]
        self.matched = self.unmapped = self.out_of_range = self.notifications = 0
        self.notified: tuple[int, int] | None = None

    # --- match (NEMO §3.1, "Match stage") ---

    def event(self, addr: int, write: bool, near: str = "any") -> None:
        """Process a memory request at a device byte address.

        near: in flat memory mode "hit" or "miss"; "any" if the outcome is unknown.
        """
        rule = self.rule
        if ("W" if write else "R") not in rule.type or not rule.start <= addr < rule.end:
            return
        if rule.near not in ("any", near):
            return
        key = (addr & rule.primary_mask) >> rule.primary_shift
        base = self.table.get(key) if key < self.geometry.table else None
        if base is None:
            self.unmapped += 1
            return
        offset = (addr & rule.sub_mask) >> rule.sub_shift
        fits = not rule.hash_size or offset < 2**HASH_BITS
        if rule.hash_size:  # multiply-shift, its result scaled to the size (NEMO §6.3)
            hashed = offset * rule.hash_multiplier % 2**HASH_BITS
            offset = hashed * rule.hash_size // 2**HASH_BITS
        index = base + offset
        if not fits or index >= self.geometry.counters(rule.width):
            self.out_of_range += 1
            return
        self._update(self.geometry.channel(addr), index, addr, write)

    # --- update, notify (NEMO §3.1, "Update stage", "Notify stage") ---

    def _update(self, channel: int, index: int, addr: int, write: bool) -> None:
        rule = self.rule
        operand = {"imm": rule.operand, "line": addr >> 6, "is_write": int(write)}
        value = self._apply(rule.op, self.counter(channel, index), operand[rule.operand_kind])
        self._set_counter(channel, index, value)
        self.matched += 1
        if PREDICATES[rule.notify_op](value, rule.notify_operand % 2**rule.width):
            self.notifications += 1
            if self.notified is None:
                self.notified = channel, index

    def _apply(self, op: str, value: int, operand: int) -> int:
        """Apply an update op to a value, modulo 2^width."""
        width = self.rule.width
        return OPS[op](value, operand % 2**width, width) % 2**width

    def acknowledge(self) -> None:
        """Let the next notification be latched."""
        self.notified = None

    # --- state (64 / width counters in a 64-bit word, the first in the lowest bits) ---

    def _place(self, index: int) -> tuple[int, int]:
        """The state word that holds a counter, and the counter's lowest bit in it."""
        per_word = 64 // self.rule.width
        return index // per_word, index % per_word * self.rule.width

    def counter(self, channel: int, index: int) -> int:
        """A counter's value."""
        word, bit = self._place(index)
        return self.states[channel][word] >> bit & (2**self.rule.width - 1)

    def _set_counter(self, channel: int, index: int, value: int) -> None:
        word, bit = self._place(index)
        others = self.states[channel][word] & ~((2**self.rule.width - 1) << bit)
        self.states[channel][word] = others | value << bit

    # --- read (NEMO §3.1, "Telemetry state access") ---

    def read_line(self, channel: int, line: int, effect: bool) -> list[int]:
        """Eight state words before the read effect, which applies to every counter of the line.

        Without `effect` it is a snapshot. Predicates are not tested.
        """
        first = line * WORDS_PER_LINE
        words = self.states[channel][first : first + WORDS_PER_LINE]
        if effect and self.rule.effect_op != "none":
            per_line = WORDS_PER_LINE * (64 // self.rule.width)
            for index in range(line * per_line, (line + 1) * per_line):
                self._set_counter(channel, index, self._after_read(self.counter(channel, index)))
        return words

    def _after_read(self, value: int) -> int:
        rule = self.rule
        if rule.effect_op == "reset":
            return rule.effect_operand % 2**rule.width
        return self._apply(rule.effect_op, value, rule.effect_operand)

    def acknowledge_line(self, channel: int, line: int, words: list[int]) -> None:
        """Subtract a line that was read (eight state words) from the counters, so that later
        updates are not lost. Predicates are not tested.
        """
        if self.rule.op not in TAKEN:
            return
        take, width = TAKEN[self.rule.op], self.rule.width
        fresh = self.rule.effect_operand % 2**width if self.rule.effect_op == "reset" else 0
        first = line * WORDS_PER_LINE * (64 // width)
        for index, written in enumerate(unpack(words, width), start=first):
            value = take(self.counter(channel, index), written, fresh)
            self._set_counter(channel, index, value % 2**width)

    # --- control (NEMO §3.2) ---

    def set_translation(self, key: int, base: int, valid: bool = True) -> None:
        """Change one entry of the table between two events."""
        if valid:
            self.table[key] = base
        else:
            self.table.pop(key, None)

    def clear(self) -> None:
        """Zero all states and counts, unmap every key and let the next notification be latched."""
        self.table.clear()
        self.states = [[0] * self.geometry.states for _ in range(self.geometry.channels)]
        self.matched = self.unmapped = self.out_of_range = self.notifications = 0
        self.notified = None

    def nonzero(self) -> Iterator[tuple[int, int, int]]:
        """(index, channel, value) of every non-zero counter, sorted."""
        for index in range(self.geometry.counters(self.rule.width)):
            for channel in range(self.geometry.channels):
                if value := self.counter(channel, index):
                    yield index, channel, value


def unpack(words: Iterable[int], width: int) -> list[int]:
    """The counters in state words, lowest bits first."""
    return [word >> bit & (2**width - 1) for word in words for bit in range(0, 64, width)]


def replay(
    telemetry: Telemetry, events: Iterable[tuple[int, bool] | tuple[int, bool, str]]
) -> list[tuple[int, int, int, int]]:
    """Run a trace of (addr, write) or (addr, write, near), and read every line after every
    rule.read_every events.

    Returns (event, index, channel, value) of the non-zero values that were read, sorted; event is
    the number of events before the read.
    """
    reads = []
    rule, geometry = telemetry.rule, telemetry.geometry
    for count, event in enumerate(events, start=1):
        telemetry.event(*event)
        if rule.read_every and count % rule.read_every == 0:
            for channel in range(geometry.channels):
                words = [
                    word
                    for line in range(geometry.lines)
                    for word in telemetry.read_line(channel, line, effect=True)
                ]
                values = enumerate(unpack(words, rule.width))
                reads += [(count, index, channel, value) for index, value in values if value]
    return sorted(reads)
