# SPDX-License-Identifier: Apache-2.0
"""A hotness monitoring unit (CXL 3.2 §8.2.8, CHMU) with few counters and a hot list."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anemone.tiering.compiled import compiled
from anemone.tiering.config import SLOW
from anemone.tiering.interfaces import Heat, Source
from anemone.tiering.machine import Machine, Units
from anemone.tiering.parameters import constants, setting

_UNIT = constants("hotness_unit")
_LINE_NS = constants("nemo")["counter_instructions"] * constants("processor")["ns_per_instruction"]
_PER_LINE = 8  # entries of the hot list in 64 B


@compiled()
def _count(counter_of, counts, used, addr, shift):  # type: ignore[no-untyped-def]
    """Count frames; new frames are ignored if no counter is free. Returns the counters used."""
    for a in addr:
        frame = a >> shift
        counter = counter_of[frame]
        if counter < 0:
            if used == len(counts):
                continue
            counter = counter_of[frame] = used
            used += 1
        counts[counter] += 1
    return used


@dataclass
class HotnessUnit(Source):
    """The first frames that are accessed in an interval (its epoch) get one counter each.

    Frames that reach the threshold are on the hot list, which software reads with eight entries per
    line. Their heat is their count; that of others is 0. For the fast tier heat is the page table's
    accessed bit, 1 or 0.
    """

    counters: int = setting(int(_UNIT["counters"]), 1, 1 << 24, divide=True)
    threshold: int = setting(int(_UNIT["threshold"]), 1)

    line_ns = _LINE_NS

    def start(self, machine: Machine) -> None:
        machine.log((SLOW,))
        machine.mark()
        self._shift = np.uint64(machine.frame_shift)
        self._counter_of = np.full(len(machine.state.memory.table), -1, np.int64)
        self._counts = np.zeros(self.counters, np.int64)
        self._used = self._all = 0

    def events(self, addr: np.ndarray, flags: np.ndarray) -> None:
        self._used = _count(self._counter_of, self._counts, self._used, addr, self._shift)

    def lines(self, machine: Machine) -> int:
        hot = np.count_nonzero(self._counts >= self.threshold)
        self._all += hot
        return -(-hot // _PER_LINE)

    def heat(self, machine: Machine, units: Units) -> Heat:
        counts = np.append(np.where(self._counts >= self.threshold, self._counts, 0), 0)
        of_frame = counts[self._counter_of]  # index -1 is the appended 0
        if machine.span > 1:
            whole = of_frame.reshape(-1, machine.span).sum(axis=1)[units.frame // machine.span]
            seen = np.where(units.split, of_frame[units.frame], whole)
        else:
            seen = of_frame[units.frame]
        self._counter_of[:] = -1
        self._counts[:] = 0
        self._used = 0
        read, _ = machine.take_marks(units.frame)
        return Heat(np.where(units.tier == SLOW, seen, read).astype(float), np.zeros(len(units)))

    def counts(self, machine: Machine) -> dict[str, float]:
        return {"listed": self._all}
