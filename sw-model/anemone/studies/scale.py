# SPDX-License-Identifier: Apache-2.0
"""What NEMO takes of a larger memory: docs/scale.md has these numbers."""

from __future__ import annotations

from dataclasses import dataclass

from anemone.studies.sweep import formula
from anemone.tiering.config import HUGE_PAGE
from anemone.tiering.parameters import constants

_CHANNELS = 2


@dataclass(frozen=True)
class Cost:
    """Of one host whose slow tier has so many GiB.

    width: bits of a counter. period_s: of the polls. pipelines, states: that watch frames in turn.
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
        """SRAM of a counter a huge page; each channel has its own."""
        return self.pages * self.width // 8 * _CHANNELS

    @property
    def table_bytes(self) -> int:
        """SRAM of their translations: a base index and a valid bit each."""
        return self.pages * ((self.pages - 1).bit_length() + 1) // 8

    @property
    def sweep_s(self) -> float:
        """Until every huge page has been watched by its frames."""
        return formula(self.gib, self.pipelines, self.states, self.width) * self.period_s / 0.5

    @property
    def watcher_bytes(self) -> int:
        """SRAM of the states that watch."""
        return self.pipelines * self.states * 8 * _CHANNELS

    @property
    def page_cpu(self) -> float:
        """Share of a processor that polls of the huge pages' counters take."""
        return self.pages * self._counter_s / self.period_s

    @property
    def watcher_cpu(self) -> float:
        """And of the frames' counters."""
        return self.pipelines * self.states * 64 // self.width * self._counter_s / self.period_s

    @property
    def read_mb_per_s(self) -> float:
        """What polls of the huge pages read through the link."""
        return self.counter_bytes / self.period_s / 1e6

    @property
    def _counter_s(self) -> float:
        instructions = constants("nemo")["counter_instructions"]
        return instructions * constants("processor")["ns_per_instruction"] * 1e-9
