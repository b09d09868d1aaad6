# SPDX-License-Identifier: Apache-2.0
"""Common parts of policies: values by frame, and the choice of a number of pages."""

from __future__ import annotations

import numpy as np

from anemone.tiering.parameters import constants

# CPU time of a policy for each unit that it examines.
UNIT_NS = constants("policy")["unit_instructions"] * constants("processor")["ns_per_instruction"]


class ByFrame:
    """A value for each frame; `default` until it is set."""

    def __init__(self, default: float = 0.0) -> None:
        self.default, self.values = default, np.empty(0)

    def of(self, frames: np.ndarray) -> np.ndarray:
        """The values of frames int64[n]: a copy, float64[n]."""
        self._reach(frames)
        return self.values[frames]

    def set(self, frames: np.ndarray, values: np.ndarray | float) -> None:
        self._reach(frames)
        self.values[frames] = values

    def _reach(self, frames: np.ndarray) -> None:
        size = int(frames.max(initial=-1)) + 1
        if size > len(self.values):
            more = np.full(max(size, 2 * len(self.values)) - len(self.values), self.default)
            self.values = np.concatenate([self.values, more])


def first_that_fit(frames: np.ndarray, sizes: np.ndarray, capacity: float) -> np.ndarray:
    """The first units that together have at most `capacity` frames."""
    return frames[np.cumsum(sizes) <= capacity]
