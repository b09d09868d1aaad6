# SPDX-License-Identifier: Apache-2.0
"""All places of emitted SystemVerilog where an operator, an operand or a constant can be changed.

They are found in slang's syntax tree. Assertions, under `ifndef SYNTHESIS`, are left out.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyslang import Bag, SourceManager
from pyslang.parsing import PreprocessorOptions, Token
from pyslang.syntax import SyntaxTree

# The replacements of each operator.
BINARY = {
    "&": "|", "|": "&", "^": "|", "+": "-", "-": "+", "==": "!=", "!=": "==",
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "<<": ">>", ">>": "<<", "&&": "||", "||": "&&",
}  # fmt: skip
REDUCTION = {"|": "&", "&": "|", "^": "|"}
# Syntax that is not hardware or must be constant.
SKIPPED = {
    "AnsiPortList", "ImplicitType", "LogicType", "RegType", "VariableDimension", "InstanceName",
    "SimpleRangeSelect", "EventControlWithExpression", "InitialBlock", "ParameterDeclaration",
}  # fmt: skip
# Their result has one bit, and a wider operand instead would widen the expression around it.
COMPARISONS = {"==", "!=", "<", "<=", ">", ">=", "&&", "||"}
STATEMENTS = {
    "ContinuousAssign", "NetDeclaration", "DataDeclaration", "ExpressionStatement",
    "ConditionalPredicate", "NamedPortConnection",
}  # fmt: skip


@dataclass(frozen=True)
class Change:
    """`instead` replaces the text from `start` to `end` of a file (no suffix).

    statement: the statement around it, with the replaced text between « and ». like: identifies the
    change in builds of other widths and numbers: statement, index among equal ones, kind of change.
    one_bit: `instead` must be cut to the one bit that it replaces.
    """

    file: str
    line: int
    start: int
    end: int
    statement: str
    instead: str
    like: tuple[str, int, int]
    one_bit: bool = False

    @property
    def name(self) -> str:
        alike = self.like[1]
        which = f" ({alike + 1})" if alike else ""
        return f"{self.file}: {self.statement}{which} => {self.instead}"


def changes(rtl: Path) -> list[Change]:
    """All changes of the files of filelist.f."""
    names = [name.removesuffix(".sv") for name in (rtl / "filelist.f").read_text().split()]
    texts = {name: (rtl / f"{name}.sv").read_text() for name in names}
    outputs = {name: _outputs(text) for name, text in texts.items()}
    return [change for name in names for change in _File(name, texts[name], outputs).changes()]


def drawn(all_changes: list[Change], count: int, seed: int) -> list[Change]:
    """Random changes of different places. Their rank depends only on seed and statement, so edits
    elsewhere hardly change the choice.
    """

    def number(*parts: object) -> str:
        return hashlib.sha256(repr((seed, *parts)).encode()).hexdigest()

    places: defaultdict[tuple[str, int, int], list[Change]] = defaultdict(list)
    for change in all_changes:
        places[change.file, change.start, change.end].append(change)
    chosen = [min(group, key=lambda c: number(c.instead, c.like)) for group in places.values()]
    return sorted(chosen, key=lambda c: number(c.file, c.statement, c.like))[:count]


def _outputs(text: str) -> set[str]:
    """A module's output ports; firtool lists one per line, and a direction until it changes."""
    found, direction = set(), ""
    header = re.search(r"^module \w+\((.*?)\);", text, re.DOTALL | re.MULTILINE)
    for line in header[1].splitlines() if header else ():
        words = re.findall(r"\w+", re.sub(r"\[.*?\]|//.*", "", line))
        if words and words[0] in ("input", "output"):
            direction = words.pop(0)
        if words and direction == "output":
            found.add(words[-1])
    return found


class _File:
    def __init__(self, name: str, text: str, outputs: dict[str, set[str]]) -> None:
        self.name, self.text, self.outputs = name, text, outputs
        options = PreprocessorOptions()
        options.predefines = ["SYNTHESIS"]
        bag = Bag()
        bag.preprocessorOptions = options
        self._sources = SourceManager()
        self._tree = SyntaxTree.fromText(text, self._sources, name, f"{name}.sv", bag)
        self._found: list[tuple[Any, int, int, str, bool]] = []

    def changes(self) -> Iterator[Change]:
        self._walk(self._tree.root, None, "")
        alike: Counter[str] = Counter()
        ordinals: dict[int, int] = {}
        inside: Counter[int] = Counter()
        for statement, start, end, instead, one_bit in self._found:
            first, last = _span(statement)
            shape = re.sub(r"\d+", "#", " ".join(self.text[first:last].split()))
            if first not in ordinals:
                ordinals[first] = alike[shape]
                alike[shape] += 1
            marked = f"{self.text[first:start]}«{self.text[start:end]}»{self.text[end:last]}"
            yield Change(
                self.name,
                self.text.count("\n", 0, start) + 1,
                start,
                end,
                " ".join(marked.split()),
                instead,
                (shape, ordinals[first], inside[first]),
                one_bit,
            )
            inside[first] += 1

    def _walk(self, node: Any, statement: Any, instance: str) -> None:
        kind = node.kind.name
        if kind in SKIPPED:
            return
        if kind in STATEMENTS:
            statement = node
        if kind == "HierarchyInstantiation":
            instance = node.type.valueText
        if kind == "NamedPortConnection" and node.name.valueText in self.outputs.get(instance, ()):
            return
        children = [child for child in node if not isinstance(child, Token)]
        if kind in ("AssignmentExpression", "NonblockingAssignmentExpression"):
            children = [node.right]
        elif kind == "MultipleConcatenationExpression":
            children = [node.concatenation]
        elif kind == "BitSelect" and children[0].kind.name.startswith("Integer"):
            return
        elif statement is not None:
            operator = getattr(node, "operatorToken", None)
            one_bit = operator is not None and operator.valueText in COMPARISONS
            for instead in self._instead(node, kind):
                self._found.append((statement, *_span(node), instead, one_bit))
        for child in children:
            self._walk(child, statement, instance)

    def _part(self, node: Any) -> str:
        start, end = _span(node)
        return " ".join(self.text[start:end].split())

    def _instead(self, node: Any, kind: str) -> Iterator[str]:
        if kind.startswith("Unary"):
            operator, operand = node.operatorToken.valueText, self._part(node.operand)
            if operator in ("~", "!"):
                yield operand
            elif operator in REDUCTION:
                yield f"{REDUCTION[operator]}{operand}"
        elif kind == "ConditionalExpression":
            yield from (self._part(node.left), self._part(node.right))
        elif kind.endswith("Expression") and hasattr(node, "operatorToken"):
            left, right = self._part(node.left), self._part(node.right)
            if other := BINARY.get(node.operatorToken.valueText):
                yield from (f"{left} {other} {right}", left, right)
        elif kind == "IntegerVectorExpression":
            yield from self._constants(self._part(node))
        elif kind in ("IdentifierName", "IdentifierSelectName"):
            name = self._part(node)
            yield from (f"{name} ^ {name}", f"{name} | ~{name}")

    def _constants(self, text: str) -> Iterator[str]:
        if found := re.fullmatch(r"(\d+)'h([0-9A-Fa-f]+)", text):
            bits, value = int(found[1]), int(found[2], 16)
            for other in {(value + step) % (1 << bits) for step in (1, -1)}:
                yield f"{bits}'h{other:X}"


def _span(node: Any) -> tuple[int, int]:
    return node.sourceRange.start.offset, node.sourceRange.end.offset
