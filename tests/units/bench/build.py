# SPDX-License-Identifier: Apache-2.0
"""A top with units of a build side by side, each with pins of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fpga.ip.tops import ports
from tests.bench.alone import emitted, modules
from tests.bench.build import SIMULATORS, simulator
from tests.engine.bench import build as engine
from tests.engine.bench.sizes import SIZES
from tests.expander.bench import build as expander
from tests.expander.bench.sizes import BUILDS as EXPANDERS
from tests.flat.bench import build as flat

WORK = SIMULATORS / "units"
TOP = "SingleUnits"
KINDS = (
    "ProtectedQueue",
    "ProtectedRam",
    "VotedRam",
    "FaultLog",
    "IdCounter",
    "StaleResponseDrain",
    "InterruptUnit",
)
VISIBLE = """\
`verilator_config
public_flat_rw -module "SingleUnits" -var "*"
public_flat_rw -module "memory_*" -var "Memory"
public_flat_rw -module "ram_*" -var "Memory"
public_flat_rw -module "words_*" -var "Memory"
"""


@dataclass(frozen=True)
class Build:
    """The units in a build of another bench. source: emits that build."""

    name: str
    source: Callable[[], Path]
    top: str = TOP


BUILDS = {
    build.name: build
    for build in (
        Build("p2c2", lambda: engine.emit(SIZES["p2c2"])),
        Build("x2", lambda: expander.emit(EXPANDERS["x2"])),
        Build("tiered", lambda: expander.emit(EXPANDERS["tiered"])),
        Build("flatboard", lambda: expander.emit(EXPANDERS["flatboard"])),
        Build("flat2", lambda: flat.emit(flat.BUILDS["flat2"])),
    )
}


def kind(module: str) -> str:
    """The kind of a module; the emitter numbers those of one kind."""
    return re.sub(r"_\d+$", "", module)


def units(rtl: Path) -> list[str]:
    """The modules of the units in a folder of emitted SystemVerilog."""
    return [name for name in modules(rtl) if kind(name) in KINDS]


def _kind(rtl: Path, module: str) -> dict[str, object]:
    """What the bench must know of a unit, from its text."""
    text = (rtl / f"{module}.sv").read_text()
    if kind(module) == "ProtectedQueue":
        inputs = [p.name for p in ports(rtl, module) if p.name.startswith("io_enq_bits")]
        fields = [name.removeprefix("io_enq_bits") for name in inputs]
        return {
            "flow": "passes" in text,
            "registers": len(re.findall(r"^  Queue1_\w+ ", text, re.MULTILINE)),
            "fields": _from_the_lowest(fields),
        }
    if kind(module) == "StaleResponseDrain":
        last = re.search(r"cyclesLeft <= \d+'h(\w+);", text)
        return {"late": int(last[1], 16) + 1}
    if kind(module) != "ProtectedRam":
        return {}
    return {"early": not re.search(r"assign io_data = io_data_REG|reg .* io_data_REG;", text)}


def _from_the_lowest(fields: list[str]) -> list[str]:
    """The order in which an item's fields are stored: the first one declared is the highest, and
    of a vector the first one is the lowest.
    """
    found: list[list[str]] = []
    for name in fields:
        vector = re.sub(r"\d+$", "", name)
        if found and vector != name and re.fullmatch(rf"{vector}\d+", found[-1][0]):
            found[-1].append(name)
        else:
            found.append([name])
    return [name for group in reversed(found) for name in group]


def _top(rtl: Path) -> str:
    """The top: the pin PORT of the unit MODULE is MODULE_PORT."""
    pins, instances = ["input clock", "input reset"], []
    for module in units(rtl):
        wires = []
        for port in ports(rtl, module):
            own = port.name if port.name in ("clock", "reset") else f"{module}_{port.name}"
            wires.append(f".{port.name}({own})")
            if own != port.name:
                pins.append(f"{port.direction}put [{port.bits - 1}:0] {own}")
        instances.append(f"  {module} unit_{module} ({', '.join(wires)});\n")
    header = ",\n  ".join(pins)
    return f"module {TOP}(\n  {header}\n);\n{''.join(instances)}endmodule\n"


def emit(build: Build) -> Path:
    """The folder with the SystemVerilog of a build and this top, `filelist.f`, and `params.json`
    with what the bench must know of each unit.
    """
    rtl = build.source()
    kinds = json.dumps({module: _kind(rtl, module) for module in units(rtl)}, indent=1)
    return emitted(rtl, WORK / build.name / "rtl", units(rtl), TOP, _top(rtl), kinds)


def built(build: Build, waves: bool = False) -> Path:
    """The simulator of a build's units, up to date with hw/src."""
    folder = WORK / build.name / ("sim-waves" if waves else "sim")
    return simulator(emit(build), folder, TOP, VISIBLE, waves, quick=True)
