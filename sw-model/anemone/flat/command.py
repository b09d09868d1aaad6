# SPDX-License-Identifier: Apache-2.0
"""The command line of `anemone flat`. Slow imports are deferred, so that --help is fast."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anemone.hardware.geometry import Geometry
from anemone.io.errors import oneline
from anemone.terminal import (
    SIZES,
    Backend,
    number,
    print_json,
    print_table,
    printing,
    progress,
    size_option,
)

if TYPE_CHECKING:
    from anemone.flat.result import FlatResult

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown")

_EXAMPLE = """
**Example.** Near memory of 1024 lines (64 KiB) and far memory of the same size:

    $ cat flat.toml
    near_lines = 1024                    # of 64 B
    ratio = 1                            # far lines per near line, 1 to 4
    policy = "every"                     # every, nth or one_in (and n), never
    dedicated = [0x10_0000, 0x10_4000]   # near memory without sets, bytes

    $ printf 'addr,write\\n0x0,1\\n0x10000,0\\n0x0,0\\n' > three.csv

    $ anemone flat --config flat.toml --trace three.csv --engine model --out flat

Lines 0 and 0x10000 share a set: the write hits, both reads miss and swap. DIR then has report.json
(hits, misses, swaps, and accesses of near and far memory) and sets.parquet (the sets whose near
line
differs from reset). docs/flat.md specifies each access.

Invalid input gives one line on stderr and exit status 2, and DIR is unchanged. If a read does not
return the data last written, it is counted under mismatches and the exit status is 1.
"""


@app.callback(invoke_without_command=True, epilog=_EXAMPLE, subcommand_metavar="")
def command(
    config: Annotated[Path, typer.Option(help="Near and far memory, TOML.", metavar="FLAT.toml")],
    trace: Annotated[Path, typer.Option(help="Accesses, CSV or Parquet.", metavar="TRACE")],
    engine: Annotated[Backend, typer.Option(help="The Verilated RTL, or the golden model.")],
    out: Annotated[str, typer.Option(help="Folder for the results.", metavar="DIR")],
    device_gib: Annotated[str, size_option("The device's memory, GiB.")] = str(SIZES.device_gib),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print report.json instead of a table.")
    ] = False,
) -> None:
    """Run a trace in flat memory mode: near and far memory form one memory and swap lines.

    RTL and model write identical files except for cycles, forwarded and speed in report.json.
    """
    geometry = Geometry(device_gib=number(device_gib))
    from anemone import flat
    from anemone.io.outputs import check_out
    from anemone.trace import read_trace

    loaded = flat.load_config(config, geometry)
    check_out(out, flat.FILES)
    accesses = read_trace(trace, geometry)
    with progress(f"{oneline(trace.name)} on {engine.value}") as step:
        done = flat.run(loaded, accesses, engine.value, geometry, step, trace)
    flat.write(done, out)
    with printing():
        if as_json:
            print_json(done.report)
        else:
            _table(done, out)
    if done.mismatches:
        wrong = f"{done.mismatches:,} reads did not return what was last written to their line"
        print(f"anemone: {wrong}", file=sys.stderr)
        raise typer.Exit(1)


def _table(result: FlatResult, out: str) -> None:
    from rich.table import Table

    counts, report = result.counts, result.report
    looked_up = counts.hits + counts.misses
    table = Table("", title=f"{report['accesses']:,} accesses")
    for name in ("count", "of those in sets"):
        table.add_column(name, justify="right")
    for name in ("hits", "misses", "swaps"):
        share = f"{report[name] / looked_up:.1%}" if looked_up else ""
        table.add_row(name, f"{report[name]:,}", share)
    for name in ("near_reads", "near_writes", "far_reads", "far_writes", "mismatches"):
        table.add_row(name.replace("_", " "), f"{report[name]:,}")
    if result.cycles:
        table.add_row("forwarded", f"{result.forwarded:,}")
    print_table(table, report["accesses_per_second"], "accesses", result.cycles, out)
