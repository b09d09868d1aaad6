# SPDX-License-Identifier: Apache-2.0
"""The command line of `anemone memstrata`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anemone.io.errors import MISSING, InputError
from anemone.terminal import print_json, printing, show_table

if TYPE_CHECKING:
    from anemone.memstrata.judges import Forest
    from anemone.memstrata.live import Interval
    from anemone.memstrata.outliers import Line
    from anemone.memstrata.perf import Measured

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Which virtual machines get the dedicated near memory of flat memory mode: Memstrata.",
)

_PLAN = """
**VMS.json**:

    { "step_ratio": 0.1,
      "vms": [
        { "name": "web",   "pages": 4096, "is_outlier": false, "avg_miss_count": 0.2 },
        { "name": "redis", "pages": 4096, "is_outlier": true,  "avg_miss_count": 7.5 } ] }

`is_outlier`: it is predicted to lose more than 5 %. `avg_miss_count`: misses of near memory a page
that is not dedicated. With `dedicated` in every VM, pages of it that are, one gives no more than it
has and takes no more than it can use.

    $ anemone memstrata plan --vms VMS.json
"""


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command(epilog=_PLAN)
def plan(
    vms: Annotated[Path, typer.Option(help="The machines.", metavar="VMS.json")],
    as_json: AsJson = False,
) -> None:
    """The page exchanges of one round (Listing 1), in order."""
    from anemone.memstrata.plan import plan as round_of
    from anemone.memstrata.plan import read_vms

    machines, step_ratio = read_vms(vms)
    found = round_of(machines, step_ratio)
    with printing():
        if as_json:
            listed = [{"from": m.donor, "to": m.borrower, "pages": m.pages} for m in found]
            print_json({"migrations": listed})
            return
        rows = [(m.donor, m.borrower, f"{m.pages:,}") for m in found]
        show_table("Dedicated pages that move", ["from", "to", "pages"], rows)


_PROFILE = """
The workloads of `anemone study flat-slowdown` (docs/memstrata.md), each with six shares of
dedicated pages and three of the bandwidth. What was run before is kept in build/studies/profiles.

    $ anemone memstrata profile --quick --out samples.json
    $ anemone memstrata train --samples samples.json --out model
"""


@app.command(epilog=_PROFILE)
def profile(
    out: Annotated[Path, typer.Option(help="The samples.", metavar="SAMPLES.json")],
    quick: Annotated[bool, typer.Option(help="Seconds: fewer, smaller workloads.")] = False,
    seed: Annotated[int, typer.Option(help="Of the workloads.", min=0, max=1 << 31)] = 1,
    as_json: AsJson = False,
) -> None:
    """Samples to train on, of workloads on the core model."""
    from anemone.io.outputs import check_out, write_files, write_json
    from anemone.studies.flat_samples import samples
    from anemone.terminal import progress

    check_out(out.parent, (out.name,))
    with progress("profiles") as show:
        found = samples(quick, seed, show)
    write_files(out.parent, {out.name: lambda path: write_json(path, {"samples": found})})
    summary = {"samples": len(found), "programs": len({s["program"] for s in found})}
    with printing():
        if as_json:
            print_json(summary)
            return
        print(f"{summary['samples']} samples of {summary['programs']} programs in {out}")


_TRAIN = """
**SAMPLES.json**, of `anemone memstrata profile` or measured on a host, each a program at one share
of dedicated pages:

    { "samples": [
        { "program": "redis", "l3_ns": 171.0, "l2_ns": 88.0, "tlb_ns": 41.0, "l2_mpki": 9.1,
          "requests": 7.3, "miss_ratio": 0.41, "slowdown": 0.12 } ] }

`l3_ns`, `l2_ns`, `tlb_ns`: average latency of demand loads that miss L3, L2 and TLB. `l2_mpki`,
`requests`: L2 misses of demand loads and requests of memory in a thousand instructions.
`miss_ratio`: the requests that near memory did not have. `slowdown`: over local memory alone.
`captured` (true, may be left out): a real program, scored apart, too.

    $ anemone memstrata train --samples samples.json --out model

