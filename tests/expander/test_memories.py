# SPDX-License-Identifier: Apache-2.0
"""Every memory in the emitted SystemVerilog has a code, parity or copies, and a test flips its
bits; the exceptions are listed here with their reasons.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.expander.bench import build as expander
from tests.expander.bench import directed_lines, directed_upsets
from tests.expander.bench.sizes import BUILDS
from tests.flat.bench import build as flat
from tests.flat.bench import directed_upsets as flat_upsets

NONE = r"(?!)"  # matches no name
# Modules around a memory that do not protect it themselves.
CARRIERS = re.compile(r"Queue\d+_\w+|Ram1R1W|VotedRamCopy")
# For each module, the instances whose words have a code, parity or copies.
PROTECTED = {
    "ProtectedRam": r"ram",
    "ProtectedQueue": r"queue",
    "AcknowledgeQueue": r"lines",
    "VotedRam": r"copy_[012]",
    "StateArray": r"bank_[0-7]",
    "TranslationTable": r"banks_bank_\d+",
}
# Memories without protection, and why they need none.
REQUESTS = "of the control port: software reads back what counts, and its reads can be made again"
UNPROTECTED = {
    "AxiLiteSlave": (r"addresses_q|data_q|io_bus_b_q|answers", REQUESTS),
    "AvalonBridge": (r"ar|aw|w", REQUESTS),
}
# Instances of `PROTECTED` in which a test flips bits, besides those of `directed_upsets`.
FLIPPED = {
    "directed_lines": "|".join(
        rf"telemetry\.buffer\.{re.escape(path)}$"
        for copies in directed_lines.MEMORIES.values()
        for path in copies
    ),
    "directed_faults, any_flipped_bit_of_a_table": r"\.matching\.entries\.banks_bank_\d+$",
    "directed_parity": r"\.update\.states\.bank_\d$",
}
FLAT_FLIPPED = "|".join(
    rf"^{re.escape(path)}$" for paths in flat_upsets.MEMORIES.values() for path in paths
)


@dataclass(frozen=True)
class Instance:
    """A memory without another memory inside it. owner: the module that has it or the modules
    around it; name: its instance name there.
    """

    path: str
    owner: str
    name: str


def modules(rtl: Path) -> dict[str, str]:
    """The text of every module, by name."""
    texts = ((rtl / name).read_text() for name in (rtl / "filelist.f").read_text().split())
    return {
        found[1]: found[0]
        for text in texts
        for found in re.finditer(r"^module (\w+)\(.*?^endmodule", text, re.DOTALL | re.MULTILINE)
    }


def stem(module: str) -> str:
    """A name without the number that the emitter added."""
    return re.sub(r"_\d+$", "", module)


def instances(texts: dict[str, str], top: str) -> Iterator[Instance]:
    """Every memory below the top."""
    below = {
        name: [
            (found[1], found[2])
            for found in re.finditer(r"^  (\w+) (\w+) \(", text, re.MULTILINE)
            if found[1] in texts
        ]
        for name, text in texts.items()
    }
    array = re.compile(r"^ *(?:reg|logic)\b[^;=]*\w\s*\[[^];]*:[^];]*\]\s*;", re.MULTILINE)
    memories = {name for name, text in texts.items() if array.search(text)}

    def walk(module: str, path: tuple[str, ...], owner: str, at: str) -> Iterator[Instance]:
        for child, name in below[module]:
            here = (*path, name)
            # The owner as seen from inside the modules around the memory.
            has, place = (owner, at) if CARRIERS.fullmatch(stem(module)) else (stem(module), name)
            carried = ".".join(path if CARRIERS.fullmatch(stem(module)) else here)
            if child in memories:
                yield Instance(carried, has, place)
            yield from walk(child, here, has, place)

    return walk(top, (), "", "")


BUILT = ("x2", "tiered", "board", "agilex", "flatboard", "flat2")
each_build = pytest.mark.parametrize("build", BUILT)


@cache
def memories(build: str) -> list[Instance]:
    if build in flat.BUILDS:
        return list(instances(modules(flat.emit(flat.BUILDS[build])), flat.TOP))
    of = BUILDS[build]
    return list(instances(modules(expander.emit(of)), of.emitted))


def protected(memory: Instance) -> bool:
    return bool(re.fullmatch(PROTECTED.get(memory.owner, NONE), memory.name))


def needs_none(memory: Instance) -> bool:
    return bool(re.fullmatch(UNPROTECTED.get(memory.owner, (NONE, ""))[0], memory.name))


@each_build
def test_every_memory_is_protected(build: str) -> None:
    """Fails if a new memory has no protection."""
    found = memories(build)
    assert found
    for memory in found:
        assert protected(memory) or needs_none(memory), memory


@each_build
def test_bits_of_every_protected_memory_are_flipped(build: str) -> None:
    """Each protected memory is flipped in some test, by its place in the design."""

    def flipped(path: str) -> bool:
        if build in flat.BUILDS:
            return bool(re.search(FLAT_FLIPPED, path))
        return bool(
            directed_upsets.kind(path) is not None
            or any(re.search(where, path) for where in FLIPPED.values())
        )

    left = [memory for memory in memories(build) if protected(memory) and not flipped(memory.path)]
    assert not left


def test_what_the_lists_name_is_there() -> None:
    """The lists have no stale entries."""
    found = [memory for build in BUILT for memory in memories(build)]
    for owner, name in [*PROTECTED.items(), *((o, n) for o, (n, _) in UNPROTECTED.items())]:
        for one in name.split("|"):
            assert any(m.owner == owner and re.fullmatch(one, m.name) for m in found), (owner, one)
    paths = [memory.path for memory in found]
    for where in (*FLIPPED.values(), *directed_upsets.CORRECTING):
        assert any(re.search(where, f"{path}.") or re.search(where, path) for path in paths), where


@pytest.mark.parametrize(
    ("module", "broken", "instead"),
    [
        ("ProtectedQueue", r" queue \(", " bare ("),
        ("RegionWriteSink", r"endmodule", "  reg [7:0] held[0:3];\nendmodule"),
        ("RegionWriteSink", r"\bProtectedQueue\w* plans\b", "Queue2_UInt19 plans"),
    ],
    ids=["beside a code", "in a module", "a plain queue"],
)
def test_a_bare_memory_is_found(module: str, broken: str, instead: str) -> None:
    """A memory without protection is found at any place in the design."""
    texts = modules(expander.emit(BUILDS["x2"]))
    name = next(n for n, text in texts.items() if stem(n) == module and re.search(broken, text))
    texts[name] = re.sub(broken, instead, texts[name])
    assert not all(
        protected(memory) or needs_none(memory) for memory in instances(texts, BUILDS["x2"].emitted)
    )
