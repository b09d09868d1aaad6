# SPDX-License-Identifier: Apache-2.0
"""A count-min sketch in the device, as in NeoProf (Zhou et al., NeoMem, MICRO 2024)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anemone.tiering.compiled import compiled
from anemone.tiering.config import SLOW
from anemone.tiering.interfaces import Heat, Source
from anemone.tiering.machine import Machine, Units
from anemone.tiering.parameters import constants, setting
from anemone.tiering.sources.counting import by_unit

_NEOPROF = constants("neoprof")
_LINE_NS = constants("nemo")["counter_instructions"] * constants("processor")["ns_per_instruction"]
_PAGE_SHIFT = 12
_WIDTHS = tuple(1 << n for n in range(4, 25))
_PER_LINE = 8  # reported pages in 64 B
# An odd multiplier for each row; the hash is the upper bits of the product.
_ROWS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
                  0xD6E8FEB86659FD93], np.uint64)  # fmt: skip


@compiled()
def _count(rows, bits, seeds, addr, threshold, reported, known, n):  # type: ignore[no-untyped-def]
    """Count pages and report each page once when its estimate reaches the threshold. Returns the
    number of reports.
    """
    for a in addr:
        page = a >> np.uint64(_PAGE_SHIFT)
        minimum = 1 << 62
        for row in range(len(rows)):
            at = (page * seeds[row]) >> np.uint64(64 - bits)
            rows[row, at] += 1
            minimum = min(minimum, rows[row, at])
        if minimum >= threshold and not known[page] and n < len(reported):
            known[page] = True
            reported[n] = page
            n += 1
    return n


@dataclass
class NeoProf(Source):
    """Counts accesses to the slow tier's 4 KiB pages in `depth` rows of `width` counters.

    A page whose estimate reaches the threshold is reported once per interval, up to `reports`
    pages. Its heat is the threshold; that of others is 0. Software reads the reports, eight per
    line, and clears the sketch. For the fast tier, which the device does not see, heat is the page
    table's accessed bit, 1 or 0.
    """

    width: int = setting(int(_NEOPROF["width"]), choices=_WIDTHS, divide=True)
    depth: int = setting(int(_NEOPROF["depth"]), 1, 4)
    threshold: int = setting(64, 1)
    reports: int = setting(16384, 1, 1 << 24, divide=True)

    line_ns = _LINE_NS

    def start(self, machine: Machine) -> None:
        machine.log((SLOW,))
        machine.mark()
        self._rows = np.zeros((self.depth, self.width), np.int64)
        self._known = np.zeros(machine.geometry.device_bytes >> _PAGE_SHIFT, np.bool_)
        self._reported = np.empty(self.reports, np.int64)
        self._n = self._all = 0
        self._shift = machine.frame_shift - _PAGE_SHIFT

    def events(self, addr: np.ndarray, flags: np.ndarray) -> None:
        bits = self.width.bit_length() - 1
        self._n = _count(
            self._rows, bits, _ROWS, addr, self.threshold, self._reported, self._known, self._n
        )

    def lines(self, machine: Machine) -> int:
        return -(-self._n // _PER_LINE)

    def heat(self, machine: Machine, units: Units) -> Heat:
        counts = np.zeros(len(machine.state.memory.table))
        np.add.at(counts, self._reported[: self._n] >> self._shift, self.threshold)
        self._known[self._reported[: self._n]] = False
        self._all += self._n
        self._n = 0
        self._rows[:] = 0
        read, _ = machine.take_marks(units.frame)
        heat = np.where(units.tier == SLOW, by_unit(counts, units, machine.span), read)
        return Heat(heat, np.zeros(len(units)))

    def counts(self, machine: Machine) -> dict[str, float]:
        return {"reported": self._all}
