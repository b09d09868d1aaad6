# SPDX-License-Identifier: Apache-2.0
"""Breaks the RTL in each of the ways in mutants.txt and sees that the bench notices.

    python -m tests.bench.mutate           all of them
    python -m tests.bench.mutate carry 17  those with a number or with a word in what they break
    python -m tests.bench.mutate expander  those around the engine, by the expander's bench
    python -m tests.bench.mutate tiered    those of flat memory mode in it
    python -m tests.bench.mutate flat      those of flat memory mode by itself

One simulator holds all mutants; a plusarg chooses. Writes build/mutants.json. Exit: 0 when all
were noticed, 1 when one was not, 2 when a place to break is not found.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import time
from collections import defaultdict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.bench import Bench, Build, Shard
from tests.bench.build import ROOT, simulator
from tests.engine.bench import build as engine
from tests.engine.bench.shards import BENCH as ENGINE
from tests.expander.bench import build as expander
from tests.expander.bench.shards import BENCH as EXPANDER
from tests.flat.bench import build as flat
from tests.flat.bench.shards import BENCH as FLAT

SWITCH = "package mutation; int id = 0; endpackage\n"
CHOOSE = """  initial if (!$value$plusargs("mutant=%d", mutation::id)) mutation::id = 0;
endmodule"""


@dataclass(frozen=True)
class Target:
    """What is broken, and what its bench plays to notice: seeds (first and count) and modules."""

    bench: Bench
    build: Build
    list: Path
    report: Path
    emit: Callable[[Any], Path]
    visible: str
    plays: tuple[tuple[int, int] | str, ...]

    @property
    def folder(self) -> Path:
        """Of RTL, simulator and runs."""
        return self.bench.work / f"mutants-{self.build.name}"

    def play(self, sim: Path, folder: Path, chosen: list[str]) -> None:
        """The bench; raises AssertionError when it notices something."""
        for what in self.plays:
            if isinstance(what, str):
                self.bench.run(self.build, what, folder, sim, chosen)
            else:
                self.bench.play(Shard(self.build, *what), folder, sim, chosen)


TARGETS = {
    "engine": Target(
        ENGINE,
        ENGINE.builds["p2c2"],
        ROOT / "tests" / "engine" / "mutants.txt",
        ROOT / "build" / "mutants.json",
        engine.emit,
        engine.PUBLIC,
        ((0, 10), "parity", "directed", "directed_control", "directed_takes", (10, 40)),
    ),
    "expander": Target(
        EXPANDER,
        EXPANDER.builds["x2"],
        ROOT / "tests" / "expander" / "mutants.txt",
        ROOT / "build" / "mutants-expander.json",
        expander.emit,
        expander.visible(EXPANDER.builds["x2"]),
        (
            (0, 12),
            *("directed_order", "directed_path", "directed_region", "directed_interrupts"),
            (12, 30),
        ),
    ),
    "tiered": Target(
        EXPANDER,
        EXPANDER.builds["tiered"],
        ROOT / "tests" / "expander" / "mutants-tiered.txt",
        ROOT / "build" / "mutants-tiered.json",
        expander.emit,
        expander.visible(EXPANDER.builds["tiered"]),
        (
            (0, 12),
            *("directed_tiered", "directed_policy", "directed_warm", "directed_untrusted"),
            (12, 30),
        ),
    ),
    "flat": Target(
        FLAT,
        FLAT.builds["flat2"],
        ROOT / "tests" / "flat" / "mutants.txt",
        ROOT / "build" / "mutants-flat.json",
        flat.emit,
        flat.PUBLIC,
        (
            (0, 20),
            *("directed_latency", "directed_refusals", "directed_races"),
            *("directed_marks", "directed_tags", "directed_sweep", "directed_flips"),
            "directed_reset",
            (20, 100),
        ),
    ),
}


class StaleError(Exception):
    """A place to break that the emitted SystemVerilog does not have."""


@dataclass(frozen=True)
class Mutant:
    """One way to break the engine: in `file`, `where`, `instead`."""

    number: int
    breaks: str
    file: str
    where: str
    instead: str


def mutants(listed: Path) -> list[Mutant]:
    """Those in a list, numbered from 1."""
    found: list[Mutant] = []
    file = breaks = ""
    for line in listed.read_text().splitlines():
        if line.startswith("== "):
            file = line[3:]
        elif line.startswith("    "):
            where, instead = line.strip().split(" => ")
            found.append(Mutant(len(found) + 1, breaks, file, where, instead))
        elif line and not line.startswith("#"):
            breaks = line
    return found


def places(mutant: Mutant, text: str) -> list[tuple[int, int]]:
    """The spans that a mutant replaces. Raises StaleError when there is none."""
    before, marked, after = re.split("[«»]", mutant.where)
    parts = (
        r"\s*".join(map(re.escape, re.findall(r"\w+|\S", part))).replace(r"\#", r"\d+")
        for part in (before, marked, after)
    )
    found = re.finditer(r"{}\s*({})\s*{}".format(*parts), text)
    spans = [match.span(1) for match in found]
    if not spans:
        raise StaleError(f"{mutant.file}: {mutant.where} ({mutant.breaks})")
    return spans


def instrument(rtl: Path, out: Path, all_mutants: list[Mutant], name: str) -> None:
    """A copy of the RTL with the top module `name`; +mutant=N chooses one of the mutants."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(rtl, out)
    by_file: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in all_mutants:
        by_file[mutant.file].append(mutant)
    for file, group in by_file.items():
        path = out / f"{file}.sv"
        path.write_text(with_choices(path.read_text(), group))
    top = out / f"{name}.sv"
    top.write_text(top.read_text().replace("endmodule", CHOOSE, 1))
    (out / "mutation.sv").write_text(SWITCH)
    files = out / "filelist.f"
    files.write_text("mutation.sv\n" + files.read_text())


