# SPDX-License-Identifier: Apache-2.0
"""Loads and checks the register map from an RDL file, with systemrdl-compiler.

Every field of the RDL must be of a kind in KINDS.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from systemrdl import AddrmapNode, FieldNode, MemNode, RDLCompiler, RegfileNode, RegNode
from systemrdl.messages import RDLCompileError
from systemrdl.rdltypes import AccessType, OnWriteType, PrecedenceType

WORD_BITS = 64
WORD_BYTES = WORD_BITS // 8
ADDRESS_BITS = 22

# Kind: software's access, hardware's access, and other behaviour of the field.
KINDS: dict[str, tuple[AccessType, AccessType, dict[str, Any]]] = {
    "constant": (AccessType.r, AccessType.na, {}),
    "status": (AccessType.r, AccessType.w, {}),
    "setting": (AccessType.rw, AccessType.r, {}),
    "event": (
        AccessType.rw,
        AccessType.w,
        {"onwrite": OnWriteType.woclr, "hwset": True, "precedence": PrecedenceType.hw},
    ),
    "trigger": (AccessType.w, AccessType.r, {"pulse": True}),
    "argument": (AccessType.w, AccessType.r, {}),
}
# Properties that a field may have. One that its kind does not have would be lost, so it is refused.
BEHAVIOUR = """anded ored xored counter hwclr hwset intr onread onwrite overflow paritycheck
    precedence pulse singlepulse stickybit sticky swacc swmod swwe swwel underflow we wel""".split()
IDLE = (None, False, PrecedenceType.sw)


class MapError(Exception):
    """The exporter cannot use the RDL file. The message says where and why."""


@dataclass(frozen=True)
class Enum:
    """Codes of a field. `values`: name, code, description."""

    name: str
    values: tuple[tuple[str, int, str], ...]


@dataclass(frozen=True)
class Field:
    """Bits `low` to `low + width - 1`. Legal values are below `bound`, a product of parameters."""

    name: str
    low: int
    width: int
    kind: str
    reset: int
    desc: str
    enum: Enum | None = None
    bound: str = ""

    @property
    def mask(self) -> int:
        return ((1 << self.width) - 1) << self.low


@dataclass(frozen=True)
class Register:
    """A register. `kind` is the kind of its fields; registers with equal fields share `type_name`.

    checked: hardware may refuse a write.
    """

    name: str
    type_name: str
    offset: int
    desc: str
    kind: str
    fields: tuple[Field, ...]
    checked: bool = False

    @property
    def plain(self) -> bool:
        """Whether it is one value without fields."""
        return len(self.fields) == 1 and self.fields[0].name == "value"


@dataclass(frozen=True)
class Group:
    """`count` copies of the same registers, `stride` apart; the hardware has `bound` of them."""

    name: str
    offset: int
    stride: int
    count: int
    bound: str
    registers: tuple[Register, ...]


@dataclass(frozen=True)
class Memory:
    """`entries` write-only words; the hardware has `bound` of them."""

    name: str
    offset: int
    entries: int
    bound: str
    desc: str
    entry: Register


@dataclass(frozen=True)
class Map:
    name: str
    title: str
    registers: tuple[Register, ...]
    groups: tuple[Group, ...]
    memories: tuple[Memory, ...]

    def all_registers(self) -> Iterator[Register]:
        yield from self.registers
        for group in self.groups:
            yield from group.registers

    def enums(self) -> list[Enum]:
        """Every enum once, in the order of its first field."""
        fields = [field for register in self.all_registers() for field in register.fields]
        return list({field.enum.name: field.enum for field in fields if field.enum}.values())


def built(bound: str, sizes: dict[str, int]) -> int:
    """The value of a bound in a configuration with these sizes."""
    return math.prod(sizes[name.strip()] for name in bound.split("*"))


def load(path: Path) -> Map:
    """Reads an RDL file. Raises MapError; the compiler prints errors in the RDL on stderr."""
    compiler = RDLCompiler()
    try:
        compiler.compile_file(str(path))
        top = compiler.elaborate().top
    except RDLCompileError as error:
        raise MapError(f"{path}: {error}") from error
    registers, groups, memories = [], [], []
    for node in top.children(unroll=False):
        if isinstance(node, RegNode):
            registers.append(_register(node))
        elif isinstance(node, RegfileNode):
            groups.append(_group(node))
        elif isinstance(node, MemNode):
            memories.append(_memory(node))
    return Map(top.inst_name, _text(top, "name"), tuple(registers), tuple(groups), tuple(memories))


def _require(holds: bool, node: Any, what: str) -> None:
    if not holds:
        raise MapError(f"{node.get_path()}: {what}")


def _text(node: AddrmapNode | RegNode | FieldNode | MemNode, name: str) -> str:
    return " ".join((node.get_property(name, default=None) or "").split())


def _register(node: RegNode) -> Register:
    in_memory = isinstance(node.parent, MemNode)
    _require(node.get_property("regwidth") == WORD_BITS, node, f"is not {WORD_BITS} bits wide")
    _require(in_memory or not node.is_array, node, "arrays of registers are for regfile and mem")
    fields = tuple(_field(field) for field in node.fields())
    kinds = {field.kind for field in fields}
    _require(len(kinds) == 1, node, f"fields of different kinds: {', '.join(sorted(kinds))}")
    (kind,) = kinds
    offset = 0 if in_memory else node.raw_address_offset
    name = node.inst_name
    type_name = node.orig_type_name or name
    checked = bool(node.get_property("checked", default=False))
    _require(not checked or (kind == "argument" and not in_memory), node, "is no command")
    return Register(name, type_name, offset, _text(node, "desc"), kind, fields, checked)


def _field(node: FieldNode) -> Field:
    found = {name: node.get_property(name, default=None) for name in BEHAVIOUR}
    does = {name: value for name, value in found.items() if value not in IDLE}
    access = node.get_property("sw"), node.get_property("hw")
    external = node.parent.external or isinstance(node.parent.parent, MemNode)
    kinds = {kind for kind, row in KINDS.items() if row == (*access, does)}
    kinds &= {"argument"} if external else KINDS.keys() - {"argument"}
    _require(bool(kinds), node, f"{access} with {does} is none of: {', '.join(KINDS)}")
    (kind,) = kinds
    reset = node.get_property("reset")
    _require(kind != "constant" or reset is not None, node, "a constant without a value")
    _require(kind not in ("setting", "event") or reset == 0, node, "resets to other than 0")
    encode = node.get_property("encode")
    enum = None
    if encode is not None:
        members = encode.members.values()
        described = ((m.name, int(m.value), m.rdl_desc or "") for m in members)
        enum = Enum(encode.type_name, tuple(described))
    bound = node.get_property("bound", default=None) or ""
    return Field(
        node.inst_name, node.low, node.width, kind, reset or 0, _text(node, "desc"), enum, bound
    )


def _group(node: RegfileNode) -> Group:
    _require(node.is_array and len(node.array_dimensions) == 1, node, "is no array")
    bound = node.get_property("bound", default=None)
    _require(bool(bound), node, "needs a bound")
    registers = tuple(_register(child) for child in node.children(unroll=False))
    count, stride = node.array_dimensions[0], node.array_stride
    return Group(node.inst_name, node.raw_address_offset, stride, count, bound, registers)


def _memory(node: MemNode) -> Memory:
    _require(node.get_property("memwidth") == WORD_BITS, node, f"is not {WORD_BITS} bits wide")
    _require(node.get_property("sw") == AccessType.w, node, "is not write-only")
    bound = node.get_property("bound", default=None)
    _require(bool(bound), node, "needs a bound")
    entries = node.get_property("mementries")
    children = list(node.children(unroll=False))
    _require(len(children) == 1, node, "needs one register, the entry")
    entry = _register(children[0])
    return Memory(
        node.inst_name, node.raw_address_offset, entries, bound, _text(node, "desc"), entry
    )
