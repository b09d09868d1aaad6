# SPDX-License-Identifier: Apache-2.0
"""In the netlist no output of a top depends combinationally on an input, as AXI requires."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anemone.backends.rtl import builder
from fpga.ip.tops import FLAT_BOARD
from fpga.synth.tools import ROOT, WORK, yosys
from tests.fpga.paths import Paths

SMALL = ["--pipelines", "1", "--states", "64", "--table", "32"]
ONE = ["--channels", "1"]
TOPS = {
    "expander": ("MemoryExpander", ["--top", "expander", *SMALL, *ONE]),
    "tiered": ("MemoryExpander", ["--top", "expander", "--flat", *SMALL, *ONE]),
    "board": ("BoardExpander", ["--top", "board", *SMALL, *ONE]),
    "board-flat": ("BoardExpander", ["--top", "board", *SMALL, *FLAT_BOARD]),
    "flat": ("FlatMemory", ["--top", "flat"]),
}
GIVEN = {"clock", "reset", "csrClock", "csrReset", "powerOn"}


def netlist(name: str, script: str) -> dict:
    """The netlist that Yosys makes of a script's sources."""
    folder = WORK / "ports"
    out = (folder / f"{name}.json").relative_to(ROOT)
    yosys("agilex", f"{script}proc\nopt_expr\nopt_clean\nwrite_json {out}\n", folder / name)
    return json.loads((ROOT / out).read_text())


@pytest.mark.parametrize("top", TOPS)
def test_no_output_depends_on_an_input_at_once(top: str) -> None:
    """This holds for all pins, not only those of AXI."""
    module, options = TOPS[top]
    rtl = builder.emit(WORK / "ports" / "rtl" / top, builder.run_with(["--plain", *options]))
    files = " ".join(str(file.relative_to(ROOT)) for file in sorted(rtl.glob("*.sv")))
    read = f"read_verilog -sv -defer -DSYNTHESIS {files}\nhierarchy -top {module}\n"
    paths = Paths(netlist(top, read)).of(module)
    assert len(paths) > 20
    wrong = {output: sorted(found - GIVEN) for output, found in paths.items() if found - GIVEN}
    assert not wrong, "\n".join(f"{output}: {', '.join(found)}" for output, found in wrong.items())


def test_a_path_is_found(tmp_path: Path) -> None:
    """Paths go through modules, bits of a word and asynchronous memories, not through registers."""
    source = tmp_path / "top.sv"
    source.write_text("""
module Inner(input clock, input a, input [3:0] b, output [3:0] x, output y);
  reg [3:0] q; reg [3:0] m[0:3];
  always @(posedge clock) begin q <= b; m[b[1:0]] <= q; end
  assign x = {b[3:1], 1'b1} & q; assign y = a ^ q[0];
endmodule
module Top(input clock, input a, input c, input [3:0] b, output held, output [1:0] low,
           output through, output read);
  wire [3:0] x; reg [3:0] m[0:3];
  always @(posedge clock) m[b[1:0]] <= x;
  Inner inner(.clock, .a(a), .b({2'b0, b[1:0]}), .x, .y(through));
  assign held = x[3]; assign low = {x[0], c & x[1]}; assign read = m[{a, 1'b0}][0];
endmodule
""")
    at = WORK / "ports" / "path.sv"
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_text(source.read_text())
    script = f"read_verilog -sv {at.relative_to(ROOT)}\nhierarchy -top Top\n"
    found = Paths(netlist("path", script)).of("Top")
    assert found == {
        "held": {"b"},  # all bits of an inner module's port count as one
        "low": {"b", "c"},
        "through": {"a"},
        "read": {"a"},
    }
