# SPDX-License-Identifier: Apache-2.0
"""Mutation testing of the RTL: checks that a bench notices each mutant.

    python -m tests.bench.mutate                     the lists, of all four builds
    python -m tests.bench.mutate flat tiered         of these: engine, expander, tiered, flatboard,
                                             flat
    python -m tests.bench.mutate engine carry 17     those with a number or with a word in them
    python -m tests.bench.mutate --random 200        the lists, and so many changes drawn, a build
    python -m tests.bench.mutate --random 200 --seed 7 --left   what was not noticed, once more

A list (tests/*/mutants*.txt) has the replaced text, its replacement and the reason. Random mutants
change operators, operands and constants of the emitted SystemVerilog, but not its assertions. A
build's simulator has all of its mutants, and a plusarg selects one. A random mutant that a build's
bench does not notice is also run in the other builds that have it. A mutant that was run on the
same hardware with the same tests is not run again, so a stopped campaign resumes. Writes
build/mutants/BUILD.json.

A change that cannot be noticed goes into tests/*/equivalents*.txt with the reason; that of
tests/bench is for all builds.

Exit: 0 when all of the lists and 97 % of what was drawn were noticed, 1 when not, 2 when a place
of a list is not found.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from anemone.io.build_cache import digest
from tests.bench import alone
from tests.bench.build import ROOT, ask_for_long_runs, simulator
from tests.bench.mutants import Mutant, StaleError, instrument, mutants, same, unmixed
from tests.bench.sites import Change, changes, drawn
from tests.bench.targets import TARGETS, Target

REPORTS = ROOT / "build" / "mutants"
EQUIVALENTS = Path(__file__).with_name("equivalents.txt")
BAR = 0.97  # share of random mutants that must be noticed
JOBS = 2
DRAWN = 10_000  # number of the first random mutant


@dataclass
class Campaign:
    """A target's mutants, the simulator that holds them, and their results.

    listed, random: mutants of the list, and random ones. explained: random ones that no test can
    notice. results: by name, the failure that noticed a mutant; empty if none did. by: number of
    noticed mutants by file and run.
    """

    target: Target
    listed: list[Mutant]
    random: list[Mutant]
    explained: list[Mutant] = field(default_factory=list)
    results: dict[str, str] = field(default_factory=dict)
    by: Counter[tuple[str, int]] = field(default_factory=Counter)

    def build(self, folder: Path) -> None:
        """Build the simulator of all mutants. Raises StaleError."""
        target, self.folder = self.target, folder
        instrument(target.emit(target.build), folder / "rtl", self.all, target.emitted)
        self.sim = simulator(
            folder / "rtl", folder / "sim", target.build.top, target.visible,
            around=target.around, defines=target.defines,
        )  # fmt: skip
        self.inputs = digest([*sorted((folder / "rtl").iterdir()), *target.sources])
        self.limits: list[int] = []
        self.units: dict[alone.Alone, tuple[Path, set[str]]] = {}  # simulator, modules
        for n, unit in enumerate(target.units):
            rtl, simulated = unit.emit(), folder / f"unit-{n}"
            own = {*alone.modules(rtl)} - {unit.top}
            inside = [m for m in self.all if m.file in own]
            instrument(rtl, simulated / "rtl", inside, unit.top)
            sim = simulator(simulated / "rtl", simulated / "sim", unit.top, unit.visible)
            self.units[unit] = sim, own

    @property
    def _simulators(self) -> dict[alone.Alone, Path]:
        return {unit: sim for unit, (sim, _) in self.units.items()}

    @property
    def all(self) -> list[Mutant]:
        return [*self.listed, *self.random]

    def measure_runs(self) -> None:
        """Run the unchanged hardware for the cycle limit of each run. Raises AssertionError."""
        folder = self.folder / "run-0"
        for run in self.target.runs(self.sim, self._simulators, folder, []):
            self.limits.append(2 * run() + 20_000)

    def noticed(self, mutant: Mutant) -> str:
        """The first line of the failure that notices the mutant; empty if none does."""
        folder = self.folder / f"run-{mutant.number}"
        chosen = [f"+mutant={mutant.number}", ""]
        runs = list(self.target.runs(self.sim, self._simulators, folder, chosen))
        # Units alone come last.
        own = [True] * len(self.target.bench_runs)
        own += [mutant.file in modules for _, modules in self.units.values()]
        # First the run that is most likely to notice it for its cost, judged by others of the file.
        likely = sorted(
            (k for k in range(len(runs)) if own[k]),
            key=lambda k: -(self.by[mutant.file, k] + 1) / self.limits[k],
        )
        try:
            for index in likely:
                chosen[1] = f"+limit={self.limits[index]}"
                runs[index]()
        except AssertionError as error:
            if re.search(r"return code: -(2|9|15)\b", str(error)):
                raise  # stopped from outside, so there is no result
            self.by[mutant.file, index] += 1
            shown = re.search(r"(Difference|AssertionError|Assertion failed).*", str(error))
            return shown[0][:100] if shown else str(error).splitlines()[0]
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return ""


def name(mutant: Mutant) -> str:
    """The mutant's name in reports."""
    return mutant.change.name if mutant.change else mutant.breaks


