# SPDX-License-Identifier: Apache-2.0
"""The command line of `anemone study`. Slow imports are deferred, so that --help is fast."""

from __future__ import annotations

import datetime
import sys
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anemone.io.errors import MISSING, InputError
from anemone.studies import STUDIES
from anemone.terminal import Backend, print_json, printing

if TYPE_CHECKING:
    from anemone.studies.study import Found, Point, Study

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown")

_EXAMPLE = """
**Example.** The shift of the hot set under HeMem, in less than a minute:

    $ anemone study hemem --quick

DIR (build/studies/NAME) then has README.md with a table of the paper's numbers and ours and
pictures,
result.json with the same data, and points/ with the answers so far. A study that was interrupted
continues from these when it is run again. `make studies` runs all studies in full into
docs/results.

**Example.** The same points with three seeds, in dask processes on this machine or on a cluster:

    $ cat sweep.toml
    seed = [1, 2, 3]

    $ anemone study hemem --quick --sweep sweep.toml --workers 2
    $ anemone study hemem --sweep sweep.toml --scheduler tcp://10.0.0.1:8786

Each field of a point may have a list of values. DIR then has sweep.json with every point and its
answer. If a worker dies, another one runs its point again. Workers of a cluster need the same
version of this package.
"""


# Options are also accepted after NAME.
@app.callback(
    invoke_without_command=True,
    epilog=_EXAMPLE,
    context_settings={"allow_interspersed_args": True},
)
def command(
    name: Annotated[str | None, typer.Argument(help="The study.", metavar="NAME")] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List all studies.")] = False,
    quick: Annotated[bool, typer.Option(help="Fewer, smaller points: under a minute.")] = False,
    out: Annotated[
        str | None,
        typer.Option(help="Folder. [default: build/studies/NAME]", metavar="DIR"),
    ] = None,
    engine: Annotated[
        Backend,
        typer.Option(
            help="Implementation of NEMO's pipelines: the golden model, or with --quick the "
            "Verilated RTL (same results, about 100,000 accesses per second)."
        ),
    ] = Backend.model,
    seed: Annotated[int, typer.Option(help="Random seed.", min=0, max=1 << 31)] = 1,
    workers: Annotated[int, typer.Option(help="Parallel processes.", min=1, max=256)] = 1,
    sweep: Annotated[
        Path | None,
        typer.Option(help="Lists of values for fields of the points.", metavar="SWEEP.toml"),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            help="Run the points on this dask cluster instead of --workers.", metavar="ADDRESS"
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print result.json.")] = False,
) -> None:
    """Run a paper's experiment on the simulator."""
    if list_all:
        width = max(map(len, STUDIES)) + 2
        for one, (_, text) in STUDIES.items():
            print(f"{one:{width}}{text}")
        return
    if name not in STUDIES:
        value = MISSING if name is None else name
        raise InputError("command line", "arguments", "NAME", value, ", ".join(STUDIES))
    from anemone.io.outputs import check_out, write_files, write_json
    from anemone.report.charts import save
    from anemone.studies.page import page
    from anemone.studies.study import answers, result
    from anemone.studies.sweeping import FILE, swept

    study: Study = import_module(STUDIES[name][0]).STUDY
    folder = Path(out or f"build/studies/{name}")
    check_out(folder, (FILE,) if sweep else ("README.md", "result.json"))
    points = _counted(study.points(quick, seed), engine, name, quick)
    points = swept(sweep, points) if sweep else points
    progress = partial(_print_progress, name)
    done = answers(study, points, folder / "points", workers, progress, scheduler)
    if sweep:
        content = [{"point": point, "answer": answer} for point, answer in done]
        write_files(folder, {FILE: lambda path: write_json(path, content)})
        with printing():
            print_json(content) if as_json else print(f"{len(done)} points in {folder / FILE}")
        return
    found: Found = study.finish(done)
    if engine == Backend.rtl:
        constants = {**found.constants, "NEMO's counts": "of the Verilated expander (--engine rtl)"}
        found = replace(found, constants=constants)
    date = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")
    report = result(name, seed, quick, found)
    text = page(name, study, found, seed, quick, date)
    files = {
        "README.md": lambda path: path.write_text(text, encoding="utf-8"),
        "result.json": lambda path: write_json(path, report),
    }
    write_files(folder, files)
    for title, picture in found.pictures.items():
        save(picture, folder / f"{title}.svg")
    with printing():
        if as_json:
            print_json(report)
        else:
            _table(report, folder)


def _counted(points: list[Point], engine: Backend, name: str, quick: bool) -> list[Point]:
    """The points with NEMO's pipelines on `engine`. Raises InputError if the study has none."""
    if engine == Backend.model:
        return points

    def wrong(allowed: str) -> InputError:
        return InputError("command line", "options", "--engine", engine.value, allowed)

    if not any("engine" in point for point in points):
        modules = {one: import_module(module).STUDY for one, (module, _) in STUDIES.items()}
        able = [one for one in modules if any("engine" in p for p in modules[one].points(True, 1))]
        raise wrong(f"model; in {name} NEMO counts nothing, in {', '.join(able)} it does")
    if not quick:
        raise wrong("model; rtl with --quick: in full the RTL would take days")
    return [{**point, "engine": engine.value} if "engine" in point else point for point in points]


def _print_progress(name: str, done: int, points: int, left: float) -> None:
    if sys.stderr.isatty():
        end = "\n" if done == points else ""
        line = f"\r{name}: {done} of {points} points, {left:.0f} s left   "
        print(line, end=end, file=sys.stderr, flush=True)


def _table(report: dict, folder: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{report['study']}, seed {report['seed']}")
    for head in ("what", "unit", "paper", "here"):
        table.add_column(head, justify="left" if head in ("what", "unit") else "right")
    for row in report["rows"]:
        paper = "" if row["paper"] is None else f"{row['paper']:,.4g}"
        table.add_row(row["what"], row["unit"], paper, f"{row['here']:,.4g}")
    Console().print(table)
    print(f"{folder}/README.md")
