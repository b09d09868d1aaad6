# SPDX-License-Identifier: Apache-2.0
"""Which seeds `make test` plays, in pieces that two processes can share; and what SEED asks for."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from typing import Any

from tests.cocotb.bench.build import WORK
from tests.cocotb.bench.once import played_once
from tests.cocotb.bench.simulate import campaign
from tests.cocotb.bench.sizes import SIZES, Size


@dataclass(frozen=True)
class Shard:
    """Seeds first to first + count - 1 on one build."""

    size: Size
    first: int
    count: int

    def __str__(self) -> str:
        return f"{self.size.name}-{self.first}-{self.first + self.count - 1}"


def _shards(size: str, count: int, pieces: int) -> list[Shard]:
    return [Shard(SIZES[size], i * count, count) for i in range(pieces)]


def shards() -> list[Shard]:
    """Those of `make test`: 270 seeds, some 1.2 M events. SEED=n or SEED=n-m (with CONFIG=size)
    in the environment asks for other ones instead.
    """
    if asked := os.environ.get("SEED"):
        first, _, last = asked.partition("-")
        count = int(last or first) - int(first) + 1
        return [Shard(SIZES[os.environ.get("CONFIG", "p2c2")], int(first), count)]
    return [*_shards("p3c4", 20, 4), *_shards("p2c2", 50, 2), *_shards("p1c1", 60, 1), *reduced()]


def reduced() -> list[Shard]:
    """Engines in which not all is built in."""
    return [*_shards("lean", 15, 1), *_shards("some", 15, 1)]


def played(shard: Shard, run: str) -> dict[str, Any]:
    """The report of a shard, played once in a test run however many tests ask for it."""
    folder = WORK / "campaign" / str(shard)
    return played_once(
        str(shard), folder, run, lambda: campaign(shard.size, shard.first, shard.count, folder)
    )


def merged(reports: list[dict[str, Any]]) -> tuple[Counter[str], Counter[str]]:
    """Totals (seeds, events, reads, cycles) and coverage of some reports."""
    totals: Counter[str] = Counter()
    cover: Counter[str] = Counter()
    for report in reports:
        totals.update({name: report[name] for name in ("seeds", "events", "reads", "cycles")})
        cover.update(report["cover"])
    return totals, cover
