# SPDX-License-Identifier: Apache-2.0
"""Mutants of the emitted SystemVerilog: one simulator has them all, and a plusarg selects one.

A list of mutants:

    == FILE
    what breaks
        where => what stands there instead

«...» marks what is replaced, an expression; the rest of the line finds it, in every place that it
fits. A # in it is any number: the emitter counts its temporaries. In a list of equivalents FILE may
be a pattern, and where a regular expression between slashes, whose group `at` is replaced.
"""

from __future__ import annotations

import re
import shutil
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.sites import Change

Span = tuple[int, int]

SWITCH = "package mutation; int id = 0; endpackage\n"
# Mutated hardware may never finish, so +limit stops the simulation after a number of cycles.
CHOOSE = """  int limit = 0, cycles = 0;
  initial begin
    if (!$value$plusargs("mutant=%d", mutation::id)) mutation::id = 0;
    if (!$value$plusargs("limit=%d", limit)) limit = 0;
  end
  always @(posedge clock) begin
    cycles <= cycles + 1;
    if (cycles == limit && limit != 0)
      $fatal(1, "Assertion failed: no end within %0d cycles", limit);
  end
  final $display("cycles: %0d", cycles);
endmodule"""


class StaleError(Exception):
    """A mutant's place does not exist in the emitted SystemVerilog."""


@dataclass(frozen=True)
class Mutant:
    """A mutant: in `file`, `instead` replaces the text that `where` marks.

    change: the place of a random mutant; a listed one is found by `where`.
    """

    number: int
    breaks: str
    file: str
    where: str
    instead: str
    change: Change | None = None


def mutants(listed: Path) -> list[Mutant]:
    """The mutants of a list file, numbered from 1."""
    found: list[Mutant] = []
    file = breaks = ""
    for line in listed.read_text().splitlines():
        if line.startswith("== "):
            file = line[3:]
        elif line.startswith("    "):
            where, instead = line.strip().split(" => ")
            found.append(Mutant(len(found) + 1, breaks, file, where, instead))
        elif line and not line.startswith("#"):
            breaks = line
    return found


def spans(mutant: Mutant, text: str) -> list[Span]:
    """The spans that a mutant replaces. Raises StaleError if there is none."""
    if mutant.change:
        return [(mutant.change.start, mutant.change.end)]
    before, marked, after = re.split("[«»]", mutant.where)
    parts = (
        r"\s*".join(map(re.escape, re.findall(r"\w+|\S", part))).replace(r"\#", r"\d+")
        for part in (before, marked, after)
    )
    found = [match.span(1) for match in re.finditer(r"{}\s*({})\s*{}".format(*parts), text)]
    if not found:
        raise StaleError(f"{mutant.file}: {mutant.where} ({mutant.breaks})")
    return found


def unmixed(changes: Sequence[Change], listed: Sequence[Mutant], rtl: Path) -> list[Change]:
    """The changes that do not partly overlap a listed mutant."""
    taken = {
        file: [span for m in group for span in spans(m, (rtl / f"{file}.sv").read_text())]
        for file, group in _by_file(listed).items()
    }
    return [
        change
        for change in changes
        if not any(
            first < change.start < last < change.end or change.start < first < change.end < last
            for first, last in taken.get(change.file, ())
        )
    ]


def same(
    listed: Sequence[Mutant], changes: Sequence[Change], rtl: Path, everywhere: bool = False
) -> dict[Change, Mutant]:
    """The changes that a list names. Raises StaleError if a named one does not exist, except
    `everywhere`, in a list for all builds.

    A listed place may be a regular expression between slashes, whose group `at` is replaced. Its
    file may be a glob pattern, for a change that occurs in many files.
    """
    by_place = {(c.file, c.start, c.end, "".join(c.instead.split())): c for c in changes}
    found: dict[Change, Mutant] = {}
    for mutant in listed:
        keys = [key for path in rtl.glob(f"{mutant.file}.sv") for key in _places(mutant, path)]
        if not everywhere and not any(key in by_place for key in keys):
            raise StaleError(f"{mutant.file}: {mutant.where} => {mutant.instead} is no change")
        found |= {by_place[key]: mutant for key in keys if key in by_place}
    return found


def _places(mutant: Mutant, path: Path) -> list[tuple[str, int, int, str]]:
    """The spans that a listed mutant replaces in a file, with their replacements."""
    text = path.read_text()
    if mutant.where.startswith("/"):
        found = re.finditer(mutant.where.strip("/"), text)
        places = [(*match.span("at"), match.expand(mutant.instead)) for match in found]
    else:
        places = [(*span, mutant.instead) for span in spans(mutant, text)]
    return [(path.stem, first, last, "".join(instead.split())) for first, last, instead in places]


def instrument(rtl: Path, out: Path, all_mutants: Sequence[Mutant], top: str) -> None:
    """Write a copy of the RTL, with top module `top`, in which +mutant=N selects a mutant."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(rtl, out)
    for file, group in _by_file(all_mutants).items():
        path = out / f"{file}.sv"
        path.write_text(with_choices(path.read_text(), group))
    path = out / f"{top}.sv"
    head, _, tail = path.read_text().rpartition("endmodule")
    path.write_text(head + CHOOSE + tail)
    (out / "mutation.sv").write_text(SWITCH)
    files = out / "filelist.f"
    files.write_text("mutation.sv\n" + files.read_text())


def _by_file(all_mutants: Sequence[Mutant]) -> dict[str, list[Mutant]]:
    by_file: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in all_mutants:
        by_file[mutant.file].append(mutant)
    return by_file


def _cut(mutant: Mutant) -> str:
    """The mutant's text, not wider than what it replaces: it must not change what is around it."""
    width = "1'" if mutant.change and mutant.change.one_bit else ""
    return f"{width}({mutant.instead})"


def with_choices(text: str, group: Sequence[Mutant]) -> str:
    """A file's text with its mutants as choices. Raises StaleError, also if two places overlap."""
    here: dict[Span, list[Mutant]] = defaultdict(list)
    for mutant in group:
        for span in spans(mutant, text):
            here[span].append(mutant)
    # Of two that begin together, the outer one comes first.
    left = deque(sorted(here, key=lambda span: (span[0], -span[1])))

    def chosen(start: int, end: int) -> str:
        """This part of the text; a place may be inside another."""
        parts, at = [], start
        while left and left[0][0] < end:
            first, last = span = left.popleft()
            if last > end:
                raise StaleError(f"the place of {here[span][0].breaks} is half in another one")
            choice = "".join(f"mutation::id == {m.number} ? {_cut(m)} : " for m in here[span])
            parts += [text[at:first], f"({choice}({chosen(first, last)}))"]
            at = last
        return "".join([*parts, text[at:end]])

    return chosen(0, len(text))
