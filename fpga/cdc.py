# SPDX-License-Identifier: Apache-2.0
"""Checks the clock and reset domain crossings of the board's hardware in its netlist.

    python -m fpga.cdc [--flat] [--json]

Every register, memory and pin belongs to a clock. Three kinds of crossing are allowed:

- level: a register into a Synchronizer, without logic in between. A register has at most one
  Synchronizer in each clock, because two could disagree. The first flop of a Synchronizer feeds
  only its second flop.
- word: registers into registers that load them through multiplexers. The selects come from the
  loading clock and depend on a Synchronizer: the handshake of CrossingLink.
- reset: a reset pin into one Synchronizer per clock. Nothing else depends on a reset pin, and no
  register has an asynchronous reset.

Exit: 0 if every crossing is allowed, 1 if not.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from anemone.backends.rtl import builder
from fpga.ip.tops import FLAT_BOARD
from fpga.synth.tools import ROOT, WORK, yosys

TOP = "BoardExpander"
SIZES = ["--pipelines", "1", "--states", "64", "--table", "32"]
# Of the two builds of the board, by whether it is in flat memory mode.
BUILDS = {False: ["--channels", "1"], True: [*FLAT_BOARD, "--requests", "4"]}
RESETS = "a reset pin"
META, STABLE = ".meta", ".stable"  # first and second flop of a Synchronizer
BITWISE = {"$and", "$or", "$xor", "$xnor", "$not", "$mux", "$pos"}

Node = int | str  # a bit, or a cell whose outputs depend on all of its inputs


@dataclass(frozen=True)
class Pins:
    """A module's pins: its clocks, its resets, and the clock of each other pin."""

    clocks: tuple[str, ...]
    resets: tuple[str, ...]
    others: dict[str, str]  # clock by prefix of a pin's name
    default: str

    def clock(self, pin: str) -> str:
        if pin in self.resets:
            return RESETS
        known = (clock for start, clock in self.others.items() if pin.startswith(start))
        return next(known, self.default)


RESET_PINS = ("reset", "csrReset", "powerOn")  # the last of flat memory mode
BOARD = Pins(("clock", "csrClock"), RESET_PINS, {"csr_": "csrClock"}, "clock")


@dataclass(frozen=True)
class Element:
    """A register, a memory or a pin: where a path begins or ends."""

    name: str
    clock: str
    pin: bool = False


@dataclass(frozen=True)
class Crossing:
    """A path from one clock to another. `kind` is "wrong" if it is not allowed; `why` says why."""

    kind: str
    source: str
    source_clock: str
    target: str
    target_clock: str
    why: str = ""


