# SPDX-License-Identifier: Apache-2.0
"""A judge of the loop: a trained forest, its miss ratio as the paper guesses it, or counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from anemone.memstrata.loop import Judged, Reading
from anemone.memstrata.outliers import Ask, Line, classify, features


@dataclass(frozen=True)
class Forest:
    """model: model.onnx. line: the miss ratio by L3 miss latency (§4.2); None: NEMO counts misses
    by tenant, and the forest was trained on these."""

    model: Path
    line: Line | None
    ask: Ask

    def __call__(self, readings: Mapping[str, Reading]) -> dict[str, Judged]:
        if not readings:
            return {}
        ratios = [self._ratio(reading) for reading in readings.values()]
        rows = [
            features(reading.metrics, ratio)
            for reading, ratio in zip(readings.values(), ratios, strict=True)
        ]
        shares = classify(self.model, rows, self.ask)
        return {
            name: Judged(share > 0.5, ratio * reading.requests)
            for (name, reading), ratio, share in zip(readings.items(), ratios, shares, strict=True)
        }

    def _ratio(self, reading: Reading) -> float:
        if self.line:
            return self.line.ratio(reading.metrics["l3_ns"])
        return reading.misses / reading.requests if reading.requests else 0.0
