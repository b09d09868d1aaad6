# SPDX-License-Identifier: Apache-2.0
"""The command line of `anemone camp`. Slow imports are deferred, so that --help is fast."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from anemone.io.errors import MISSING
from anemone.terminal import print_json, printing, progress, show_table

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="CAMP: predict how much slower a program runs on CXL memory, and the best ratio of DRAM "
    "to CXL. docs/camp.md is a step-by-step guide.",
)


class Platform(StrEnum):
    """Processors that the model supports."""

    skx = "skx"
    spr = "spr"
    emr = "emr"


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, not a table.")]
EndpointsFile = Annotated[
    Path,
    typer.Option(help="JSON: the workload all on DRAM and all on CXL.", metavar="E.json"),
]
DramNode = Annotated[int, typer.Option(help="NUMA node of the DRAM.", metavar="N", min=0)]
CxlNode = Annotated[int, typer.Option(help="NUMA node of the slow memory.", metavar="N", min=0)]
_PLATFORM = "Skylake-SP (and Cascade Lake), Sapphire Rapids, Emerald Rapids."

_PREDICT = """
**Example.** Counters of a run on DRAM, as `anemone camp record` writes them or as JSON:

    $ cat counters.json
    { "c": 1000000, "P1": 600000, "P2": 500000, "P3": 400000, "P4": 8000, "P5": 2000,
      "P6": 50000, "P7": 4000, "P8": 1000, "P12": 5000, "P13": 300000 }

    $ cat cal.toml                       # written by `anemone camp calibrate` on this machine
    k_drd = 1.0
    p = 20.0
    q = 0.5
    k_cache = 1.5
    k_store = 2.0

    $ anemone camp predict --counters counters.json --calibration cal.toml --platform skx

FILE may also be the output of `perf stat -x,` or `perf stat -j` for these events; with `-I` there
is a prediction for each interval. `spr` and `emr` need P14 to P17 in place of P1, P7 and P8.
"""

_INTERLEAVE = """
**E.json** of a bandwidth-bound workload, from two runs; stalls in cycles, latencies in ns:

    { "c": 1e9, "tau": 0.05,
      "dram": { "s_llc": 4e8, "s_cache": 5e7, "s_sb": 1e7, "l_idle": 90, "l_full": 180 },
      "cxl":  { "s_llc": 9e8, "s_cache": 2e8, "s_sb": 5e7, "l_idle": 214, "l_full": 600 } }

s_llc is P3, s_cache is P2 - P3 (on skx P1 - P2), s_sb is P6. l_full is P11 / P12, converted from
cycles to ns. A workload is latency-bound if l_full on DRAM is within tau of l_idle. Then one run is
enough: leave out the stalls under cxl and give `platform`, `counters` and `calibration`, each as in
`predict` or as the name of such a file.
"""

_COLOCATE = """
**W.json** has the DRAM in GB (`fast_gb`) or the ratio of the tiers, and the workloads:

    { "fast_to_slow": [1, 1],
      "workloads": [
        { "name": "gpt-2",   "gb": 12, "mpki": 2.1, "endpoints": "gpt-2.json" },
        { "name": "tc-road", "gb": 12, "mpki": 9.7, "endpoints": { "c": 1e9, "dram": { ... } } } ] }

`endpoints` is the object that `interleave` reads, or the name of its file.
"""


_RECORD = """
**Example.** On a Sapphire Rapids server, the program's memory on the DRAM of node 0:

    $ numactl --cpunodebind=0 --membind=0 anemone camp record --out counters.json -- ./program

    $ anemone camp predict --counters counters.json --calibration cal.toml --platform spr

The program runs three times, once for each group of counters, so that perf does not multiplex. Its
output goes to standard error. P14 to P17 are counted for the whole machine, so run nothing else
meanwhile. With `--interval 1` there is a prediction for each second. L is P11 / P12, the latency of
a demand read behind L2; MLP is P11 / P13. `interleave` needs `l_full_ns` as l_full.
"""


@app.command(epilog=_RECORD)
def record(
    program: Annotated[list[str], typer.Argument(metavar="-- PROGRAM ARGS", help="What to run.")],
    out: Annotated[Path, typer.Option(help="File for the counters, JSON.", metavar="FILE")] = Path(
        "counters.json"
    ),
    platform: Annotated[
        Platform | None,
        typer.Option(help=f"{_PLATFORM} [default: this machine's]", show_default=False),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(help="Seconds, 0.01 or more. [default: the whole run]", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a program under `perf stat` and count the events that the model needs."""
    from anemone.io.errors import InputError
    from anemone.io.outputs import check_out, write_files, write_json
    from anemone.models.camp import record as recorder

    if interval is not None and not 0.01 <= interval < 1e6:
        allowed = "seconds, 0.01 to 1000000"
        raise InputError("command line", "record", "--interval", interval, allowed)
    check_out(out.parent, (out.name,))
    of = platform or recorder.here()
    recorder.check_perf(of)
    done = recorder.record(program, of, interval)
    write_files(out.parent, {out.name: lambda path: write_json(path, done.content)})
    if done.spread > recorder.MAX_SPREAD:
        warning = f"cycles differ by {done.spread:.1%} between the runs of the counter groups"
        print(f"anemone: warning: {warning}", file=sys.stderr)
    total = done.total
    latency = total["P11"] / total["P12"] if total["P12"] else 0.0
    report = {
        "file": str(out),
        "platform": str(of),
        "clock_ghz": done.clock_ghz,
        "L_cycles": latency,
        "MLP": total["P11"] / total["P13"] if total["P13"] else 0.0,
        "l_full_ns": latency / done.clock_ghz,
        "spread": done.spread,
    }
    with printing():
        if as_json:
            print_json(report)
            return
        numbers = [(k, v if isinstance(v, str) else f"{v:,.3f}") for k, v in report.items()]
        rows = [*numbers, *((n, f"{v:,.0f}") for n, v in total.items())]
        show_table("Counted", ["what", ""], rows)


