# SPDX-License-Identifier: Apache-2.0
"""The hardware builds that `make mutate` breaks, and the runs of their benches that detect it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.bench.alone import Alone
from tests.bench.bench import Bench, Build, Shard
from tests.bench.build import ROOT
from tests.engine.bench import build as engine
from tests.engine.bench.shards import BENCH as ENGINE
from tests.expander.bench import build as expander
from tests.expander.bench.shards import BENCH as EXPANDER
from tests.flat.bench import build as flat
from tests.flat.bench.shards import BENCH as FLAT
from tests.registers.alone import alone as registers
from tests.units.bench.build import BUILDS as UNITS
from tests.units.bench.shards import alone as units

BenchRun = tuple[int, int] | str  # seeds, first and count; or a module of directed tests


@dataclass(frozen=True)
class Target:
    """A build, its list of mutants, and its bench's runs, the cheapest first. around: handwritten
    sources with the simulated top, above the emitted one; defines: their macros. units: the
    benches of some of its units alone, in which the mutants of these run, too.
    """

    bench: Bench
    build: Build
    list: Path
    emit: Callable[[Any], Path]
    visible: str
    bench_runs: tuple[BenchRun, ...]
    around: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()
    units: tuple[Alone, ...] = ()

    @property
    def emitted(self) -> str:
        """The emitted top."""
        return self.build.emitted if self.around else self.build.top

    @property
    def folder(self) -> Path:
        """The folder of RTL, simulator and runs."""
        return self.bench.work / f"mutants-{self.build.name}"

    @property
    def equivalents(self) -> Path:
        """Changes that no test can detect, with reasons, in the format of `list`."""
        return self.list.with_name(self.list.name.replace("mutants", "equivalents"))

    @property
    def sources(self) -> list[Path]:
        """The sources of the runs."""
        shared = (ROOT / "tests" / name for name in ("bench", "units", "registers"))
        folders = (*shared, self.list.parent)
        return sorted(path for folder in folders for path in folder.rglob("*.py"))

    def run(self, what: BenchRun, sim: Path, folder: Path, chosen: Sequence[str]) -> None:
        """Do one run. Raises AssertionError if the bench detects a difference."""
        if isinstance(what, str):
            self.bench.run(self.build, what, folder, sim, chosen)
        else:
            self.bench.run_shard(Shard(self.build, *what), folder, sim, chosen)

    def runs(
        self, sim: Path, units: Mapping[Alone, Path], folder: Path, chosen: Sequence[str]
    ) -> Iterator[Callable[[], int]]:
        """The runs of a simulator that counts cycles, each a function that returns its cycles.

        The function raises AssertionError if the bench detects a difference. units: the
        benches of single units that are to run, too, with their simulators.
        """

        def counted(run: Callable[[], None]) -> int:
            run()
            text = (folder / "simulation.log").read_text()
            return int(re.findall(r"^cycles: (\d+)", text, re.MULTILINE)[-1])

        for what in self.bench_runs:
            yield partial(counted, partial(self.run, what, sim, folder, chosen))
        for bench, simulator in units.items():
            yield partial(counted, partial(bench.run, simulator, folder, chosen))


def _tests(package: str, name: str) -> Path:
    return ROOT / "tests" / package / name


TARGETS = {
    "engine": Target(
        ENGINE,
        ENGINE.builds["p2c2"],
        _tests("engine", "mutants.txt"),
        engine.emit,
        engine.PUBLIC,
        (
            (0, 10),
            *("parity", "directed", "directed_clocks", "directed_control", "directed_takes"),
            (10, 40),
        ),
        units=(units(UNITS["p2c2"]),),
    ),
    "expander": Target(
        EXPANDER,
        EXPANDER.builds["x2"],
        _tests("expander", "mutants.txt"),
        expander.emit,
        expander.visible(EXPANDER.builds["x2"]),
        (
            (0, 12),
            *("directed_order", "directed_path", "directed_region", "directed_interrupts"),
            *("directed_programming", "directed_parity", "directed_quiesce"),
            *("directed_acknowledge", "directed_faults", "directed_lines", "directed_upsets"),
            *("directed_clocks", "directed_backlog", "directed_telemetry_reads"),
            (12, 30),
        ),
        units=(units(UNITS["x2"]), registers(EXPANDER.builds["x2"])),
    ),
    "tiered": Target(
        EXPANDER,
        EXPANDER.builds["tiered"],
        _tests("expander", "mutants-tiered.txt"),
        expander.emit,
        expander.visible(EXPANDER.builds["tiered"]),
        (
            (0, 12),
            *("directed_tiered", "directed_policy", "directed_untrusted", "directed_warm"),
            *("directed_quiesce_tiered", "directed_undecided", "directed_upsets"),
            "directed_taken",
            (12, 30),
        ),
        units=(units(UNITS["tiered"]), registers(EXPANDER.builds["tiered"])),
    ),
    "flatboard": Target(
        EXPANDER,
        EXPANDER.builds["flatboard"],
        _tests("expander", "mutants-flatboard.txt"),
        expander.emit,
        expander.visible(EXPANDER.builds["flatboard"]),
        (
            (0, 2),
            *("directed_flat_board", "directed_untrusted", "directed_rate", "directed_taken"),
            (2, 6),
        ),
        tuple(expander.AGILEX),
        tuple(expander.defines(EXPANDER.builds["flatboard"])),
        units=(units(UNITS["flatboard"]), registers(EXPANDER.builds["flatboard"])),
    ),
    "flat": Target(
        FLAT,
        FLAT.builds["flat2"],
        _tests("flat", "mutants.txt"),
        flat.emit,
        flat.PUBLIC,
        (
            (0, 20),
            *("directed_latency", "directed_order", "directed_refusals", "directed_races"),
            *("directed_marks", "directed_tags", "directed_sweep", "directed_flips"),
            *("directed_reset", "directed_upsets", "directed_codes", "directed_counts"),
            (20, 100),
        ),
        units=(units(UNITS["flat2"]),),
    ),
}
