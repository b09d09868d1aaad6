# SPDX-License-Identifier: Apache-2.0
"""Writes docs/cost.md from the measurements."""

from __future__ import annotations

from pathlib import Path

from fpga.synth.cost import FEATURES, GROWTH, SMALL, bars
from fpga.synth.ecp5 import SEEDS
from fpga.synth.tools import ROOT

PAGE = ROOT / "docs" / "cost.md"
TEMPLATE = Path(__file__).with_name("cost.md.template")
FIGURES = ("alut", "carry", "registers", "lutram", "m20k")
# What the page shows: `look` has the rest.
SMALLEST, SHARES = 100, 4


def _row(*cells: object) -> str:
    shown = (f"{c:,}" if isinstance(c, int | float) else str(c) for c in cells)
    return f"| {' | '.join(shown)} |\n"


def _shape(options: dict[str, int | str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in options.items())


def _units(units: dict) -> str:
    rows = ""
    for unit, cells in sorted(units.items(), key=lambda item: -item[1].get("alut", 0)):
        if cells.get("alut", SMALLEST) >= SMALLEST or cells.get("m20k"):
            counts = ("instances", *FIGURES, "path", "lookups")
            rows += _row(unit, *(cells.get(f, "") for f in counts))
    return rows


def _placed(units: dict) -> str:
    return "".join(
        _row(
            unit,
            *(found["mhz"][str(seed)] for seed in SEEDS),
            found["median"],
            found["lookups"],
            f"`{found['source']}` to `{found['sink']}`",
        )
        for unit, found in sorted(units.items(), key=lambda item: item[1]["median"])
    )


def _shares(shares: dict[str, int]) -> str:
    return ", ".join(f"`{at}` {number:,}" for at, number in list(shares.items())[:SHARES])


def render(result: dict) -> str:
    """The page."""
    clock = result["clock"]
    return TEMPLATE.read_text().format(
        shape=_shape(result["options"]),
        lean=_shape(FEATURES),
        bars="".join(
            _row(what, asked, measured, "held" if held else "**missed**")
            for what, asked, measured, held in bars(result)
        ),
        totals="".join(
            _row(name, *(cells[f] for f in FIGURES)) for name, cells in result["total"].items()
        ),
        mhz=clock["median"],
        seeds=", ".join(str(mhz) for mhz in clock["mhz"].values()),
        source=clock["source"],
        sink=clock["sink"],
        placed=_placed(result["placed"]),
        units=_units(result["units"]),
        fed="".join(_row(unit, _shares(shares)) for unit, shares in result["fed"].items()),
        small=_shape(SMALL.options),
        growth=f"{GROWTH:.0%}",
    )