class Netlist:
    """The graph of bits of a flat Yosys module, with processes and memories as cells."""

    def __init__(self, module: dict[str, Any], pins: Pins) -> None:
        self.wrong: list[str] = []
        self.before: dict[Node, list[Node]] = {}
        self.elements: dict[Node, Element] = {}
        self.loads: list[tuple[Element, list[Node]]] = []
        self.muxes: dict[Node, tuple[Node, list[Node]]] = {}  # by output: select and inputs
        self._names = _names(module)
        self._clocks = {module["ports"][name]["bits"][0]: name for name in pins.clocks}
        for name, port in module["ports"].items():
            element = Element(name, pins.clock(name), pin=True)
            if port["direction"] == "output":
                self.loads.append((element, port["bits"]))
            elif name not in pins.clocks:
                self.elements |= dict.fromkeys(port["bits"], element)
        for name, cell in module["cells"].items():
            self._add(name, cell["type"], cell)
        self.after: dict[Node, list[Node]] = {}
        for node, nodes in self.before.items():
            for one in nodes:
                self.after.setdefault(one, []).append(node)

    def _add(self, name: str, kind: str, cell: dict[str, Any]) -> None:
        bits = cell["connections"]
        if kind.startswith("$mem"):
            self._add_memory(name, kind, cell)
        elif kind == "$dff":
            place = name.split("$proc")[0].removeprefix("$flatten").replace("\\", "")
            for q, d in zip(bits["Q"], bits["D"], strict=True):
                self.elements[q] = Element(self._name(q, place), self._clock(bits["CLK"][0], q))
                self.loads.append((self.elements[q], [d]))
        elif not kind.startswith("$") or "CLK" in bits or "EN" in bits:
            self.wrong.append(f"{name}: a {kind}, and not a flop with a clock alone")
        elif kind in BITWISE:
            select = bits.get("S", [])
            for place, y in enumerate(bits["Y"]):
                choices = [bits[pin][min(place, len(bits[pin]) - 1)] for pin in "AB" if pin in bits]
                self.before[y] = [*choices, *select]
                if kind == "$mux":
                    self.muxes[y] = (select[0], choices)
        else:
            self._join(name, cell)

    def _add_memory(self, name: str, kind: str, cell: dict[str, Any]) -> None:
        bits, memory = cell["connections"], cell["parameters"]["MEMID"]
        if kind.startswith("$memwr"):
            element = Element(memory.lstrip("\\"), self._clock(bits["CLK"][0], memory))
            if self.elements.setdefault(memory, element) != element:
                self.wrong.append(f"{element.name}: written in two clocks")
            self.loads.append((element, [*bits["ADDR"], *bits["DATA"], *bits["EN"]]))
        elif kind.startswith("$memrd"):
            if int(cell["parameters"]["CLK_ENABLE"], 2):
                self.wrong.append(f"{name}: a memory that keeps what it reads")
            self._join(name, cell, memory)

    def _join(self, name: str, cell: dict[str, Any], *more: Node) -> None:
        """Adds a cell whose outputs each depend on every input."""
        ways, bits = cell["port_directions"], cell["connections"]
        self.before[name] = [*more, *(b for pin in bits if ways[pin] == "input" for b in bits[pin])]
        outputs = (b for pin in bits if ways[pin] == "output" for b in bits[pin])
        self.before |= {bit: [name] for bit in outputs}

    def _name(self, bit: Node, place: str) -> str:
        """A register's name in its own instance, not that of a wire that it drives elsewhere."""
        names = (n for n in self._names[bit] if n.startswith(place) and "." not in n[len(place) :])
        return next(names, self._names[bit][0])

    def _clock(self, bit: Node, what: Node) -> str:
        if bit not in self._clocks:
            name = self._names.get(what, [what])[0]
            self.wrong.append(f"{name}: its clock is not a clock pin")
        return self._clocks.get(bit, "?")

    def sources(self, nodes: Iterable[Node]) -> set[Element]:
        """The elements that the nodes depend on combinationally."""
        reached = _reach(nodes, self.before, self.elements)
        return {self.elements[node] for node in reached if node in self.elements}

    def crossings(self) -> list[Crossing]:
        """Every path between two clocks, once for each pair of registers or pins."""
        of: dict[str, set[Node]] = {}
        for node, element in self.elements.items():
            of.setdefault(element.clock, set()).add(node)
        # The nodes that depend on each clock's elements.
        reached = {
            clock: _reach(nodes, self.after, self.elements, through=nodes)
            for clock, nodes in of.items()
        }
        found: set[Crossing] = set()
        for target, nodes in self.loads:
            if any(
                target.clock != clock and not seen.isdisjoint(nodes)
                for clock, seen in reached.items()
            ):
                for node in nodes:
                    found |= set(self._into(target, node))
        rows = sorted(found, key=lambda one: (one.kind, one.target, one.source))
        return [*rows, *self._doubts(rows)]

    def _into(self, target: Element, node: Node) -> Iterable[Crossing]:
        for source in self.sources([node]):
            if source.clock == target.clock:
                continue
            kind, why = self._kind(source, target, node)
            yield Crossing(kind, source.name, source.clock, target.name, target.clock, why)

    def _kind(self, source: Element, target: Element, node: Node) -> tuple[str, str]:
        if target.name.endswith(META):
            if node not in self.elements:
                return "wrong", "logic before a Synchronizer"
            if source.clock == RESETS:
                return "reset", ""
            return ("wrong", "a pin's level may glitch") if source.pin else ("level", "")
        if source.clock == RESETS:
            return "wrong", "a reset that no Synchronizer has taken"
        if source.pin or target.pin:
            return "wrong", "a pin of another clock"
        selects = self._selects(node, source)
        if selects is None:
            return "wrong", "logic between the registers"
        control = self.sources(selects)
        if any(one.clock != target.clock for one in control):
            return "wrong", "loaded when another clock says so"
        if not any(one.name.endswith(STABLE) for one in control):
            return "wrong", "loaded without a handshake"
        return "word", ""

    def _selects(self, node: Node, source: Element) -> list[Node] | None:
        """The selects of the multiplexers on the path from a source; None if it has other logic."""
        if node in self.elements:
            return []
        if node not in self.muxes:
            return None
        select, choices = self.muxes[node]
        found = [select]
        for choice in choices:
            if source in self.sources([choice]):
                more = self._selects(choice, source)
                if more is None:
                    return None
                found += more
        return found

    def _doubts(self, rows: list[Crossing]) -> Iterable[Crossing]:
        """Errors that no single path shows: two Synchronizers of a register or a reset pin, a used
        first flop.
        """
        into = Counter(
            (one.source, one.target_clock) for one in rows if one.kind in ("level", "reset")
        )
        for (source, clock), count in into.items():
            if count > 1:
                yield Crossing(
                    "wrong", source, "", "", clock, f"{count} Synchronizers in one clock"
                )
        metas = {node for node, one in self.elements.items() if one.name.endswith(META)}
        for meta in metas:
            name = self.elements[meta].name
            direct = [one.name for one, nodes in self.loads if meta in nodes]
            if meta in self.after or direct != [name.removesuffix(META) + STABLE]:
                clock = self.elements[meta].clock
                yield Crossing("wrong", name, clock, "", clock, "the first flop is used")


