# SPDX-License-Identifier: Apache-2.0
"""Random shapes of AXI transfers, and the interface for a master's next request."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.bench.profile import StimulusProfile
from tests.bench.requests import FIXED, INCR, WRAP, Request
from tests.bench.store import bits

PAGE = 4096  # bursts do not cross pages
POOL = 64  # number of different write data

Source = Callable[[bool, StimulusProfile], "Request | None"]


class Transfers:
    """Random shapes of transfers, and data of writes."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self._pool = [bits(rng.getrandbits(512)) for _ in range(POOL)]

    def _beat(self, request: Request, addr: int, profile: StimulusProfile) -> tuple[str, int, int]:
        rng = self.rng
        strobe = request.lanes(addr)
        if rng.random() < 0.1:
            strobe &= rng.choice((0, 1, 1 << 63, rng.getrandbits(64)))
        return self._pool[rng.randrange(POOL)], strobe, int(rng.random() < profile.poison)

    def _burst(self, write: bool, id: int, addr: int) -> Request:
        rng = self.rng
        size = 6 if rng.random() < 0.7 else rng.randrange(6)
        burst = rng.choice((INCR, INCR, WRAP, FIXED))
        step = 1 << size
        if burst == WRAP:
            return Request(write, id, addr & -step, rng.choice((1, 3, 7, 15)), size, burst)
        beats = 16 if burst == FIXED else (PAGE - addr % PAGE + step - 1) // step
        beats = min(beats, 256, rng.choice((2, 4, 16, 64, 256)))
        if burst == INCR and (addr & -step) % PAGE + beats * step > PAGE:
            beats = (PAGE - (addr & -step) % PAGE) // step
        return Request(write, id, addr, rng.randrange(max(beats, 1)), size, burst)
