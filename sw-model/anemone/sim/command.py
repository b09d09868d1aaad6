# SPDX-License-Identifier: Apache-2.0
"""`anemone sim`: runs real traces with the paper's telemetries and in flat memory mode, on the RTL
and the golden model, compares all results, and writes a report with pictures.

Layout of the output folder: report.html; TRACE/rules.toml, TRACE/rtl/ and TRACE/model/, as `anemone
replay` writes them; TRACE/flat/PLACEMENT/ with flat.toml, trace.parquet, rtl/ and model/, as
`anemone flat` writes them; TRACE/pictures/ with each picture as a file. The exit status is 0 if
everything is equal, 1 if not, 2 for invalid input.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
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

from anemone.analysis.compare import Comparison
from anemone.flat.analysis import NAMES, PlacedRun, Step, placements
from anemone.hardware.geometry import Geometry
from anemone.io.errors import Bare, InputError
from anemone.report import flat
from anemone.report.page import Run, short, verdict
from anemone.sim.job import load, simulate

COLUMNS = ("events", "matched", "unmapped", "out of range")
WIDE = 118  # terminal columns that the full result table needs
ENDINGS = (".parquet", ".csv")
SAMPLES, BUILT = Path("sim/traces"), Path("build/sim")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


class Backends(StrEnum):
    both = "both"
    rtl = "rtl"
    model = "model"

    def list(self) -> list[str]:
        """The backends' names. RTL is first, because pictures use the first backend's reads."""
        return ["rtl", "model"] if self is Backends.both else [self.value]


@contextmanager
def _progress(replays: int) -> Iterator[Step]:
    """A progress bar on stderr, or one line per replay if it is not a terminal."""
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
    """The result table with one row per rule; values of the trace are in its first rows.

    width: columns of the terminal. In a narrow one, events and speeds are below the trace's name.
    """
    narrow = width < WIDE
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    shown.add_column("trace", no_wrap=True)
    shown.add_column("rule", no_wrap=True)
    for name in ("matched", "unmapped", "out of range") if narrow else COLUMNS:
        shown.add_column(name, justify="right", no_wrap=name != "out of range")
    backends = list(runs[0].outputs) if runs else []
    if len(backends) == 2:
        shown.add_column("RTL = model", justify="center")
    shown.add_column("= trace", justify="center")
    for backend in [] if narrow else backends:
        shown.add_column(f"{NAMES[backend]} events/s", justify="right")
    for run in runs:
        speeds = [short(run.speed(e) or 0) for e in backends]
        below = [f"{run.events:,} events"]
        below += [f"{NAMES[e]} {s}/s" for e, s in zip(backends, speeds, strict=True)]
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
    """The result table of flat memory mode with one row per placement."""
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
    # A difference that belongs to no rule (such as the number of events) counts for all rules.
    unlike += comparison.unlike.get("", 0)
    return "[green]yes[/]" if not unlike else f"[bold red]NO ({unlike:,})[/]"


def as_json(runs: Sequence[Run], report: Path) -> dict:
    """The content that `--json` prints."""
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
                "events_per_second": {backend: run.speed(backend) for backend in run.outputs},
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
        list[Path] | None, typer.Option(help="A trace, or a folder of traces. Repeatable.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for outputs and report.html.")] = BUILT,
    engine: Annotated[Backends, typer.Option(help="RTL, golden model, or both.")] = Backends.both,
    json_: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
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
            text = f"{run.name}, flat memory, {placed.placement}: {line}"
            console.print(text, style="bold red", highlight=False, soft_wrap=True, markup=False)


def _find(given: Sequence[Path]) -> list[Path]:
    """The trace files of `--traces`, in order; those of a folder sorted by name."""
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