Half of the programs train the forest, the others say how right it is. The folder has model.onnx
and model.json. The first call installs scikit-learn and onnxruntime into .venv-synth/memstrata
(250 MB).
"""
_PAPER = {"forest": 88.0, "mpki alone": 63.0, "majority": 73.0}  # §4.2; §3.2
_PAPER_R2 = {"mpki and slowdown": "0.73", "L3 miss latency and miss ratio": "0.87"}  # Figure 9


@app.command(epilog=_TRAIN)
def train(
    samples: Annotated[Path, typer.Option(help="What to learn from.", metavar="SAMPLES.json")],
    out: Annotated[Path, typer.Option(help="Folder for the model.", metavar="MODEL")],
    seed: Annotated[int, typer.Option(help="Of halves and forest.", min=0, max=1 << 31)] = 1,
    counted: Annotated[
        bool, typer.Option("--counted", help="Of misses that NEMO counts, not of L3 latency.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """A random forest that tells who loses more than 5 % (§4.2), and how right it is."""
    import tempfile
    from dataclasses import asdict

    from anemone.io.outputs import check_out, write_files, write_json
    from anemone.memstrata.files import FOREST, MODEL, read_samples
    from anemone.memstrata.outliers import EWMA, FEATURES, SLOW, TREES, ask
    from anemone.memstrata.outliers import train as trained

    known = read_samples(samples)
    check_out(out, (MODEL, FOREST))
    with tempfile.TemporaryDirectory(prefix="anemone-memstrata-") as folder:
        found = trained(known, Path(folder), seed, ask, samples, counted)
        forest = (Path(folder) / FOREST).read_bytes()
    report = {
        "features": list(FEATURES), "line": asdict(found.line), "counted": counted,
        "outlier_above": SLOW,
        "ewma": EWMA, "trees": TREES, "seed": seed, "samples": len(known),
        "scores": {name: asdict(score) for name, score in found.scores.items()}, "r2": found.r2,
        "training": list(found.training), "validation": list(found.validation),
    }  # fmt: skip
    files = {
        MODEL: lambda path: write_json(path, report),
        FOREST: lambda path: path.write_bytes(forest),
    }
    write_files(out, files)
    with printing():
        if as_json:
            print_json(report)
            return
        rows = []
        for name, score in found.scores.items():
            cells = [score.accuracy, score.low, score.high, score.precision, score.recall]
            here = ["" if cell is None else f"{100 * cell:.1f}" for cell in cells]
            paper = f"{_PAPER[name]:g}" if name in _PAPER else ""
            rows.append((name, paper, *here))
        columns = ["%", "paper", "accuracy", "from", "to", "precision", "recall"]
        programs = f"{len(found.validation)} programs that were not trained on"
        show_table(f"Outliers of {programs}", columns, rows)
        fits = [(name, _PAPER_R2.get(name, ""), f"{r2:.2f}") for name, r2 in found.r2.items()]
        show_table("r²", ["of", "paper", "here"], fits)


_CLASSIFY = """
**COUNTERS.json**, what perf says of each machine's cores, interval by interval (10 s, §4.3):

    { "vms": [
        { "name": "redis",
          "intervals": [
            { "l3_ns": 171.0, "l2_ns": 88.0, "tlb_ns": 41.0,
              "l2_mpki": 9.1, "requests": 7.3 } ] } ] }

The fields are those of `anemone memstrata train --help`; a model of counted misses needs `misses`
(of near memory) and `instructions`, too. Metrics are smoothed (EWMA of 0.2), so a
machine is judged by all of its intervals, the last most of all.

    $ anemone memstrata classify --model model --counters counters.json
