# SPDX-License-Identifier: Apache-2.0
"""The command line of `anemone capture`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from anemone.capture import build, run, store
from anemone.capture.samples import SAMPLES, Sample
from anemone.capture.settings import Pages, Placement, Settings
from anemone.io.errors import MISSING, InputError
from anemone.io.outputs import check_out

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown")
_BASE = Settings()
_OWN = "[default: the sample's own]"

_EPILOG = (
    """
**What it does.** A program is compiled with thread-sanitizer instrumentation, so that each of its
loads and stores calls a function; those functions are ours. They feed a cache (write-back, LRU,
with a stride prefetcher), give pages physical frames the first time they are touched, and write
down the lines that the cache fetches (reads), writes back, and that non-temporal stores send past
it (writes). The program runs for real and checks its own answers.

**Samples**

"""
    + "\n".join(f"- **{s.name}**: {s.about}" for s in SAMPLES.values())
    + """

**Examples**

    $ anemone capture                              # all four, into build/traces
    $ anemone capture kvstore --no-prefetch        # what demand misses alone would show
    $ anemone capture graph --pages base --placement scattered --events 5000000
    $ anemone capture kvstore --with kvstore.keys=1000000 --with kvstore.think_ns=1000
    $ anemone sim --traces build/traces            # and replay them

The same command gives the same rows, whatever the machine's address randomisation and speed, as
long as compiler, C library and SQLite are the same; each file's metadata says which they were.
`sqlite` fetches SQLite's source with apt (no root, the system's lists stay as they are); the
others need g++ alone. docs/traces.md has the models, their limits, and the samples' statistics.

