# SPDX-License-Identifier: Apache-2.0
"""Processor event-based sampling, as HeMem and MEMTIS use it (NEMO §2, §5.1)."""

from __future__ import annotations

from dataclasses import dataclass

from anemone.tiering.config import FAST, SLOW
from anemone.tiering.interfaces import Heat, Source
from anemone.tiering.machine import Machine, Units
from anemone.tiering.parameters import constants, setting
from anemone.tiering.sources.counting import FrameCounts, by_unit
from anemone.tiering.sources.oracle import base_pages
from anemone.tiering.state import I_DROPPED

_PEBS = constants("pebs")
_PROCESS_NS = _PEBS["process_instructions"] * constants("processor")["ns_per_instruction"]
# PEBS sees demand loads that miss, and stores by their fetches. Prefetches, non-temporal stores and
# write-backs are not attributed to an instruction (NEMO §5.1.1).
VISIBLE = ("load", "rfo")
# The steps of an adaptive period (pebs_period_list in MEMTIS' published code).
_PERIODS = (
    199, 293, 401, 499, 599, 701, 797, 907, 997, 1201, 1399, 1601, 1801, 1999, 2503, 3001, 3499,
    4001, 4507, 4999, 6007, 7001, 7993, 9001, 10007, 12007, 13999, 16001, 17989, 19997,
)  # fmt: skip


@dataclass
class Pebs(Source):
    """Every period-th visible access of a thread is a sample; heat is samples × period.

    sample_ns: cost of a sample for the thread. buffer: samples between two reads; more are dropped.
    quota: share of a processor for processing. Every adapt_ms the period grows by a step if the
    share is above the quota and shrinks if it is below, as in MEMTIS. With 0 the period is
    constant.
    """

    period: int = setting(int(_PEBS["period"]), 1)
    sample_ns: float = setting(_PEBS["sample_ns"])
    buffer: int = setting(int(_PEBS["buffer"]), 1, 1 << 28, divide=True)
    quota: float = setting(0.0, maximum=1.0)
    adapt_ms: float = setting(_PEBS["adapt_ms"], 1e-6)

    needs = ("kind",)

    def start(self, machine: Machine, tiers: tuple[int, ...] = (FAST, SLOW)) -> None:
        self._cpu = self._since = 0.0
        self._share: float | None = None
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
        cpu = len(addr) * _PROCESS_NS
        heat = Heat(
            by_unit(counts, units, machine.span) * self.period,
            by_unit(stores, units, machine.span) * self.period,
            cpu_ns=cpu,
            **base,
        )
        if self.quota:
            self._adapt(machine, cpu * machine.config.scale)
        return heat

    def _adapt(self, machine: Machine, cpu: float) -> None:
        """Change the period if processing takes more or less than the quota."""
        self._cpu += cpu
        elapsed = machine.now - self._since
        if elapsed < self.adapt_ms * 1e6:
            return
        share, newest = self._cpu / elapsed, _PEBS["newest"]
        old = share if self._share is None else self._share
        self._share = newest * share + (1 - newest) * old
        self._cpu, self._since = 0.0, machine.now
        if self._share > self.quota + _PEBS["slack"]:
            self.period = next((p for p in _PERIODS if p > self.period), self.period)
        elif self._share < self.quota - _PEBS["slack"]:
            self.period = next((p for p in _PERIODS[::-1] if p < self.period), self.period)
        machine.period(self.period)

    def counts(self, machine: Machine) -> dict[str, float]:
        dropped = int(machine.state.whole[I_DROPPED])
        return {
            "samples": self._samples,
            "dropped": dropped,
            "program_ns": (self._samples + dropped) * self.sample_ns * machine.config.scale,
            **({"period": self.period} if self.quota else {}),
        }
