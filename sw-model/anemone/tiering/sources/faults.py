# SPDX-License-Identifier: Apache-2.0
"""Hint faults, as in Linux' NUMA balancing: the next access to a page faults."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anemone.tiering.config import FAST, SLOW
from anemone.tiering.interfaces import Heat, Source
from anemone.tiering.machine import Machine, Units
from anemone.tiering.parameters import constants, setting

_FAULTS, _SCAN = constants("faults"), constants("scan")
_MIN_NS = 1.0  # least time between a scan and a fault


@dataclass
class HintFaults(Source):
    """Each interval makes the next scan_mib of the slow tier fault at their next access.

    A page that faults t ns after its scan is assumed to be accessed every t ns, so its heat is the
    interval / t. For the fast tier heat is the page table's accessed bit, 1 or 0. fault_ns: cost of
    a fault for the program's thread.
    """

    scan_mib: int = setting(int(_FAULTS["scan_mib"]), 1, divide=True)
    fault_ns: float = setting(_FAULTS["fault_ns"])

    def start(self, machine: Machine) -> None:
        machine.fault(self.fault_ns)
        machine.mark()
        self._scanned = np.full(len(machine.state.memory.table), np.nan)
        self._next = self._faults = 0
        self._last = 0.0

    def heat(self, machine: Machine, units: Units) -> Heat:
        now = machine.now
        frame, time = machine.take_faults()
        frame = frame.copy()
        self._faults += len(frame)
        seen = np.zeros(len(self._scanned))
        took = np.maximum(time - self._scanned[frame], _MIN_NS)
        seen[frame] = (now - self._last) / took
        read, _ = machine.take_marks(units.frame)
        heat = np.where(units.tier == FAST, read, seen[units.frame]).astype(float)
        self._last = now

        # A whole page faults at its first frame, a split page at each of its frames.
        slow = units.frame[units.tier == SLOW]
        count = max(1, (self.scan_mib << 20) // machine.config.page_bytes)
        at = np.searchsorted(slow, self._next)
        chosen = np.roll(slow, -at)[:count]
        self._next = int(chosen[-1]) + 1 if len(chosen) else 0
        self._scanned[chosen] = now
        machine.trap(chosen)
        cpu = (len(units) + len(chosen)) * _SCAN["entry_ns"]
        return Heat(heat, np.zeros(len(units)), cpu_ns=cpu)

    def counts(self, machine: Machine) -> dict[str, float]:
        cost = self.fault_ns * machine.config.scale
        return {"faults": self._faults, "program_ns": self._faults * cost}
