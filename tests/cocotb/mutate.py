# SPDX-License-Identifier: Apache-2.0
"""Breaks the RTL in each of the ways in mutants.txt and sees that the bench notices.

    python -m tests.cocotb.mutate           all of them
    python -m tests.cocotb.mutate carry 17  those with a number or with a word in what they break
    python -m tests.cocotb.mutate expander  those around the engine, by the expander's bench
    python -m tests.cocotb.mutate tiered    those of flat memory mode in it
    python -m tests.cocotb.mutate flat      those of flat memory mode by itself

One simulator holds all mutants; a plusarg chooses. Writes build/mutants.json. Exit: 0 when all
were noticed, 1 when one was not, 2 when a place to break is not found.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.cocotb.bench.build import ROOT, TOP, WORK, emit, simulator
from tests.cocotb.bench.simulate import campaign, simulate
from tests.cocotb.bench.sizes import SIZES
from tests.expander.bench import build as expander
from tests.expander.bench import shards
from tests.expander.bench.sizes import BUILDS
from tests.flat.bench import build as flat
from tests.flat.bench import shards as flat_shards
from tests.flat.bench.build import BUILDS as FLAT_BUILDS

SIZE = SIZES["p2c2"]
SWITCH = "package mutation; int id = 0; endpackage\n"
CHOOSE = """  initial if (!$value$plusargs("mutant=%d", mutation::id)) mutation::id = 0;
endmodule"""


class Engine:
    """The telemetry engine and its bench."""

    list = Path(__file__).with_name("mutants.txt")
    report = ROOT / "build" / "mutants.json"
    folder = WORK / "mutants"
    top = TOP

    @staticmethod
    def emit() -> Path:
        """The RTL."""
        return emit(SIZE)

    @staticmethod
    def simulator(rtl: Path, folder: Path) -> Path:
        """Its simulator."""
        return simulator(rtl, folder)

    @staticmethod
    def play(sim: Path, folder: Path, chosen: list[str]) -> None:
        """The bench; raises AssertionError when it notices something."""
        campaign(SIZE, 0, 10, folder, sim, chosen)
        for module in ("parity", "directed", "directed_control"):
            simulate(sim, module, folder, plusargs=chosen)
        campaign(SIZE, 10, 40, folder, sim, chosen)


class Expander:
    """What is around the engine, and the expander's bench."""

    build = BUILDS["x2"]
    list = ROOT / "tests" / "expander" / "mutants.txt"
    report = ROOT / "build" / "mutants-expander.json"
    folder = expander.WORK / "mutants"
    top = build.top
    directed = ("directed_order", "directed_path", "directed_region", "directed_interrupts")

    @classmethod
    def emit(cls) -> Path:
        """The RTL."""
        return expander.emit(cls.build)

    @classmethod
    def simulator(cls, rtl: Path, folder: Path) -> Path:
        """Its simulator."""
        return simulator(rtl, folder, False, cls.top, expander.visible(cls.build))

    @classmethod
    def play(cls, sim: Path, folder: Path, chosen: Sequence[str]) -> None:
        """The bench; raises AssertionError when it notices something."""
        shards.play(shards.Shard(cls.build, 0, 12), folder, sim, chosen)
        for module in cls.directed:
            shards.directed(cls.build, module, folder, sim, chosen)
        shards.play(shards.Shard(cls.build, 12, 30), folder, sim, chosen)


class Tiered(Expander):
    """What flat memory mode is to the expander, and the same bench on a build that has it."""

    build = BUILDS["tiered"]
    list = ROOT / "tests" / "expander" / "mutants-tiered.txt"
    report = ROOT / "build" / "mutants-tiered.json"
    folder = expander.WORK / "mutants-tiered"
    directed = ("directed_tiered",)


class Flat:
    """Flat memory mode by itself, and its bench."""

    build = FLAT_BUILDS["flat2"]
    list = ROOT / "tests" / "flat" / "mutants.txt"
    report = ROOT / "build" / "mutants-flat.json"
    folder = flat.WORK / "mutants"
    top = flat.TOP

    @classmethod
    def emit(cls) -> Path:
        """The RTL."""
        return emit(cls.build)

    @classmethod
    def simulator(cls, rtl: Path, folder: Path) -> Path:
        """Its simulator."""
        return simulator(rtl, folder, False, cls.top, flat.PUBLIC)

    @classmethod
    def play(cls, sim: Path, folder: Path, chosen: Sequence[str]) -> None:
        """The bench; raises AssertionError when it notices something."""
        flat_shards.play(flat_shards.Shard(cls.build, 0, 20), folder, sim, chosen)
        for module in ("directed_latency", "directed_refusals", "directed_reset"):
            flat_shards.run(cls.build, module, folder, sim, chosen)
        flat_shards.play(flat_shards.Shard(cls.build, 20, 100), folder, sim, chosen)


Target = type[Engine] | type[Expander] | type[Flat]
TARGETS: dict[str, Target] = {"expander": Expander, "tiered": Tiered, "flat": Flat}


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
        r"\s*".join(map(re.escape, re.findall(r"\w+|\S", part))) for part in (before, marked, after)
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
        text = path.read_text()
        here: dict[tuple[int, int], list[Mutant]] = defaultdict(list)
        for mutant in group:
            for span in places(mutant, text):
                here[span].append(mutant)
        for (start, end), chosen in sorted(here.items(), reverse=True):
            choice = "".join(f"mutation::id == {m.number} ? ({m.instead}) : " for m in chosen)
            text = f"{text[:start]}({choice}({text[start:end]})){text[end:]}"
        path.write_text(text)
    top = out / f"{name}.sv"
    top.write_text(top.read_text().replace("endmodule", CHOOSE, 1))
    (out / "mutation.sv").write_text(SWITCH)
    files = out / "filelist.f"
    files.write_text("mutation.sv\n" + files.read_text())


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
    target = next((TARGETS[word] for word in words if word in TARGETS), Engine)
    words = [word for word in words if word not in TARGETS]
    everything = mutants(target.list)
    try:
        instrument(target.emit(), target.folder / "rtl", everything, target.top)
    except StaleError as error:
        print(f"not found: {error}", file=sys.stderr)
        return 2
    sim = target.simulator(target.folder / "rtl", target.folder / "sim")
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
