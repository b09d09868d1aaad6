# SPDX-License-Identifier: Apache-2.0
"""docs/cost.md from what was measured."""

from __future__ import annotations

from fpga.synth.cost import GROWTH, SMALL, bars
from fpga.synth.tools import ROOT

PAGE = ROOT / "docs" / "cost.md"

HEAD = """\
# Cost

Written by `make synth`; all figures also in `build/synth/cost.json`. The configuration is {shape}.

Yosys maps to Cyclone 10 GX, the nearest to Agilex 7 that open tools know: its M20K is the same, its ALM alike. An ALUT
is one function of a look-up table or a bit of a carry chain; an ALM holds two. Registers include the output registers
of memories, which Agilex has inside the M20K. The clock is an ECP5-85's of speed grade 8 (nextpnr, three seeds): slower
than Agilex by far, and good for comparing. No figure is Quartus'.

## Bars

| bar | asked | measured | |
| --- | --- | --- | --- |
"""

TOTALS = """
## Whole

| what | ALUT | of them carry | registers | LUT-RAM bits × 32 | M20K |
| --- | --- | --- | --- | --- | --- |
"""

TOTALS_TAIL = """
A lane is one rule on one channel. Lane and pipeline are mapped as one; the engine with its pipelines as one module each
and the rest as one; the expander a module at a time, so it is an upper bound.

The clock of a lane with its table is {mhz}: {seeds}. Its slowest path goes from `{source}` to `{sink}`.

## By unit

Of the expander, a module at a time, all instances together, without the units inside. `path` is the longest
combinational path in cells, a carry chain counted by its bits (Yosys `ltp`), and `lookups` the longest through look-up
tables alone. `whole pipeline` is the longest from any unit of a pipeline to another. Limits are in
[limits.toml](../fpga/synth/limits.toml).

| unit | instances | ALUT | carry | registers | LUT-RAM | M20K | path | lookups |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""

FED = """
## Where the cells go

ALUT of one instance by the register or port that they feed, the largest shares. A star stands for numbers.

| unit | ALUT feed |
| --- | --- |
"""

TAIL = """
## What keeps it so

`make test` maps a small configuration ({small}) and fails when the whole or a unit has grown by more than {growth}
against `fpga/synth/baseline.json`, or when a path is longer than its limit. The message names unit, figure and
baseline, and the command that renews the baseline.
"""


def _row(*cells: object) -> str:
    shown = (f"{c:,}" if isinstance(c, int | float) else str(c) for c in cells)
    return f"| {' | '.join(shown)} |\n"


def _shape(options: dict[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in options.items())


def render(result: dict) -> str:
    """The page."""
    text = HEAD.format(shape=_shape(result["options"]))
    for what, asked, measured, held in bars(result):
        text += _row(what, asked, measured, "held" if held else "**missed**")
    text += TOTALS
    figures = ("alut", "carry", "registers", "lutram", "m20k")
    for name, cells in result["total"].items():
        text += _row(name, *(cells[f] for f in figures))
    clock = result["clock"]
    text += TOTALS_TAIL.format(
        mhz=f"{clock['median']} MHz, the median of three seeds",
        seeds=", ".join(str(mhz) for mhz in clock["mhz"].values()),
        source=clock["source"],
        sink=clock["sink"],
    )
    units = sorted(result["units"].items(), key=lambda item: -item[1].get("alut", 0))
    for unit, cells in units:
        if cells["path"] > 0 or cells.get("m20k") or cells.get("lutram"):
            counts = ["instances", *figures, "path", "lookups"]
            text += _row(unit, *(cells.get(f, "") for f in counts))
    text += FED
    for unit, shares in result["fed"].items():
        text += _row(unit, ", ".join(f"`{at}` {n:,}" for at, n in shares.items()))
    return text + TAIL.format(small=_shape(SMALL.options), growth=f"{GROWTH:.0%}")
