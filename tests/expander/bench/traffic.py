# SPDX-License-Identifier: Apache-2.0
"""Random requests of one channel: memory around the rules' ranges, and the telemetry region."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from anemone.rules import Rule
from tests.expander.bench.modes import Mode
from tests.expander.bench.requests import FIXED, INCR, WRAP, Request, Windows
from tests.expander.bench.store import bits

PAGE = 4096  # no burst crosses it
POOL = 64  # different data of writes

Source = Callable[[bool, Mode], "Request | None"]


class Transfers:
    """Random shapes of transfers, and data of writes."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self._pool = [bits(rng.getrandbits(512)) for _ in range(POOL)]

    def _beat(self, request: Request, addr: int, mode: Mode) -> tuple[str, int, int]:
        rng = self.rng
        strobe = request.lanes(addr)
        if rng.random() < 0.1:
            strobe &= rng.choice((0, 1, 1 << 63, rng.getrandbits(64)))
        return self._pool[rng.randrange(POOL)], strobe, int(rng.random() < mode.poison)

    def _burst(self, write: bool, id: int, addr: int) -> Request:
        rng = self.rng
        size = 6 if rng.random() < 0.7 else rng.randrange(6)
        burst = rng.choice((INCR, INCR, WRAP, FIXED))
        step = 1 << size
        if burst == WRAP:
            return Request(write, id, addr & -step, rng.choice((1, 3, 7, 15)), size, burst)
        most = 16 if burst == FIXED else (PAGE - addr % PAGE + step - 1) // step
        most = min(most, 256, rng.choice((2, 4, 16, 64, 256)))
        if burst == INCR and (addr & -step) % PAGE + most * step > PAGE:
            most = (PAGE - (addr & -step) % PAGE) // step
        return Request(write, id, addr, rng.randrange(max(most, 1)), size, burst)


class Traffic(Transfers):
    """A source of requests for a master. `rules`: those of now, whose addresses are interesting."""

    def __init__(self, rng: Random, windows: Windows, channel: int, rules: Sequence[Rule]) -> None:
        super().__init__(rng)
        self.windows, self.channel, self.rules = windows, channel, rules
        self.build = windows.build
        self.left: list[tuple[int, int]] = []
        self.bursts = True  # of lines
        self.focus()

    def lines(self, todo: list[tuple[int, int]]) -> Source:
        """A source of snapshots of these (pipeline, line)."""
        self.left = todo
        ids = 1 << self.build.id_bits

        def source(write: bool, mode: Mode) -> Request | None:
            if write or not self.left:
                return None
            p, line = self.left.pop()
            addr = self.windows.address(p, line, self.channel, False)
            return Request(False, self.rng.randrange(ids), addr)

        return source

    def focus(self) -> None:
        """Another phase: other hot lines."""
        rng, size = self.rng, self.build.engine
        rule = rng.choice(self.rules)
        first = rng.randrange(rule.start, rule.end)
        self._near = [first + rng.randrange(6) * 64 * size.channels for _ in range(4)]
        self._ends = (rule.start, rule.end, 0, 1 << size.address_bits)
        self._kind = rng.choice(("hot", "few", "few", "uniform", "mixed", "mixed"))
        self._line = rng.randrange(size.pipelines), rng.randrange(size.lines)
        self._hot = rng.choice((0.0, 0.5, 0.9))
        self._effect = rng.choice((0.0, 0.3, 0.5, 0.9))

    def __call__(self, write: bool, mode: Mode) -> Request | None:
        """The next one."""
        rng = self.rng
        telemetry = rng.random() < (mode.telemetry * 0.1 if write else mode.telemetry)
        id = rng.randrange(min(mode.ids, 1 << self.build.id_bits))
        if telemetry:
            request = self._telemetry(write, id, mode)
        elif rng.random() < mode.bursts and not self.build.board:
            request = self._burst(write, id, self._address())
        else:
            request = self._single(write, id)
        if write:
            request.data = [self._beat(request, addr, mode) for addr in request.beats()]
        return request

    def _single(self, write: bool, id: int) -> Request:
        size = 6 if self.rng.random() < 0.9 else self.rng.randrange(6)
        return Request(write, id, self._address(), size=size)

    def _address(self) -> int:
        """A byte address of memory."""
        rng, size = self.rng, self.build.engine
        kind = self._kind
        if kind == "mixed":
            kind = rng.choice(("hot", "few", "uniform", "edges", "past"))
        if kind == "hot":
            addr = self._near[0]
        elif kind == "few":
            addr = self._near[rng.randrange(4)]
        elif kind == "edges":
            addr = rng.choice(self._ends) + rng.choice((-65, -64, -1, 0, 1, 63, 64))
        elif kind == "past":
            addr = rng.randrange(1 << self.build.address_bits)
        else:
            addr = rng.randrange(1 << size.address_bits)
        # Most requests come through the channel that owns them; telemetry counts where they come.
        if rng.random() < 0.95:
            addr = addr & ~((size.channels - 1) << 6) | self.channel << 6
        if rng.random() < 0.8:
            addr &= -64
        addr &= (1 << self.build.address_bits) - 1
        while self.windows.decode(addr, self.channel) is not None:
            addr = rng.randrange(1 << size.address_bits)
        return addr

    def _telemetry(self, write: bool, id: int, mode: Mode) -> Request:
        """A line, mostly of this channel; or something else in the region."""
        rng, windows, size = self.rng, self.windows, self.build.engine
        effect = rng.random() < self._effect
        base = windows.effect if effect else windows.snapshot
        if base is None:
            return self._single(write, id)
        if rng.random() < mode.odd:
            addr = base + rng.randrange(self.build.window_bytes)
            if self.bursts and rng.random() < 0.5:
                return self._burst(write, id, addr)
            return Request(write, id, addr, size=rng.randrange(7))
        pipeline, line = self._line
        if rng.random() >= self._hot:
            pipeline, line = rng.randrange(size.pipelines), rng.randrange(size.lines)
        addr = windows.address(pipeline, line, self.channel, effect)
        if self.bursts and rng.random() < mode.bursts:
            return self._burst(write, id, addr)
        width = 6
        if rng.random() < 0.1:
            width, addr = rng.randrange(6), addr + rng.randrange(64)
        return Request(write, id, addr, size=width)
