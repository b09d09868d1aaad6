# SPDX-License-Identifier: Apache-2.0
"""Telemetry rules (NEMO §3.1, Table 1) and their file format; see docs/rules.md."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anemone.hardware.features import Features
from anemone.hardware.geometry import Geometry
from anemone.io.errors import MISSING, Bare
from anemone.io.tables import U64, Table, parse_toml, read_text, whole_number

# Codes of the update ops in the hardware's rule registers, as in UpdateOp.scala.
OP_CODES = {
    "add": 0, "sub": 1, "shr": 2, "shl": 3, "xor": 4, "or": 5, "max": 6, "addsat": 7, "min": 8,
    "subsat": 9, "last": 10, "ewma2": 11, "ewma4": 12, "ewma8": 13,
}  # fmt: skip
OPS = tuple(OP_CODES)
# A name's position in these is its code.
TYPES = ("R", "W", "RW")
NEAR = ("any", "hit", "miss")
OPERANDS = ("imm", "line", "is_write")
WIDTHS = (8, 16, 32, 64)
PREDICATES = ("none", "eq", "ge", "gt", "lt", "le")
EFFECTS = ("none", "reset", *OPS)
HASH_BITS = 27  # bits of the hashed value and of the multiplier: one multiplier block of an FPGA


@dataclass(frozen=True, eq=False, kw_only=True)
class Rule:
    """A rule, with the fields of the hardware's rule registers. Values are not checked here.

    type, start, end: the filter; addresses in bytes, end exclusive. near: in flat memory mode also
    filter by the outcome in near memory, one of NEAR.

    primary_*: key = (addr & mask) >> shift. sub_*: offset = (addr & mask) >> shift. hash_*: with a
    size above 0, the offset, which then has HASH_BITS bits, is hashed to a value below the size:
    offset = (offset * multiplier mod 2^HASH_BITS) * size >> HASH_BITS.

    op, operand_kind, operand: the update; the operand is an immediate ("imm") or a field of the
    request. width: bits of a counter, 8, 16, 32 or 64. Masks and operands have 64 bits; operands
    are taken modulo 2^width, and as a shift amount modulo 64.

    notify_*: the predicate. effect_*: the effect of a telemetry read on every counter of its line.
    map: (n, 2) uint64, key and base index. read_every: events between reads; 0 is never.
    """

    name: str
    type: str = "RW"
    start: int = 0
    end: int
    near: str = "any"
    primary_mask: int = U64
    primary_shift: int = 0
    sub_mask: int = 0
    sub_shift: int = 0
    hash_multiplier: int = 0
    hash_size: int = 0
    op: str = "add"
    operand: int = 1
    operand_kind: str = "imm"
    width: int = 64
    notify_op: str = "none"
    notify_operand: int = 0
    effect_op: str = "none"
    effect_operand: int = 0
    map: np.ndarray = field(default_factory=lambda: np.empty((0, 2), np.uint64))
    read_every: int = 0

    def __post_init__(self) -> None:
        table = np.array(self.map, np.uint64).reshape(-1, 2)
        table.setflags(write=False)
        object.__setattr__(self, "map", table)


def identity_map(geometry: Geometry, width: int) -> np.ndarray:
    """`map = "identity"`: key i maps to base index i, up to the end of the table or counters."""
    n = min(geometry.table, geometry.counters(width))
    return np.repeat(np.arange(n, dtype=np.uint64), 2).reshape(n, 2)


def load_rules(path: str | os.PathLike, geometry: Geometry, flat: bool = False) -> list[Rule]:
    """Read a rule file. Raises InputError for any unusable file."""
    return parse_rules(read_text(path), path, geometry, flat)


def parse_rules(text: str, file: object, geometry: Geometry, flat: bool = False) -> list[Rule]:
    """The rules in a TOML text, in order. `file`: its name in errors. Raises InputError.

    flat: the rules are for flat memory mode and may use `near`.
    """
    document = parse_toml(text, file)
    top = Table(file, "top level", document)
    top.only("rule")
    tables = document.get("rule", MISSING)
    known = f"1 to {geometry.pipelines} [[rule]] tables (--pipelines)"
    if not isinstance(tables, list) or not tables:
        raise top.wrong("rule", known)
    places = _Places(text, len(tables))
    rules: list[Rule] = []
    for i, content in enumerate(tables):
        table = Table(file, places.rule(i, content), content, lambda f, i=i: places.field(i, f))
        if i >= geometry.pipelines:
            raise table.wrong("rule", known, Bare(f"number {i + 1} of {len(tables)}"))
        if not isinstance(content, dict):
            raise table.wrong("rule", "a [[rule]] table", content)
        rule = _rule(table, geometry)
        if rule.near != "any" and not flat:
            allowed = '"any" (only an expander with flat memory mode tells hits from misses)'
            raise table.wrong("near", allowed)
        for j, earlier in enumerate(rules):
            if earlier.name == rule.name:
                raise table.wrong("name", f"a name of its own (rule {j + 1} has this one)")
        rules.append(rule)
    return rules


def truncated_operands(rules: list[Rule]) -> list[str]:
    """Warnings of operands that do not fit their counters, which is legal but probably a
    mistake.
    """
    warnings = []
    for rule in rules:
        operands = {"notify.operand": (rule.notify_op, rule.notify_operand)}
        operands["read_effect"] = (rule.effect_op, rule.effect_operand)
        operands["update.operand"] = (rule.op, rule.operand)
        for name, (op, value) in operands.items():
            # add, sub, xor and or give the same result with a truncated operand.
            plain = op in ("none", "add", "sub", "xor", "or", "shr", "shl")
            if not plain and value >> rule.width:
                kept = value & ((1 << rule.width) - 1)
                warnings.append(
                    f'rule "{rule.name}": {name} {value:#x} is wider than the counter\'s '
                    f"{rule.width} bits; {kept:#x} is used"
                )
    return warnings


def _rule(t: Table, geometry: Geometry) -> Rule:
    t.only(
        "name", "type", "range", "primary", "update", "map",
        optional=("near", "sub", "hash", "width", "notify", "read_effect", "read_every"),
    )  # fmt: skip
    name = t.content["name"]
    if not (isinstance(name, str) and name.isprintable() and 0 < len(name) <= 100):
        raise t.wrong("name", "1 to 100 printable characters")
    start, end = t.byte_range("range", geometry)
    primary, sub = t.table("primary"), t.table("sub")
    for part in (primary, sub):
        if part is not None:
            part.only("mask", "shift")
    width = t.content.get("width", 64)
    widths = geometry.features.of_widths(WIDTHS)
    if type(width) is not int or width not in widths:
        raise t.wrong("width", _either(widths), width)
    return Rule(
        name=name,
        type=t.choice("type", TYPES),
        start=start,
        end=end,
        near=t.choice("near", NEAR) if "near" in t.content else "any",
        primary_mask=primary.number("mask"),
        primary_shift=primary.number("shift", 63),
        sub_mask=sub.number("mask") if sub else 0,
        sub_shift=sub.number("shift", 63) if sub else 0,
        **_hash(t, geometry, width),
        width=width,
        **_update(t.table("update"), geometry.features),
        **_notify(t.table("notify"), geometry.features),
        **_effect(t.table("read_effect"), geometry.features),
        map=_map(t, geometry, width),
        read_every=t.number("read_every", (1 << 63) - 1) if "read_every" in t.content else 0,
    )


def _either(values: tuple[object, ...]) -> str:
    """The allowed values as text: "a, b or c"."""
    *others, last = map(str, values)
    return f"{', '.join(others)} or {last}" if others else last


def _hash(t: Table, geometry: Geometry, width: int) -> dict[str, int]:
    hashed = t.table("hash")
    if hashed is None:
        return {}
    if not geometry.features.hash:
        raise t.wrong("hash", "no hash, as none is built in")
    hashed.only("multiplier", "size")
    multiplier = hashed.number("multiplier", (1 << HASH_BITS) - 1)
    if not multiplier % 2:
        raise hashed.wrong("multiplier", "an odd number")
    size = hashed.number("size", geometry.counters(width))
    if not size:
        raise hashed.wrong("size", "1 or more")
    return {"hash_multiplier": multiplier, "hash_size": size}


def _update(t: Table, features: Features) -> dict[str, Any]:
    t.only("op", "operand")
    op, operand = t.choice("op", features.of_ops(OPS)), t.content["operand"]
    fields = features.of_operands(OPERANDS[1:])
    if isinstance(operand, str) and operand in fields:
        return {"op": op, "operand": 0, "operand_kind": operand}
    also = _either(tuple(f'"{name}"' for name in fields)) if fields else ""
    return {"op": op, "operand": t.number("operand", also=also)}


def _notify(t: Table | None, features: Features) -> dict[str, Any]:
    if t is None:
        return {}
    t.only("op", optional=("operand",))
    op = t.choice("op", features.of_predicates(PREDICATES))
    if op != "none" or "operand" in t.content:
        operand = t.number("operand")
    return {"notify_op": op, "notify_operand": operand if op != "none" else 0}


def _effect(t: Table | None, features: Features) -> dict[str, Any]:
    if t is None:
        return {}
    t.only("op", optional=("value", "operand"))
    op = t.choice("op", features.of_effects(EFFECTS))
    if op == "none":
        return {}
    wants, other = ("value", "operand") if op == "reset" else ("operand", "value")
    if other in t.content:
        raise t.wrong(other, f'only op and {wants} with op "{op}"')
    return {"effect_op": op, "effect_operand": t.number(wants)}


def _map(t: Table, geometry: Geometry, width: int) -> np.ndarray:
    entries, counters = t.content["map"], geometry.counters(width)
    if entries == "identity":
        return identity_map(geometry, width)
    if not isinstance(entries, list):
        raise t.wrong("map", 'a list of [key, base index], or "identity"')
    seen: dict[int, int] = {}
    table = np.empty((len(entries), 2), np.uint64)
    for i, entry in enumerate(entries):
        pair = [whole_number(v) for v in entry] if isinstance(entry, list) else []
        if len(pair) != 2 or None in pair:
            raise t.wrong(f"map[{i}]", "[key, base index], two whole numbers", entry)
        key, base = pair
        if not 0 <= key < geometry.table:
            raise t.wrong(f"map[{i}]", f"a key of 0 to {geometry.table - 1} (--table)", entry)
        if not 0 <= base < counters:
            allowed = f"a base index of 0 to {counters - 1} (--states x 64 / width)"
            raise t.wrong(f"map[{i}]", allowed, entry)
        if key in seen:
            raise t.wrong(f"map[{i}]", f"each key once (map[{seen[key]}] has {key})", entry)
        seen[key] = i
        table[i] = key, base
    return table


class _Places:
    """Finds the lines of rules and fields in the text, because tomllib does not give them.

    It only searches for [[rule]] headers. If it does not find as many rules as the parser, places
    have no line.
    """

    def __init__(self, text: str, rules: int) -> None:
        self.lines = text.split("\n")
        heads = [i for i, s in enumerate(self.lines) if re.match(r"\s*\[\[\s*rule\s*\]\]", s)]
        self.heads = [*heads, len(self.lines)] if len(heads) == rules else None

    def rule(self, i: int, content: Any) -> str:
        name = content.get("name") if isinstance(content, dict) else None
        return f'rule {i + 1} "{name}"' if isinstance(name, str) else f"rule {i + 1}"

    def field(self, i: int, field: str) -> str:
        if not self.heads:
            return ""
        top = re.escape(re.split(r"[.\[]", field)[0])
        here = re.compile(rf"\s*(\[\s*rule\s*\.\s*)?[\"']?{top}[\"']?\s*[=.\]]")
        first, last = self.heads[i], self.heads[i + 1]
        line = next((n for n in range(first, last) if here.match(self.lines[n])), first)
        return f" (line {line + 1})"
