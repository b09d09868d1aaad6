# SPDX-License-Identifier: Apache-2.0
"""The command line of `anemone replay`. Slow imports are deferred, so that --help is fast."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anemone.hardware.features import STANDARD_OPS, Features
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
    from anemone.replay.result import Result

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown")

_EXAMPLE = """
**Example.** Count the accesses to each 2 MiB page:

    $ cat hot.toml
    [[rule]]
    name = "hotness"
    type = "RW"                                 # R, W or RW
    range = [0x0, 0x4_0000_0000]                # bytes; the end is exclusive
    primary = { mask = "0xFFFFFFFFFFFFFFFF", shift = 21 }
    update = { op = "add", operand = 1 }
    map = "identity"                            # page i has counter i

    $ printf 'addr,write\\n0x200000,1\\n0x200040,0\\n' > two.csv

    $ anemone replay --rules hot.toml --trace two.csv --engine model --out hot

DIR then has states.parquet (counters at the end), reads.parquet (results of the periodic reads of
`read_every`) and report.json. docs/rules.md describes every field of a rule.

Invalid input gives one line on stderr and exit status 2, and DIR is unchanged.
"""


@app.callback(invoke_without_command=True, epilog=_EXAMPLE, subcommand_metavar="")
def command(
    rules: Annotated[Path, typer.Option(help="Rules, TOML.", metavar="RULES.toml")],
    trace: Annotated[Path, typer.Option(help="Accesses, CSV or Parquet.", metavar="TRACE")],
    engine: Annotated[Backend, typer.Option(help="The Verilated RTL, or the golden model.")],
    out: Annotated[str, typer.Option(help="Folder for the results.", metavar="DIR")],
    channels: Annotated[str, size_option("Memory channels: 1, 2 or 4.")] = str(SIZES.channels),
    pipelines: Annotated[str, size_option("Most rules.")] = str(SIZES.pipelines),
    states: Annotated[str, size_option("64-bit states per rule and channel.")] = str(SIZES.states),
    table: Annotated[str, size_option("Entries of a translation table.")] = str(SIZES.table),
    device_gib: Annotated[str, size_option("The device's memory, GiB.")] = str(SIZES.device_gib),
    hash_stage: Annotated[
        bool, typer.Option("--hash", help="Build in the hash stage, for rules with `hash`.")
    ] = False,
    all_ops: Annotated[
        bool,
        typer.Option("--all-ops", help="Build in every update op, not only the standard."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print report.json instead of a table.")
    ] = False,
) -> None:
    """Replay a trace with telemetry rules and write every counter.

    RTL and model write identical files except for cycles and speed in report.json.
    """
    sizes = map(number, (channels, pipelines, states, table, device_gib))
    from anemone.io.outputs import check_out
    from anemone.replay import replay
    from anemone.replay import result as results
    from anemone.telemetry.rules import OPS, load_rules, truncated_operands
    from anemone.trace import read_trace

    ops = OPS if all_ops else STANDARD_OPS
    geometry = Geometry(*sizes, features=Features(ops=ops, hash=hash_stage))
    loaded = load_rules(rules, geometry)
    check_out(out, results.FILES)
    accesses = read_trace(trace, geometry)
    # Print warnings only after all input is read, because an error must be the only line on stderr.
    for warning in truncated_operands(loaded):
        print(f"anemone: {oneline(str(rules), 400)}: {warning}", file=sys.stderr)
    with progress(f"{oneline(trace.name)} on {engine.value}") as step:
        done = replay(loaded, accesses, geometry, engine.value, step)
    results.write(done, out)
    with printing():
        if as_json:
            print_json(done.report)
        else:
            _table(done, out)


def _table(result: Result, out: str) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table("rule", title=f"{result.events:,} events")
    for name in ("matched", "unmapped", "out of range", "notifications"):
        table.add_column(name, justify="right")
    for c in result.counters:
        counts = (c.matched, c.unmapped, c.out_of_range, c.notifications)
        table.add_row(Text(c.name), *(f"{n:,}" for n in counts))
    print_table(table, result.report["events_per_second"], "events", result.cycles, out)
