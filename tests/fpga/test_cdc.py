# SPDX-License-Identifier: Apache-2.0
"""The board's clock crossings have constraints; the check finds each kind of faulty crossing."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

import pytest

from fpga import cdc
from fpga.synth.tools import ROOT, WORK

CONSTRAINTS = ROOT / "fpga" / "agilex" / "anemone_board.sdc"
PINS = cdc.Pins(("a", "b"), ("ra", "rb"), {"b_": "b"}, "a")
TWO_FLOPS = """
module Synchronizer(input clock, input in, output out);
  (* preserve *) reg meta, stable; assign out = {out};
  always @(posedge clock) begin meta <= in; stable <= meta; end
endmodule
"""
# A request and a word cross from a to b. The cases change `{level}`, `{load}` and `{word}`.
SOUND = {
    "level": "request",
    "load": "seen && !had",
    "word": "word",
    "take": "",
    "reset": "reset_b",
    "out": "stable",
}
CASES = {
    "sound": ({}, ""),
    "multiplexers in a row": ({"word": "wide ? word : ~got"}, ""),
    "logic before a Synchronizer": ({"level": "request & !done"}, "logic before a Synchronizer"),
    "a pin's level": ({"level": "go"}, "a pin's level may glitch"),
    "no Synchronizer": ({"load": "request"}, "loaded when another clock says so"),
    "no handshake": ({"load": "!had"}, "loaded without a handshake"),
    "logic in a word": ({"word": "word + 1"}, "logic between the registers"),
    "a bare word": (
        {"take": "(* keep *) reg [3:0] bare; always @(posedge b) bare <= word;"},
        "handshake",
    ),
    "a memory's word": (
        {
            "take": "reg [3:0] m [0:3]; assign b_out = m[got[1:0]];"
            " always @(posedge b) m[got[1:0]] <= word;"
        },
        "logic between the registers|loaded without a handshake",
    ),
    "a word to a pin": ({"take": "assign b_out = word;"}, "a pin of another clock"),
    "two Synchronizers of a level": (
        {
            "take": "wire twice; Synchronizer more(b, request, twice); (* keep *) reg x;"
            " always @(posedge b) x <= twice;"
        },
        "2 Synchronizers in one clock",
    ),
    "the first flop is used": ({"out": "stable & meta"}, "the first flop is used"),
    "a bare reset": ({"reset": "rb"}, "a reset that no Synchronizer has taken"),
    "a reset of another clock": ({"reset": "reset_a"}, "loaded when another|logic between"),
    "an asynchronous reset": (
        {
            "take": "(* keep *) reg y; always @(posedge b or posedge rb)"
            " if (rb) y <= 0; else y <= seen;"
        },
        "not a flop with a clock alone",
    ),
    "a latch": (
        {"take": "(* keep *) reg y; always @* if (b_in) y = seen;"},
        "not a flop with a clock alone",
    ),
    "a gated clock": (
        {"take": "(* keep *) reg y; wire gated = b & seen; always @(posedge gated) y <= seen;"},
        "its clock is not a clock pin",
    ),
}


def module(name: str, changes: dict[str, str]) -> cdc.Netlist:
    """The example with these places changed."""
    at = SOUND | changes
    source = WORK / "cdc" / f"{name.replace(' ', '-')}.sv"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(f"""{TWO_FLOPS.replace("{out}", at["out"])}
module Top(input a, input ra, input b, input rb, input go, input wide, input [3:0] data,
           input b_in, output [3:0] b_got, output [3:0] b_out, output out);
  reg request, done, had; reg [3:0] word, got;
  wire seen, reset_a, reset_b;
  Synchronizer level_flops(b, {at["level"]}, seen);
  Synchronizer ra_flops(a, ra, reset_a);
  Synchronizer rb_flops(b, rb, reset_b);
  always @(posedge a) begin
    if (go && !request) begin request <= 1; word <= data; end
    done <= go;
    if (reset_a) request <= 0;
  end
  always @(posedge b) begin
    if ({at["load"]}) got <= {at["word"].replace("wide", "had")};
    had <= seen;
    if ({at["reset"]}) had <= 0;
  end
  assign b_got = got; assign out = done;
  {at["take"]}
endmodule
""")
    script = f"read_verilog -sv {source.relative_to(ROOT)}"
    return cdc.read(script, "Top", source.stem, PINS)


@pytest.mark.parametrize("name", CASES)
def test_a_fault_is_found(name: str) -> None:
    """Each illegal crossing is reported; the correct example has none."""
    changes, why = CASES[name]
    netlist = module(name, changes)
    messages = [*netlist.wrong, *(one.why for one in netlist.crossings() if one.kind == "wrong")]
    if why:
        assert any(re.search(why, line) for line in messages), messages
    else:
        assert not messages
        kinds = {one.kind for one in netlist.crossings()}
        assert kinds == {"level", "word", "reset"}


# One worker writes a board's netlist.
BOARDS = [
    pytest.param(flat, marks=pytest.mark.xdist_group(f"board, {flat}"), id=name)
    for flat, name in ((False, "board"), (True, "in flat memory mode"))
]


@pytest.fixture(scope="module", params=BOARDS)
def board(request: pytest.FixtureRequest) -> list[cdc.Crossing]:
    netlist = cdc.board(request.param)
    assert not netlist.wrong
    return netlist.crossings()


def test_every_crossing_of_the_board_is_known(board: list[cdc.Crossing]) -> None:
    """The control port's levels and words, a reset for each clock, and `powerOn`."""
    assert {one.kind for one in board} == {"level", "word", "reset"}
    resets = {one.source for one in board if one.kind == "reset"}
    assert resets - {"powerOn"} == {"reset", "csrReset"}
    assert {one.source_clock for one in board if one.kind == "word"} == {"clock", "csrClock"}


def test_the_constraints_are_those_of_the_crossings(board: list[cdc.Crossing]) -> None:
    """anemone_board.sdc has an exception for each crossing and no other exception."""
    text = CONSTRAINTS.read_text()
    pairs = re.findall(r"^ +anemone_word \$crossing\|(\S+) \$crossing\|(\S+)$", text, re.MULTILINE)
    assert pairs
    words = {(one.source, one.target) for one in board if one.kind == "word"}
    patterns = [tuple(f"*{end.replace('|', '.')}" for end in pair) for pair in pairs]
    for source, target in words:
        fits = [p for p in patterns if fnmatchcase(source, p[0]) and fnmatchcase(target, p[1])]
        assert len(fits) == 1, f"{source} to {target}: {len(fits)} constraints"
    for ends in patterns:
        assert any(all(map(fnmatchcase, word, ends)) for word in words), f"nothing is {ends}"
    assert "get_entity_instances Synchronizer" in text
    assert "set_false_path -to [get_registers $flops|meta]" in text
    levels = [one for one in board if one.kind in ("level", "reset")]
    assert all(one.target.endswith("_flops.meta") for one in levels)
