# SPDX-License-Identifier: Apache-2.0
"""The tops that a user may instantiate, their parameters, and their ports as emitted."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from math import ceil, log2
from pathlib import Path

from anemone.backends.rtl import builder

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "ip"

# The board in flat memory mode: the CXL IP's two slices are hosts of one channel.
FLAT_BOARD = ("--flat", "--channels", "1", "--hosts", "2")


@dataclass(frozen=True)
class Port:
    """A port of a module; bit 0 is the lowest."""

    name: str
    direction: str  # "in", "out"
    bits: int


@dataclass(frozen=True)
class Top:
    """A top module, and the elaborator's options that emit it."""

    name: str
    module: str
    what: str
    options: tuple[str, ...]

    def emit(self, *sizes: str) -> Path:
        """The folder with its SystemVerilog, `filelist.f` and `params.json`."""
        key = "-".join([self.name, *(word.removeprefix("--") for word in sizes)])
        return builder.emit(WORK / key / "rtl", builder.run_with([*self.options, *sizes]))


TOPS = {
    top.name: top
    for top in (
        Top("engine", "TelemetryEngine", "the telemetry engine by itself", ("--top", "engine")),
        Top(
            "expander",
            "MemoryExpander",
            "the telemetry engine on AXI4 memory channels",
            ("--top", "expander"),
        ),
        Top(
            "tiered",
            "MemoryExpander",
            "the expander in flat memory mode: near and far memory a channel",
            ("--top", "expander", "--flat"),
        ),
        Top(
            "flat", "FlatMemory", "the swap controller of one channel by itself", ("--top", "flat")
        ),
        Top(
            "board",
            "BoardExpander",
            "the expander on a board, with the registers in their own clock",
            ("--top", "board"),
        ),
        Top(
            "board-flat",
            "BoardExpander",
            "the same in flat memory mode, near and far memory on a controller each",
            ("--top", "board", *FLAT_BOARD),
        ),
    )
}


def ports(rtl: Path, module: str) -> list[Port]:
    """The ports of an emitted module, in order."""
    text = (rtl / f"{module}.sv").read_text()
    header = re.search(rf"^module {module}\((.*?)\n\);", text, re.DOTALL | re.MULTILINE)
    assert header, f"{module}.sv has no list of ports"
    found, direction, bits = [], "", 1
    for item in header[1].split(","):
        way, high, name = re.fullmatch(
            r"\s*(?:(input|output)\s+)?(?:\[(\d+):0\]\s+)?(\w+)\s*", item
        ).groups()
        if way:  # otherwise the port has the direction and width of the one before
            direction, bits = way.removesuffix("put"), int(high or 0) + 1
        found.append(Port(name, direction, bits))
    return found


def parameters(rtl: Path) -> dict[str, float]:
    """The numbers of params.json by name; those of flat memory mode have the prefix `flat_`."""
    params = json.loads((rtl / "params.json").read_text())
    flat = params.pop("flat", {})
    both = params | {f"flat_{name}": value for name, value in flat.items()}
    return {name: value for name, value in both.items() if isinstance(value, int)}


def width(expression: str, params: dict[str, float]) -> int:
    """The value of an expression of parameters, in bits."""
    names = {"__builtins__": {}, "log2": lambda value: ceil(log2(value))}
    return int(eval(expression, names, dict(params)))
