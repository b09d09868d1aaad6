# SPDX-License-Identifier: Apache-2.0
"""The command line of `anemone caption`. Slow imports are deferred, so that --help is fast."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from anemone.io.errors import InputError
from anemone.terminal import print_json, printing, show_table

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Caption: tune the share of new pages on CXL memory while programs run. "
    "docs/caption.md is a step-by-step guide.",
)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, not a table.")]
ModelFile = Annotated[Path, typer.Option("--model", help="The model, TOML.", metavar="M.toml")]

_REPLAY = """
**Example.** Algorithm 1 alone, on samples of one second each:

    $ cat s.csv
    l1_miss_latency_ns,ddr_read_latency_ns,ipc,new_allocations
    81.2,144.0,0.61,1
    78.9,139.5,0.64,1

    $ cat m.toml                       # as `anemone caption fit` writes it
    beta = [2.0, -0.004, -0.002, 0.5]  # of Equation 1: b0, then one for each counter
    window = 5                         # samples in the moving average
    step = 10.0                        # percent of new pages
    min_step = 9.0
    start = 0.0

    $ anemone caption replay --samples s.csv --model m.toml

A step's sign is its direction. A period without new allocations (0) does not change the state.
"""


@app.command(epilog=_REPLAY)
def replay(
    samples: Annotated[Path, typer.Option(help="CSV, one line per second.", metavar="S.csv")],
    model: ModelFile,
    as_json: AsJson = False,
) -> None:
    """Run Algorithm 1 on recorded samples: estimate, step and ratio (percent on CXL) of each."""
    from anemone.caption import algorithm
    from anemone.caption import model as models
    from anemone.caption import samples as files

    of = models.read(model)
    recorded = files.read(samples, of.counters)
    states = algorithm.replay(recorded, of.beta, of.window, of.tuning)
    with printing():
        if as_json:
            print_json({"periods": [state.named() for state in states]})
            return
        rows = [
            (str(i), f"{s.estimate:.6g}", f"{s.step:+.2f}", f"{s.ratio:.2f}")
            for i, s in enumerate(states)
        ]
        show_table("Caption", ["period", "estimate", "step, %", "to CXL, %"], rows)


_FIT = """
**Example.** Run the program at several ratios (0, 10, ... 60 % of its pages on CXL), and record
some
samples at each, with the throughput in any unit:

    $ cat s.csv
    l1_miss_latency_ns,ddr_read_latency_ns,ipc,ratio,throughput
    91.0,171.2,0.55,0,1.00
    84.3,150.9,0.60,20,1.11

    $ anemone caption fit --samples s.csv --out fitted

DIR then has model.toml (for `replay` and `run`), fit.json and fit.svg. If the fit is unreliable, a
warning on standard error and in model.toml says why.
"""


@app.command(epilog=_FIT)
def fit(
    samples: Annotated[Path, typer.Option(help="Samples at several ratios.", metavar="S.csv")],
    out: Annotated[str, typer.Option(help="Folder for the results.", metavar="DIR")],
    counters: Annotated[
        str | None,
        typer.Option(help="Counters of the model. [default: Table 4's three]", metavar="A,B,..."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Fit the linear model of Equation 1 by least squares, and report how reliable it is."""
    from anemone.caption import fit as fitter
    from anemone.caption import model as models
    from anemone.caption import samples as files
    from anemone.io.outputs import check_out, write_files, write_json

    names = models.TABLE_4 if counters is None else tuple(counters.split(","))
    if any(n not in models.COUNTERS for n in names) or len(set(names)) < len(names):
        allowed = "some of " + ", ".join(models.COUNTERS) + ", each once"
        raise InputError("command line", "fit", "--counters", counters, allowed)
    check_out(out, ("model.toml", "fit.json", "fit.svg"))
    rows = files.read_rows(samples, (*names, *files.MEASURED))
    points = [
        fitter.Point(tuple(row[n] for n in names), row["ratio"], row["throughput"])
        for _, row in rows
    ]
    found = fitter.fit(points, names, samples)
    drawn = fitter.picture(points, found)
    fitted = models.Model(found.beta, names, live=models.FITTED)
    report = {
        "beta": list(found.beta),
        "counters": list(names),
        "samples": len(points),
        "ratios": sorted({p.ratio for p in points}),
        "r2": found.r2,
        "r2_left_out": found.r2_left_out,
        "pearson": found.pearson,
        "direction": found.direction,
        "doubts": list(found.doubts),
    }
    comment = "\n".join(
        [f"R² {found.r2:.4f} of {len(points)} samples at {len(report['ratios'])} ratios"]
        + [f"not to be trusted: {doubt}" for doubt in found.doubts]
    )
    write_files(
        out,
        {
            "model.toml": lambda path: path.write_text(
                models.toml(fitted, comment), encoding="utf-8"
            ),
            "fit.json": lambda path: write_json(path, report),
            "fit.svg": lambda path: path.write_text(drawn, encoding="utf-8"),
        },
    )
    for doubt in found.doubts:
        print(f"anemone: warning: not to be trusted: {doubt}", file=sys.stderr)
    with printing():
        if as_json:
            print_json(report)
            return
        weights = zip(("constant", *names), found.beta, strict=True)
        left = found.r2_left_out
        show_table(
            f"Equation 1, in {out}/model.toml",
            ["what", ""],
            [
                *((name, f"{value:.6g}") for name, value in weights),
                ("R²", f"{found.r2:.4f}"),
                ("R² of ratios left out", "-" if left is None else f"{left:.4f}"),
                ("Pearson", f"{found.pearson:.4f}"),
                ("steps in the right direction", f"{found.direction:.0%}"),
            ],
        )