def shown(mutant: Mutant) -> str:
    """The mutant's place and change, for output."""
    if not mutant.change:
        return f"{mutant.number} {mutant.breaks}"
    return f"{mutant.file}.sv:{mutant.change.line}: {mutant.where} => {mutant.instead}"


def campaign(target: Target, count: int, seed: int) -> Campaign:
    """A campaign of a target's list and `count` random mutants. Raises StaleError."""
    rtl = target.emit(target.build)
    listed = mutants(target.list)
    if not count:
        return Campaign(target, listed, [])
    everything = changes(rtl)
    chosen = drawn(unmixed(everything, listed, rtl), count, seed)
    random = [_mutant(DRAWN + i, change) for i, change in enumerate(chosen)]
    reasons = same(mutants(target.equivalents), everything, rtl)
    reasons |= same(mutants(EQUIVALENTS), everything, rtl, everywhere=True)
    explained = [m for m in random if m.change in reasons]
    return Campaign(target, listed, [m for m in random if m not in explained], explained)


def _mutant(number: int, change: Change) -> Mutant:
    return Mutant(number, change.name, change.file, change.statement, change.instead, change)


def run_mutants(campaign: Campaign, chosen: Sequence[Mutant], verbose: bool) -> None:
    """Run these mutants, and add what noticed them to the results."""
    campaign.measure_runs()
    started = time.monotonic()
    with ThreadPoolExecutor(JOBS) as pool:
        found = pool.map(campaign.noticed, chosen)
        for done, (mutant, why) in enumerate(zip(chosen, found, strict=True), 1):
            campaign.results[name(mutant)] = why
            save(campaign)
            left = (time.monotonic() - started) / done * (len(chosen) - done) / 60
            if verbose:
                print(
                    f"{done}/{len(chosen)}, {left:.0f} min left: {shown(mutant)}: "
                    f"{why or 'NOT NOTICED'}",
                    flush=True,
                )


def run_in_other_builds(
    campaign: Campaign, chosen: Sequence[Mutant], others: Iterable[str], verbose: bool
) -> None:
    """Run those of the random mutants that were not noticed in other builds that have them."""
    for other in others:
        left = [m for m in chosen if m.change and not campaign.results[name(m)]]
        target = TARGETS[other]
        if not left or target == campaign.target:
            continue
        there = {(c.file, c.like): c for c in changes(target.emit(target.build))}
        candidates = [
            replace(m, change=there[m.file, m.change.like])
            for m in left
            if m.change and (m.file, m.change.like) in there
        ]
        if not candidates:
            continue
        verbose and print(f"{len(candidates)} of those in {other}", flush=True)
        other_campaign = Campaign(target, [], candidates)
        other_campaign.build(target.folder / f"of-{campaign.target.build.name}")
        other_campaign.measure_runs()
        with ThreadPoolExecutor(JOBS) as pool:
            found = pool.map(other_campaign.noticed, candidates)
            for mutant, why in zip(candidates, found, strict=True):
                same = next(m for m in left if m.number == mutant.number)
                campaign.results[name(same)] = why and f"{other}: {why}"
                save(campaign)


