# SPDX-License-Identifier: Apache-2.0
"""Polled bandwidth by thread, as with Intel's Memory Bandwidth Monitoring (NEMO §5.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anemone.tiering.interfaces import Heat, Source
from anemone.tiering.machine import Machine, Units
from anemone.tiering.parameters import constants, setting


@dataclass
class Mbm(Source):
    """A poll each interval returns the lines that each thread has moved, over both tiers and all
    kinds.

    The heat of pages is 0. poll_ns: processor time of a poll, which does not depend on the scale.
    """

    poll_ns: float = setting(constants("mbm")["poll_ns"])

    by_thread = True

    def start(self, machine: Machine) -> None:
        self._left = machine.rows_left()
        self._polls = 0

    def heat(self, machine: Machine, units: Units) -> Heat:
        before, self._left = self._left, machine.rows_left()
        self._polls += 1
        none = np.zeros(len(units))
        cpu = self.poll_ns / machine.config.scale
        return Heat(none, none, threads=(before - self._left).astype(float), cpu_ns=cpu)

    def counts(self, machine: Machine) -> dict[str, float]:
        return {"polls": self._polls}
