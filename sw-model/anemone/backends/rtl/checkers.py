# SPDX-License-Identifier: Apache-2.0
"""Binds a protocol checker (sim/common) to every AXI port of emitted SystemVerilog."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
CHECKERS = [
    ROOT / "sim" / "common" / f"{name}.sv"
    for name in ("axi_handshake_checker", "axi_lite_checker", "axi4_checker")
]

ADDRESS = ("addr", "valid", "ready")
BURST = ("id", "len", "size", "burst")
LITE = {
    "aw": ADDRESS,
    "w": ("data", "strb", "valid", "ready"),
    "b": ("resp", "valid", "ready"),
    "ar": ADDRESS,
    "r": ("data", "resp", "valid", "ready"),
}
FULL = {"aw": BURST, "w": ("last",), "b": ("id",), "ar": BURST, "r": ("id", "last")}
# The value's ports are checked instead of the key's, which is inside: the key's reset lasts longer
# than that of the ports, and the host waits meanwhile.
CHECKED_OUTSIDE = {"FlatMemory.sv": "TieredMemory.sv", "MemoryExpander.sv": "BoardExpander.sv"}
# Resets that start some cycles after the pin and last longer.
LATE_RESET = {"BoardExpander": "reset || expander.reset"}
SIDE_PINS = ("user", "sideband")


def bound(verilog: Path) -> str:
    """SystemVerilog that binds a checker to each AXI port of the modules in filelist.f.

    Only ports with all AXI pin names are checked. Constant pins inside the hardware are not
    emitted, but each such port is connected to a complete port of the top module.
    """
    parts = []
    files = (verilog / "filelist.f").read_text().split()
    for file in files:
        if CHECKED_OUTSIDE.get(file) in files:
            continue
        pins = _pins((verilog / file).read_text())
        for prefix in sorted(
            pin.removesuffix("awvalid") for pin in pins if pin.endswith("awvalid")
        ):
            ports = _ports(prefix, full=f"{prefix}awburst" in pins)
            if pins.issuperset(ports.values()):
                parts.append(_checker(file.removesuffix(".sv"), prefix, ports, pins))
    return "".join(parts)


def _pins(text: str) -> set[str]:
    """The port names of a file's module."""
    header = re.search(r"^module \w+\s*\((.*?)\);", text, re.DOTALL | re.MULTILINE)
    return set(re.findall(r"\w+", re.sub(r"//.*", "", header[1]))) if header else set()


def _ports(prefix: str, full: bool) -> dict[str, str]:
    return {
        channel + name: f"{prefix}{channel}{name}"
        for kind in ([LITE, FULL] if full else [LITE])
        for channel, names in kind.items()
        for name in names
    }


def _checker(module: str, prefix: str, ports: dict[str, str], pins: set[str]) -> str:
    full = "awburst" in ports
    ports = {"clock": "clock", "reset": LATE_RESET.get(module, "reset")} | ports
    widths = {"ADDRESS_BITS": "awaddr", "DATA_BITS": "wdata"}
    if full:
        widths |= {"ID_BITS": "awid", "LEN_BITS": "awlen", "W_BITS": "wbeside", "R_BITS": "rbeside"}
        for channel in "wr":
            there = [pin for name in SIDE_PINS if (pin := f"{prefix}{channel}{name}") in pins]
            ports[f"{channel}beside"] = f"{{{', '.join(there)}}}"
    parameters = {name: f"$bits({ports[pin]})" for name, pin in widths.items()}
    if full and module in LATE_RESET:
        parameters["LATE_RESET"] = "1'b1"
    return (
        f"bind {module} {'axi4' if full else 'axi_lite'}_checker #({_connected(parameters)})\n"
        f"  {prefix}checker ({_connected(ports)});\n"
    )


def _connected(values: dict[str, str]) -> str:
    return ", ".join(f".{name}({value})" for name, value in values.items())
