# SPDX-License-Identifier: Apache-2.0
"""Call sites as places in the source: address in a module to function, file and line."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, order=True)
class Place:
    """Where a receive is called. line 0: not known, for the module has no debug information."""

    file: str
    line: int
    function: str
    module: str
    offset: int  # in the module; 0 where the line is known: one line may have several calls

    @property
    def text(self) -> str:
        """The line itself, where the file is there."""
        try:
            lines = Path(self.file).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return ""
        return lines[self.line - 1].strip() if 0 < self.line <= len(lines) else ""

    def __str__(self) -> str:
        if self.line:
            return f"{Path(self.file).name}:{self.line}"
        return f"{Path(self.module).name}+{self.offset:#x}"


def places(sites: Iterable[tuple[str, int, str]]) -> dict[tuple[str, int, str], Place]:
    """Each site's place, by addr2line. A site: module, offset, symbol."""
    sites = sorted(set(sites))
    found = {}
    for module in {site[0] for site in sites}:
        own = [site for site in sites if site[0] == module]
        for site, (function, file, line) in zip(own, _lines(module, own), strict=True):
            _, offset, symbol = site
            name = function if function != "??" else symbol or "??"
            found[site] = Place(file, line, name, module, 0 if line else offset)
    return found


def _lines(module: str, sites: list[tuple[str, int, str]]) -> list[tuple[str, str, int]]:
    """Function, file and line of each; ("??", "", 0) where nothing is known."""
    unknown = [("??", "", 0)] * len(sites)
    # A return address is behind the call: one byte before is in it.
    addresses = [hex(offset - 1) for _, offset, _ in sites]
    command = ["addr2line", "-f", "-C", "-e", module, *addresses]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError:
        return unknown
    lines = done.stdout.splitlines()
    if len(lines) != 2 * len(sites):
        return unknown
    answers = []
    for function, where in zip(lines[::2], lines[1::2], strict=True):
        file, _, line = where.partition(" (")[0].rpartition(":")
        answers.append((function, file, int(line)) if line.isdigit() and int(line) else
                       (function, "", 0))  # fmt: skip
    return answers
