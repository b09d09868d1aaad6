# SPDX-License-Identifier: Apache-2.0
"""The rule features that are built into the hardware (Features.scala)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

STANDARD_OPS = ("add", "sub", "shr", "shl", "xor", "or", "max", "addsat")


@dataclass(frozen=True)
class Features:
    """The built-in features, by the names that rule files use; None means all.

    ops: of updates and of read effects, in the order of their codes. widths: bits of a counter.
    notify: predicates. effects: none, reset, op. operands: imm, line, is_write. acknowledge: lines
    that were read can be taken away. hash: of offsets, for sketches.
    """

    ops: tuple[str, ...] = STANDARD_OPS
    widths: tuple[int, ...] | None = None
    notify: bool = True
    effects: tuple[str, ...] | None = None
    operands: tuple[str, ...] | None = None
    acknowledge: bool = True
    hash: bool = False

    def of_ops(self, names: Iterable[str]) -> tuple[str, ...]:
        return _built(names, self.ops)

    def of_widths(self, widths: Iterable[int]) -> tuple[int, ...]:
        return _built(widths, self.widths)

    def of_predicates(self, names: Iterable[str]) -> tuple[str, ...]:
        return _built(names, None if self.notify else ("none",))

    def of_effects(self, names: Iterable[str]) -> tuple[str, ...]:
        """The built-in ones of these read effects: none, reset, or the name of an operation."""
        effects = tuple(names)
        if self.effects is None:
            return tuple(e for e in effects if e in ("none", "reset") or self.of_ops((e,)))
        ops = "op" in self.effects
        return tuple(e for e in effects if e in self.effects or (ops and self.of_ops((e,))))

    def of_operands(self, names: Iterable[str]) -> tuple[str, ...]:
        return _built(names, self.operands)

    @property
    def options(self) -> dict[str, str]:
        """Options for the elaborator; empty for its defaults."""
        ops = self.ops if self.ops != STANDARD_OPS else None
        lists = {"ops": ops, "widths": self.widths, "effects": self.effects}
        lists["operands"] = self.operands and tuple(
            "immediate" if name == "imm" else name for name in self.operands
        )
        options = {name: ",".join(map(str, some)) for name, some in lists.items() if some}
        flags = {"notify": self.notify, "acknowledge": self.acknowledge}
        options |= {name: "false" for name, built in flags.items() if not built}
        return options | ({"hash": "true"} if self.hash else {})


EVERYTHING = Features()


def _built(names: Iterable[T], built: tuple[T, ...] | None) -> tuple[T, ...]:
    return tuple(name for name in names if built is None or name in built)
