# SPDX-License-Identifier: Apache-2.0
"""Functional coverage of a whole campaign. A bin is "group/part/part"."""

from __future__ import annotations

from itertools import product


def _bins(group: str, *parts: object) -> set[str]:
    """The cross product of a group's parts."""
    axes = [part if isinstance(part, (list, tuple, range)) else (part,) for part in parts]
    return {"/".join((group, *map(str, combination))) for combination in product(*axes)}


def required() -> set[str]:
    """All bins; the groups are the testplan's points."""
    ways, shapes = ("read", "write"), ("single", "fixed", "incr", "wrap")
    bins = [
        _bins("request", ("memory", "telemetry"), ways, shapes, ("line", "narrow")),
        _bins("request", ("memory", "telemetry"), ways, "unaligned"),
        _bins("request", ("past the device", "refused"), ways),
        _bins("line", ("snapshot", "none", "reset", "op")),
        _bins("line/refused", ("narrow", "nowhere")),
        _bins("order", ("line behind memory of its id", "memory behind line of its id")),
        _bins("order", "event behind serial RMW"),
        _bins("poison", ways, (0, 1)),
        _bins("response", ways, (0, 2, 3)),
        _bins("control", "entry", ("mapped", "past", "unmapped")),
        _bins("control", ("table", "rule"), ("busy", "idle")),
        _bins("control", "rule", "waits for serial RMW"),
        _bins("control", "clear", ("start", "again")),
        _bins("control", [f"{what} while clearing" for what in ("event", "read", "line")]),
        _bins("window", ("effect", "snapshot"), ("open", "closed")),
        _bins("window", "amid a burst"),
        _bins("interrupt", "acknowledge", ("hit", "latched", "idle")),
        _bins("interrupt", "message", ("pipeline", "errors")),
        _bins("restart", "traffic"),
        _bins("tiered", ("hit", "miss", "swap", "dedicated", "outside"), ways),
        _bins("tiered", [f"{o} for {a}" for o in ("hit", "miss") for a in ("any", "hit", "miss")]),
        _bins("tiered", ("read behind events", "event behind reads")),
    ]
    return set().union(*bins)
