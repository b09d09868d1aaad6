# SPDX-License-Identifier: Apache-2.0
"""Which lines of the RTL the benches execute, and which of its bits they toggle.

    python -m tests.bench.rtl_coverage               all four builds
    python -m tests.bench.rtl_coverage flat engine   of these: engine, expander, tiered, flat
    python -m tests.bench.rtl_coverage --json        counts for scripts

The RTL is the emitted SystemVerilog without its assertions. Verilator counts how often each block
of statements and each choice of an expression was executed; a line is covered when all of them on
it were. Both edges of each bit are counted. The runs are those of `make mutate`.

tests/bench/uncovered.toml names lines that nothing can execute, with the reason. Writes
build/coverage-rtl/BUILD.json, and BUILD.txt with the lines that are left.

Exit: 0 if 95 % of the lines of each build are covered, 1 if not, 2 if an exclusion matches no
uncovered line.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.bench.build import ROOT, ask_for_long_runs, simulator
from tests.bench.targets import TARGETS, BenchRun, Target

REPORTS = ROOT / "build" / "coverage-rtl"
EXCLUSIONS = Path(__file__).with_name("uncovered.toml")
BAR = 0.95
JOBS = 2
OPTIONS = ("--coverage-line", "--coverage-toggle")


@dataclass(frozen=True)
class Point:
    """What Verilator counts: a block or choice on some lines of a file, or an edge of a bit."""

    file: str
    lines: tuple[int, ...]
    toggle: bool
    what: str


@dataclass
class Exclusion:
    """Lines of a module that no test can execute: a pattern, and the reason."""

    module: str
    line: re.Pattern[str]
    why: str
    used: bool = False

    def fits(self, module: str, text: str) -> bool:
        fits = re.fullmatch(self.module, module) is not None and self.line.search(text) is not None
        self.used |= fits
        return fits


@dataclass
class Unit:
    """A module's coverage: lines and edges, in total and covered, and the uncovered lines."""

    lines: int = 0
    hit: int = 0
    edges: int = 0
    toggled: int = 0
    left: list[str] = field(default_factory=list)

    def __add__(self, other: Unit) -> Unit:
        sums = (getattr(self, n) + getattr(other, n) for n in ("lines", "hit", "edges", "toggled"))
        return Unit(*sums, [*self.left, *other.left])


def points(text: str) -> Iterable[tuple[Point, int]]:
    """The counts that a simulation wrote."""
    for key, count in re.findall(r"^C '(.*)' (\d+)$", text, re.MULTILINE):
        at = dict(pair.split("\x02", 1) for pair in key.split("\x01") if pair)
        spans = at.get("S") or at["l"]
        lines = [range(int(a), int(b or a) + 1) for a, b in re.findall(r"(\d+)(?:-(\d+))?", spans)]
        toggle = at["page"].startswith("v_toggle")
        what = f"{at.get('n', '')} {at.get('o', '')}"
        yield Point(at["f"], tuple(n for span in lines for n in span), toggle, what), int(count)


# Not in the board's wrapper, which has the same units, but for SidebandRange.
BUILDS = [name for name, target in TARGETS.items() if not target.around]


def measured(target: Target) -> dict[Point, int]:
    """How often each point of a build was hit, by all of its runs together."""
    work = target.bench.work / f"coverage-{target.build.name}"
    rtl = target.emit(target.build)
    build = target.build
    sim = simulator(
        rtl, work / "sim", build.top, target.visible, defines=["SYNTHESIS"], more=OPTIONS
    )

    def run_one(number: int, what: BenchRun) -> dict[Point, int]:
        counts = work / f"run-{number}.dat"
        counts.unlink(missing_ok=True)
        chosen = [f"+verilator+coverage+file+{counts}"]
        target.run(what, sim, work / f"run-{number}", chosen)
        print(f"{build.name}: {what} done", flush=True)
        return dict(points(counts.read_text()))

    total: dict[Point, int] = defaultdict(int)
    with ThreadPoolExecutor(JOBS) as pool:
        for counts in pool.map(run_one, range(len(target.bench_runs)), target.bench_runs):
            for point, count in counts.items():
                total[point] += count
    emitted = {str(file) for file in rtl.glob("*.sv")}
    return {point: count for point, count in total.items() if point.file in emitted}


def units(counts: dict[Point, int], exclusions: list[Exclusion]) -> dict[str, Unit]:
    """The coverage by module."""
    lines: dict[tuple[str, int], int] = {}
    found: dict[str, Unit] = defaultdict(Unit)
    for point, count in counts.items():
        if point.toggle:
            found[Path(point.file).stem] += Unit(edges=1, toggled=int(count > 0))
        else:
            for line in point.lines:
                at = (point.file, line)
                lines[at] = min(count, lines.get(at, count))
    texts = {file: Path(file).read_text().splitlines() for file, _ in lines}
    for (file, number), count in sorted(lines.items()):
        module, text = Path(file).stem, texts[file][number - 1].strip()
        if count:
            found[module] += Unit(lines=1, hit=1)
        elif not any(exclusion.fits(module, text) for exclusion in exclusions):
            found[module] += Unit(lines=1, left=[f"{module}.sv:{number}: {text}"])
    return dict(sorted(found.items()))


def exclusions() -> list[Exclusion]:
    entries = tomllib.loads(EXCLUSIONS.read_text())["line"]
    return [Exclusion(e["module"], re.compile(e["text"]), e["why"]) for e in entries]


def shown(name: str, found: dict[str, Unit], console: Console) -> None:
    """Print the modules of a build, those with the most uncovered lines first."""
    table = Table("module", "lines", "covered", "left", "edges", "toggled", title=name)
    total = sum(found.values(), Unit())
    worst = sorted(found.items(), key=lambda one: (-len(one[1].left), one[0]))
    for module, unit in [*worst, ("all", total)]:
        of = lambda hit, all_: f"{hit / all_:.1%}" if all_ else "-"  # noqa: E731
        table.add_row(
            module,
            str(unit.lines),
            of(unit.hit, unit.lines),
            str(len(unit.left)),
            str(unit.edges),
            of(unit.toggled, unit.edges),
        )
    console.print(table)


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.rtl_coverage",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("builds", nargs="*", choices=[*BUILDS, []], help="all when none is named")
    parser.add_argument("--json", action="store_true", help="write JSON")
    options = parser.parse_args(words)
    ask_for_long_runs()
    REPORTS.mkdir(parents=True, exist_ok=True)
    excluded, report = exclusions(), {}
    console = Console(stderr=options.json)
    for name in options.builds or BUILDS:
        found = units(measured(TARGETS[name]), excluded)
        total = sum(found.values(), Unit())
        report[name] = {
            "lines": total.lines,
            "hit": total.hit,
            "edges": total.edges,
            "toggled": total.toggled,
        }
        (REPORTS / f"{name}.json").write_text(json.dumps(report[name]) + "\n")
        (REPORTS / f"{name}.txt").write_text("".join(f"{line}\n" for line in total.left))
        shown(name, found, console)
    if options.json:
        print(json.dumps(report, indent=2))
    unused = [one for one in excluded if not one.used] if not options.builds else []
    for one in unused:
        where = f"{EXCLUSIONS.name}: {one.module}: {one.line.pattern}"
        print(f"{where}: every line of it is covered or gone: take it out", file=sys.stderr)
    if unused:
        return 2
    return int(any(one["hit"] < BAR * one["lines"] for one in report.values()))


if __name__ == "__main__":
    sys.exit(main())
