# SPDX-License-Identifier: Apache-2.0
"""Random requests of one channel to memory around the rules' ranges and to the telemetry region."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from anemone.telemetry.rules import Rule
from tests.bench.profile import StimulusProfile
from tests.bench.requests import Request
from tests.bench.transfers import Source, Transfers
from tests.expander.bench.windows import Windows


class Traffic(Transfers):
    """A source of requests for a master. `rules`: the current rules, whose addresses are
    preferred.
    """

    def __init__(self, rng: Random, windows: Windows, channel: int, rules: Sequence[Rule]) -> None:
        super().__init__(rng)
        self.windows, self.channel, self.rules = windows, channel, rules
        self.build = windows.build
        self.left: list[tuple[int, int]] = []
        self.bursts = True  # whether lines are read in bursts
        self.focus()

    def lines(self, todo: list[tuple[int, int]]) -> Source:
        """A source of snapshot reads of these (pipeline, line)."""
        self.left = todo
        ids = 1 << self.build.id_bits

        def source(write: bool, profile: StimulusProfile) -> Request | None:
            if write or not self.left:
                return None
            p, line = self.left.pop()
            addr = self.windows.address(p, line, self.channel, False)
            return Request(False, self.rng.randrange(ids), addr)

        return source

    def focus(self) -> None:
        """Begin another phase, with other hot lines."""
        rng, size = self.rng, self.build.engine
        rule = rng.choice(self.rules)
        first = rng.randrange(rule.start, rule.end)
        self._near = [first + rng.randrange(6) * 64 * size.channels for _ in range(4)]
        self._ends = (rule.start, rule.end, 0, 1 << size.address_bits)
        self._kind = rng.choice(("hot", "few", "few", "uniform", "mixed", "mixed"))
        self._line = rng.randrange(size.pipelines), rng.randrange(size.lines)
        self._hot = rng.choice((0.0, 0.5, 0.9))
        self._effect = rng.choice((0.0, 0.3, 0.5, 0.9))

    def __call__(self, write: bool, profile: StimulusProfile) -> Request | None:
        """The next request."""
        rng = self.rng
        telemetry = rng.random() < (profile.telemetry * 0.1 if write else profile.telemetry)
        id = rng.randrange(min(profile.ids, 1 << self.build.id_bits))
        if telemetry:
            request = self._telemetry(write, id, profile)
        elif rng.random() < profile.bursts and not self.build.board:
            request = self._burst(write, id, self._address())
        else:
            request = self._single(write, id)
        if write:
            request.data = [self._beat(request, addr, profile) for addr in request.beats()]
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
        # Most requests come through the channel that owns the address; telemetry counts them on the
        # channel that they come through.
        if rng.random() < 0.95:
            addr = addr & ~((size.channels - 1) << 6) | self.channel << 6
        if rng.random() < 0.8:
            addr &= -64
        addr &= (1 << self.build.address_bits) - 1
        while self.windows.decode(addr, self.channel) is not None:
            addr = rng.randrange(1 << size.address_bits)
        return addr

    def _telemetry(self, write: bool, id: int, profile: StimulusProfile) -> Request:
        """A line, mostly of this channel, or another address in the region."""
        rng, windows, size = self.rng, self.windows, self.build.engine
        effect = rng.random() < self._effect
        base = windows.effect if effect else windows.snapshot
        if base is None:
            return self._single(write, id)
        if rng.random() < profile.odd:
            addr = base + rng.randrange(self.build.window_bytes)
            if self.bursts and rng.random() < 0.5:
                return self._burst(write, id, addr)
            return Request(write, id, addr, size=rng.randrange(7))
        pipeline, line = self._line
        if rng.random() >= self._hot:
            pipeline, line = rng.randrange(size.pipelines), rng.randrange(size.lines)
        addr = windows.address(pipeline, line, self.channel, effect)
        if self.bursts and rng.random() < profile.bursts:
            return self._burst(write, id, addr)
        width = 6
        if rng.random() < 0.1:
            width, addr = rng.randrange(6), addr + rng.randrange(64)
        return Request(write, id, addr, size=width)