@app.command(epilog=_PREDICT)
def predict(
    counters: Annotated[
        Path, typer.Option(help="Counters of a run on DRAM: JSON or perf output.", metavar="FILE")
    ],
    calibration: Annotated[
        Path, typer.Option(help="Constants of the machine, TOML.", metavar="CAL.toml")
    ],
    platform: Annotated[Platform, typer.Option(help=_PLATFORM)],
    as_json: AsJson = False,
) -> None:
    """Predict the slowdown on CXL from counters of one run on DRAM.

    S = S_DRd + S_Cache + S_Store, as fractions of the run time: 0.07 is 7 % slower.
    """
    from anemone.models.camp import counters as files
    from anemone.models.camp import slowdown

    constants = slowdown.read_calibration(calibration)
    run = files.read(counters, platform)
    warn_of_multiplexing(run, counters)
    total = slowdown.predict(run.total, constants, platform)
    intervals = [(t, slowdown.predict(p, constants, platform)) for t, p in run.intervals]
    with printing():
        if as_json:
            report = total.named()
            if intervals:
                report["intervals"] = [{"t": t, **s.named()} for t, s in intervals]
            print_json(report)
            return
        rows = [(f"{t:g} s", s) for t, s in intervals]
        _slowdowns("Slowdown on CXL", "interval to", [*rows, ("in all", total)])


@app.command(epilog=_INTERLEAVE)
def interleave(endpoints: EndpointsFile, as_json: AsJson = False) -> None:
    """Predict the slowdown at every ratio of DRAM to CXL; x is DRAM's share, 0.00 to 1.00."""
    from anemone.models.camp.interleave import read_endpoints

    ends = read_endpoints(endpoints)
    regime = "bandwidth" if ends.bandwidth_bound else "latency"
    with printing():
        if as_json:
            curve = [{"x": x, **s.named()} for x, s in ends.curve()]
            print_json({"regime": regime, "curve": curve})
            return
        rows = [(f"{x:.2f}", s) for x, s in ends.curve() if round(x * 100) % 5 == 0]
        _slowdowns(f"{regime}-bound: slowdown by DRAM's share", "x", rows)


@app.command(epilog=_INTERLEAVE)
def bestshot(
    endpoints: EndpointsFile,
    dram_node: DramNode = 0,
    cxl_node: CxlNode = 1,
    as_json: AsJson = False,
) -> None:
    """Find the fastest ratio of DRAM to CXL, and print the commands that set it."""
    from anemone.models.camp.interleave import commands, read_endpoints, weights

    _check_nodes("bestshot", dram_node, cxl_node)
    ends = read_endpoints(endpoints)
    x = ends.best()
    found = ends.at(x)
    with printing():
        if as_json:
            ratio = weights(x)
            print_json({"x": x, "S": found.total, "weights": ratio and list(ratio)})
            return
        _slowdowns("The best share of DRAM", "x", [(f"{x:.6f}", found)])
        print("\n".join(commands(x, dram_node, cxl_node)))


@app.command(epilog=_COLOCATE)
def colocate(
    workloads: Annotated[Path, typer.Option(help="JSON: workloads to place.", metavar="W.json")],
    as_json: AsJson = False,
) -> None:
    """Divide DRAM between workloads: by predicted slowdown, by MPKI, and by first touch."""
    from anemone.models.camp.colocate import RULES, place, read_workloads

    placed, fast_gb = read_workloads(workloads)
    done = {name: place(placed, fast_gb, rule) for name, rule in RULES.items()}
    with printing():
        if as_json:
            report = {
                name: {
                    "mean": p.mean,
                    "workloads": [
                        {"name": w.name, "x": x, "S": s}
                        for w, x, s in zip(placed, p.shares, p.slowdowns, strict=True)
                    ],
                }
                for name, p in done.items()
            }
            print_json({"fast_gb": fast_gb, **report})
            return
        rows = [
            (w.name, *(f"{done[n].shares[i]:.3f} {done[n].slowdowns[i]:+.1%}" for n in RULES))
            for i, w in enumerate(placed)
        ]
        rows.append(("mean", *(f"{done[name].mean:+.1%}" for name in RULES)))
        title = f"Share on DRAM ({fast_gb:g} GB) and slowdown"
        show_table(title, ["workload", *RULES], rows)


