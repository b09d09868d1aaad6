# SPDX-License-Identifier: Apache-2.0
"""Generates the Chisel register block: the bundles of its ports, and the module."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mk.regs.model import WORD_BITS, Field, Group, Map, Memory, Register
from mk.regs.render import render

COLUMNS = 120
PACKAGE = "hw/src/expander/registers"
# Parameters of the expander; all others belong to the telemetry engine.
EXPANDER_SIZES = ("flat_channels",)


def outputs(regs: Map) -> dict[str, str]:
    """Text by path from the root of the repository."""
    shared = {"regs": regs, "camel": camel, "pascal": pascal, "wrap": wrap, "word_bits": WORD_BITS}
    shared |= {"scala": scala, "chisel_type": chisel_type, "hexadecimal": hexadecimal}
    bundles = shapes(regs)
    ports = {"bundles": bundles, "inputs": inputs, "results": results, "port_type": port_type}
    return {
        f"{PACKAGE}/RegisterOffsets.scala": render("RegisterOffsets.scala", **shared),
        f"{PACKAGE}/RegisterBundles.scala": render("RegisterBundles.scala", **shared, **ports),
        f"{PACKAGE}/ExpanderRegisters.scala": re.sub(
            "\n{3,}", "\n\n", render("ExpanderRegisters.scala", **shared, lines=Lines())
        ),
    }


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def pascal(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def scala(bound: str) -> str:
    """A bound as an expression of the module's parameters."""

    def parameter(size: re.Match[str]) -> str:
        owner = "p" if size[0] in EXPANDER_SIZES else "p.nemo"
        return f"{owner}.{camel(size[0])}"

    return re.sub(r"\w+", parameter, bound)


def hexadecimal(offset: int) -> str:
    return f"0x{offset:03x}"


def chisel_type(width: int) -> str:
    return "Bool()" if width == 1 else f"UInt({width}.W)"


@dataclass(frozen=True)
class Shape:
    """A bundle: its name in Scala, its description, and the fields of its register."""

    name: str
    desc: str
    fields: tuple[Field, ...]


def type_name(register: Register, group: Group | None = None) -> str:
    return pascal(f"{group.name}_" if group else "") + pascal(register.type_name) + "Register"


def shapes(regs: Map) -> list[Shape]:
    """The bundles of all registers, except plain values and constants."""
    everything = [(r, None) for r in regs.registers]
    everything += [(r, g) for g in regs.groups for r in g.registers]
    users: dict[str, list[Register]] = {}
    for register, group in everything:
        if not register.plain and register.kind != "constant":
            users.setdefault(type_name(register, group), []).append(register)
    return [
        Shape(name, described(registers), registers[0].fields) for name, registers in users.items()
    ]


def described(users: list[Register]) -> str:
    """The description of a bundle that one or several registers use."""
    return users[0].desc if len(users) == 1 else f"Fields of {' and '.join(r.name for r in users)}."


def port_type(register: Register, group: Group | None = None) -> str:
    """The type of a register at the module's ports."""
    if register.plain:
        return chisel_type(register.fields[0].width)
    return f"new {type_name(register, group)}"


def inputs(registers: tuple[Register, ...]) -> list[Register]:
    return [r for r in registers if r.kind in ("status", "event")]


def results(registers: tuple[Register, ...]) -> list[Register]:
    return [r for r in registers if r.kind in ("setting", "event", "trigger")]


class Lines:
    """The statements that map one register, wrapped like scalafmt."""

    def __call__(self, register: Register, group: Group | None = None) -> str:
        name, port = camel(register.name), camel(register.name)
        offset, indent = f"at.{name}", "  "
        if group:
            port = f"{camel(group.name)}(i).{name}"
            offset, indent = f"base + at.{camel(group.name)}.{name}", "    "
        made = getattr(self, register.kind)(register, offset, port)
        if register.kind in ("setting", "event"):
            zero = f"0.U.asTypeOf({port_type(register, group)})"
            if register.plain:
                zero = f"0.U({register.fields[0].width}.W)"
            made = [
                "",
                f"{'' if group else 'private '}val {name} = RegInit({zero})",
                made,
                f"io.out.{port} := {name}",
                "",
            ]
        else:
            made = [made]
        return "\n".join(wrap(f"{indent}{line}".rstrip()) for line in made)

    def memory(self, memory: Memory) -> str:
        port = f"io.{camel(memory.name)}"
        head = [f"at.{camel(memory.name)}", scala(memory.bound), port, f"{port}.bits.index"]
        fields = [f"{f.low} -> {port}.bits.{camel(f.name)}" for f in memory.entry.fields]
        return wrap(f"  map.memory({', '.join([*head, *fields])})")

    def constant(self, register: Register, offset: str, port: str) -> str:
        values = (f"{f.low} -> {literal(f)}" for f in register.fields)
        return f"map.read({offset}, {', '.join(values)})"

    def status(self, register: Register, offset: str, port: str) -> str:
        return f"map.read({offset}, {places(register, f'io.in.{port}')})"

    def setting(self, register: Register, offset: str, port: str) -> str:
        return f"map.storage({offset}, {places(register, camel(register.name))})"

    def event(self, register: Register, offset: str, port: str) -> str:
        flags = camel(register.name)
        sets = (
            f"({f.low}, {member(register, f, flags)}, {member(register, f, f'io.in.{port}')})"
            for f in register.fields
        )
        return f"map.sticky({offset}, {', '.join(sets)})"

    def trigger(self, register: Register, offset: str, port: str) -> str:
        return f"map.pulse({offset}, {places(register, f'io.out.{port}')})"

    def argument(self, register: Register, offset: str, port: str) -> str:
        bits = f"io.{port}.bits"
        bounded = [f for f in register.fields if f.bound]
        conditions = [f"{bits}.{camel(f.name)} < {limit(f)}" for f in bounded]
        conditions += [f"io.{port}Legal"] if register.checked else []
        legal = " && ".join(conditions)
        return f"map.command({offset}, io.{port}, {places(register, bits)})({legal or 'true.B'})"


def limit(field: Field) -> str:
    bound = scala(field.bound)
    return f"({bound}).U" if " " in bound else f"{bound}.U"


def literal(field: Field) -> str:
    if field.reset < 1 << 31:
        return f"{field.reset}.U({field.width}.W)"
    return f'"h{field.reset:x}".U({field.width}.W)'


def member(register: Register, field: Field, at: str) -> str:
    return at if register.plain else f"{at}.{camel(field.name)}"


def places(register: Register, at: str) -> str:
    return ", ".join(f"{f.low} -> {member(register, f, at)}" for f in register.fields)


def wrap(line: str) -> str:
    """A call in one line, or with one argument per line."""
    if len(line) <= COLUMNS:
        return line
    indent = re.match(" *", line)[0]
    call = re.fullmatch(r" *([\w. ]+)\((.*?)\)(\([^()]*\))?", line)
    head, body, tail = call[1], call[2], call[3] or ""
    arguments = re.split(r", (?![^(]*\))", body)
    inner = ",\n".join(f"{indent}  {argument}" for argument in arguments)
    return f"{indent}{head}(\n{inner}\n{indent}){tail}"
