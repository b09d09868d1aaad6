# SPDX-License-Identifier: Apache-2.0
"""Clock and reset domain crossings of the board's hardware, found in its netlist.

    python -m fpga.cdc [--json]

Every register, memory and pin belongs to a clock. A path between two clocks has one of three kinds:

- level: a register into a Synchronizer, with no logic between. A register has one Synchronizer in
  a clock at most, for two could disagree; the first flop of a Synchronizer feeds its second alone.
- word: registers into registers that load them through multiplexers. Their selects are of the
  loading clock alone and depend on a Synchronizer: the handshake of CrossingLink.
- reset: a reset pin into a Synchronizer, one a clock. Nothing else depends on a reset pin, and no
  register has an asynchronous reset.

Exit: 0 when every crossing is of these kinds, 1 when one is not.
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
from fpga.synth.tools import ROOT, WORK, yosys

TOP = "BoardExpander"
SIZES = ["--pipelines", "1", "--channels", "1", "--states", "64", "--table", "32"]
RESETS = "a reset pin"
META, STABLE = ".meta", ".stable"  # the flops of a Synchronizer
BITWISE = {"$and", "$or", "$xor", "$xnor", "$not", "$mux", "$pos"}

Node = int | str  # a bit, or a cell whose outputs depend on all of its inputs


@dataclass(frozen=True)
class Pins:
    """What is known of a module's pins: its clocks, its resets, and the clock of each other pin."""

    clocks: tuple[str, ...]
    resets: tuple[str, ...]
    others: dict[str, str]  # by the beginning of a pin's name
    default: str

    def clock(self, pin: str) -> str:
        if pin in self.resets:
            return RESETS
        known = (clock for start, clock in self.others.items() if pin.startswith(start))
        return next(known, self.default)


BOARD = Pins(("clock", "csrClock"), ("reset", "csrReset"), {"csr_": "csrClock"}, "clock")


@dataclass(frozen=True)
class Element:
    """A register, a memory or a pin: where a path begins or ends."""

    name: str
    clock: str
    pin: bool = False


@dataclass(frozen=True)
class Crossing:
    """A path from one clock into another; `kind` is "wrong" for none that is allowed, and `why`."""

    kind: str
    source: str
    source_clock: str
    target: str
    target_clock: str
    why: str = ""


class Netlist:
    """A flat module of Yosys, processes and memories as cells, as a graph of bits."""

    def __init__(self, module: dict[str, Any], pins: Pins) -> None:
        self.wrong: list[str] = []
        self.before: dict[Node, list[Node]] = {}
        self.elements: dict[Node, Element] = {}
        self.loads: list[tuple[Element, list[Node]]] = []
        self.muxes: dict[Node, tuple[Node, list[Node]]] = {}  # by output: select, and the choices
        self._names = _names(module)  # all that a bit is called
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
        """Each output depends on every input."""
        ways, bits = cell["port_directions"], cell["connections"]
        self.before[name] = [*more, *(b for pin in bits if ways[pin] == "input" for b in bits[pin])]
        outputs = (b for pin in bits if ways[pin] == "output" for b in bits[pin])
        self.before |= {bit: [name] for bit in outputs}

    def _name(self, bit: Node, place: str) -> str:
        """Of a register in an instance: its name there, not that of a wire that carries it on."""
        names = (n for n in self._names[bit] if n.startswith(place) and "." not in n[len(place) :])
        return next(names, self._names[bit][0])

    def _clock(self, bit: Node, what: Node) -> str:
        if bit not in self._clocks:
            name = self._names.get(what, [what])[0]
            self.wrong.append(f"{name}: its clock is not a clock pin")
        return self._clocks.get(bit, "?")

    def sources(self, nodes: Iterable[Node]) -> set[Element]:
        """The elements that nodes depend on in the same cycle."""
        reached = _reach(nodes, self.before, self.elements)
        return {self.elements[node] for node in reached if node in self.elements}

    def crossings(self) -> list[Crossing]:
        """Every path between two clocks, once for each pair of registers or pins."""
        of: dict[str, set[Node]] = {}
        for node, element in self.elements.items():
            of.setdefault(element.clock, set()).add(node)
        # What depends on each clock's elements.
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
        """The selects of the multiplexers on the way from a source; None where other logic is."""
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
        """What single paths do not show: two that should be one, and uses of a first flop."""
        into = Counter(
            (one.source if one.kind == "level" else RESETS, one.target_clock)
            for one in rows
            if one.kind in ("level", "reset")
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
    """The nodes that others reach; a path goes on at an element only where it is in `through`."""
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
    """What each bit is called; a name that a synthesis attribute keeps comes first."""
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
    """The netlist of what a script of Yosys reads."""
    out = WORK / "cdc" / f"{name}.json"
    flatten = "setattr -mod -unset keep_hierarchy *\nflatten\nopt_clean"
    write = f"write_json {out.relative_to(ROOT)}"
    yosys(
        "agilex", f"{script}\nhierarchy -top {top}\nproc\n{flatten}\n{write}\n", out.with_suffix("")
    )
    return Netlist(json.loads(out.read_text())["modules"][top], pins)


def board() -> Netlist:
    """The board's hardware at a size that has every kind of unit."""
    rtl = builder.emit(
        WORK / "cdc" / "rtl", builder.run_with(["--plain", "--top", "board", *SIZES])
    )
    files = " ".join(str(file.relative_to(ROOT)) for file in sorted(rtl.glob("*.sv")))
    return read(f"read_verilog -sv -defer -DSYNTHESIS {files}", TOP, "board", BOARD)


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m fpga.cdc",
        description="Lists the clock and reset domain crossings of the board's hardware.",
        epilog="Exit: 0 when each is a level, a word or a reset; 1 when one is not.",
    )
    parser.add_argument("--json", action="store_true", help="write JSON")
    options = parser.parse_args(words)
    netlist = board()
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
