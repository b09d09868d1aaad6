# SPDX-License-Identifier: Apache-2.0
"""An ideal source: every access of the program to either tier, at no cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anemone.tiering.config import FAST, SLOW
from anemone.tiering.interfaces import Heat, Source
from anemone.tiering.machine import Machine, Units
from anemone.tiering.sources.counting import FrameCounts, by_unit
from anemone.tiering.state import COPY, KIND_SHIFT, WRITE


@dataclass
class Oracle(Source):
    """Counts the program's accesses by frame, without copies of pages."""

    def start(self, machine: Machine) -> None:
        machine.log((FAST, SLOW))
        self._all, self._writes = FrameCounts(machine), FrameCounts(machine)

    def events(self, addr: np.ndarray, flags: np.ndarray) -> None:
        own = flags >> KIND_SHIFT != COPY
        self._all.add(addr[own])
        self._writes.add(addr[own & (flags & WRITE != 0)])

    def heat(self, machine: Machine, units: Units) -> Heat:
        counts, writes = self._all.take(), self._writes.take()
        return Heat(
            by_unit(counts, units, machine.span), by_unit(writes, units, machine.span),
            exact=True,
            **base_pages(counts, units, machine.span),
        )  # fmt: skip


def base_pages(counts: np.ndarray, units: Units, span: int) -> dict[str, np.ndarray]:
    """The counts of the frames of whole pages, as fields of Heat; empty if pages cannot split."""
    if span == 1:
        return {}
    page = units.frame[~units.split]
    return {"base_page": page, "base": counts.reshape(-1, span)[page // span].astype(float)}
