# SPDX-License-Identifier: Apache-2.0
"""The activity of both sides of a channel: probabilities per cycle, redrawn for each phase."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

OFTEN = (1.0, 1.0, 1.0, 0.9, 0.6, 0.25)


@dataclass(slots=True)
class StimulusProfile:
    """Probabilities per cycle: of a master's offer (ar, aw, w) or acceptance (r, b), and of a
    memory's acceptance (its readys) or answer. latency: most cycles of memory's answers; 0: an
    answer comes in the cycle after its request. errors, poison: probabilities of a beat. telemetry:
    share of reads of the telemetry region. bursts: share of longer transfers. odd: share of
    requests that the region refuses. ids: number of different ids. ahead: share of writes whose
    data come before their address. late: share of writes with data computed from a read that is
    requested during the write.
    """

    ar: float = 1.0
    aw: float = 1.0
    w: float = 1.0
    r: float = 1.0
    b: float = 1.0
    ar_ready: float = 1.0
    aw_ready: float = 1.0
    w_ready: float = 1.0
    answer: float = 1.0
    latency: int = 20
    errors: float = 0.0
    poison: float = 0.0
    telemetry: float = 0.3
    bursts: float = 0.1
    odd: float = 0.02
    ids: int = 16
    ahead: float = 0.1
    late: float = 0.0

    @classmethod
    def random(cls, rng: Random) -> StimulusProfile:
        """A random profile for a phase."""
        wild = rng.random() < 0.5
        offers = (0.0, 1.0, 1.0, 0.8, 0.5, 0.5, 0.2, 0.05)
        takes = OFTEN if wild else (1.0,)
        return cls(
            *(rng.choice(offers), rng.choice(offers), rng.choice(OFTEN)),
            *(rng.choice(takes) for _ in range(6)),
            latency=rng.choice((1, 4, 20, 20, 60, 200)),
            errors=rng.choice((0.0, 0.01, 0.1)),
            poison=rng.choice((0.0, 0.01, 0.1)),
            telemetry=rng.choice((0.0, 0.1, 0.3, 0.5, 0.9, 1.0)),
            bursts=rng.choice((0.0, 0.0, 0.05, 0.3)),
            odd=rng.choice((0.0, 0.01, 0.05, 0.2)),
            ids=rng.choice((1, 2, 4, 16)),
            late=rng.choice((0.0, 0.0, 0.02, 0.2)),
        )

    @classmethod
    def quiet(cls) -> StimulusProfile:
        """A profile without new requests, in which everything in flight ends."""
        return cls(ar=0.0, aw=0.0)
