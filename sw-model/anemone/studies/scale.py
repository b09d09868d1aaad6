# SPDX-License-Identifier: Apache-2.0
"""NEMO's cost for larger memories; docs/scale.md has these numbers."""

from __future__ import annotations

from dataclasses import dataclass

from anemone.studies.sweep import formula
from anemone.tiering.config import HUGE_PAGE
from anemone.tiering.parameters import constants

_CHANNELS = 2


@dataclass(frozen=True)
class Cost:
    """The cost for one host with a slow tier of `gib` GiB.

    width: bits of a counter. period_s: time between polls. pipelines, states: those that watch
    frames by time multiplexing.
    """

    gib: int
    width: int = 64
    period_s: float = 0.5
    pipelines: int = 7
    states: int = 8192

    @property
    def pages(self) -> int:
        return (self.gib << 30) // HUGE_PAGE

    @property
    def counter_bytes(self) -> int:
        """SRAM of one counter per huge page and channel."""
        return self.pages * self.width // 8 * _CHANNELS

    @property
    def table_bytes(self) -> int:
        """SRAM of the translation table: a base index and a valid bit per huge page."""
        return self.pages * ((self.pages - 1).bit_length() + 1) // 8

    @property
    def sweep_s(self) -> float:
        """Seconds until the frames of every huge page have been watched."""
        return formula(self.gib, self.pipelines, self.states, self.width) * self.period_s / 0.5

    @property
    def watcher_bytes(self) -> int:
        """SRAM of the states that watch frames."""
        return self.pipelines * self.states * 8 * _CHANNELS

    @property
    def page_cpu(self) -> float:
        """Share of a processor for polls of the huge pages' counters."""
        return self.pages * self._counter_s / self.period_s

    @property
    def watcher_cpu(self) -> float:
        """Share of a processor for polls of the frames' counters."""
        return self.pipelines * self.states * 64 // self.width * self._counter_s / self.period_s

    @property
    def read_mb_per_s(self) -> float:
        """Link bandwidth for polls of the huge pages' counters."""
        return self.counter_bytes / self.period_s / 1e6

    @property
    def _counter_s(self) -> float:
        instructions = constants("nemo")["counter_instructions"]
        return instructions * constants("processor")["ns_per_instruction"] * 1e-9
