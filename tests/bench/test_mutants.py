# SPDX-License-Identifier: Apache-2.0
"""Every place that `make mutate` breaks exists, and the mutated RTL is valid Verilog."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.bench.build import tools_path
from tests.bench.mutants import Mutant, StaleError, instrument, mutants, same, with_choices
from tests.bench.mutate import EQUIVALENTS
from tests.bench.sites import changes, drawn
from tests.bench.targets import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_mutants_are_verilog(name: str, tmp_path: Path) -> None:
    target = TARGETS[name]
    out = tmp_path / "rtl"
    instrument(target.emit(target.build), out, mutants(target.list), target.emitted)
    files = [out / file for file in (out / "filelist.f").read_text().split()]
    command = ["verilator", "--lint-only", "-Wno-fatal", "--top-module", target.emitted, *files]
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


def test_a_wide_operand_does_not_widen_what_is_around_its_comparison(tmp_path: Path) -> None:
    statement = "assign b = {a[0] & a < 4'h3, a[1]};"
    text = f"module Top(input [3:0] a, output [1:0] b);\n{statement}\nendmodule"
    (tmp_path / "Top.sv").write_text(text)
    (tmp_path / "filelist.f").write_text("Top.sv\n")
    (change,) = (c for c in changes(tmp_path) if "«a < 4'h3»" in c.statement and c.instead == "a")
    chosen = with_choices(text, [Mutant(1, "", "Top", "", change.instead, change)])
    assert "{a[0] & (mutation::id == 1 ? 1'(a) : (a < 4'h3)), a[1]}" in chosen


PART = "module Part(\n  input [3:0] a,\n  output [3:0] b\n);\nendmodule\n"
TOP = """\
module Top(
  input        clock,
  input  [3:0] a,
  output [3:0] b
);
  wire [3:0] part;
`ifndef SYNTHESIS
  always @(posedge clock) assert (a != 4'h3);
`endif
  Part p (.a (a & 4'h7), .b (part));
  assign b = a == 4'h2 ? {2{part[1:0]}} : part;
endmodule
"""


def test_changes_are_of_operators_operands_and_constants(tmp_path: Path) -> None:
    (tmp_path / "Part.sv").write_text(PART)
    (tmp_path / "Top.sv").write_text(TOP)
    (tmp_path / "filelist.f").write_text("Top.sv\nPart.sv\n")
    found = changes(tmp_path)
    assert {(c.line, c.name) for c in found if "4'h7" in c.statement and "«a &" in c.statement} == {
        (10, f"Top: .a («a & 4'h7») => {instead}") for instead in ("a | 4'h7", "a", "4'h7")
    }
    texts = {TOP[c.start : c.end] for c in found}
    # No changes in assertions, outputs of instances, repetitions, ranges and assigned signals.
    assert texts == {
        "a & 4'h7", "a", "4'h7", "a == 4'h2 ? {2{part[1:0]}} : part", "a == 4'h2", "4'h2",
        "part[1:0]", "part",
    }  # fmt: skip
    seven = drawn(found, 7, seed=1)
    assert len({(c.start, c.end) for c in seven}) == 7
    assert seven == drawn(found, 7, seed=1) != drawn(found, 7, seed=2)


def test_an_equivalent_of_many_places(tmp_path: Path) -> None:
    """A regular expression with a file pattern finds its changes; without a match it is refused."""
    (tmp_path / "Part.sv").write_text(PART)
    (tmp_path / "Top.sv").write_text(TOP)
    (tmp_path / "filelist.f").write_text("Top.sv\nPart.sv\n")
    everything = changes(tmp_path)
    listed = tmp_path / "equivalents.txt"
    listed.write_text("== T*\nwhy\n    /(?P<at>(a) & (\\d'h7))/ => \\2 | \\3\n")
    found = same(mutants(listed), everything, tmp_path)
    assert [(c.file, c.instead) for c in found] == [("Top", "a | 4'h7")]
    listed.write_text(listed.read_text().replace("== T*", "== Part"))
    with pytest.raises(StaleError, match="is no change"):
        same(mutants(listed), everything, tmp_path)


@pytest.mark.parametrize("name", TARGETS)
def test_equivalents_still_apply(name: str) -> None:
    target = TARGETS[name]
    rtl = target.emit(target.build)
    same(mutants(target.equivalents), changes(rtl), rtl)


def test_each_equivalent_for_all_builds_is_in_one() -> None:
    left = mutants(EQUIVALENTS)
    for target in TARGETS.values():
        rtl = target.emit(target.build)
        found = [*same(left, changes(rtl), rtl, everywhere=True).values()]
        left = [mutant for mutant in left if mutant not in found]
    assert not left