def report(target: Target) -> Path:
    """The file of a target's results."""
    return REPORTS / f"{target.bench.package.split('.')[1]}-{target.build.name}.json"


def save(campaign: Campaign) -> None:
    """Write the results so far."""
    REPORTS.mkdir(parents=True, exist_ok=True)
    path = report(campaign.target)
    content = {"inputs": campaign.inputs, "noticed": campaign.results}
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(content, indent=1) + "\n")
    fresh.replace(path)


def earlier_results(campaign: Campaign, left: bool) -> dict[str, str]:
    """The results of earlier runs of the same hardware and tests; `left`: all that was noticed."""
    path = report(campaign.target)
    saved = json.loads(path.read_text()) if path.exists() else {"inputs": "", "noticed": {}}
    if left:
        return {key: why for key, why in saved["noticed"].items() if why}
    return saved["noticed"] if saved["inputs"] == campaign.inputs else {}


def meant(mutant: Mutant, word: str) -> bool:
    """Whether a word of the command line selects the mutant, by number or by part of its name."""
    if word.isdigit():
        return int(word) == mutant.number
    return word in f"{mutant.breaks} {mutant.file}"


def run_target(key: str, options: argparse.Namespace, words: Sequence[str]) -> dict[str, object]:
    """Run a target's mutants; their results by kind. Raises StaleError."""
    target, verbose = TARGETS[key], not options.json
    one = campaign(target, options.random, options.seed)
    one.build(target.folder)
    one.results = earlier_results(one, options.left)
    chosen = [m for m in one.all if not words or any(meant(m, word) for word in words)]
    todo = [m for m in chosen if words or name(m) not in one.results]
    if todo:
        verbose and print(f"{key}: {len(todo)} of {len(chosen)} to run", flush=True)
        run_mutants(one, todo, verbose)
        others = [other for other in TARGETS if other != key]
        run_in_other_builds(one, todo, others, verbose)
    kinds = {"list": one.listed, "random": one.random}
    outcome: dict[str, object] = {"explained": [shown(m) for m in one.explained]}
    for kind, group in kinds.items():
        tried = [m for m in group if m in chosen]
        survivors = [shown(m) for m in tried if not one.results[name(m)]]
        outcome[kind] = {"played": len(tried), "survivors": survivors}
    return outcome


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="*", help=f"{', '.join(TARGETS)}; a number or a word")
    parser.add_argument(
        "--random", type=int, default=0, metavar="N", help="changes to draw, a build"
    )
    parser.add_argument("--seed", type=int, help="of the draw; without it a new one, which is said")
    parser.add_argument("--left", action="store_true", help="only what no earlier run noticed")
    parser.add_argument("--json", action="store_true", help="the result as JSON, and nothing else")
    options = parser.parse_args(arguments)
    ask_for_long_runs()
    os.environ["COCOTB_MAX_FAILURES"] = "1"  # one is enough
    if options.seed is None:
        options.seed = secrets.randbelow(1 << 31)
    keys = [word for word in options.words if word in TARGETS] or list(TARGETS)
    words = [word for word in options.words if word not in TARGETS]
    if options.random and not options.json:
        print(f"--random {options.random} --seed {options.seed}", flush=True)
    started, outcomes = time.monotonic(), {}
    for key in keys:
        try:
            outcomes[key] = run_target(key, options, words)
        except StaleError as error:
            print(f"not found: {error}", file=sys.stderr)
            return 2
    minutes = (time.monotonic() - started) / 60
    bad = False
    for key, found in outcomes.items():
        for kind, share in (("list", 1.0), ("random", BAR)):
            tried, survivors = found[kind]["played"], found[kind]["survivors"]
            bad |= len(survivors) > (1 - share) * tried
            if tried and not options.json:
                noticed = tried - len(survivors)
                print(f"{key}, {kind}: {noticed} of {tried} noticed ({noticed / tried:.1%})")
                print("".join(f"  {text}\n" for text in survivors), end="")
    if options.json:
        print(json.dumps({"seed": options.seed, "minutes": round(minutes, 1), "builds": outcomes}))
    else:
        print(f"{minutes:.1f} min")
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
