# SPDX-License-Identifier: Apache-2.0
"""Keeps the hottest pages in the fast tier: the minimal policy of docs/tiering.md."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anemone.policies.pages import UNIT_NS, ByFrame
from anemone.tiering.interfaces import Answer, Policy, Statistics
from anemone.tiering.parameters import setting


@dataclass
class Hottest(Policy):
    """Ranks pages by accesses; those of earlier intervals decay by the factor `keep` per
    interval.
    """

    keep: float = setting(0.5, maximum=1.0)

    def __post_init__(self) -> None:
        self._heat = ByFrame()

    def act(self, seen: Statistics) -> Answer:
        frame, tier = seen.units.frame, seen.units.tier
        heat = self.keep * self._heat.of(frame) + seen.heat.units
        self._heat.set(frame, heat)
        # At equal heat, prefer pages in the fast tier, to avoid useless moves.
        per_frame = heat / seen.frames()
        order = np.lexsort((frame, tier, -per_frame))
        fits = np.cumsum(seen.frames()[order]) <= seen.capacity[0]
        wanted = np.zeros(len(frame), np.bool_)
        wanted[order[fits]] = True
        up = order[(wanted & (tier == 1) & (heat > 0))[order]]
        down = order[::-1][(~wanted & (tier == 0))[order[::-1]]]
        return Answer(promote=frame[up], demote=frame[down], cpu_ns=len(frame) * UNIT_NS)
