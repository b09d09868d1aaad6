# SPDX-License-Identifier: Apache-2.0
"""SystemVerilog for synthesis: a configuration as emitted, its memories replaced by block RAM."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from anemone.backends.rtl import builder
from fpga.emit import options
from fpga.synth.tools import ROOT, WORK

TEMPLATE = Path(__file__).with_name("memory.sv.template")
# Ram1R1W's memories. Those of queues, ram_DxW, read without a clock and are small.
MEMORY = re.compile(r"memory(?:_\d+)?_(\d+)x(\d+)")


@dataclass(frozen=True)
class Design:
    """A configuration to emit: `top` and `options` are the elaborator's."""

    name: str
    top: str
    options: dict[str, int | str] = field(default_factory=dict)  # True: a flag

    @property
    def module(self) -> str:
        return {"engine": "TelemetryEngine", "expander": "MemoryExpander"}[self.top]


def block_ram(name: str) -> str | None:
    """The block RAM of an emitted memory of this name; None for any other module."""
    if not (shape := MEMORY.fullmatch(name)):
        return None
    depth, width = int(shape[1]), int(shape[2])
    values = {"NAME": name, "ABITS": (depth - 1).bit_length(), "WIDTH": width, "DEPTH": depth}
    text = TEMPLATE.read_text()
    for key, value in values.items():
        text = text.replace(f"@{key}@", str(value))
    return text


def emit(design: Design, work: Path = WORK) -> list[Path]:
    """Emits a design, its memories as block RAM, into WORK/NAME/rtl; the files by name."""
    folder = work / design.name / "rtl"
    command = builder.run_with(["--top", design.top, "--plain", *options(design.options)])
    emitted = builder.emit(work / design.name / "emitted", command)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in emitted.glob("*.sv"):
        (folder / file.name).write_text(block_ram(file.stem) or file.read_text())
    return sorted(folder.glob("*.sv"))


def read(files: list[Path]) -> str:
    """The Yosys command that reads them."""
    names = " ".join(str(file.relative_to(ROOT)) for file in files)
    return f"read_verilog -sv -defer -DSYNTHESIS {names}"
