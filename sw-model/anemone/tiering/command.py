# SPDX-License-Identifier: Apache-2.0
"""The command line of `anemone tier`. Slow imports are deferred, so that --help is fast."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anemone.hardware.geometry import Geometry
from anemone.io.errors import MISSING, InputError, oneline
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
    from collections.abc import Iterator

    from anemone.tiering.compare import Compared
    from anemone.tiering.config import TierConfig
    from anemone.tiering.result import TierResult
    from anemone.trace import Trace

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown")

_EXAMPLE = """
**Example.** A fast tier of 1,024 pages of 4 KiB and a slow tier, without a policy:

    $ cat tier.toml
    page = "4KiB"                      # or "2MiB"
    outstanding = 10                   # reads in flight per thread
    posted = 48                        # writes in flight per thread
    [fast]
    pages = 1024
    latency_ns = 114.1
    gb_per_s = 123.4                   # 10^9 bytes per second
    [slow]
    pages = 1048576
    latency_ns = 380.3
    gb_per_s = 17.6
    [placement]
    start = "first-touch"              # fast until full, then slow; fast, slow, weighted

    $ anemone tier --config tier.toml --trace sim/traces/redis.parquet --out tier

DIR then has report.json (time, accesses by tier, migrations, CPU time) and timeline.parquet (the
same by interval; with the column `op` also percentiles of the requests' latencies). Besides addr
and
write, a trace may have the columns thread, gap_ns, dep, kind and op, which `anemone capture`
writes.
docs/tiering.md defines the timing and describes TIER.toml.

Traces of DRAMsim3, Ramulator 2 and gem5 (text) are also accepted; --clock-ns gives the unit of
their
clock, so that rows have gaps. Samples (`perf script` of memory events, or of DAMON's
damon_aggregated) only give the share of accesses that hits the fast tier (hit_ratio in
report.json);
a policy then needs the source "oracle".

The same trace, configuration and seed give identical files except for accesses_per_second. Invalid
input gives one line on stderr and exit status 2, and DIR is unchanged.
"""


_SIZE = str(SIZES.device_gib)
_DeviceGib = Annotated[str, size_option("Addresses are below this, GiB.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
_Clock = Annotated[
    float | None,
    typer.Option(
        "--clock-ns",
        metavar="NS",
        help="For another simulator's trace: ns of a cycle (DRAMsim3), a tick (gem5, 0.001) or an "
        "instruction (Ramulator's SimpleO3). Without it rows have no gaps.",
    ),
]
_Device = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="NAME",
        help="Latency and bandwidth of both tiers from a paper: nemo, camp-cxl-a, "
        "camp-cxl-b, camp-cxl-c, camp-numa-skx, camp-numa-spr, caption-cxl-a, caption-cxl-b, "
        "caption-cxl-c or memstrata.",
    ),
]


_ENGINE = "--engine says which hardware counts"

_Timing = Annotated[
    str | None,
    typer.Option(
        "--timing",
        metavar="NAME",
        help='"queue": each tier serves a queue of lines; "dram": also banks, rows, refresh and '
        "bus turnaround. [default: TIER.toml's, queue]",
        show_default=False,
    ),
]


@app.callback(invoke_without_command=True, epilog=_EXAMPLE)
def command(
    ctx: typer.Context,
    config: Annotated[
        Path | None, typer.Option(help="Machine, policy and telemetry.", metavar="TIER.toml")
    ] = None,
    trace: Annotated[
        Path | None, typer.Option(help="Accesses, CSV or Parquet.", metavar="TRACE")
    ] = None,
    out: Annotated[str | None, typer.Option(help="Folder for the results.", metavar="DIR")] = None,
    device: _Device = None,
    timing: _Timing = None,
    clock_ns: _Clock = None,
    engine: Annotated[
        Backend | None,
        typer.Option(
            help="For the telemetry source nemo: the golden model, or the Verilated RTL (same "
            "results, about 100,000 accesses per second). [default: TIER.toml's, model]",
            show_default=False,
        ),
    ] = None,
    device_gib: _DeviceGib = _SIZE,
    as_json: _Json = False,
) -> None:
    """Run a trace on a fast and a slow memory tier, between which a policy may move pages."""
    if ctx.invoked_subcommand:
        return
    for option, value in (("--config", config), ("--trace", trace), ("--out", out)):
        if value is None:
            raise InputError("command line", "options", option, MISSING, f"{option} VALUE")
    geometry = Geometry(device_gib=number(device_gib))
    from anemone import tiering
    from anemone.io.outputs import check_out
    from anemone.tiering.config import made
    from anemone.tiering.devices import with_device, with_timing
    from anemone.tiering.result import FILES
    from anemone.tiering.run import warm_up
    from anemone.tiering.scaling import stretched
    from anemone.trace import batches
    from anemone.trace.samples import is_samples

    loaded = tiering.load_config(config)
    if device:
        loaded = with_device(loaded, device)
    loaded = with_timing(loaded, timing)
    if engine:
        if loaded.telemetry != "nemo":
            raise InputError(config, "telemetry", "source", loaded.telemetry, f'"nemo": {_ENGINE}')
        loaded = replace(loaded, telemetry_with={**loaded.telemetry_with, "engine": engine.value})
    check_out(out, FILES)
    _check_clock(clock_ns)
    if is_samples(trace):
        _sampled(loaded, config, trace, out, as_json)
        return
    warm_up()
    with progress(oneline(trace.name)) as step:
        rows = partial(batches, trace, geometry, clock_ns=clock_ns)
        done = tiering.simulate(
            loaded, lambda: stretched(rows(), loaded.scale), *made(loaded), geometry, step, trace
        )
    tiering.write(done, out)
    with printing():
        if as_json:
            print_json(done.report)
        else:
            _table(done, out)


def _check_clock(clock_ns: float | None) -> None:
    if clock_ns is not None and not 0 < clock_ns <= 1e9:
        raise InputError("command line", "options", "--clock-ns", clock_ns, "above 0, at most 1e9")


def _sampled(loaded: TierConfig, config: object, trace: Path, out: str, as_json: bool) -> None:
    """Run on samples; they have no timing."""
    from anemone.tiering.config import made
    from anemone.tiering.parameters import NONE
    from anemone.tiering.result import write_both
    from anemone.tiering.sampled import hit_ratios
    from anemone.trace.samples import read_samples

    if loaded.telemetry not in (NONE, "oracle"):
        allowed = '"oracle": with samples a policy gets the samples themselves'
        raise InputError(config, "telemetry", "source", loaded.telemetry, allowed)
    samples = read_samples(trace, loaded.page_bytes)
    report, timeline = hit_ratios(loaded, samples, made(loaded)[0])
    write_both(report, timeline, out)
    with printing():
        if as_json:
            print_json(report)
        else:
            kind = f"{report['samples']:,} samples ({samples.kind})"
            print(f"{kind}: {report['hit_ratio']:.1%} of the accesses hit the fast tier")


_COMPARE = """
**Example.**

    $ anemone tier compare --trace sim/traces/redis.parquet --device camp-cxl-a

The fast tier holds the share --fast of the pages that the trace touches. --config takes the machine
and the parameters of its policy and source from a TIER.toml. `--run own.py:Mine+pebs` runs your own
policy; docs/tiering.md shows how to write one. A source that needs a column that the trace does not
have is skipped with a message.
"""


@app.command("compare", epilog=_COMPARE)
def compare(
    trace: Annotated[Path, typer.Option(help="Accesses, CSV or Parquet.", metavar="TRACE")],
    config: Annotated[
        Path | None,
        typer.Option(help="The machine. [default: from the trace]", metavar="TIER.toml"),
    ] = None,
    device: _Device = None,
    timing: _Timing = None,
    page: Annotated[str, typer.Option(help="Without --config: 4KiB or 2MiB.")] = "4KiB",
    fast: Annotated[
        float, typer.Option(help="Without --config: share of the pages that are fast.")
    ] = 0.33,
    interval_ms: Annotated[
        float | None,
        typer.Option(help="Of every policy. [default: each its own]", show_default=False),
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option(
            metavar="POLICY+SOURCE", help="One to run. Repeatable. [default: all, as published]"
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="Folder for compare.json. [default: none]", metavar="DIR")
    ] = None,
    clock_ns: _Clock = None,
    device_gib: _DeviceGib = _SIZE,
    as_json: _Json = False,
) -> None:
    """Run every policy on one trace and print a table."""
    geometry = Geometry(device_gib=number(device_gib))
    from anemone import tiering
    from anemone.io.outputs import check_out, write_files, write_json
    from anemone.tiering import compare as comparing
    from anemone.tiering.config import PAGES, check_names
    from anemone.tiering.devices import with_device, with_timing
    from anemone.tiering.run import warm_up
    from anemone.tiering.scaling import stretched
    from anemone.trace import batches

    def wrong(option: str, value: object, allowed: str) -> InputError:
        return InputError("command line", "options", option, value, allowed)

    if page not in PAGES:
        raise wrong("--page", page, ", ".join(PAGES))
    if not 0 < fast <= 1:
        raise wrong("--fast", fast, "a share above 0, at most 1")
    if interval_ms is not None and not 0 < interval_ms <= 1e9:
        raise wrong("--interval-ms", interval_ms, "above 0")
    pairs = comparing.PAIRS
    if run:
        pairs = tuple((one.partition("+")[0], one.partition("+")[2] or "none") for one in run)
        for policy, source in pairs:
            if policy != comparing.OPTIMUM:
                check_names(policy, source)
    if out:
        check_out(out, (comparing.FILE,))
    _check_clock(clock_ns)
    again = partial(batches, trace, geometry, clock_ns=clock_ns)
    if config:
        base = tiering.load_config(config)
        base = with_device(base, device) if device else base
    else:
        base = comparing.sized(again, PAGES[page], fast, device or "nemo")
    base = with_timing(base, timing)
    if interval_ms:
        base = replace(base, interval_ns=interval_ms * 1e6)
    warm_up()

    def small() -> Iterator[Trace]:
        return stretched(again(), base.scale)

    with progress(oneline(trace.name)) as step:
        done = list(comparing.compare(base, small, pairs, geometry, step, trace))
    content = {
        "fast_pages": base.fast.pages,
        "runs": [vars(one) for one in done],
    }
    if out:
        write_files(out, {comparing.FILE: lambda path: write_json(path, content)})
    with printing():
        if as_json:
            print_json(content)
        else:
            _compared(done)


def _compared(done: list[Compared]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table()
    table.add_column("policy")
    table.add_column("telemetry")
    for name in ("time, ms", "speed-up", "fast", "promoted", "demoted", "CPU"):
        table.add_column(name, justify="right")
    first = next((one.report["time_ns"] for one in done if one.report), 0.0)
    for one in done:
        report = one.report
        if report is None:
            continue
        accesses, time = report["accesses"], report["time_ns"]
        cpu = report["telemetry_cpu_ns"] + report["policy_cpu_ns"]
        table.add_row(
            one.policy,
            one.telemetry,
            f"{time / 1e6:,.3f}",
            f"{first / time:.3f}",
            f"{accesses['fast'] / sum(accesses.values()):.1%}",
            f"{report['promoted']:,}",
            f"{report['demoted']:,}",
            f"{cpu / time:.2%}",
        )
    console = Console()
    console.print(table)
    for one in done:
        if one.report is None:
            console.print(f"{one.policy} with {one.telemetry} did not run: {one.refused}")


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
