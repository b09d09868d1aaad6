# SPDX-License-Identifier: Apache-2.0
"""Places each unit of the expander by itself: its clock, and how many look-ups deep it is.

A unit is a module with a file of its own in hw/src. What was found for the same SystemVerilog is
not looked for again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from anemone.io.build_cache import built, digest
from fpga.synth import agilex, ecp5, rtl
from fpga.synth.netlist import unit_of
from fpga.synth.rtl import Design
from fpga.synth.tools import ROOT, WORK, SynthesisError

SIZES: dict[str, int | str] = {"pipelines": 8, "channels": 2, "states": 8192, "table": 8192}
EXPANDER = Design("expander", "expander", SIZES)
BOARD = Design("board", "board", {"pipelines": 1, "channels": 1, "states": 512, "table": 512})
TIERED = Design("tiered", "expander", {"flat": True, "pipelines": 1, "channels": 1, "ratio": 2})
# Where a unit is looked for, and of which the page tells all units.
DESIGNS = (EXPANDER, BOARD, TIERED)
SHOWN = (EXPANDER, BOARD, TIERED)
# Those that are too large to place at once, or of two clocks: their parts are placed.
COMPOSED = {
    "AvalonCrossing",
    "BoardExpander",
    "FlatMemory",
    "MemoryExpander",
    "TelemetryEngine",
    "TelemetryPipeline",
    "TieredMemory",
}


@dataclass
class Placed:
    """MHz by seed; look-ups of the longest path, mapped to ALMs; the ends of the slowest path."""

    mhz: dict[str, float]
    lookups: int
    source: str
    sink: str

    @property
    def median(self) -> float:
        return round(median(self.mhz.values()), 1)

    def as_dict(self) -> dict:
        return {"median": self.median, **asdict(self)}


def own_files() -> set[str]:
    """Names of the units: a file each in hw/src."""
    return {path.stem for path in (ROOT / "hw" / "src").rglob("*.scala")}


def units(files: Iterable[Path]) -> list[str]:
    """The units among the emitted files that are placed by themselves."""
    return sorted({unit_of(file.stem) for file in files} & own_files() - COMPOSED)


def needed(files: list[Path], module: str) -> list[Path]:
    """A module's file and those of all that is in it."""
    by_name = {file.stem: file for file in files}
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = by_name[name]
            waiting += set(re.findall(r"\w+", found[name].read_text())) & by_name.keys()
    return [found[name] for name in sorted(found)]


def variant(design: Design, files: list[Path], unit: str, work: Path = WORK) -> str:
    """Of the modules that are variants of a unit the one with most bits at its ports."""
    variants = [file.stem for file in files if unit_of(file.stem) == unit]
    if len(variants) == 1:
        return variants[0]

    def bits(module: str) -> int:
        ports = ecp5.ports(design, needed(files, module), module, work)
        return sum(len(port["bits"]) for port in ports.values())

    return max(variants, key=bits)


def place(
    design: Design, files: list[Path], unit: str, seeds: Iterable[int] = ecp5.SEEDS
) -> Placed:
    """One unit, by each seed."""
    module = variant(design, files, unit)
    own = needed(files, module)

    def known(what: str, tools: list[Path], find: Callable[[], object]) -> dict:
        def keep(fresh: Path) -> None:
            fresh.write_text(json.dumps(asdict(find())))

        inputs = [*own, *tools, what]
        kept = WORK / "placed" / f"{digest(inputs)[:32]}.json"
        return json.loads(built(kept, inputs, keep).read_text())

    alone = Design(f"{design.name}-{unit}", design.top, design.options)
    depth = known("look-ups", agilex.TOOLS, lambda: agilex.levels(alone, own, module))
    by_seed = {
        str(seed): known(
            f"seed {seed}", ecp5.TOOLS, lambda seed=seed: ecp5.placed(alone, own, module, seed)
        )
        for seed in seeds
    }
    slow = sorted(by_seed.values(), key=lambda run: run["mhz"])[(len(by_seed) - 1) // 2]
    mhz = {seed: run["mhz"] for seed, run in by_seed.items()}
    return Placed(mhz, depth["lookups"], slow["source"], slow["sink"])


def shown() -> list[tuple[Design, list[Path], str]]:
    """The units that the page shows, each in the first design that has it."""
    found: dict[str, tuple[Design, list[Path], str]] = {}
    for design in SHOWN:
        files = rtl.emit(design)
        for unit in units(files):
            found.setdefault(unit, (design, files, unit))
    return list(found.values())


def find(unit: str) -> tuple[Design, list[Path], str]:
    """The unit in the first design that has it. Raises SynthesisError."""
    known: set[str] = set()
    for design in DESIGNS:
        files = rtl.emit(design)
        there = units(files)
        if unit in there:
            return design, files, unit
        known.update(there)
    raise SynthesisError(f"no unit {unit}; there are {', '.join(sorted(known))}")
