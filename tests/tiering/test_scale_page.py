# SPDX-License-Identifier: Apache-2.0
"""docs/scale.md: all its numbers are recomputed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from anemone.studies.scale import Cost

TEXT = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")
WORDS = " ".join(TEXT.split())
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TEXT.splitlines()
    if re.match(r"\| \d", line)
]


def number(words: str) -> float:
    return float(words.split()[0].replace(",", ""))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: " ".join(row[:2]))
def test_a_row(row: list[str]) -> None:
    cost = Cost(1024 if "TiB" in row[0] else int(number(row[0])), int(number(row[1])))
    expected = [
        cost.pages, cost.counter_bytes / 1024, cost.table_bytes / 1024, 100 * cost.page_cpu,
        cost.sweep_s, 100 * cost.watcher_cpu,
    ]  # fmt: skip
    for words, value in zip(row[2:], expected, strict=True):
        digits = len(words.split()[0].partition(".")[2])
        assert number(words) == round(value, digits), words
    assert cost.watcher_bytes == 896 << 10


def test_the_words() -> None:
    large, seconds = Cost(1024), Cost(16).sweep_s
    wide, narrow = Cost(1024, 64, states=8192 * 64), Cost(1024, 8, states=8192 * 8)
    assert wide.sweep_s == narrow.sweep_s == seconds
    assert (wide.watcher_bytes >> 20, narrow.watcher_bytes >> 20) == (56, 7)
    assert f"{100 * wide.watcher_cpu:.1f} %" in WORDS and wide.watcher_cpu == narrow.watcher_cpu
    assert f"{large.sweep_s / 60:.0f} minutes" in WORDS
    assert f"{100 * Cost(1024, period_s=10).page_cpu:.2f} %" in WORDS
    processors = 10_000 * (large.page_cpu + large.watcher_cpu)
    assert f"{processors:.0f} processors" in WORDS
    assert f"{100 * processors / 640_000:.2f} %" in WORDS
    assert f"{large.pages * 8 * 10_000 / 1e9:.0f} GB/s" in WORDS
    assert f"{16 * 8 * 10_000 / 1e6:.1f} MB/s" in WORDS