def with_choices(text: str, group: list[Mutant]) -> str:
    """A file whose mutants are choices. Raises StaleError; also when two places overlap."""
    here: dict[tuple[int, int], list[Mutant]] = defaultdict(list)
    for mutant in group:
        for span in places(mutant, text):
            here[span].append(mutant)
    # The outer one of two that begin together first.
    spans = deque(sorted(here, key=lambda span: (span[0], -span[1])))

    def chosen(start: int, end: int) -> str:
        """This part; one place may be within another."""
        parts, at = [], start
        while spans and spans[0][0] < end:
            first, last = span = spans.popleft()
            if last > end:
                raise StaleError(f"the place of {here[span][0].breaks} is half in another one")
            choice = "".join(f"mutation::id == {m.number} ? ({m.instead}) : " for m in here[span])
            parts += [text[at:first], f"({choice}({chosen(first, last)}))"]
            at = last
        return "".join([*parts, text[at:end]])

    return chosen(0, len(text))


def noticed(target: Target, sim: Path, number: int) -> str:
    """What notices a mutant: the first line of it; empty: nothing does. 0 is the RTL itself."""
    folder = target.folder / f"run-{number}"
    try:
        target.play(sim, folder, [f"+mutant={number}"])
    except AssertionError as error:
        if re.search(r"return code: -(2|9|15)\b", str(error)):
            raise  # stopped from outside, which says nothing
        shown = re.search(r"(Difference|AssertionError|Assertion failed): .*", str(error))
        return shown[0][:100] if shown else str(error).splitlines()[0]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return ""


def main(words: list[str]) -> int:
    """Try the mutants that `words` choose."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="*", help=f"{', '.join(TARGETS)}; a number or a word")
    words = parser.parse_args(words).words
    target = TARGETS[next((word for word in words if word in TARGETS), "engine")]
    words = [word for word in words if word not in TARGETS]
    everything = mutants(target.list)
    try:
        rtl = target.emit(target.build)
        instrument(rtl, target.folder / "rtl", everything, target.build.top)
    except StaleError as error:
        print(f"not found: {error}", file=sys.stderr)
        return 2
    folder = target.folder
    sim = simulator(folder / "rtl", folder / "sim", target.build.top, target.visible)
    chosen = [
        m
        for m in everything
        if not words or any(w == str(m.number) or w in m.breaks for w in words)
    ]
    assert not noticed(target, sim, 0), "the bench fails without any mutant"
    started, results = time.monotonic(), {}
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda mutant: noticed(target, sim, mutant.number), chosen)
        for mutant, why in zip(chosen, found, strict=True):
            results[mutant.breaks] = why
            print(f"{mutant.number:3} {mutant.breaks}: {why or 'NOT NOTICED'}", flush=True)
    survivors = [name for name, why in results.items() if not why]
    target.report.write_text(
        json.dumps({"survivors": survivors, "noticed": results}, indent=1) + "\n"
    )
    minutes = (time.monotonic() - started) / 60
    print(f"{len(results) - len(survivors)} of {len(results)} noticed in {minutes:.1f} min")
    return int(bool(survivors))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
