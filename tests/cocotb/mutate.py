# SPDX-License-Identifier: Apache-2.0
"""Breaks the engine in each of the ways in mutants.txt and sees that the bench notices.

    python -m tests.cocotb.mutate           all of them
    python -m tests.cocotb.mutate carry 17  those with a number or with a word in what they break

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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.cocotb.bench.build import ROOT, TOP, WORK, emit, simulator
from tests.cocotb.bench.simulate import campaign, simulate
from tests.cocotb.bench.sizes import SIZES

LIST = Path(__file__).with_name("mutants.txt")
REPORT = ROOT / "build" / "mutants.json"
SIZE = SIZES["p2c2"]
FOLDER = WORK / "mutants"
MODULES = ("parity", "directed", "directed_control")
SWITCH = "package mutation; int id = 0; endpackage\n"
CHOOSE = """  initial if (!$value$plusargs("mutant=%d", mutation::id)) mutation::id = 0;
endmodule"""


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


def mutants() -> list[Mutant]:
    """The list, numbered from 1."""
    found: list[Mutant] = []
    file = breaks = ""
    for line in LIST.read_text().splitlines():
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


def instrument(rtl: Path, out: Path, all_mutants: list[Mutant]) -> None:
    """A copy of the engine in which the plusarg +mutant=N chooses one of the mutants."""
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
    top = out / f"{TOP}.sv"
    top.write_text(top.read_text().replace("endmodule", CHOOSE, 1))
    (out / "mutation.sv").write_text(SWITCH)
    files = out / "filelist.f"
    files.write_text("mutation.sv\n" + files.read_text())


def noticed(sim: Path, number: int) -> str:
    """What notices a mutant: the first line of it; empty: nothing does. 0 is the engine itself."""
    folder = FOLDER / f"run-{number}"
    chosen = [f"+mutant={number}"]
    try:
        campaign(SIZE, 0, 10, folder, sim, chosen)
        for module in MODULES:
            simulate(sim, module, folder, plusargs=chosen)
        campaign(SIZE, 10, 40, folder, sim, chosen)
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
    everything = mutants()
    try:
        instrument(emit(SIZE), FOLDER / "rtl", everything)
    except StaleError as error:
        print(f"not found: {error}", file=sys.stderr)
        return 2
    sim = simulator(FOLDER / "rtl", FOLDER / "sim")
    chosen = [
        m
        for m in everything
        if not words or any(w == str(m.number) or w in m.breaks for w in words)
    ]
    assert not noticed(sim, 0), "the engine fails without any mutant"
    started, results = time.monotonic(), {}
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda mutant: noticed(sim, mutant.number), chosen)
        for mutant, why in zip(chosen, found, strict=True):
            results[mutant.breaks] = why
            print(f"{mutant.number:3} {mutant.breaks}: {why or 'NOT NOTICED'}", flush=True)
    survivors = [name for name, why in results.items() if not why]
    REPORT.write_text(json.dumps({"survivors": survivors, "noticed": results}, indent=1) + "\n")
    minutes = (time.monotonic() - started) / 60
    print(f"{len(results) - len(survivors)} of {len(results)} noticed in {minutes:.1f} min")
    return int(bool(survivors))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