"""


@app.command(epilog=_CLASSIFY)
def classify(
    model: Annotated[Path, typer.Option(help="Folder that `train` wrote.", metavar="MODEL")],
    counters: Annotated[Path, typer.Option(help="The machines.", metavar="COUNTERS.json")],
    as_json: AsJson = False,
) -> None:
    """Which machines are predicted to lose more than 5 %."""
    from anemone.memstrata.files import FOREST, read_counters, read_model
    from anemone.memstrata.outliers import ask, features, smoothed
    from anemone.memstrata.outliers import classify as shares_of

    line = read_model(model)
    machines = read_counters(counters, whole=line is None)
    last = [
        smoothed([features(m.metrics, _ratio(counters, m, line)) for m in intervals])[-1]
        for intervals in machines.values()
    ]
    shares = shares_of((model / FOREST).resolve(), last, ask) if last else []
    found = [
        {"name": name, "is_outlier": share > 0.5, "share_of_trees": share, "mpki": row[0]}
        for name, row, share in zip(machines, last, shares, strict=True)
    ]
    with printing():
        if as_json:
            print_json({"vms": found})
            return
        rows = [
            (f["name"], "yes" if f["is_outlier"] else "no", f"{100 * f['share_of_trees']:.0f}",
             f"{f['mpki']:.3g}")
            for f in found
        ]  # fmt: skip
        show_table("Machines", ["name", "outlier", "of the trees, %", "MPKI, estimated"], rows)


def _ratio(path: Path, measured: Measured, line: Line | None) -> float:
    """The miss ratio, guessed, or counted where the model was trained on that."""
    if line:
        return line.ratio(measured.metrics["l3_ns"])
    if measured.misses is None:
        allowed = "counted misses, as those that the model was trained on"
        raise InputError(path, "intervals", "misses", MISSING, allowed)
    return measured.misses / measured.requests if measured.requests else 0.0


_RUN = """
**HOST.toml**, the machines as they are now (docs/memstrata.md has all fields):

    telemetry = "misses"   # anemonectl's rule that counts misses by VM; without it nobody does

    [[vm]]
    name = "redis"
    cores = "0-3"          # that its virtual processors are pinned to
    pages = 4096           # of 2 MiB
    dedicated = 1351
    regions = "0"          # of the telemetry, only with one

    $ anemone memstrata run --dry-run --host host.toml --model model

perf counts its cores, each interval (10 s). **COUNTERS.json** plays what was counted before, of
`--record` or as `classify` takes it with `instructions` in each interval; its exchanges are taken
for done, while live every interval begins with the pages of HOST.toml. Without `--model` each
interval has to say `is_outlier`. With a telemetry misses are always those of now.
"""


@app.command(epilog=_RUN)
def run(
    host: Annotated[Path, typer.Option(help="The machines.", metavar="HOST.toml")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say it, do nothing.")] = False,
    model: Annotated[
        Path | None, typer.Option(help="Folder that `train` wrote.", metavar="MODEL")
    ] = None,
    counters: Annotated[
        Path | None, typer.Option(help="Counted before.", metavar="COUNTERS.json")
    ] = None,
    intervals: Annotated[
        int | None, typer.Option(help="So many, and no more.", min=1, metavar="N")
    ] = None,
    record: Annotated[
        Path | None, typer.Option(help="Keep what is counted.", metavar="COUNTERS.json")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A line of JSON an interval.")] = False,
) -> None:
    """What the allocator would exchange on this host, interval by interval, until Ctrl-C."""
    import json
    from itertools import islice

    from anemone.io.outputs import check_out, write_files, write_json
    from anemone.memstrata import files, live, perf
    from anemone.memstrata.host import read_host

    if not dry_run:
        allowed = "--dry-run: the exchange is the hypervisor's (docs/memstrata.md)"
        raise InputError("command line", "run", "--dry-run", MISSING, allowed)
    if not (model or counters):
        allowed = "the forest to judge by, or --counters that say who is an outlier"
        raise InputError("command line", "run", "--model", MISSING, allowed)
    of = read_host(host)
    judge = _judge(model) if model else None
    if counters:
        known = files.read_counters(counters, whole=True, judged=judge is None)
        seen = live.recorded(of, known, counters)
    else:
        seen = perf.live({vm.name: vm.cores for vm in of.machines}, of.interval_s)
    if of.telemetry:
        seen = live.counted(seen, of)
    elif judge and not judge.line:
        seen = live.with_misses(seen, counters or host)
    if record:
        check_out(record.parent, (record.name,), "--record")
    kept: list[live.Interval] = []
    try:
        for found in live.rounds(of, judge, _noted(islice(seen, intervals), kept), bool(counters)):
            with printing():
                print(json.dumps(found.named()) if as_json else found.line(), flush=True)
    except KeyboardInterrupt:
        pass
    finally:
        seen.close()
        if record and kept:
            content = files.counters(kept)
            write_files(record.parent, {record.name: lambda path: write_json(path, content)})


def _judge(model: Path) -> Forest:
    from anemone.memstrata.files import FOREST, read_model
    from anemone.memstrata.judges import Forest
    from anemone.memstrata.outliers import ask

    line = read_model(model)
    return Forest((model / FOREST).resolve(), line, ask)


def _noted(intervals: Iterable[Interval], kept: list[Interval]) -> Iterator[Interval]:
    for interval in intervals:
        kept.append(interval)
        yield interval
