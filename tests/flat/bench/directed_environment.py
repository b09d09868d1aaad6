# SPDX-License-Identifier: Apache-2.0
"""Individual accesses for directed tests, without a golden model."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from random import Random
from typing import Any

from anemone.flat.config import FlatConfig
from tests.bench.profile import StimulusProfile
from tests.bench.requests import FULL, Request
from tests.bench.store import bits
from tests.flat.bench.build import Build
from tests.flat.bench.environment import Environment


class Answers:
    """The host port's responses in order: (cycle, id, resp, data)."""

    def __init__(self) -> None:
        self.accepted: list[int] = []  # cycles
        self.reads: list[tuple[int, int, int, int]] = []
        self.poisoned: list[int] = []  # whether each of `reads` was poisoned
        self.writes: list[tuple[int, int, int]] = []
        self.idle = True

    def fail(self, t: int, what: str) -> None:
        """Report a protocol violation."""
        raise AssertionError(f"cycle {t}: {what}")

    def accept(self, t: int, request: Request) -> None:
        """A request was accepted."""
        self.accepted.append(t)

    def taken(self, t: int, write: bool, id: int, line: int) -> None:
        """A beat got its position in the order."""

    def write_data(self, *_: Any) -> None:
        """A beat of W."""

    def response(self, t: int, id: int, resp: int) -> None:
        """B."""
        self.writes.append((t, id, resp))

    def data(self, t: int, id: int, data: str, resp: int, last: int, user: int) -> None:
        """R."""
        self.reads.append((t, id, resp, int(data, 2)))
        self.poisoned.append(user)

    def outcome(self, t: int, kind: int) -> None:
        """A decision."""


class DirectedEnvironment(Environment):
    """An environment with individual requests."""

    def __init__(self, dut: Any, build: Build) -> None:
        super().__init__(dut, build, Counter())
        self.todo: deque[Request] = deque()

    async def begin(self, config: FlatConfig, seed: int = 1, latency: int = 1) -> None:
        """Power up. latency: most cycles of memories' responses."""
        await self.restart(Random(seed), config)
        self.take_requests(latency)

    def take_requests(self, latency: int = 1) -> None:
        """Take requests from `todo` and collect responses in `answers`."""
        self.todo.clear()
        self.answers = Answers()
        self.scoreboard = self.master.scoreboard = self.tap.scoreboard = self.answers
        self.master.source = self._next
        self.master.profile = StimulusProfile()
        self.near.profile = self.far.profile = StimulusProfile(latency=latency)

    def _next(self, write: bool, profile: StimulusProfile) -> Request | None:
        return self.todo.popleft() if self.todo and self.todo[0].write == write else None

    def ask(self, line: int, value: int | None = None, strobe: int = FULL, id: int = 0) -> None:
        """Request a read, or a write of a value in every 8 bytes."""
        request = Request(value is not None, id, line * 64)
        if value is not None:
            request.data = [(bits(everywhere(value)), strobe, 0)]
        self.todo.append(request)

    async def answered(self, reads: int, writes: int, within: int = 2000) -> None:
        """Wait for a number of responses."""
        answers = self.answers
        for _ in range(within):
            if len(answers.reads) >= reads and len(answers.writes) >= writes:
                return
            await self.cycles(1)
        raise AssertionError(f"{answers.reads}, {answers.writes} after {within} cycles")

    async def written(self, *lines: tuple[int, int], latency: int = 1) -> None:
        """Write values to lines one after the other; the last one of a set is near. Then set the
        memories' latency.
        """
        for line, value in lines:
            self.ask(line, value)
            await self.answered(0, len(self.answers.writes) + 1)
        await self.settle()
        self.take_requests(latency)

    async def read(self, lines: Sequence[int]) -> list[tuple[int, int]]:
        """Read lines one after the other: (resp, first 8 bytes) of each."""
        values = []
        for line in lines:
            before = len(self.answers.reads)
            self.ask(line)
            await self.answered(before + 1, 0)
            _, _, resp, data = self.answers.reads[before]
            values.append((resp, data & (1 << 64) - 1))
        return values

    async def cut(self) -> None:
        """A reset that memory does not share: memory still responds to earlier requests."""
        self.reset.set(1)
        self.judged(False)
        self.master = type(self.master)(self.dut, "host_", self.rng, self.scoreboard, self._next)
        await self._below(1)
        for memory in (self.near, self.far):
            memory.cut()
        await self._below(2)
        self.reset.set(0)
        await self._ready_again()

    async def warm_reset(self) -> None:
        """A reset that keeps the lines; memory drops requests in flight, as AXI requires."""
        near, far = self.near, self.far
        self.reset.set(1)
        old = near.store, near.sidebands, far.store
        await self.edge
        self.near, self.far = (
            type(near)(self.dut, self.rng, self.config),
            type(far)(self.dut, self.rng, self.config),
        )
        self.near.store, self.near.sidebands, self.far.store = old
        self.master = type(self.master)(self.dut, "host_", self.rng, self.scoreboard, self._next)
        await self.edge
        self.reset.set(0)
        await self._ready_again()

    async def _below(self, cycles: int) -> None:
        """Run near and far memory without host requests for some cycles."""
        for _ in range(cycles):
            await self.edge
            for memory in (self.near, self.far):
                memory.step(self.t)
            self.t += 1

    async def _ready_again(self) -> None:
        await self._below(1)
        self.take_requests()
        for _ in range(2000):
            if self._ready():
                return
            await self.cycles(1)
        raise AssertionError("not ready after a warm reset")

    def one_place(self) -> None:
        """Check that each set's tags are a permutation."""
        for set_index in range(self.config.near_lines):
            tags = self.tags(set_index)
            assert sorted(tags) == list(range(self.build.ratio + 1)), f"set {set_index}: {tags}"


def everywhere(value: int) -> int:
    """A line with a value in every 8 bytes."""
    return int.from_bytes(value.to_bytes(8, "little") * 8, "little")
