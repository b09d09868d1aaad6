# SPDX-License-Identifier: Apache-2.0
"""A plan has the inputs and expected outputs of each cycle of a script. Times are cycles."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Timing:
    """Latencies measured by `driver.calibrate`; only `read` is part of the contract.

    rule: from the cycle a rule applies from to its ready. read: from acceptance to line. matched,
    notifications, latch: from an event's slot to the first cycle the counter or latch shows it.
    take: from a line that is written back to its answer.
    """

    rule: int
    read: int
    matched: int
    notifications: int
    latch: int
    take: int


@dataclass(slots=True)
class Line:
    """An expected line; `either`: it was in flight during a clear, so a word may be zero
    instead.
    """

    at: int
    channel: int
    pipeline: int
    words: list[int]
    either: bool = False
    poison: bool = False


Written = tuple[list[int], tuple[int, ...]]


@dataclass
class Plan:
    """Inputs and expected outputs; signal names are without `io_`.

    drives[cycle]: (signal, value) of inputs that may change. strobes[cycle]: each channel's reads
    ready, lines valid and acknowledged valid; rule ready, table ready; each pipeline's notified and
    clearing. None is not compared. lines[cycle]; status[cycle]: (signal, value). written[cycle]: by
    channel, a line that is written back: its words, and which of them are lost. events, reads: how
    many were accepted.
    """

    drives: list[list[tuple[str, int]]] = field(default_factory=list)
    strobes: list[list[int | None]] = field(default_factory=list)
    lines: dict[int, list[Line]] = field(default_factory=dict)
    status: dict[int, list[tuple[str, int]]] = field(default_factory=dict)
    written: dict[int, list[Written | None]] = field(default_factory=dict)
    events: int = 0
    reads: int = 0

    def expect(self, line: Line) -> None:
        """Expect a line that was read."""
        self.lines.setdefault(line.at, []).append(line)


def strobe_signals(channels: int, pipelines: int) -> list[str]:
    """The signals of Plan.strobes, in its order."""
    return [
        *(f"{port}_{c}_{pin}" for c in range(channels) for port, pin in _CHANNEL),
        "rule_ready",
        "table_ready",
        *(f"status_{p}_{pin}" for p in range(pipelines) for pin in ("notified", "clearing")),
    ]


_CHANNEL = (("reads", "ready"), ("lines", "valid"), ("acknowledged", "valid"))
