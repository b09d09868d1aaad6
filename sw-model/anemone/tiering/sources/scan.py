# SPDX-License-Identifier: Apache-2.0
"""Page-table scanning by regions, as in DAMON (Park et al., Middleware 2019; Linux)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anemone.tiering.interfaces import Heat, Source
from anemone.tiering.machine import Machine, Units
from anemone.tiering.parameters import constants, setting

_SCAN = constants("scan")


@dataclass
class Scan(Source):
    """Every sample_ms checks the accessed bit of one random frame in each region.

    A unit's heat is the number of samples in the interval that found its region accessed. At the
    end of an interval, neighbouring regions are merged if they differ by at most a tenth of the
    maximum. Then regions are split in two at random places, up to most_regions.
    """

    sample_ms: float = setting(_SCAN["sample_ms"], 1e-6)
    least_regions: int = setting(int(_SCAN["least_regions"]), 3)
    most_regions: int = setting(int(_SCAN["most_regions"]), 3)
    entry_ns: float = setting(_SCAN["entry_ns"])

    def start(self, machine: Machine) -> None:
        machine.mark()
        self._rng = machine.rng
        self._ends = np.empty(0, np.int64)  # borders of the regions, one more than regions
        self._seen = np.empty(0)
        self._picked = np.empty(0, np.int64)
        self._checks = 0

    def sample(self, machine: Machine) -> bool:
        if len(self._picked):
            self._seen += machine.take_marks(self._picked)[0]
            self._checks += len(self._picked)
        elif not len(self._seen) and not self._begin(machine):
            return False
        starts, sizes = self._ends[:-1], np.diff(self._ends)
        self._picked = starts + (self._rng.random(len(sizes)) * sizes).astype(np.int64)
        machine.take_marks(self._picked)
        return False

    def _begin(self, machine: Machine) -> bool:
        frames = machine.units().frame
        if not len(frames):
            return False
        ends = np.linspace(frames[0], frames[-1] + machine.span, self.least_regions + 1)
        self._ends = np.unique(ends.astype(np.int64))
        self._seen = np.zeros(len(self._ends) - 1)
        return True

    def heat(self, machine: Machine, units: Units) -> Heat:
        heat = np.zeros(len(units))
        cpu, self._checks = self._checks * self.entry_ns, 0
        if len(self._seen):
            region = np.searchsorted(self._ends, units.frame, side="right") - 1
            inside = (region >= 0) & (region < len(self._seen))
            heat[inside] = self._seen[region[inside]]
            self._merge()
            self._split(machine, units)
        return Heat(heat, np.zeros(len(units)), cpu_ns=cpu)

    def _merge(self) -> None:
        like = np.abs(np.diff(self._seen)) <= max(1.0, self._seen.max() / 10)
        if len(self._seen) - np.count_nonzero(like) >= self.least_regions:
            self._ends = np.delete(self._ends, np.flatnonzero(like) + 1)

    def _split(self, machine: Machine, units: Units) -> None:
        """Split regions; the outer borders follow the frames in use."""
        ends = self._ends
        if len(units):
            ends[0] = min(ends[0], units.frame[0])
            ends[-1] = max(ends[-1], units.frame[-1] + machine.span)
        if len(ends) - 1 <= self.most_regions // 2:
            sizes = np.diff(ends)
            cuts = ends[:-1] + 1 + (self._rng.random(len(sizes)) * (sizes - 1)).astype(np.int64)
            ends = np.union1d(ends, cuts[sizes > 1])
        self._ends, self._seen = ends, np.zeros(len(ends) - 1)
        self._picked = np.empty(0, np.int64)

    def counts(self, machine: Machine) -> dict[str, float]:
        return {"regions": len(self._seen)}
