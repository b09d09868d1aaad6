# SPDX-License-Identifier: Apache-2.0
"""The command line of `anemone tier`. Heavy imports wait until it runs, so that help is quick."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anemone.hardware.geometry import Geometry
from anemone.io.errors import oneline
from anemone.terminal import (
    SIZES,
    number,
    print_json,
    print_table,
    printing,
    progress,
    size_option,
)

if TYPE_CHECKING:
    from anemone.tiering.result import TierResult

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown")

_EXAMPLE = """
**Example.** 1,024 fast pages of 4 KiB before a slow tier, without a policy:

    $ cat tier.toml
    page = "4KiB"                      # or "2MiB"
    outstanding = 10                   # reads in flight a thread
    posted = 48                        # writes in flight a thread
    [fast]
    pages = 1024
    latency_ns = 114.1
    gb_per_s = 123.4                   # 10^9 bytes a second
    [slow]
    pages = 1048576
    latency_ns = 380.3
    gb_per_s = 17.6
    [placement]
    start = "first-touch"              # fast until full, then slow; fast, slow, weighted

    $ anemone tier --config tier.toml --trace sim/traces/redis.parquet --out tier

DIR then has report.json (time, accesses by tier, migrations, CPU time) and timeline.parquet (the
same by interval; with the column `op` also percentiles of the requests' latencies). A trace may
have the columns thread, gap_ns, dep, kind and op beside addr and write; `anemone capture` of any
program writes them. docs/tiering.md says exactly what the time is, and has all of TIER.toml.

The same trace, configuration and seed give the same bytes, but for accesses_per_second. Bad input
is one line on stderr and exit status 2, and DIR is as it was.
"""


@app.callback(invoke_without_command=True, epilog=_EXAMPLE, subcommand_metavar="")
def command(
    config: Annotated[
        Path, typer.Option(help="The machine, policy and telemetry, TOML.", metavar="TIER.toml")
    ],
    trace: Annotated[Path, typer.Option(help="Accesses, CSV or Parquet.", metavar="TRACE")],
    out: Annotated[str, typer.Option(help="Folder for the results.", metavar="DIR")],
    device_gib: Annotated[str, size_option("Addresses are below this, GiB.")] = str(
        SIZES.device_gib
    ),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print report.json instead of a table.")
    ] = False,
) -> None:
    """Run a trace through a fast and a slow tier of memory, whose pages a policy may move."""
    geometry = Geometry(device_gib=number(device_gib))
    from anemone import tiering
    from anemone.io.outputs import check_out
    from anemone.tiering.config import made
    from anemone.tiering.result import FILES
    from anemone.tiering.run import warm_up
    from anemone.trace import batches

    loaded = tiering.load_config(config)
    check_out(out, FILES)
    warm_up()
    with progress(oneline(trace.name)) as step:
        done = tiering.simulate(
            loaded, partial(batches, trace, geometry), *made(loaded), geometry, step, trace
        )
    tiering.write(done, out)
    with printing():
        if as_json:
            print_json(done.report)
        else:
            _table(done, out)


def _table(result: TierResult, out: str) -> None:
    from rich.table import Table

    fast, slow = result.accesses
    total = fast + slow
    table = Table("", title=f"{total:,} accesses in {result.time_ns / 1e6:,.3f} ms")
    for name in ("count", "share"):
        table.add_column(name, justify="right")
    for name, count in (("fast", fast), ("slow", slow)):
        table.add_row(name, f"{count:,}", f"{count / total:.1%}")
    table.add_row("promoted", f"{result.promoted:,}", "")
    table.add_row("demoted", f"{result.demoted:,}", "")
    table.add_row("migrated, MiB", f"{result.migrated_bytes / 2**20:,.1f}", "")
    for name, spent in (
        ("telemetry CPU, ms", result.telemetry_cpu_ns),
        ("policy CPU, ms", result.policy_cpu_ns),
    ):
        table.add_row(name, f"{spent / 1e6:,.3f}", f"{spent / result.time_ns:.2%}")
    for name, value in (result.latency or {}).items():
        table.add_row(f"request {name}, ns", f"{value:,.0f}", "")
    print_table(table, result.report["accesses_per_second"], "accesses", 0, out)
