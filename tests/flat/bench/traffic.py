# SPDX-License-Identifier: Apache-2.0
"""Random requests of a host to few sets, so that they conflict with swaps in flight."""

from __future__ import annotations

from random import Random

from anemone.flat.config import FlatConfig
from tests.bench.profile import StimulusProfile
from tests.bench.requests import Request
from tests.bench.transfers import Transfers
from tests.flat.bench.build import Build


class AlternatingSets:
    """Lines of few alternating sets, each line several times: causes swaps of several tags in one
    MSHR, and counts of consecutive misses, interleaved with other MSHRs.
    """

    def __init__(self, rng: Random, config: FlatConfig) -> None:
        self.config = config
        self._set_indices = [rng.randrange(config.near_lines) for _ in range(rng.choice((1, 2, 3)))]
        self._run = rng.choice((1, 1, 2, 3, 5))
        self._asked = rng.randrange(100)

    def line(self) -> int:
        """The next one."""
        turn, of = divmod(self._asked, len(self._set_indices))
        self._asked += 1
        tag = turn // self._run % (self.config.ratio + 1)
        return self._set_indices[of] + tag * self.config.near_lines


class Traffic(Transfers):
    """A source of requests for a master."""

    def __init__(self, rng: Random, build: Build, config: FlatConfig) -> None:
        super().__init__(rng)
        self.build, self.config = build, config
        self.focus()

    def focus(self) -> None:
        """Start another phase with other sets."""
        rng, config = self.rng, self.config
        self._sets = [rng.randrange(config.near_lines) for _ in range(rng.choice((1, 2, 4, 16)))]
        self._kind = rng.choice(("hot", "hot", "rivals", "uniform", "scan", "mixed", "mixed"))
        self._alternating = AlternatingSets(rng, config)
        self._whole = rng.choice((0.0, 0.5, 0.9, 1.0))  # share of whole writes
        self._next = rng.randrange(config.lines)

    def __call__(self, write: bool, profile: StimulusProfile) -> Request:
        """The next one."""
        rng = self.rng
        id = rng.randrange(min(profile.ids, 1 << self.build.id_bits))
        addr = self._line() * 64 + (rng.randrange(64) if rng.random() < 0.05 else 0)
        if rng.random() < profile.bursts:
            request = self._burst(write, id, addr)
            request.len = min(request.len, 15)
        else:
            request = Request(write, id, addr, size=6 if rng.random() < 0.9 else rng.randrange(6))
        if write:
            request.data = [self._beat(request, beat, profile) for beat in request.beats()]
            if rng.random() < profile.late:
                request.after[rng.randrange(request.len + 1)] = self(False, profile)
        return request

    def _line(self) -> int:
        rng, config = self.rng, self.config
        kind = self._kind
        if kind == "mixed":
            kind = rng.choice(("hot", "hot", "uniform", "scan", "dedicated", "outside"))
        if kind == "hot":
            return rng.choice(self._sets) + rng.randrange(config.ratio + 1) * config.near_lines
        if kind == "rivals":
            return self._alternating.line()
        if kind == "scan":
            self._next = (self._next + 1) % config.lines
            return self._next
        if kind == "dedicated" and (lines := config.dedicated_lines):
            return lines.start + rng.randrange(min(4, len(lines)))
        if kind == "outside":
            return config.lines + rng.randrange(8)
        return rng.randrange(config.lines)

    def _beat(self, request: Request, addr: int, profile: StimulusProfile) -> tuple[str, int, int]:
        data, strobe, poison = super()._beat(request, addr, profile)
        rng = self.rng
        if request.size == 6 and rng.random() >= self._whole:
            strobe &= rng.getrandbits(64)
        return data, strobe, poison
