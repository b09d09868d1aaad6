# SPDX-License-Identifier: Apache-2.0
"""Processor event-based sampling, as HeMem and MEMTIS use it (NEMO §2, §5.1)."""

from __future__ import annotations

from dataclasses import dataclass

from anemone.tiering.interfaces import Heat, Source
from anemone.tiering.machine import Machine, Units
from anemone.tiering.parameters import constants, setting
from anemone.tiering.sources.counting import FrameCounts, by_unit
from anemone.tiering.sources.oracle import base_pages
from anemone.tiering.state import FAST, I_DROPPED, SLOW

_PEBS = constants("pebs")
_PROCESS_NS = _PEBS["process_instructions"] * constants("processor")["ns_per_instruction"]
# Demand loads that miss, and stores by their fetches. Prefetched lines, non-temporal stores and
# write-backs have no instruction that a sample could name (NEMO §5.1.1).
VISIBLE = ("load", "rfo")


@dataclass
class Pebs(Source):
    """Every period-th visible access of a thread is a sample; heat is samples × period.

    sample_ns: of the thread, a sample. buffer: samples between two readings; more are dropped.
    """

    period: int = setting(int(_PEBS["period"]), 1)
    sample_ns: float = setting(_PEBS["sample_ns"])
    buffer: int = setting(int(_PEBS["buffer"]), 1, 1 << 28)

    needs = ("kind",)

    def start(self, machine: Machine, tiers: tuple[int, ...] = (FAST, SLOW)) -> None:
        machine.sample(self.period, self.sample_ns, self.buffer, VISIBLE, tiers)
        self._counts, self._stores = FrameCounts(machine), FrameCounts(machine)
        self._samples = 0

    def heat(self, machine: Machine, units: Units) -> Heat:
        addr, store = machine.take_samples()
        self._counts.add(addr)
        self._stores.add(addr[store])
        self._samples += len(addr)
        counts, stores = self._counts.take(), self._stores.take()
        base = base_pages(counts, units, machine.span)
        if base:
            base["base"] = base["base"] * self.period
        return Heat(
            by_unit(counts, units, machine.span) * self.period,
            by_unit(stores, units, machine.span) * self.period,
            cpu_ns=len(addr) * _PROCESS_NS,
            **base,
        )

    def counts(self, machine: Machine) -> dict[str, float]:
        dropped = int(machine.state.whole[I_DROPPED])
        return {
            "samples": self._samples,
            "dropped": dropped,
            "program_ns": (self._samples + dropped) * self.sample_ns,
        }
