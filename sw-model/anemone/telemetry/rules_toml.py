# SPDX-License-Identifier: Apache-2.0
"""Writes rules as TOML in the format of a rule file; loading it returns the same rules."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from anemone.hardware.geometry import Geometry
from anemone.telemetry.rules import Rule, identity_map


def rule_toml(rule: Rule, geometry: Geometry) -> str:
    """A rule as a `[[rule]]` table of RULES.toml."""
    operand = rule.operand if rule.operand_kind == "imm" else f'"{rule.operand_kind}"'
    notify = f'op = "{rule.notify_op}"'
    if rule.notify_op != "none":
        notify += f", operand = {_number(rule.notify_operand)}"
    effect = f'op = "{rule.effect_op}"'
    if rule.effect_op != "none":
        field = "value" if rule.effect_op == "reset" else "operand"
        effect += f", {field} = {_number(rule.effect_operand)}"
    hashed = f"multiplier = {rule.hash_multiplier:#x}, size = {rule.hash_size}"
    if isinstance(operand, int):
        operand = _number(operand)
    return "\n".join(
        [
            "[[rule]]",
            f"name = {json.dumps(rule.name, ensure_ascii=False)}",
            f'type = "{rule.type}"',
            *([f'near = "{rule.near}"'] if rule.near != "any" else []),
            f"range = [{rule.start:#x}, {rule.end:#x}]",
            f'primary = {{ mask = "{rule.primary_mask:#x}", shift = {rule.primary_shift} }}',
            f'sub = {{ mask = "{rule.sub_mask:#x}", shift = {rule.sub_shift} }}',
            *([f"hash = {{ {hashed} }}"] if rule.hash_size else []),
            f'update = {{ op = "{rule.op}", operand = {operand} }}',
            f"width = {rule.width}",
            f"notify = {{ {notify} }}",
            f"read_effect = {{ {effect} }}",
            f"map = {_map(rule, geometry)}",
            f"read_every = {rule.read_every}",
            "",
        ]
    )


def write_rules(rules: list[Rule], path: Path, geometry: Geometry, title: str) -> None:
    """Write `rules` to `path`, with `title` as a comment in front."""
    head = f"# {title}\n\n"
    path.write_text(head + "\n".join(rule_toml(rule, geometry) for rule in rules), encoding="utf-8")


def _number(value: int) -> str:
    """A TOML integer, or a hex string for numbers above TOML's 63 bits."""
    return str(value) if value < 1 << 63 else f'"{value:#x}"'


def _map(rule: Rule, geometry: Geometry) -> str:
    if np.array_equal(rule.map, identity_map(geometry, rule.width)):
        return '"identity"'
    pairs = [f"[{key}, {base}]" for key, base in rule.map.tolist()]
    lines = [", ".join(pairs[i : i + 8]) for i in range(0, len(pairs), 8)]
    return "[\n    " + ",\n    ".join(lines) + ",\n]" if lines else "[]"