def _reach(
    nodes: Iterable[Node],
    edges: dict[Node, list[Node]],
    stops: dict[Node, Element],
    through: Iterable[Node] = (),
) -> set[Node]:
    """The nodes reachable from `nodes`. A path ends at an element that is not in `through`."""
    waiting, seen, on = list(nodes), set(nodes), set(through)
    while waiting:
        node = waiting.pop()
        if node in stops and node not in on:
            continue
        more = set(edges.get(node, ())) - seen
        seen |= more
        waiting += more
    return seen


def _names(module: dict[str, Any]) -> dict[Node, list[str]]:
    """The names of each bit; a name that a synthesis attribute preserves comes first."""
    names: dict[Node, list[str]] = {}
    for name, net in sorted(
        module["netnames"].items(),
        key=lambda net: (
            "preserve" not in net[1]["attributes"],
            "$" in net[0],
            len(net[0]),
            net[0],
        ),
    ):
        for bit in net["bits"]:
            names.setdefault(bit, []).append(name)
    return names


def read(script: str, top: str, name: str, pins: Pins) -> Netlist:
    """The netlist of the files that a Yosys script reads."""
    out = WORK / "cdc" / f"{name}.json"
    flatten = "setattr -mod -unset keep_hierarchy *\nflatten\nopt_clean"
    write = f"write_json {out.relative_to(ROOT)}"
    yosys(
        "agilex", f"{script}\nhierarchy -top {top}\nproc\n{flatten}\n{write}\n", out.with_suffix("")
    )
    return Netlist(json.loads(out.read_text())["modules"][top], pins)


def board(flat: bool = False) -> Netlist:
    """The netlist of the board's hardware, small but with every kind of unit. flat: in flat memory
    mode.
    """
    words = ["--plain", "--top", "board", *SIZES, *BUILDS[flat]]
    name = "board-flat" if flat else "board"
    rtl = builder.emit(WORK / "cdc" / name, builder.run_with(words))
    files = " ".join(str(file.relative_to(ROOT)) for file in sorted(rtl.glob("*.sv")))
    return read(f"read_verilog -sv -defer -DSYNTHESIS {files}", TOP, name, BOARD)


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m fpga.cdc",
        description="Lists the clock and reset domain crossings of the board's hardware.",
        epilog="Exit: 0 if each is a level, a word or a reset; 1 if not.",
    )
    parser.add_argument("--flat", action="store_true", help="the board in flat memory mode")
    parser.add_argument("--json", action="store_true", help="write JSON")
    options = parser.parse_args(words)
    netlist = board(options.flat)
    rows = netlist.crossings()
    if options.json:
        report = {"crossings": [asdict(one) for one in rows], "wrong": netlist.wrong}
        print(json.dumps(report, indent=2))
    else:
        table = Table("kind", "from", "clock", "to", "clock", "why")
        for one in rows:
            table.add_row(*asdict(one).values())
        Console().print(table)
        for line in netlist.wrong:
            print(line)
    return int(bool(netlist.wrong) or any(one.kind == "wrong" for one in rows))


if __name__ == "__main__":
    sys.exit(main())
