# SPDX-License-Identifier: Apache-2.0
"""What is hot moves up, hottest first; the coldest make room."""

from dataclasses import dataclass

import numpy as np

from anemone.tiering import Answer, Policy


@dataclass
class Mine(Policy):
    least: float = 4.0  # accesses an interval that make a page hot

    def act(self, seen):
        frame, tier, heat = seen.units.frame, seen.units.tier, seen.heat.units
        order = np.argsort(-heat, kind="stable")
        up = order[(tier[order] == 1) & (heat[order] >= self.least)]
        down = order[::-1][tier[order[::-1]] == 0]
        wanted = max(0, len(up) - seen.free[0])
        return Answer(
            promote=frame[up],
            demote=frame[down[: min(wanted, len(down))]],
            cpu_ns=20.0 * len(frame),
        )
