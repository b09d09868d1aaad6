# SPDX-License-Identifier: Apache-2.0
"""Functional coverage: situations of the testplan, counted while the reference folds a script.

A bin is "group/part/part". `required()` lists the bins that a whole campaign has to fill.
"""

from __future__ import annotations

from collections import Counter
from itertools import product

from anemone.golden.nemo import TAKEN
from anemone.telemetry.rules import OPERANDS, OPS, PREDICATES, WIDTHS

WINDOW = 5  # slots within which two accesses to a state are counted as a hazard
EFFECTS = ("none", "reset", "op")

Cover = Counter[str]


def _bins(group: str, *parts: object) -> set[str]:
    """The cross product of a group's parts."""
    axes = [part if isinstance(part, (list, tuple, range)) else (part,) for part in parts]
    return {"/".join((group, *map(str, combination))) for combination in product(*axes)}


def required(channels: int = 4) -> set[str]:
    """Every bin of the testplan; groups are its points."""
    distances = range(1, WINDOW + 1)
    around = range(-WINDOW, WINDOW + 1)
    bins = [
        # An update of a state updated d slots before, for each op and width.
        _bins("hazard", OPS, WIDTHS, distances),
        # A line read d slots after an update of one of its states, or after an effect on it.
        _bins("read", ("snapshot", *EFFECTS), "event", distances),
        _bins("read", "snapshot", ("reset", "op"), distances),
        _bins("read/reset/reset", distances),
        # Between two different effects lies a change of rule, which takes a slot.
        _bins("read", ("none", "op"), "reset", distances[1:]),
        _bins("read", ("none", "reset"), "op", distances[1:]),
        # An update d slots after a read effect on the state.
        _bins("update-after", ("reset", "op"), distances),
        _bins("effect-op", OPS, WIDTHS),
        _bins("reset", WIDTHS),
        _bins("operand", OPERANDS, WIDTHS),
        *(_bins("counter", width, range(64 // width)) for width in WIDTHS),
        _bins("predicate", PREDICATES[1:], WIDTHS, ("holds", "fails")),
        _bins("predicate", "none", WIDTHS, "fails"),
        _bins(
            "drop", ("type", "below", "above", "off", "key", "unmapped", "offset", "base", "sum")
        ),
        _bins("drop", ("hash", "offset too wide to be hashed")),
        _bins("hash", WIDTHS),
        _bins("edge", ("start", "end", "last state")),
        _bins("slot", ("read waits for event", "read back to back", "same line back to back")),
        _bins("slot", ("event behind serial RMW", "read behind backlog")),
        # A line taken away, the slots before it, and what goes on meanwhile.
        _bins("take", tuple(TAKEN), WIDTHS),
        _bins("take", ("event", "reset"), range(WINDOW)),
        # A channel is free behind a serial RMW, not in its last slot.
        _bins("take", "op", range(1, WINDOW)),
        _bins("take", ("nothing", "lost", "clear", "channels at once")),
        _bins("queue", range(1, 21)),
        _bins("table", ("mapped", "unmapped"), ("before", "same cycle", "behind")),
        _bins("table", ("waits for clear", "behind serial RMW")),
        _bins("rule", "event", around),
        _bins("rule", ("waits for serial RMW", "behind serial RMW", "back to back")),
        _bins("acknowledge", ("same cycle", "after", "idle")),
        _bins("latch", ("channels at once", "first of many")),
        _bins("clear", ("event", "read", "read in flight", "again")),
        _bins("restart", ("traffic", "stale effect")),
        *(
            _bins("channel", c, ("event", "read", "serial RMW", "match", "take"))
            for c in range(channels)
        ),
        _bins("run", ("full rate", "reads in every gap")),
    ]
    return set().union(*bins)
