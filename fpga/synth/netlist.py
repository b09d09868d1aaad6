# SPDX-License-Identifier: Apache-2.0
"""What is in a netlist that Yosys mapped to ALMs (write_json), and the paths that its ltp found."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import asdict, dataclass, fields
from pathlib import Path

LONGEST = r"Longest topological path in (\S+) \(length=(-?\d+)\)"


@dataclass
class Cells:
    """ALUTs, of which `carry` are in carry chains; an inverter is none, as an ALM takes it in."""

    alut: int = 0
    carry: int = 0
    registers: int = 0
    lutram: int = 0
    m20k: int = 0

    def __add__(self, other: Cells) -> Cells:
        return Cells(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def as_dict(self) -> dict[str, int]:
        return asdict(self)


def is_lut(kind: str) -> bool:
    return kind.startswith("MISTRAL_ALUT") or kind == "MISTRAL_NOT"


def unit_of(module: str) -> str:
    """The unit of a module: firtool numbers the variants of one, and not always alike."""
    return re.sub(r"_\d+$", "", module)


class Netlist:
    def __init__(self, path: Path, top: str) -> None:
        modules = json.loads(path.read_text())["modules"]
        library = {"blackbox", "whitebox"}
        self.modules = {n: m for n, m in modules.items() if not library & m["attributes"].keys()}
        self.top = top

    def instances(self) -> Counter[str]:
        """How often each module is in the top."""
        counts: Counter[str] = Counter()

        def visit(module: str, times: int) -> None:
            counts[module] += times
            inside = Counter(cell["type"] for cell in self.modules[module]["cells"].values())
            for kind, number in inside.items():
                if kind in self.modules:
                    visit(kind, times * number)

        visit(self.top, 1)
        return counts

    def own(self, module: str) -> Cells:
        """The cells of one module, without those of the modules in it."""
        kinds = Counter(cell["type"] for cell in self.modules[module]["cells"].values())
        return Cells(
            alut=sum(n for kind, n in kinds.items() if kind.startswith("MISTRAL_ALUT")),
            carry=kinds["MISTRAL_ALUT_ARITH"],
            registers=kinds["MISTRAL_FF"],
            lutram=kinds["MISTRAL_MLAB"],
            m20k=kinds["altsyncram"],
        )

    def units(self) -> dict[str, tuple[int, Cells]]:
        """Instances of each unit, and their cells together."""
        found: dict[str, tuple[int, Cells]] = {}
        for module, times in self.instances().items():
            number, cells = found.get(unit_of(module), (0, Cells()))
            own = self.own(module)
            for _ in range(times):
                cells = cells + own
            found[unit_of(module)] = (number + times, cells)
        return dict(sorted(found.items()))

    def total(self) -> Cells:
        return sum((cells for _, cells in self.units().values()), Cells())

    def fed(self, module: str) -> Counter[str]:
        """ALUTs of a module by the register, port or instance that they feed, each once.

        What feeds a register's enable or clear counts last: it is often shared by many.
        """
        body = self.modules[module]
        names = _names(body)
        driver: dict[int, str] = {}
        sinks: list[tuple[bool, str, list[int]]] = []
        for name, cell in body["cells"].items():
            for port, bits in cell["connections"].items():
                output = cell["port_directions"].get(port) == "output"
                if is_lut(cell["type"]):
                    driver.update(dict.fromkeys(bits, name) if output else {})
                elif not output:
                    register = cell["type"] == "MISTRAL_FF"
                    q = cell["connections"]["Q"][0] if register else None
                    at = names.get(q, name) if register else f"{name}.{port}"
                    sinks.append((register and port != "DATAIN", _family(at), bits))
        for name, port in body["ports"].items():
            if port["direction"] == "output":
                sinks.append((False, _family(name), port["bits"]))
        claimed: dict[str, str] = {}
        for _, at, bits in sorted(sinks, key=lambda sink: sink[0]):
            waiting = list(bits)
            while waiting:
                cell = driver.get(waiting.pop())
                if cell is None or cell in claimed:
                    continue
                claimed[cell] = at
                inputs = body["cells"][cell]
                for port, more in inputs["connections"].items():
                    if inputs["port_directions"][port] == "input":
                        waiting += more
        kinds = {name: body["cells"][name]["type"] for name in claimed}
        return Counter(at for name, at in claimed.items() if kinds[name] != "MISTRAL_NOT")


def _names(body: dict) -> dict[int, str]:
    """The shortest name of every bit, a port's before any other."""
    names: dict[int, str] = {}
    for name, net in body["netnames"].items():
        for bit in net["bits"]:
            if bit not in names or len(name) < len(names[bit]):
                names[bit] = name
    names.update({bit: name for name, port in body["ports"].items() for bit in port["bits"]})
    return names


def _family(name: str) -> str:
    """The name without what tells members of a vector apart, and without what Yosys appends."""
    return re.sub(r"(?<=[A-Za-z])_\d+(?=_|\.|$)", "_*", name.split("_MISTRAL")[0])


def longest_paths(ltp: Path) -> dict[str, int]:
    """Cells on the longest path of each unit, from what ltp printed."""
    lengths: dict[str, int] = {}
    for module, length in re.findall(LONGEST, ltp.read_text()):
        unit = unit_of(module)
        lengths[unit] = max(lengths.get(unit, 0), int(length))
    return lengths
