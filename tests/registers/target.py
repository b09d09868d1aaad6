# SPDX-License-Identifier: Apache-2.0
"""The registers under test, from the RDL: registers of this build, their ports, their contents.

Everything here comes from the map that `mk.regs` reads; no register is named.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass

from mk.regs import RDL
from mk.regs.chisel import camel
from mk.regs.model import WORD_BYTES, Field, Memory, Register, built, load

MAP = load(RDL)
SIZES = {
    "pipelines": int(os.environ["PIPELINES"]),
    "table": int(os.environ["TABLE"]),
    "flat_channels": int(os.environ["FLAT_CHANNELS"]),
}
# The ports of the top, if it lacks those of registers that are constant in its build.
PORTS = os.environ.get("PORTS", "").split()
ONES = (1 << 64) - 1
_SELECTED = 16 * WORD_BYTES  # bytes of the words of which one is selected at once (ReadMux)
# The sides on which registers of a kind have ports.
SIDES = {"status": ("in",), "event": ("in", "out"), "setting": ("out",), "trigger": ("out",)}


def has(port: str) -> bool:
    """Whether the top has this port of the block."""
    return not PORTS or port in PORTS


@dataclass(frozen=True)
class Place:
    """A register of this build: its address, and the names of its ports."""

    register: Register
    address: int
    port: str

    def field_port(self, side: str, field: Field) -> str:
        """The port of a field; `side`: in or out."""
        return f"io_{side}_{self.port}" + ("" if self.register.plain else f"_{camel(field.name)}")

    @property
    def there(self) -> bool:
        """Whether the top has its ports."""
        names = {
            self.field_port(side, field)
            for side in SIDES.get(self.register.kind, ())
            for field in self.register.fields
        }
        return all(map(has, names))

    @property
    def mask(self) -> int:
        return sum(field.mask for field in self.register.fields)


def places(*kinds: str) -> list[Place]:
    """The registers of these kinds, or of all kinds if none is given, that have ports."""
    return [
        place for place in _places() if place.there and (not kinds or place.register.kind in kinds)
    ]


def constants() -> list[Place]:
    """The registers that have one value in the build: constants, and statuses without ports."""
    kinds = ("constant", "status")
    return [
        place
        for place in _places()
        if place.register.kind in kinds and not (place.there and place.register.kind == "status")
    ]


def _places() -> Iterator[Place]:
    for register in MAP.registers:
        yield Place(register, register.offset, camel(register.name))
    for group in MAP.groups:
        for i in range(built(group.bound, SIZES)):
            for register in group.registers:
                address = group.offset + i * group.stride + register.offset
                yield Place(register, address, f"{camel(group.name)}_{i}_{camel(register.name)}")


def limit(field: Field) -> int:
    """Legal values of an argument are below this number."""
    return built(field.bound, SIZES) if field.bound else 1 << field.width


def memories() -> list[tuple[Memory, int]]:
    """The memories, with the number of their built entries."""
    return [(memory, built(memory.bound, SIZES)) for memory in MAP.memories]


def nowhere(chance: random.Random) -> list[int]:
    """Addresses of words without a register: all those among the single registers, and all that
    the block selects together with a register; some of the others between groups of registers, and
    some of those far away.
    """
    mapped = {place.address for place in _places()}
    ends = {memory.offset + entries * WORD_BYTES for memory, entries in memories()}
    last = max(mapped)
    near = set(range(0, last + 64 * WORD_BYTES, WORD_BYTES)) - mapped
    first = min(memory.offset for memory in MAP.memories)
    far = {chance.randrange(last, first) & -WORD_BYTES for _ in range(100)} | {first - WORD_BYTES}
    absent = {
        group.offset + i * group.stride + register.offset
        for group in MAP.groups
        for i in range(built(group.bound, SIZES), group.count)
        for register in group.registers
    }
    past = {min(end + chance.randrange(1 << 20) & -WORD_BYTES, (1 << 22) - 8) for end in ends}
    chosen = [*chance.sample(sorted(near - absent), 150), *chance.sample(sorted(absent), 60)]
    groups, with_some = min(group.offset for group in MAP.groups), {a // _SELECTED for a in mapped}
    among = {address for address in near if address < groups or address // _SELECTED in with_some}
    return sorted({*chosen, *among, *far, *past, *ends})
