# SPDX-License-Identifier: Apache-2.0
"""Builds guest.c, and runs it under the capture."""

from __future__ import annotations

import functools
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from anemone.capture.build import BUILT, RUNTIME
from anemone.capture.program import Command, Outcome, RunSettings, run_program
from anemone.capture.settings import Settings
from anemone.capture.tools import find_tools
from anemone.io.build_cache import built
from anemone.trace.columns import KINDS

SOURCE = Path(__file__).with_name("guest.c")
SMALL = Settings(llc_kib=64, ways=8, prefetch=False)


@functools.cache
def guest() -> str:
    """The program's path."""
    command = ["gcc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread"]
    command += [f"-I{RUNTIME}", str(SOURCE)]
    inputs = [*command, SOURCE, RUNTIME / "anemone_op.h"]

    def compile_to(made: Path) -> None:
        subprocess.run([*command, "-o", str(made)], check=True)

    return str(built(BUILT / "guests" / "guest", inputs, compile_to))


@dataclass(frozen=True)
class Lines:
    """The rows of a request, or of whatever else: addr, kind, dep, gap_ns, thread."""

    rows: dict[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.rows["addr"])

    def of(self, kind: str) -> Lines:
        return self._which(self.rows["kind"] == KINDS.index(kind))

    def largest_page(self) -> Lines:
        """Of the 2 MiB page that has the most of them: an array, and not the stack."""
        pages = self.rows["addr"] >> np.uint64(21)
        values, counts = np.unique(pages, return_counts=True)
        return self._which(pages == values[np.argmax(counts)])

    def distinct(self, name: str = "addr") -> int:
        return len(np.unique(self.rows[name]))

    def _which(self, which: np.ndarray) -> Lines:
        return Lines({name: column[which] for name, column in self.rows.items()})


def run_guest(
    mode: str, settings: Settings = SMALL, run_settings: RunSettings | None = None
) -> Outcome:
    command = Command([guest(), mode], "guest", {"PATH": os.defpath})
    return run_program(command, settings, run_settings or RunSettings(), find_tools())


def request(outcome: Outcome, op: int) -> Lines:
    """The rows that belong to a request."""
    capture = outcome.capture
    which = capture.more["op"] == op
    columns = {"addr": capture.addr, "time_ns": capture.time_ns, **capture.more}
    return Lines({name: column[which] for name, column in columns.items()})
