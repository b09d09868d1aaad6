# SPDX-License-Identifier: Apache-2.0
"""Every place that `make mutate` is to break is there, and what it makes of the RTL is Verilog."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.bench.build import tools_path
from tests.bench.mutate import TARGETS, Mutant, StaleError, instrument, mutants, with_choices


@pytest.mark.parametrize("name", TARGETS)
def test_mutants_are_verilog(name: str, tmp_path: Path) -> None:
    target = TARGETS[name]
    out = tmp_path / "rtl"
    instrument(target.emit(target.build), out, mutants(target.list), target.build.top)
    files = [out / file for file in (out / "filelist.f").read_text().split()]
    command = ["verilator", "--lint-only", "-Wno-fatal", "--top-module", target.build.top, *files]
    lint = subprocess.run(
        [str(word) for word in command], env={"PATH": tools_path()}, capture_output=True, text=True
    )
    assert lint.returncode == 0, lint.stderr[-4000:]


def mutant(number: int, where: str) -> Mutant:
    return Mutant(number, f"number {number}", "File", where, str(number))


def test_places_within_places() -> None:
    group = [
        mutant(1, "= «a & b»;"),
        mutant(2, "& «b»;"),
        mutant(3, "= «a» &"),
        mutant(4, "= «a» &"),
    ]
    a = "(mutation::id == 3 ? (3) : mutation::id == 4 ? (4) : (a))"
    b = "(mutation::id == 2 ? (2) : (b))"
    assert with_choices("x = a & b;", group) == f"x = (mutation::id == 1 ? (1) : ({a} & {b}));"
    with pytest.raises(StaleError, match="half in another"):
        with_choices("x = a & b;", [mutant(1, "«a &» b"), mutant(2, "a «& b»")])
    with pytest.raises(StaleError, match="number 1"):
        with_choices("x = a & b;", [mutant(1, "«c»")])
