# SPDX-License-Identifier: Apache-2.0
"""A script: everything that one run puts on the engine's ports, and when at the earliest.

Handshakes hold what they offer until it is accepted, so one item may push the next one back. What
is left open (None) is chosen when it is offered, so that it meets what is in flight then.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from anemone.telemetry.rules import EFFECTS, OP_CODES, OPERANDS, PREDICATES, WIDTHS, Rule
from tests.engine.bench.sizes import Size

Event = tuple[int, int]  # byte address, is-write


@dataclass(slots=True)
class Read:
    """A telemetry read; `line` None: the one whose state this pipeline updated last."""

    at: int
    pipeline: int
    line: int | None
    effect: bool


@dataclass(slots=True)
class Take:
    """A line that is written back; `line` None: the one whose state this pipeline updated last.

    words: what of the line; None: as it is when it is offered, with some of it changed at random.
    """

    at: int
    pipeline: int
    line: int | None
    words: list[int] | None = None


@dataclass(slots=True)
class TableWrite:
    """A translation entry; `key` None: the one that this cycle's event looks up, if there is."""

    at: int
    pipeline: int
    key: int | None
    base: int
    mapped: bool


@dataclass(slots=True)
class RuleWrite:
    """A rule. Without `enable` it matches no event, but has its read effect."""

    at: int
    pipeline: int
    rule: Rule
    enable: bool = True


@dataclass
class Script:
    """One run, from the first cycle of a reset on.

    cycles: of events and of new reads; then the engine is left to drain and every line is read.
    reset: cycles of reset in front, in which nothing is accepted.
    events[channel][cycle]; reads[channel] and takes[channel] in their order; tables and rules in
    theirs.
    clears, acknowledges: (cycle, pipeline).
    samples: cycles in which the counters are compared, besides the last.
    noise: what is not valid is random.
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
    """A rule as the port `io_rule_bits_rule_` takes it."""
    mask = (1 << size.address_bits) - 1
    effect = rule.effect_op
    hashes = {
        "hashes": int(rule.hash_size > 0),
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