Bad input is one line on stderr and exit status 2; a trace that is there is replaced only by a whole
new one.
"""
)


@app.callback(
    invoke_without_command=True,
    epilog=_EPILOG,
    subcommand_metavar="",
    context_settings={"allow_interspersed_args": True},  # options after names, too
)
def capture(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help=f"Of {', '.join(SAMPLES)}. [default: all]"),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for NAME.parquet.", metavar="DIR")] = Path(
        "build/traces"
    ),
    events: Annotated[
        int | None, typer.Option(help=f"Lines to record, at most. {_OWN}", show_default=False)
    ] = None,
    llc_kib: Annotated[int, typer.Option(help="Last-level cache, KiB.")] = _BASE.llc_kib,
    ways: Annotated[int, typer.Option(help="Its ways; sets must be a power of two.")] = _BASE.ways,
    prefetch: Annotated[
        bool, typer.Option(help="A stride prefetcher, whose fetches are traffic too.")
    ] = _BASE.prefetch,
    degree: Annotated[
        int, typer.Option("--prefetch-degree", help="Lines it asks for ahead, at most.")
    ] = _BASE.prefetch_degree,
    pages: Annotated[Pages, typer.Option(help="2 MiB or 4 KiB pages.")] = _BASE.pages,
    placement: Annotated[
        Placement | None,
        typer.Option(
            help=f"Frames in order of first touch, or anywhere by a seeded permutation. {_OWN}",
            show_default=False,
        ),
    ] = None,
    base_gib: Annotated[
        int | None,
        typer.Option(help=f"Frames are given from here up, GiB. {_OWN}", show_default=False),
    ] = None,
    device_gib: Annotated[int, typer.Option(help="The device's memory, GiB.")] = _BASE.device_gib,
    seed: Annotated[int, typer.Option(help="Of requests and placement.")] = _BASE.seed,
    slow_down: Annotated[
        int, typer.Option(help="Trace seconds for each second of the clock model.")
    ] = _BASE.slow_down,
    with_: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="PROGRAM.NAME=N",
            help="A program's own argument, as in the first comment of its source. Repeatable.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
) -> None:
    """Capture memory traces of real programs, taken where lines leave the cache."""
    chosen = [_sample(name) for name in dict.fromkeys(names or SAMPLES)]
    own = _own_arguments(with_ or [], chosen)
    common = {
        "llc_kib": llc_kib,
        "ways": ways,
        "prefetch": prefetch,
        "prefetch_degree": degree,
        "pages": pages,
        "device_gib": device_gib,
        "seed": seed,
        "slow_down": slow_down,
    }
    special = {"events": events, "placement": placement, "base_gib": base_gib}
    special = {name: value for name, value in special.items() if value is not None}
    plan = [(s, Settings(**{**common, **s.settings, **special})) for s in chosen]
    check_out(out)
    done = {}
    with _progress() as progress:
        for sample, settings in plan:
            done[sample.name] = _capture(sample, settings, own, out, progress)
    if as_json:
        print(json.dumps(done, indent=2))
    else:
        _table(done, out)


def _sample(name: str) -> Sample:
    if name not in SAMPLES:
        raise InputError("command line", "capture", "NAME", name, ", ".join(SAMPLES))
    return SAMPLES[name]


def _own_arguments(given: list[str], chosen: list[Sample]) -> dict[str, dict[str, int]]:
    """`--with program.name=n`, by program."""
    programs = {part.program for sample in chosen for part in sample.parts}
    own: dict[str, dict[str, int]] = {program: {} for program in programs}
    for text in given:
        name, _, value = text.partition("=")
        program, _, name = name.partition(".")
        known = program in programs and name.isidentifier()
        if not (known and value.isascii() and value.isdigit() and len(value) < 19):
            allowed = f"PROGRAM.NAME=N, a whole number, PROGRAM of {', '.join(sorted(programs))}"
            raise InputError("command line", "capture", "--with", text, allowed)
        own[program][name] = int(value)
    return own


def _capture(
    sample: Sample,
    settings: Settings,
    own: dict[str, dict[str, int]],
    out: Path,
    progress: Progress,
) -> dict[str, Any]:
    """Build, run and write one sample; its summary."""
    started = time.monotonic()
    parts = [replace(p, arguments={**p.arguments, **own[p.program]}) for p in sample.parts]
    captures = []
    for number, part in enumerate(parts):
        task = progress.add_task(f"{sample.name}: building {part.program}", total=None)
        program = build.build_program(part.program)
        progress.update(task, description=f"{sample.name}: running {part.program}")
        progress.update(task, total=settings.events)
        mine = replace(settings, tenants=len(parts), tenant=number)
        captures.append(
            run.run(program, part, mine, lambda n, t=task: progress.update(t, completed=n))
        )
        progress.update(task, completed=len(captures[-1]))
        if not len(captures[-1]):
            raise InputError("capture", part.program, "events", MISSING, "at least one")
    merged = captures[0] if len(captures) == 1 else run.merge(captures, settings.events)
    path = out / f"{sample.name}.parquet"
    summary = run.summary(merged)
    origin = {
        "sample": sample.name,
        "about": sample.about,
        "settings": settings.text(),
        "programs": {p.program: {"tenant": p.tenant, "arguments": p.arguments} for p in parts},
        "said": {name: totals["said"] for name, totals in merged.programs.items()},
        "compiler": build.compiler_version(),
        "summary": summary,
    }
    size = store.write(merged, path, origin)
    spent = time.monotonic() - started
    return {"file": str(path), "bytes": size, "capture_seconds": round(spent, 2), **summary}


@contextmanager
def _progress() -> Iterator[Progress]:
    """Bars on stderr, which stay, so that one sees what was done; nothing if nobody looks."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        yield progress


def _table(done: dict[str, dict[str, Any]], out: Path) -> None:
    """Narrow enough for 80 columns; --json has the rest."""
    title = f"Lines that left the cache, in {out}"
    table = Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 0), collapse_padding=True)
    table.add_column("trace", no_wrap=True)
    for name in ("events", "writes", "prefetched", "streamed", "pages", "seconds", "MB"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, s in done.items():
        table.add_row(
            name,
            *(f"{s[k]:,}" for k in ("events", "writes", "prefetches", "non_temporal")),
            f"{s['huge_pages']:,}",
            f"{s['seconds']:.1f}",
            f"{s['bytes'] / 1e6:.2f}",
        )
    Console().print(table)
