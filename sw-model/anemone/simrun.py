# SPDX-License-Identifier: Apache-2.0
"""`anemone sim`, the main job: real traces through the paper's telemetries and through flat memory
mode, on the RTL and on the golden model, everything compared, and a page with pictures of it.

Layout of the output folder: report.html; TRACE/rules.toml, TRACE/rtl/ and TRACE/model/, as `anemone
replay` writes them; TRACE/flat/PLACEMENT/ with flat.toml, trace.parquet, rtl/ and model/, as
`anemone flat` writes them. Exit status 0 if all is equal, 1 if not, 2 for bad input.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from pyarrow import ArrowException
from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from anemone.capture.store import origin_of
from anemone.errors import Bare, InputError
from anemone.flat.story import NAMES, PlacedRun, Step, placements, run_flat
from anemone.geometry import Geometry
from anemone.listings import paper_rules, tenants, touched_pages, write_rules
from anemone.outputs import unwritable
from anemone.replay import replay
from anemone.report import flat
from anemone.report.analysis import analyse
from anemone.report.compare import Comparison, Output, compare, recount
from anemone.report.figures import pictures
from anemone.report.page import Run, page, short, verdict
from anemone.result import write
from anemone.rules import load_rules
from anemone.traces import Trace, read_trace

COLUMNS = ("events", "matched", "unmapped", "out of range")
WIDE = 118  # columns that the closing table takes in one piece
ENDINGS = (".parquet", ".csv")
SAMPLES, BUILT = Path("sim/traces"), Path("build/sim")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


class Engines(StrEnum):
    both = "both"
    rtl = "rtl"
    model = "model"

    def list(self) -> list[str]:
        """RTL first: where both ran, the pictures are drawn from the hardware's reads."""
        return ["rtl", "model"] if self is Engines.both else [self.value]


@dataclass(frozen=True)
class Input:
    """A trace and what its capture said of it: what it is, and the program of each tenant."""

    trace: Trace
    about: str = ""
    programs: dict[int, str] = field(default_factory=dict)

    @staticmethod
    def read(path: Path, geometry: Geometry) -> Input:
        """Raises InputError if the trace cannot be read; what a capture would say may be absent."""
        trace = read_trace(path, geometry)
        try:
            said = origin_of(path)
            tenants = {int(p["tenant"]): name for name, p in said["programs"].items()}
            return Input(trace, str(said["about"]), tenants)
        except (ValueError, KeyError, TypeError, AttributeError, ArrowException):
            return Input(trace)


def run_trace(
    name: str, given: Input, out: Path, engines: Sequence[str], geometry: Geometry, step: Step
) -> Run:
    """One trace with the paper's rules on each engine: replayed, compared and analysed."""
    trace, folder = given.trace, out / name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "rules.toml"
    title = f"NEMO Listings 2, 3 and 1 for the trace {name}; made by anemone sim"
    write_rules(paper_rules(trace, geometry), path, geometry, title)
    rules = load_rules(path, geometry)  # the way in is a user's
    run = Run(
        name=name,
        about=given.about,
        events=len(trace),
        seconds=None if trace.time_ns is None else float(np.ptp(trace.time_ns)) / 1e9,
        pages=len(touched_pages(trace)[0]),
        tenants=len(tenants(trace)),
        rules=rules,
    )
    for engine in engines:
        what = f"{name} on the {NAMES[engine]}"
        step(what, 0, 1)
        result = replay(
            rules, trace, geometry, engine, lambda done, total, w=what: step(w, done, total)
        )
        write(result, folder / engine)
        run.outputs[engine] = Output.load(folder / engine)
        step(what, 1, 1)
    first = run.outputs[engines[0]]
    if len(engines) == 2:
        run.agreed = compare(first, run.outputs[engines[1]])
    run.counted = recount(rules, trace, geometry, first)
    run.flat = run_flat(name, trace, folder / "flat", engines, geometry, step)
    story = analyse(first, rules, trace, geometry, given.programs)
    run.moves = [float(story.polls.times[poll]) for poll in story.hotset.moves]
    run.shown = [*pictures(story), *flat.pictures(run.flat, trace, story)]
    run.polls = len(story.polls)
    return run


