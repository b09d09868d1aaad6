# SPDX-License-Identifier: Apache-2.0
"""The interface of a bench's scoreboard, to which a master and a memory report their transfers."""

from __future__ import annotations

from collections import deque
from typing import Any, NoReturn, Protocol

from tests.bench.requests import Request


class UpstreamScoreboard(Protocol):
    """Called by a master. t: the cycle."""

    def accept(self, t: int, request: Request) -> None:
        """A request was accepted."""

    def write_data(self, t: int, beat: tuple[Any, ...], request: Request, addr: int) -> None:
        """A beat of W was."""

    def data(self, t: int, id: int, data: str, resp: int, last: int, user: int) -> None:
        """A beat of R came."""

    def response(self, t: int, id: int, resp: int) -> None:
        """A beat of B came."""

    def fail(self, t: int, what: str) -> NoReturn:
        """The port broke a rule of AXI."""


class DownstreamScoreboard(Protocol):
    """Called by a memory. from_memory, acknowledged: its answers, by id."""

    from_memory: dict[int, deque[Any]]
    acknowledged: dict[int, deque[int]]

    def request_below(self, t: int, write: bool, pins: tuple[int, ...]) -> None:
        """A request was taken."""

    def data_below(self, t: int, beat: tuple[Any, ...]) -> None:
        """A beat of W was."""
