# SPDX-License-Identifier: Apache-2.0
"""docs/ports.md describes exactly the emitted ports of every top."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import pytest

from fpga.ip.tops import ROOT, TOPS, Port, parameters, ports, width

PAGE = ROOT / "docs" / "ports.md"
# At least two of everything, so that every bus has several bits.
SMALL = ("--pipelines", "2", "--states", "64", "--table", "32")
TWO = ("--channels", "2")
# The sizes of tops that do not have these.
SIZES = {"flat": (), "board-flat": SMALL}
# The emitted top of each heading, and the module in it.
SHEETS = {
    "MemoryExpander": ("expander", "MemoryExpander"),
    "MemoryExpander with flat memory mode": ("tiered", "MemoryExpander"),
    "TieredMemory": ("tiered", "TieredMemory"),
    "FlatMemory": ("flat", "FlatMemory"),
    "TelemetryEngine": ("engine", "TelemetryEngine"),
    "BoardExpander": ("board", "BoardExpander"),
    "BoardExpander with flat memory mode": ("board-flat", "BoardExpander"),
}
PROTOCOLS = ("AXI4", "AXI4-Lite")
AWAY = {"in": "out", "out": "in"}


@dataclass(frozen=True)
class Row:
    """A row of a table: one port, or all ports of a protocol."""

    name: str
    direction: str
    bits: str

    def matches(self, port: Port, params: dict[str, float]) -> bool:
        """Whether the row has this port's name; fails if direction or width differ."""
        pattern = re.sub(r"\\{([\w,]+?)\\}", alternatives, re.escape(self.name))
        if not re.fullmatch(pattern.replace(r"\*", r"\w+"), port.name):
            return False
        assert self.direction in (port.direction, "both"), port
        assert not self.bits or width(self.bits, params) == port.bits, port
        return True


def alternatives(braced: re.Match[str]) -> str:
    """A pattern for the braces in a name: any number for a letter, or one of several words."""
    words = braced[1].split(",")
    return r"\d+" if len(words[0]) == 1 and len(words) == 1 else f"({'|'.join(words)})"


@cache
def tables(text: str) -> dict[str, list[list[str]]]:
    """The rows of all tables under each heading, cells without backquotes."""
    found = {}
    for part in re.split(r"^#+ ", text, flags=re.MULTILINE)[1:]:
        lines = [line for line in part.splitlines() if line.startswith("|")]
        cells = [[c.strip().strip("`") for c in line.strip("|").split("|")] for line in lines]
        found[part.splitlines()[0]] = cells
    return found


def rows(text: str, heading: str) -> list[Row]:
    """The rows under a heading; the row of a protocol becomes one for each of its ports."""
    found = []
    for name, way, bits, *_ in (c for c in tables(text)[heading] if len(c) == 4):
        if way in ("in", "out", "both"):
            found.append(Row(name, way, bits))
        elif way.split()[0] in PROTOCOLS:
            protocol, role = way.split()
            for pin in rows(text, protocol):
                way = pin.direction if role == "master" else AWAY[pin.direction]
                found.append(Row(name + pin.name, way, pin.bits))
    return found


def undescribed(text: str, heading: str) -> list[str]:
    """Ports without a row or with two, and rows without a port.

    Unused ports of inner modules are not emitted.
    """
    top, module = SHEETS[heading]
    rtl = TOPS[top].emit(*SIZES.get(top, (*SMALL, *TWO)))
    described, params = rows(text, heading), parameters(rtl)
    used, wrong = set(), []
    for port in ports(rtl, module):
        here = [row for row in described if row.matches(port, params)]
        used.update(here)
        if len(here) != 1:
            wrong.append(f"{port.name}: {len(here)} rows")
    if module == TOPS[top].module:
        wrong += [f"{row.name}: no port" for row in described if row not in used]
    return wrong


@pytest.mark.parametrize("heading", SHEETS)
def test_every_port_is_described(heading: str) -> None:
    assert undescribed(PAGE.read_text(), heading) == []


@pytest.mark.parametrize("heading", SHEETS)
def test_cycles_are_those_of_the_hardware(heading: str) -> None:
    """Numbers beside a parameter's name in a table have the parameter's value."""
    top, _ = SHEETS[heading]
    params = parameters(TOPS[top].emit(*SIZES.get(top, (*SMALL, *TWO))))
    for cells in tables(PAGE.read_text())[heading]:
        if len(cells) == 3 and cells[2] in params:
            assert int(cells[1]) == params[cells[2]], cells


def test_a_wrong_sheet_is_found() -> None:
    """Finds a missing port, an extra one, a wrong width and a wrong direction."""
    text, sheet = PAGE.read_text(), "TelemetryEngine"
    line = next(one for one in text.splitlines() if one.startswith("| `io_open_{c}`"))
    assert undescribed(text.replace(line + "\n", ""), sheet) == [
        "io_open_0: 0 rows",
        "io_open_1: 0 rows",
    ]
    more = line.replace("io_open", "io_shut")
    assert undescribed(text.replace(line, f"{line}\n{more}"), sheet) == ["io_shut_{c}: no port"]
    for wrong in (line.replace("`1`", "`2`"), line.replace("| out |", "| in |")):
        with pytest.raises(AssertionError, match="io_open_0"):
            undescribed(text.replace(line, wrong), sheet)
