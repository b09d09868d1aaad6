# SPDX-License-Identifier: Apache-2.0
"""Which seeds `make test` plays, in pieces that two processes can share; and what SEED asks for."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cocotb.bench.once import played_once
from tests.cocotb.bench.simulate import simulate
from tests.expander.bench.build import WORK, built
from tests.expander.bench.sizes import BUILDS, Build

CYCLES = 4000  # of a seed's traffic
PACKAGE = "tests.expander.bench"


@dataclass(frozen=True)
class Shard:
    """Seeds first to first + count - 1 on one build."""

    build: Build
    first: int
    count: int

    def __str__(self) -> str:
        return f"{self.build.name}-{self.first}-{self.first + self.count - 1}"


def shards() -> list[Shard]:
    """Those of `make test`. SEED=n or SEED=n-m (with CONFIG=build) asks for other ones instead."""
    if asked := os.environ.get("SEED"):
        first, _, last = asked.partition("-")
        count = int(last or first) - int(first) + 1
        return [Shard(BUILDS[os.environ.get("CONFIG", "x2")], int(first), count)]
    pieces = [Shard(BUILDS["x2"], first, 30) for first in (0, 30)]
    return [
        *pieces,
        Shard(BUILDS["x1"], 0, 40),
        Shard(BUILDS["board"], 0, 15),
        Shard(BUILDS["agilex"], 0, 4),
        Shard(BUILDS["tiered"], 0, 40),
    ]


def play(
    shard: Shard, folder: Path, simulator: Path | None = None, plusargs: Sequence[str] = ()
) -> dict[str, Any]:
    """Play a shard; the report that `campaign.seeds` wrote."""
    report = folder / "report.json"
    folder.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    simulate(
        simulator or built(shard.build, waves="WAVES" in os.environ),
        "campaign",
        folder,
        plusargs,
        package=PACKAGE,
        top=shard.build.top,
        BENCH_SIZE=shard.build.name,
        BENCH_SEEDS=f"{shard.first} {shard.count}",
        BENCH_CYCLES=str(CYCLES),
        BENCH_REPORT=str(report),
    )
    return json.loads(report.read_text())


def directed(
    build: Build,
    module: str,
    folder: Path,
    simulator: Path | None = None,
    plusargs: Sequence[str] = (),
) -> None:
    """Run a module of directed tests on a build. Raises AssertionError when one fails."""
    simulate(
        simulator or built(build, waves="WAVES" in os.environ),
        module,
        folder,
        plusargs,
        package=PACKAGE,
        top=build.top,
        BENCH_SIZE=build.name,
    )


def played(shard: Shard, run: str) -> dict[str, Any]:
    """The report of a shard, played once in a test run however many tests ask for it."""
    folder = WORK / "campaign" / str(shard)
    return played_once(f"expander-{shard}", folder, run, lambda: play(shard, folder))


def merged(reports: list[dict[str, Any]]) -> tuple[Counter[str], Counter[str]]:
    """Totals and coverage of some reports."""
    totals: Counter[str] = Counter()
    cover: Counter[str] = Counter()
    for report in reports:
        totals.update(report["totals"])
        cover.update(report["cover"])
    return totals, cover
