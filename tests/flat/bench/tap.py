# SPDX-License-Identifier: Apache-2.0
"""Observes the order that a swap controller gives the host's beats."""

from __future__ import annotations

from typing import Any, Protocol

from tests.bench.pins import reader


class Ordered(Protocol):
    """The interface of an observer."""

    def taken(self, t: int, write: bool, id: int, line: int) -> None:
        """A beat got its position in the order."""


class Tap:
    """Observes the beats that leave HostRequests."""

    def __init__(self, controller: Any, scoreboard: Ordered) -> None:
        self.scoreboard = scoreboard
        self._valid, self._ready, self._write, self._id, self._line = (
            reader(getattr(controller.requests, f"io_beat_{name}"))
            for name in ("valid", "ready", "bits_write", "bits_id", "bits_line")
        )

    def step(self, t: int) -> None:
        """Cycle t."""
        if self._valid() and self._ready():
            self.scoreboard.taken(t, bool(self._write()), self._id(), self._line())
