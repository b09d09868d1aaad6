# SPDX-License-Identifier: Apache-2.0
"""The common parts of all benches: builds, a campaign of random seeds, and directed tests."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.bench.once import cocotb_tests, run_once, verdicts
from tests.bench.simulate import simulate


class Build(Protocol):
    """A configuration of the hardware."""

    @property
    def name(self) -> str: ...

    @property
    def top(self) -> str: ...


@dataclass(frozen=True)
class Shard:
    """Seeds first to first + count - 1 on one build, a unit of work for one process."""

    build: Build
    first: int
    count: int

    def __str__(self) -> str:
        return f"{self.build.name}-{self.first}-{self.first + self.count - 1}"


@dataclass(frozen=True)
class Bench:
    """One bench.

    package: its cocotb modules. work: where its builds and runs are. builds:
    by name, the first is CONFIG's default. simulator: builds a build's, with waves or without.
    seeds: first and count of the pieces that `make test` runs, by build. quick: the build and
    how many seeds `make check` runs of it.
    """

    package: str
    work: Path
    builds: Mapping[str, Build]
    simulator: Callable[[Any, bool], Path]
    seeds: Mapping[str, Sequence[tuple[int, int]]]
    quick: tuple[str, int]

    def shards(self) -> list[Shard]:
        """The shards of `make test`, or of `make check` (FAST). SEED=n or SEED=n-m (with
        CONFIG=build) selects others.
        """
        if asked := os.environ.get("SEED"):
            first, _, last = asked.partition("-")
            build = self.builds[os.environ.get("CONFIG", next(iter(self.builds)))]
            return [Shard(build, int(first), int(last or first) - int(first) + 1)]
        if "FAST" in os.environ:
            name, count = self.quick
            return [Shard(self.builds[name], 0, count)]
        return [
            Shard(self.builds[name], first, count)
            for name, pieces in self.seeds.items()
            for first, count in pieces
        ]

    @property
    def whole(self) -> bool:
        """Whether all seeds of `make test` run, which together cover every bin."""
        return not {"SEED", "FAST"} & os.environ.keys()

    def run(
        self,
        build: Build,
        module: str,
        folder: Path,
        simulator: Path | None = None,
        plusargs: Sequence[str] = (),
        **environment: str,
    ) -> None:
        """Run a module of cocotb tests. Raises AssertionError if one fails."""
        simulate(
            simulator or self.simulator(build, "WAVES" in os.environ),
            module,
            folder,
            plusargs,
            package=self.package,
            top=build.top,
            BENCH_SIZE=build.name,
            **environment,
        )

    def run_shard(
        self,
        shard: Shard,
        folder: Path,
        simulator: Path | None = None,
        plusargs: Sequence[str] = (),
        module: str = "campaign",
    ) -> dict[str, Any]:
        """Run a shard. Returns the report that `seeds.run_seeds` wrote."""
        report = folder / "report.json"
        folder.mkdir(parents=True, exist_ok=True)
        report.unlink(missing_ok=True)
        where = {"BENCH_SEEDS": f"{shard.first} {shard.count}", "BENCH_REPORT": str(report)}
        self.run(shard.build, module, folder, simulator, plusargs, **where)
        return json.loads(report.read_text())

    def shard_report(self, shard: Shard, run: str) -> dict[str, Any]:
        """The report of a shard, which runs once per test run even if several tests need it."""
        folder = self.work / "campaign" / str(shard)
        return run_once(folder, run, lambda: self.run_shard(shard, folder))

    def covered(self, required: Collection[str], run: str, report: Path) -> Counter[str]:
        """Totals of `make test`'s seeds, after a check that they cover all required bins; also
        written to `report`.
        """
        totals, cover = merged(self.shard_report(shard, run) for shard in reversed(self.shards()))
        missing = sorted(set(required) - (+cover).keys())
        summary = {"totals": dict(totals), "bins": len(required), "missing": missing}
        report.write_text(
            json.dumps(summary | {"hits": dict(sorted(cover.items()))}, indent=1) + "\n"
        )
        print(summary)
        assert not missing
        return totals


def merged(reports: Iterable[dict[str, Any]]) -> tuple[Counter[str], Counter[str]]:
    """Totals and coverage of some reports."""
    totals: Counter[str] = Counter()
    cover: Counter[str] = Counter()
    for report in reports:
        totals.update(report["totals"])
        cover.update(report["cover"])
    return totals, cover


class Directed:
    """The directed cocotb tests of a bench; the tests of a module share one simulation of a build.

    modules: by name, the builds that they run on.
    """

    def __init__(self, bench: Bench, modules: Mapping[str, Sequence[str]]) -> None:
        self._bench = bench
        self.modules = modules
        self._found: dict[tuple[str, str], dict[str, str]] = {}

    def _names(self, module: str) -> list[str]:
        folder = Path(__file__).parents[2].joinpath(*self._bench.package.split("."))
        return cocotb_tests(folder / f"{module}.py")

    @property
    def cases(self) -> list[Any]:
        """Parameters of a test: module, build and name."""
        return [
            # One worker runs all tests of a module, because they share a simulation.
            pytest.param(
                *(module, build, test),
                id=f"{build}-{test}",
                marks=pytest.mark.xdist_group(f"{self._bench.package}-{module}-{build}"),
            )
            for module, builds in self.modules.items()
            for build in builds
            for test in self._names(module)
        ]

    def outcome(self, module: str, build: str, test: str) -> str:
        """The failure's text; None if the test passed."""
        if (module, build) not in self._found:
            folder = self._bench.work / "directed" / f"{module}-{build}"
            self._found[module, build] = verdicts(
                folder,
                self._names(module),
                lambda: self._bench.run(self._bench.builds[build], module, folder),
            )
        return self._found[module, build][test]
