# SPDX-License-Identifier: Apache-2.0
"""Flat memory mode in the board's wrapper: two slices of the CXL IP share the channel, near and far
memory are the board's two controllers, and near's sidebands are in a range of near memory.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from copy import copy
from random import Random
from typing import Any

from anemone.flat.config import FlatConfig
from tests.bench.difference import Difference
from tests.bench.memory import Memory
from tests.bench.pins import reader
from tests.bench.requests import FULL, Request
from tests.bench.scoreboards import UpstreamScoreboard
from tests.bench.store import bits
from tests.expander.bench.environment import Environment, find
from tests.expander.bench.scoreboard import Scoreboard
from tests.expander.bench.sizes import Build
from tests.expander.bench.tiered import TieredEnvironment
from tests.flat.bench.memories import Accesses, Far, Lines, Near

WORD = 32  # bits of a line's word
WORDS = 16  # in a beat


class Slices:
    """Tells a channel's scoreboard about each host's requests as HostArbiter passes them on, with
    the channel's ids. A channel's order is known only there.
    """

    def __init__(self, arbiter: Any, scoreboard: Scoreboard, build: Build) -> None:
        self.scoreboard, self.id_bits = scoreboard, build.id_bits
        self.hosts = [Slice(self, host) for host in range(build.hosts)]
        self._passes = {
            name: (
                reader(getattr(arbiter, f"io_channel_{name}_valid")),
                reader(getattr(arbiter, f"io_channel_{name}_ready")),
            )
            for name in ("ar", "aw", "w")
        }
        self._ids = {
            name: reader(getattr(arbiter, f"io_channel_{name}_bits_id")) for name in ("ar", "aw")
        }
        self._writer: deque[Slice] = deque()  # the host of each write whose data have not passed

    def step(self, t: int) -> None:
        """Cycle t."""
        for name in ("ar", "aw"):
            if all(pin() for pin in self._passes[name]):
                host = self.hosts[(id := self._ids[name]()) >> self.id_bits]
                asked = host.requests[name == "aw"].popleft()
                request = host.ours(asked)
                if request.id != id:
                    raise Difference(f"cycle {t}: id {id} passes, not {request.pins}")
                if name == "aw":
                    self._writer += [host] * (request.len + 1)
                self.scoreboard.accept(t, request)
                asked.dropped = request.dropped
        if all(pin() for pin in self._passes["w"]):
            self.scoreboard.write_data(t, *self._writer.popleft().data_beats.popleft())


class Slice:
    """What one host's master reports."""

    def __init__(self, slices: Slices, host: int) -> None:
        self.slices, self.host = slices, host
        self.requests: dict[bool, deque[Request]] = {False: deque(), True: deque()}
        self.data_beats: deque[tuple[Any, ...]] = deque()
        self._copies: dict[int, tuple[Request, Request]] = {}

    def ours(self, request: Request) -> Request:
        """The request as it passes."""
        if id(request) not in self._copies:
            ours = copy(request)
            ours.id |= self.host << self.slices.id_bits
            self._copies[id(request)] = request, ours
        return self._copies[id(request)][1]

    def accept(self, t: int, request: Request) -> None:
        """A request was accepted."""
        self.requests[request.write].append(request)

    def write_data(self, t: int, beat: tuple[Any, ...], request: Request, addr: int) -> None:
        """A beat of W."""
        self.data_beats.append((beat, self.ours(request), addr))

    def response(self, t: int, id: int, resp: int) -> None:
        """B."""
        self.slices.scoreboard.response(t, self.host << self.slices.id_bits | id, resp)

    def data(self, t: int, id: int, *beat: Any) -> None:
        """R."""
        self.slices.scoreboard.data(t, self.host << self.slices.id_bits | id, *beat)

    def fail(self, t: int, what: str) -> None:
        """Raise a difference."""
        self.slices.scoreboard.fail(t, f"host {self.host}: {what}")