_CALIBRATE = """
**Example.** Node 0 has the cores and DRAM, node 1 is the CXL memory. Each of fourteen
microbenchmarks runs three times on each node for two seconds, and three times for setup only:

    $ anemone camp calibrate --cxl-node 1 --out cal

DIR then has cal.toml (for `predict`), points.json (the counters; `--points` fits them again) and
calibration.svg. `--simulate cxl-b` runs on the core model instead of this machine, with the memory
cxl-a, cxl-b, cxl-c or the platform's -numa (docs/core-model.md).

If a fit is unreliable, a warning on standard error and in cal.toml says why: fewer than three
points, the same L / MLP at all points, or a residual above a fifth of the largest slowdown or
factor.
"""


@app.command(epilog=_CALIBRATE)
def calibrate(
    out: Annotated[str, typer.Option(help="Folder for the results.", metavar="DIR")],
    dram_node: DramNode = 0,
    cxl_node: CxlNode = 1,
    platform: Annotated[
        Platform | None,
        typer.Option(help=f"{_PLATFORM} [default: this machine's]", show_default=False),
    ] = None,
    simulate: Annotated[
        str | None,
        typer.Option(help="Run on the core model, with this memory.", metavar="MEMORY"),
    ] = None,
    points: Annotated[
        Path | None, typer.Option(help="Fit these points, run nothing.", metavar="points.json")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a machine's constants with microbenchmarks on its DRAM and its slow memory."""
    from anemone.io.errors import Bare, InputError
    from anemone.io.json_file import read_json
    from anemone.io.outputs import check_out, write_files, write_json
    from anemone.models.camp import calibrate as runner
    from anemone.models.camp import record as recorder
    from anemone.models.camp.fit import fit

    _check_nodes("calibrate", dram_node, cxl_node)
    check_out(out, ("cal.toml", "points.json", "calibration.svg"))
    if points is not None or simulate is not None:
        if platform is None:
            raise InputError("command line", "calibrate", "--platform", MISSING, "given here")
        of = platform
    else:
        of = platform or recorder.here()
    with progress("microbenchmarks") as bar:
        step = bar or (lambda done, total: None)
        if points is not None:
            measured = runner.points_of(read_json(points), of, points)
        elif simulate is not None:
            known = ("cxl-a", "cxl-b", "cxl-c", f"{of}-numa")
            if simulate not in known:
                raise InputError(
                    "command line", "calibrate", "--simulate", simulate, ", ".join(known)
                )
            measured = runner.on_model(of, simulate, step)
        else:
            measured = runner.on_machine(of, dram_node, cxl_node, step)
    try:
        found = fit(measured, of)
    except ValueError as e:
        allowed = "a slow memory that is slower, and counters that see it"
        raise InputError(points or "calibrate", "fit", "points", Bare(str(e)), allowed) from e
    drawn = runner.picture(found)
    content = runner.content_of(measured, of)
    write_files(
        out,
        {
            "cal.toml": lambda path: path.write_text(found.toml()),
            "points.json": lambda path: write_json(path, content),
            "calibration.svg": lambda path: path.write_text(drawn),
        },
    )
    for doubt in found.doubts:
        print(f"anemone: warning: not to be trusted: {doubt}", file=sys.stderr)
    report = runner.report(found)
    with printing():
        if as_json:
            print_json(report)
            return
        constants = [(k, f"{v:.6g}") for k, v in report.items() if isinstance(v, float)]
        left = [(f"residual of {k}", f"{v:.4f}") for k, v in found.residuals.items()]
        show_table(f"Constants, in {out}", ["what", ""], [*constants, *left])


def _check_nodes(command: str, dram: int, cxl: int) -> None:
    if dram == cxl:
        from anemone.io.errors import InputError

        allowed = "another node than --dram-node"
        raise InputError("command line", command, "--cxl-node", cxl, allowed)


def _slowdowns(title: str, first: str, rows: Sequence[tuple]) -> None:
    named = [(label, *(f"{v:+.2%}" for v in s.named().values())) for label, s in rows]
    show_table(title, [first, "S_DRd", "S_Cache", "S_Store", "S"], named)


def warn_of_multiplexing(run, path: object) -> None:
    """Warn on stderr if perf counted some events only part of the time."""
    if run.share < 100:
        warning = (
            f"{path}: perf counted some events only {run.share:g} % of the time and scaled them"
        )
        print(f"anemone: warning: {warning}", file=sys.stderr)
