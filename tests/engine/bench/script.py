# SPDX-License-Identifier: Apache-2.0
"""A script has all inputs of one run at the engine's ports, with their earliest cycles.

Handshakes hold an item until it is accepted, so one item may delay the next one. Values that are
None are chosen when the item is offered, so it can meet items in flight.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from anemone.telemetry.rules import EFFECTS, OP_CODES, OPERANDS, PREDICATES, WIDTHS, Rule
from tests.engine.bench.sizes import Size

Event = tuple[int, int]  # byte address, is-write


@dataclass(slots=True)
class Read:
    """A telemetry read; `line` None: the line that this pipeline updated last."""

    at: int
    pipeline: int
    line: int | None
    effect: bool


@dataclass(slots=True)
class Take:
    """A line that is written back; `line` None: the line that this pipeline updated last.

    words: the data; None: the line's contents when it is offered, with some random changes.
    lost: which of them have an uncorrectable error.
    """

    at: int
    pipeline: int
    line: int | None
    words: list[int] | None = None
    lost: tuple[int, ...] = ()


@dataclass(slots=True)
class TableWrite:
    """A translation entry; `key` None: the key of this cycle's event, if there is one."""

    at: int
    pipeline: int
    key: int | None
    base: int
    mapped: bool


@dataclass(slots=True)
class RuleWrite:
    """A rule. Without `enable` it matches no event, but still has its read effect."""

    at: int
    pipeline: int
    rule: Rule
    enable: bool = True


@dataclass
class Script:
    """One run, from the first cycle of a reset on.

    cycles: number of cycles with events and new reads; then the engine drains and every line is
    read. reset: cycles of reset at the start, in which nothing is accepted. events[channel][cycle];
    reads[channel] and takes[channel] in their order; tables and rules in theirs. clears,
    acknowledges: (cycle, pipeline). samples: cycles in which the counters are compared, besides the
    last. noise: payloads that are not valid are random.
    """

    cycles: int
    events: list[list[Event | None]]
    reads: list[list[Read]]
    takes: list[list[Take]]
    reset: int = 2
    tables: list[TableWrite] = field(default_factory=list)
    rules: list[RuleWrite] = field(default_factory=list)
    clears: list[tuple[int, int]] = field(default_factory=list)
    acknowledges: list[tuple[int, int]] = field(default_factory=list)
    samples: list[int] = field(default_factory=list)
    noise: bool = False
    snapshot: bool = True

    @classmethod
    def blank(cls, size: Size, cycles: int, **fields: object) -> Script:
        """A script of the given length in which nothing happens yet."""
        events: list[list[Event | None]] = [[None] * cycles for _ in range(size.channels)]
        reads, takes = ([[] for _ in range(size.channels)] for _ in range(2))
        return cls(cycles, events, reads, takes, **fields)  # type: ignore[arg-type]


def registers(rule: Rule, enable: bool, size: Size) -> dict[str, int]:
    """A rule's signals at the port `io_rule_bits_rule_`."""
    mask = (1 << size.address_bits) - 1
    effect = rule.effect_op
    hashes = {
        "hash": int(rule.hash_size > 0),
        "hashMultiplier": rule.hash_multiplier,
        "hashSize": rule.hash_size,
    }
    kind = EFFECTS.index(effect) if effect in ("none", "reset") else 2
    return {
        "enable": int(enable),
        "reads": int("R" in rule.type),
        "writes": int("W" in rule.type),
        "start": rule.start,
        "end": rule.end,
        "primaryMask": rule.primary_mask & mask,
        "primaryShift": rule.primary_shift,
        "subMask": rule.sub_mask & mask,
        "subShift": rule.sub_shift,
        **(hashes if size.features.hash else {}),
        "op": OP_CODES[rule.op],
        "operandSource": OPERANDS.index(rule.operand_kind),
        "operand": rule.operand,
        "counterWidth": WIDTHS.index(rule.width),
        "notifyOp": PREDICATES.index(rule.notify_op),
        "notifyOperand": rule.notify_operand,
        "effectKind": kind,
        "effectOp": OP_CODES.get(effect, 0),
        "effectOperand": rule.effect_operand,
    }