class RangeLines(Lines):
    """Near memory whose last sixteenth has a word for each line. At power-up that range has bad
    ECC: a beat of it that was never written whole is poisoned.
    """

    def __init__(self, initial: Any, near_bits: int, words: dict[int, int]) -> None:
        super().__init__(initial)
        self.first = (15 << near_bits) >> 10  # the range's first beat
        self.words = words
        self.good: set[int] = set()  # beats of the range that were written whole

    def read(self, line: int) -> tuple[int, int]:
        """A line, or a beat of words."""
        if line < self.first:
            return super().read(line)
        first = (line - self.first) * WORDS
        words = (self.words.get(first + k, 0) << WORD * k for k in range(WORDS))
        return sum(words), int(line not in self.good)

    def write(self, line: int, data: str, strobe: int, poison: int) -> None:
        """Zero a beat of words, or write one word of it."""
        if line < self.first:
            super().write(line, data, strobe, poison)
            return
        first, value = (line - self.first) * WORDS, int(data, 2)
        if strobe == FULL:
            assert not value and not poison, bits(value)
            self.good.add(line)
            self.words.update(dict.fromkeys(range(first, first + WORDS), 0))
            return
        place = (strobe.bit_length() - 1) // 4
        assert strobe == 15 << 4 * place and not poison, f"{strobe:#x}"
        self.words[first + place] = value >> WORD * place & (1 << WORD) - 1


class RangeAccesses(Accesses):
    """`counts`: of lines; `words`: of words and whole beats of them."""

    def __init__(self, first: int) -> None:
        super().__init__()
        self.first = first
        self.words: Counter[str] = Counter()

    def request_below(self, t: int, write: bool, pins: tuple[int, ...]) -> None:
        """AR or AW."""
        if pins[1] >> 6 < self.first:
            super().request_below(t, write, pins)
        else:
            self.words["writes" if write else "reads"] += 1


class BoardNear(Near):
    """Near memory on the first of the board's controllers."""

    SIDEBAND = ()

    def __init__(self, dut: Any, rng: Random, config: FlatConfig, build: Build) -> None:
        super().__init__(dut, rng, config, "downstream_0_", True)
        self.store = RangeLines(self.store.initial, build.near_bits, self.sidebands)
        self.accesses = self.scoreboard = RangeAccesses(self.store.first)
        self.beats = (1 << build.near_bits) // WORDS // 64

    def sideband(self, line: int) -> tuple[int, ...]:
        """No pins."""
        return ()

    def put_sideband(self, line: int, *values: int) -> None:
        """No pins."""

    def swept(self) -> None:
        """Zeroed before it was swept."""
        assert len(self.store.good) == self.beats
        self.accesses.words["writes"] -= self.beats
        self.check_words()
        super().swept()
        self.accesses.words.clear()

    def check_words(self) -> None:
        """Each access to a line has one to its word."""
        lines, words = self.accesses.counts, self.accesses.words
        assert +lines == +words, f"{lines} lines, {words} words"


class FlatBoardEnvironment(TieredEnvironment):
    """One channel with two hosts."""

    def _observers(self) -> Sequence[UpstreamScoreboard]:
        arbiter = find(self.dut, "hosts_0").hosts_0
        self.slices = Slices(arbiter, self.scoreboards[0], self.build)
        return self.slices.hosts

    def _memories(self) -> list[Memory]:
        memories = super()._memories()
        self.taps.insert(0, self.slices)
        return memories

    def _tiers(self) -> tuple[list[Near], list[Far]]:
        near = BoardNear(self.dut, self.rng, self.now, self.build)
        return [near], [Far(self.dut, self.rng, self.now, "downstream_1_", True)]

    def judged(self, now: bool) -> None:
        """Whether the controllers' ports are checked for AXI."""
        self._judge([f"downstream_{k}" for k in range(2)], now)

    async def check_memories(self) -> None:
        """Each line has its word, and is in one place."""
        for near in self.near:
            near.check_words()
        await super().check_memories()


def environment_type(build: Build) -> type[Environment]:
    """The type of the build's environment."""
    if not build.ratio:
        return Environment
    return FlatBoardEnvironment if build.board else TieredEnvironment
