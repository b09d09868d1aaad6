# SPDX-License-Identifier: Apache-2.0
"""Counts by frame and by unit, for sources that see addresses."""

from __future__ import annotations

import numpy as np

from anemone.tiering.compiled import compiled
from anemone.tiering.machine import Machine, Units


@compiled()
def _count(counts, addr, shift):  # type: ignore[no-untyped-def]
    for a in addr:
        counts[a >> shift] += 1


class FrameCounts:
    """Accesses by frame since the last `take`."""

    def __init__(self, machine: Machine) -> None:
        self._shift = np.uint64(machine.frame_shift)
        self._counts = np.zeros(len(machine.state.memory.table), np.uint32)

    def add(self, addr: np.ndarray) -> None:
        """Count accesses. addr: byte addresses, uint64[n]."""
        _count(self._counts, addr, self._shift)

    def take(self) -> np.ndarray:
        """The counts, uint32[frames], which restart from 0."""
        counts, self._counts = self._counts, np.zeros_like(self._counts)
        return counts


def by_unit(counts: np.ndarray, units: Units, span: int) -> np.ndarray:
    """The count of each unit: of its frame if it is split, else the sum over its page.
    float64[n].
    """
    found = counts[units.frame].astype(np.float64)
    if span > 1:
        whole = ~units.split
        pages = counts.reshape(-1, span)[units.frame[whole] // span]
        found[whole] = pages.sum(axis=1, dtype=np.float64)
    return found
