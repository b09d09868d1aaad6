# SPDX-License-Identifier: Apache-2.0
"""The register block of an expander's build, with its control port named as cocotbext-axi looks for
it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from fpga.ip.tops import ports
from tests.bench.alone import Alone, emitted
from tests.bench.build import SIMULATORS
from tests.bench.simulate import simulate
from tests.expander.bench import build as expander
from tests.expander.bench.sizes import Build

UNIT, TOP = "ExpanderRegisters", "RegistersAlone"
VISIBLE = f'`verilator_config\npublic_flat_rw -module "{TOP}" -var "*"\n'
LEGAL = "io_ruleCommitLegal"
READY = ("io_bus_b_ready", "io_bus_r_ready")  # a master has them, the block not in each build


def _name(port: str) -> str:
    """The top's name of a port."""
    for pattern, name in (
        (r"io_bus_(aw|ar)_bits", r"s_axi_\1addr"),
        (r"io_bus_b_bits", "s_axi_bresp"),
        (r"io_bus_([wr])_bits_(\w+)", r"s_axi_\1\2"),
        (r"io_bus_(\w+)_(valid|ready)", r"s_axi_\1\2"),
    ):
        if found := re.fullmatch(pattern, port):
            return found.expand(name)
    return port


def emit(build: Build) -> Path:
    """The folder with the block, this top, and `params.json` with the names of the ports."""
    rtl = expander.emit(build)
    pins = [port for port in ports(rtl, UNIT) if port.name != LEGAL]
    header = ",\n".join(
        f"  {pin.direction}put [{pin.bits - 1}:0] {_name(pin.name)}" for pin in pins
    )
    there = {pin.name for pin in pins}
    header += "".join(f",\n  input {_name(ready)}" for ready in READY if ready not in there)
    wires = [f".{pin.name}({_name(pin.name)})" for pin in pins] + [f".{LEGAL}(1'b1)"]
    text = f"module {TOP}(\n{header}\n);\n  {UNIT} unit ({', '.join(wires)});\nendmodule\n"
    names = json.dumps([pin.name for pin in pins])
    return emitted(rtl, SIMULATORS / "registers" / build.name / "rtl", [UNIT], TOP, text, names)


def run(build: Build, simulator: Path, folder: Path, plusargs: Sequence[str] = ()) -> None:
    """Run the tests of all registers that have ports in the build; a register without is constant.

    Raises AssertionError if one fails.
    """
    names = " ".join(json.loads((simulator / "params.json").read_text()))
    sizes = {
        "PIPELINES": str(build.engine.pipelines),
        "TABLE": str(build.engine.table),
        "FLAT_CHANNELS": str(build.engine.channels if build.ratio else 0),
    }
    simulate(
        simulator, "bench", folder, plusargs, package="tests.registers", top=TOP, PORTS=names,
        **sizes,
    )  # fmt: skip


def alone(build: Build) -> Alone:
    """This bench on a build."""
    return Alone(
        lambda: emit(build), TOP, VISIBLE,
        lambda simulator, folder, chosen: run(build, simulator, folder, chosen),
    )  # fmt: skip
