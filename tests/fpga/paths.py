# SPDX-License-Identifier: Apache-2.0
"""Combinational dependences of a module's outputs on its inputs, from Yosys's netlist."""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import Any

# An output bit of these cells depends only on S and on the input bits of the same index.
BITWISE = {"$and", "$or", "$xor", "$xnor", "$not", "$mux", "$pos"}
STATE = ("$dff", "$adff", "$aldff", "$sdff", "$dlatch", "$ff", "$memwr", "$meminit")


class Paths:
    """The combinational paths of an unmapped netlist, as `proc` leaves it."""

    def __init__(self, netlist: dict[str, Any]) -> None:
        self._modules = netlist["modules"]
        self.of = cache(self._of)

    def _of(self, module: str) -> dict[str, frozenset[str]]:
        """The inputs that each output of a module depends on."""
        body = self._modules[module]
        before: dict[int, set[int]] = {}
        for cell in body["cells"].values():
            for output, inputs in self._cell(cell):
                before.setdefault(output, set()).update(inputs)
        named = {
            bit: name
            for name, port in body["ports"].items()
            if port["direction"] == "input"
            for bit in port["bits"]
        }
        return {
            name: _reached(port["bits"], before, named)
            for name, port in body["ports"].items()
            if port["direction"] == "output"
        }

    def _cell(self, cell: dict[str, Any]) -> list[tuple[int, list[int]]]:
        """The bits that a cell drives, each with the bits that it depends on."""
        kind, bits = cell["type"], cell["connections"]
        if kind.startswith(STATE):
            return []
        if kind in self._modules:
            return [
                (bit, list(chain.from_iterable(bits.get(name, []) for name in inputs)))
                for output, inputs in self.of(kind).items()
                for bit in bits.get(output, [])
                if isinstance(bit, int)
            ]
        directions = cell["port_directions"]
        inputs = [name for name in bits if directions[name] == "input"]
        outputs = [name for name in bits if directions[name] == "output"]
        if kind in BITWISE:
            (output,) = outputs
            found = []
            for place, bit in enumerate(bits[output]):
                wide = [bits[name] for name in inputs if name != "S"]
                found.append((bit, [w[min(place, len(w) - 1)] for w in wide] + bits.get("S", [])))
            return found
        everything = list(chain.from_iterable(bits[name] for name in inputs if name != "CLK"))
        return [(bit, everything) for name in outputs for bit in bits[name]]


def _reached(bits: list[int], before: dict[int, set[int]], named: dict[int, str]) -> frozenset[str]:
    """The inputs that these bits depend on."""
    waiting, seen = list(bits), set(bits)
    while waiting:
        more = before.get(waiting.pop(), set()) - seen
        seen |= more
        waiting += more
    return frozenset(named[bit] for bit in seen if bit in named)