_RUN = """
**Example.** A server with DRAM on node 0 and CXL memory on node 1, as root:

    $ anemone caption run --model m.toml --dry-run      # prints decisions, writes nothing
    $ anemone caption run --model m.toml
    $ numactl --weighted-interleave=0,1 ./program       # in another terminal

Each decision is a line with its reason; with `--json`, an object per line. After SIGTERM or the end
of the samples the weights are restored. `--samples` reads a file, a pipe or `-` instead of perf.
`counters` in M.toml may include `cxl_gb_per_s`; `--nemo NAME` then reads it from the telemetry of
this name on an Anemone expander.
"""


@app.command(epilog=_RUN)
def run(
    model: ModelFile,
    dram_node: Annotated[int, typer.Option(help="NUMA node of the DRAM.", metavar="N")] = 0,
    cxl_node: Annotated[int, typer.Option(help="NUMA node of the CXL memory.", metavar="N")] = 1,
    samples: Annotated[
        str | None,
        typer.Option(help="CSV samples, or - . [default: perf]", metavar="S.csv"),
    ] = None,
    interval: Annotated[float, typer.Option(help="Seconds per sample.", metavar="S")] = 1.0,
    tune: Annotated[
        int, typer.Option(help="Samples per decision: the tuning interval.", metavar="N")
    ] = 1,
    nemo: Annotated[
        str | None, typer.Option(help="Telemetry that counts requests.", metavar="NAME")
    ] = None,
    ratio_file: Annotated[
        Path | None,
        typer.Option(help="For kernels before 6.9: programs with libcaption.so read it."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print, but write nothing.")] = False,
    root: Annotated[
        Path, typer.Option(help="Folder that has sys/, for tests.", metavar="DIR")
    ] = Path("/"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per decision.")
    ] = False,
) -> None:
    """Sample, decide and set the weights each second until stopped."""
    from anemone.caption import live, sources
    from anemone.caption import model as models
    from anemone.caption.actuator import RatioFile, WeightedInterleave

    if not 0.01 <= interval <= 3600:
        raise InputError("command line", "run", "--interval", interval, "seconds, 0.01 to 3600")
    if not 1 <= tune <= 3600:
        raise InputError("command line", "run", "--tune", tune, "1 to 3600 samples")
    for option, node in (("--dram-node", dram_node), ("--cxl-node", cxl_node)):
        if not 0 <= node < 1024:
            raise InputError("command line", "run", option, node, "a node, 0 to 1023")
    if dram_node == cxl_node:
        raise InputError("command line", "run", "--cxl-node", cxl_node, "not the DRAM's node")
    of = models.read(model)
    if ratio_file is None:
        actuator = WeightedInterleave(dram_node, cxl_node, root)
    else:
        actuator = RatioFile(dram_node, cxl_node, ratio_file)
    if samples is None:
        source = sources.live(of.counters, interval, nemo, cxl_node, root)
    else:
        source = sources.of_file(samples, of.counters)

    def report(number, sample, decision, acted) -> None:
        with printing():
            if as_json:
                print(live.record(number, of, sample, decision, acted))
            else:
                print(live.line(number, decision, acted))

    done = live.run(of, source, tune, actuator, dry_run, report)
    if not done and samples is not None:
        raise InputError(samples, "file", "samples", 0, f"at least {tune}, those of a decision")
