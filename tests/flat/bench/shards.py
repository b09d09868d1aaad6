# SPDX-License-Identifier: Apache-2.0
"""Which seeds `make test` plays on which controller, and what SEED asks for."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cocotb.bench.once import played_once
from tests.cocotb.bench.simulate import simulate
from tests.flat.bench.build import BUILDS, TOP, WORK, Build, built

CYCLES = 3000  # of a seed's traffic
PACKAGE = "tests.flat.bench"


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
        return [Shard(BUILDS[os.environ.get("CONFIG", "flat1")], int(first), count)]
    counts = {"flat1": 160, "flat2": 200, "flat3": 160, "flat4": 200}
    return [Shard(BUILDS[name], 0, count) for name, count in counts.items()]


def run(
    build: Build,
    module: str,
    folder: Path,
    simulator: Path | None = None,
    plusargs: Sequence[str] = (),
    **environment: str,
) -> None:
    """Run a module of cocotb tests. Raises AssertionError when one fails."""
    simulate(
        simulator or built(build, waves="WAVES" in os.environ),
        module,
        folder,
        plusargs,
        package=PACKAGE,
        top=TOP,
        BENCH_SIZE=build.name,
        **environment,
    )


def play(
    shard: Shard, folder: Path, simulator: Path | None = None, plusargs: Sequence[str] = ()
) -> dict[str, Any]:
    """Play a shard; the report that the campaign wrote."""
    report = folder / "report.json"
    folder.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    seeds = f"{shard.first} {shard.count}"
    environment = {"BENCH_SEEDS": seeds, "BENCH_CYCLES": str(CYCLES), "BENCH_REPORT": str(report)}
    run(shard.build, "campaign", folder, simulator, plusargs, **environment)
    return json.loads(report.read_text())


def played(shard: Shard, run: str) -> dict[str, Any]:
    """The report of a shard, played once in a test run however many tests ask for it."""
    folder = WORK / "campaign" / str(shard)
    return played_once(f"flat-{shard}", folder, run, lambda: play(shard, folder))
