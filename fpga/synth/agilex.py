# SPDX-License-Identifier: Apache-2.0
"""Maps a design to ALMs and M20K.

Cyclone 10 GX is the nearest to Agilex that Yosys knows: the same M20K, a like ALM.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fpga.synth import rtl
from fpga.synth.netlist import Netlist, longest_paths, unit_of
from fpga.synth.tools import HERE, ROOT, WORK, yosys

# What decides a mapping, beside the SystemVerilog.
TOOLS = [HERE / name for name in ("agilex.py", "netlist.py", "rtl.py", "tools/agilex.lock")]
MAP = "synth_intel_alm -family cyclone10gx -noiopad -noclkbuf"
LOGIC = "w:* t:MISTRAL_ALUT* t:MISTRAL_NOT"
# The single-character ? leaves out MISTRAL_ALUT_ARITH, so a path ends where a carry chain begins.
LOOKUPS = "w:* t:MISTRAL_ALUT? t:MISTRAL_NOT"
# firtool writes the selection of a word by its number as a case statement, of which Yosys makes a
# row of ANDs and ORs; this makes multiplexers of the wide ones.
SELECT = "proc\nopt_expr\npmux2shiftx -min_choices 8\n"
# Paths from one mapped module to another.
JOIN = "setattr -mod -unset keep_hierarchy *\nflatten\n"


@dataclass
class Levels:
    """Longest path of a unit in cells: `path` counts every bit of a carry chain, `lookups` none."""

    path: int
    lookups: int


@dataclass
class ByUnit:
    netlist: Netlist
    levels: dict[str, Levels]


def _levels(folder: Path, name: str) -> dict[str, Levels]:
    paths, lookups = (longest_paths(folder / f"{name}.{kind}.ltp") for kind in ("path", "lookups"))
    return {unit: Levels(path, lookups[unit]) for unit, path in paths.items()}


def _ltp(folder: Path, name: str) -> str:
    return (
        f"tee -q -o {folder}/{name}.path.ltp ltp {LOGIC}\n"
        f"tee -q -o {folder}/{name}.lookups.ltp ltp {LOOKUPS}\n"
    )


def _read(files: list[Path], module: str) -> str:
    return f"{rtl.read(files)}\nhierarchy -top {module}\n{SELECT}"


def by_unit(design: rtl.Design, files: list[Path], work: Path = WORK) -> ByUnit:
    """Every module mapped by itself."""
    folder = (work / design.name).relative_to(ROOT)
    script = (
        f"{_read(files, design.module)}"
        f"{MAP} -top {design.module} -noflatten\n"
        f"write_json {folder}/units.json\n"
        f"{_ltp(folder, 'units')}"
    )
    yosys("agilex", script, ROOT / folder / "units")
    return ByUnit(
        Netlist(ROOT / folder / "units.json", design.module), _levels(ROOT / folder, "units")
    )


def levels(
    design: rtl.Design, files: list[Path], module: str, work: Path = WORK, by_unit: bool = False
) -> Levels:
    """Longest path of a module with all that is in it, mapped as one.

    files: the module's own, because a mapping also depends on what else a run has read.
    by_unit: its units are each mapped by themselves, then joined.
    """
    folder = (work / design.name).relative_to(ROOT)
    apart = " -noflatten" if by_unit else ""
    script = f"{_read(files, module)}{MAP} -top {module}{apart}\n{JOIN}{_ltp(folder, 'levels')}"
    yosys("agilex", script, ROOT / folder / "levels")
    return _levels(ROOT / folder, "levels")[unit_of(module)]


def whole(
    design: rtl.Design, files: list[Path], module: str, kept: str | None = None, work: Path = WORK
) -> Netlist:
    """A module of a design mapped as one; `kept` in it is mapped once for all its instances."""
    folder = (work / design.name).relative_to(ROOT)
    keep = f"setattr -mod -set keep_hierarchy 1 {kept}\n" if kept else ""
    script = f"{_read(files, module)}{keep}{MAP} -top {module}\nwrite_json {folder}/{module}.json\n"
    yosys("agilex", script, ROOT / folder / module)
    return Netlist(ROOT / folder / f"{module}.json", module)