def load(paths: Sequence[Path], geometry: Geometry) -> dict[str, Input]:
    """The traces by name, which is the file's up to its first dot. Raises InputError."""
    loaded: dict[str, Input] = {}
    for path in paths:
        name = path.name.split(".")[0]
        if name in loaded:
            raise InputError(path, "command line", "--traces", name, "traces of different names")
        loaded[name] = Input.read(path, geometry)
    return loaded


def simulate(
    traces: dict[str, Input], out: Path, engines: Sequence[str], geometry: Geometry, step: Step
) -> list[Run]:
    """Run every trace and write report.html. Raises InputError if `out` cannot be written."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        runs = [run_trace(name, t, out, engines, geometry, step) for name, t in traces.items()]
        aside = out / f".report.html.{os.getpid()}"
        aside.write_text(page(runs, geometry), encoding="utf-8")
        aside.replace(out / "report.html")
    except OSError as e:
        raise unwritable(out, e) from e
    return runs


@contextmanager
def _progress(replays: int) -> Iterator[Step]:
    """A bar on stderr for a person, a line a replay for a log."""
    console = Console(stderr=True)
    begun: list[str] = []
    columns = (
        TextColumn("{task.description:<22}"), BarColumn(None), TaskProgressColumn(),
        TimeElapsedColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    quiet = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=quiet) as bar:
        task = bar.add_task("", total=replays)

        def step(what: str, done: int, total: int) -> None:
            if what not in begun:
                begun.append(what)
                if quiet:
                    print(f"sim: {what} ({len(begun)} of {replays})", file=sys.stderr, flush=True)
            share = done / total if total else 0.0
            bar.update(task, description=what, completed=len(begun) - 1 + share)

        yield step


def table(runs: Sequence[Run], width: int) -> Table:
    """The closing table, a row a rule; what belongs to the trace stands with its first rules.

    width: columns of the terminal. In a narrow one events and speeds go under the trace's name.
    """
    narrow = width < WIDE
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    shown.add_column("trace", no_wrap=True)
    shown.add_column("rule", no_wrap=True)
    for name in ("matched", "unmapped", "out of range") if narrow else COLUMNS:
        shown.add_column(name, justify="right", no_wrap=name != "out of range")
    engines = list(runs[0].outputs) if runs else []
    if len(engines) == 2:
        shown.add_column("RTL = model", justify="center")
    shown.add_column("= trace", justify="center")
    for engine in [] if narrow else engines:
        shown.add_column(f"{NAMES[engine]} events/s", justify="right")
    for run in runs:
        speeds = [short(run.speed(e) or 0) for e in engines]
        below = [f"{run.events:,} events"]
        below += [f"{NAMES[e]} {s}/s" for e, s in zip(engines, speeds, strict=True)]
        rules = next(iter(run.outputs.values())).report["rules"]
        for i, rule in enumerate(rules):
            first = [run.name, *(below if narrow else [])][i : i + 1] or [""]
            cells = [*first, rule["name"]]
            cells += [] if narrow else [f"{run.events:,}"]
            cells += [f"{rule[field]:,}" for field in ("matched", "unmapped", "out_of_range")]
            cells += [_tick(c, rule["name"]) for c in (run.agreed, run.counted) if c is not None]
            cells += [] if narrow else [s if i == 0 else "" for s in speeds]
            shown.add_row(*cells, end_section=i == len(rules) - 1)
    return shown


def flat_table(runs: Sequence[Run]) -> Table:
    """What flat memory mode made of the traces, a row a placement."""
    shown = Table(title="Flat memory mode, near half of what is touched", title_justify="left")
    shown.box, shown.pad_edge, shown.collapse_padding = box.SIMPLE_HEAD, False, True
    compared = any(placed.agreed is not None for run in runs for placed in run.flat)
    for i, head in enumerate(flat.HEADS):
        shown.add_column(head, justify="left" if i < 2 else "right", no_wrap=i < 2)
    for head in (["RTL = model"] if compared else []) + ["= trace"]:
        shown.add_column(head, justify="center")
    for run in runs:
        for placed in run.flat:
            unlike = [c for c in (placed.agreed, placed.counted) if c is not None]
            ticks = ["[bold red]NO[/]" if c else "[green]yes[/]" for c in unlike]
            shown.add_row(run.name, *flat.cells(placed), *ticks)
    return shown


def _tick(comparison: Comparison, rule: str) -> str:
    unlike = comparison.unlike.get(rule, 0)
    # A difference that belongs to no rule (say, in the number of events) is everybody's.
    unlike += comparison.unlike.get("", 0)
    return "[green]yes[/]" if not unlike else f"[bold red]NO ({unlike:,})[/]"


def as_json(runs: Sequence[Run], report: Path) -> dict:
    """What `--json` prints."""
    traces = []
    for run in runs:
        comparisons = {"rtl_equals_model": run.agreed, "equals_trace": run.counted}
        traces.append(
            {
                "trace": run.name,
                "events": run.events,
                **{key: None if c is None else c.equal for key, c in comparisons.items()},
                "values_compared": run.values,
                "differences": [
                    str(d) for c in comparisons.values() if c is not None for d in c.differences
                ],
                "events_per_second": {engine: run.speed(engine) for engine in run.outputs},
                "cycles": {e: o.report["cycles"] for e, o in run.outputs.items()},
                "rules": next(iter(run.outputs.values())).report["rules"],
                "hot_set_moved_at": run.moves,
                "flat": [_flat_as_json(placed) for placed in run.flat],
            }
        )
    equal = all(run.good for run in runs)
    return {"equal": equal, "verdict": verdict(runs), "report": str(report), "traces": traces}


def _flat_as_json(run: PlacedRun) -> dict:
    report = {k: v for k, v in run.first.report.items() if k != "accesses_per_second"}
    return {
        "placement": run.placement,
        "near_lines": run.config.near_lines,
        **report,
        "hit_rate": run.hit_rate,
        "rtl_equals_model": None if run.agreed is None else not run.agreed,
        "equals_trace": not run.counted,
        "differences": [*(run.agreed or []), *run.counted],
        "accesses_per_second": {e: r.report["accesses_per_second"] for e, r in run.results.items()},
    }


@app.callback(invoke_without_command=True)
def sim(
    traces: Annotated[
        list[Path] | None, typer.Option(help="A trace, or a folder of traces; may be repeated.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where outputs and report.html go.")] = BUILT,
    engine: Annotated[Engines, typer.Option(help="Engines to run.")] = Engines.both,
    json_: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
) -> None:
    """Replay the sample traces on the RTL and the golden model, compare everything, and report."""
    geometry = Geometry()
    paths = _find(traces or [SAMPLES])
    names = engine.list()
    loaded = load(paths, geometry)
    steps = sum(1 + len(placements(given.trace)) for given in loaded.values())
    with _progress(steps * len(names)) as step:
        runs = simulate(loaded, out, names, geometry, step)
    report = out / "report.html"
    good = all(run.good for run in runs)
    if json_:
        print(json.dumps(as_json(runs, report), indent=2))
    else:
        console = Console() if sys.stdout.isatty() else Console(width=140)
        console.print(table(runs, console.width))
        console.print(flat_table(runs))
        for run in runs:
            _show_differences(console, run)
        console.print(f"[bold {'green' if good else 'red'}]{verdict(runs)}[/]")
        console.print(f"Report: {report}", soft_wrap=True, highlight=False)
    raise typer.Exit(0 if good else 1)


def _show_differences(console: Console, run: Run) -> None:
    for words, comparison in (("RTL and model", run.agreed), ("output and trace", run.counted)):
        if comparison is None or comparison.equal:
            continue
        console.print(f"[bold red]{run.name}: {words}: {comparison.words}[/]")
        for difference in comparison.differences:
            console.print(f"  {difference}", highlight=False, soft_wrap=True, markup=False)
    for placed in run.flat:
        for line in placed.complaints:
            said = f"{run.name}, flat memory, {placed.placement}: {line}"
            console.print(said, style="bold red", highlight=False, soft_wrap=True, markup=False)


def _find(given: Sequence[Path]) -> list[Path]:
    """The trace files that `--traces` names, in order; a folder's by name."""
    found: list[Path] = []
    for path in given:
        if path.is_dir():
            inside = sorted(p for p in path.iterdir() if p.suffix in ENDINGS and p.name[0] != ".")
            if not inside:
                allowed = "a folder with .parquet or .csv traces"
                raise InputError(path, "command line", "--traces", Bare("no trace in it"), allowed)
            found += inside
        elif path.exists():
            found.append(path)
        else:
            raise InputError(path, "command line", "--traces", Bare("absent"), "a trace or folder")
    return found
