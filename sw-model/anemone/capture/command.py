# SPDX-License-Identifier: Apache-2.0
"""The command line of `anemone capture`."""

from __future__ import annotations

import json
import sys
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
from typer.core import TyperGroup

from anemone.capture import build, guest, run, store
from anemone.capture.program import RunSettings
from anemone.capture.programs import PROGRAMS, ProgramSample
from anemone.capture.samples import SAMPLES, Sample
from anemone.capture.settings import Pages, Placement, Settings
from anemone.capture.tools import find_tools
from anemone.io.errors import MISSING, Bare, InputError
from anemone.io.outputs import check_out

NAMES = (*SAMPLES, *PROGRAMS)
_WORDS = "words"  # key in the context of the words after --


class _Group(TyperGroup):
    """Separates the words after `--` from the names of samples."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            ctx.meta[_WORDS] = args[at + 1 :]
            args = args[:at]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_Group,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
_BASE = Settings()
_RUN = RunSettings()
_DEFAULT = "[default: the sample's own]"

_EPILOG = (
    """
**Any program.** `anemone capture --out DIR -- PROGRAM ARGS` runs an unmodified x86-64 program in
QEMU's user mode with all its threads, and our plugin sees each load and store. The trace has
additional columns (thread, gap_ns, kind, dep, op: docs/traces.md), and `--instructions N` also
writes
the first N instructions. When enough is recorded the program gets SIGTERM. Its output goes to
standard error.

**Our samples.** A program is compiled with thread-sanitizer instrumentation, so that each load and
store calls a function of our runtime. The runtime models a cache (write-back, LRU, with a stride
prefetcher), assigns physical frames to pages at their first touch, and records the lines that the
cache fetches (reads), and those that it writes back or that non-temporal stores write past it
(writes). The program really runs and checks its results.

**Samples**

"""
    + "\n".join(f"- **{s.name}**: {s.about}" for s in (*SAMPLES.values(), *PROGRAMS.values()))
    + """

**Examples**

    $ anemone capture --out out -- python3 -c 'print(sum(range(10**6)))'
    $ anemone capture --skip 100000000 --events 5000000 -- /usr/bin/xz -k FILE
    $ anemone capture                              # all samples, into build/traces
    $ anemone capture kvstore --no-prefetch        # demand misses only
    $ anemone capture graph --pages base --placement scattered --events 5000000
    $ anemone capture kvstore --with kvstore.keys=1000000 --with kvstore.think_ns=1000
    $ anemone sim --traces build/traces            # replay them

For our samples the same command gives the same rows, independent of address randomisation and
speed, if compiler, C library and SQLite are the same; each file's metadata has their versions. In
QEMU, multithreaded programs vary slightly from run to run. `sqlite` fetches SQLite's source with
apt
(without root or changes to the system's lists); QEMU and Debian's programs are fetched in the same
way; the other samples only need g++. docs/traces.md describes the models, their limits, and the
samples' statistics.

Invalid input gives one line on stderr and exit status 2. An existing trace is replaced only by a
complete new one.
"""
)


@app.callback(
    invoke_without_command=True,
    epilog=_EPILOG,
    subcommand_metavar="",
    context_settings={"allow_interspersed_args": True},  # allows options after names
)
def capture(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help=f"Samples: {', '.join(NAMES)}. [default: all]"),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for NAME.parquet.", metavar="DIR")] = Path(
        "build/traces"
    ),
    events: Annotated[
        int | None,
        typer.Option(help=f"Most lines to record. {_DEFAULT}", show_default=False),
    ] = None,
    llc_kib: Annotated[int, typer.Option(help="Last-level cache, KiB.")] = _BASE.llc_kib,
    ways: Annotated[int, typer.Option(help="Its ways; sets must be a power of two.")] = _BASE.ways,
    prefetch: Annotated[
        bool, typer.Option(help="Model a stride prefetcher; its fetches are traffic, too.")
    ] = _BASE.prefetch,
    degree: Annotated[
        int, typer.Option("--prefetch-degree", help="Most lines that it fetches ahead.")
    ] = _BASE.prefetch_degree,
    pages: Annotated[Pages, typer.Option(help="2 MiB or 4 KiB pages.")] = _BASE.pages,
    placement: Annotated[
        Placement | None,
        typer.Option(
            help=f"Frames in order of first touch, or in a random order by --seed. {_DEFAULT}",
            show_default=False,
        ),
    ] = None,
    base_gib: Annotated[
        int | None,
        typer.Option(help=f"Address of the first frame, GiB. {_DEFAULT}", show_default=False),
    ] = None,
    device_gib: Annotated[int, typer.Option(help="The device's memory, GiB.")] = _BASE.device_gib,
    seed: Annotated[int, typer.Option(help="Seed of requests and placement.")] = _BASE.seed,
    slow_down: Annotated[
        int, typer.Option(help="Trace seconds for each second of the clock model.")
    ] = _BASE.slow_down,
    with_: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="PROGRAM.NAME=N",
            help="Argument of a sample's program; the first comment of its source lists them. "
            "Repeatable.",
        ),
    ] = None,
    skip: Annotated[
        int | None,
        typer.Option(
            help=f"Instructions in QEMU that only touch pages, before --warm. {_DEFAULT}",
            show_default=False,
        ),
    ] = None,
    warm: Annotated[
        int | None,
        typer.Option(help=f"Instructions that fill the cache. {_DEFAULT}", show_default=False),
    ] = None,
    instructions: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Write the first N recorded instructions, with their loads and stores, to "
            f"DIR/{guest.INSTRUCTIONS}/NAME.parquet.",
        ),
    ] = _RUN.instructions,
    instruction_ps: Annotated[
        int, typer.Option(help="Picoseconds per instruction, without waits for memory.")
    ] = _RUN.instruction_ps,
    name: Annotated[
        str | None,
        typer.Option(help="Name of PROGRAM's trace. [default: PROGRAM]", show_default=False),
    ] = None,
    native: Annotated[
        bool,
        typer.Option(
            "--native", help="First run PROGRAM natively, to measure the slowdown in QEMU."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
) -> None:
    """Capture memory traces of real programs, recorded where lines leave the cache."""
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
    special = {key: value for key, value in special.items() if value is not None}
    phases = {"skip": skip, "warm": warm}
    phases = {key: value for key, value in phases.items() if value is not None}
    always = {"instructions": instructions, "instruction_ps": instruction_ps}
    program_settings = RunSettings(**always, **phases)
    words = ctx.meta.get(_WORDS)
    done: dict[str, Any] = {}
    if words is not None:
        if names or with_:
            given = (names or with_ or [""])[0]
            allowed = "either samples, or -- PROGRAM ARGS"
            raise InputError("command line", "capture", "NAME or --with", given, allowed)
        settings = Settings(**{**common, **special})
        called = guest.name_of(words, name)
        check_out(out)
        with _progress() as progress:
            done[called] = guest.capture_words(
                words, called, native, settings, program_settings, out, progress
            )
    else:
        if name is not None or native:
            option = "--native" if name is None else "--name"
            raise InputError("command line", "capture", option, Bare("given"), "-- PROGRAM ARGS")
        chosen = [_sample(each) for each in dict.fromkeys(names or NAMES)]
        ours = [s for s in chosen if isinstance(s, Sample)]
        if (skip is not None or warm is not None or instructions) and ours:
            allowed = f"of {', '.join(PROGRAMS)}, or -- PROGRAM ARGS"
            field = "NAME beside --skip, --warm, --instructions"
            raise InputError("command line", "capture", field, ours[0].name, allowed)
        with_arguments = _program_arguments(with_ or [], ours)
        plan = [(s, Settings(**{**common, **s.settings, **special})) for s in chosen]
        check_out(out)
        with _progress() as progress:
            for sample, settings in plan:
                if isinstance(sample, Sample):
                    made = _capture(sample, settings, with_arguments, out, progress)
                else:
                    run_settings = replace(sample.run, **always, **phases)
                    try:
                        find_tools(sample.package)
                    except InputError as e:
                        if names:
                            raise
                        # A sample that was not named is skipped if its tools are missing.
                        print(f"anemone: warning: no {sample.name}: {e}", file=sys.stderr)
                        continue
                    made = guest.capture_sample(sample, settings, run_settings, out, progress)
                done[sample.name] = made
    if as_json:
        print(json.dumps(done, indent=2))
    else:
        _table(done, out)


def _sample(name: str) -> Sample | ProgramSample:
    if name not in NAMES:
        raise InputError("command line", "capture", "NAME", name, ", ".join(NAMES))
    return SAMPLES[name] if name in SAMPLES else PROGRAMS[name]


def _program_arguments(given: list[str], chosen: list[Sample]) -> dict[str, dict[str, int]]:
    """The arguments of `--with program.name=n`, by program."""
    programs = {part.program for sample in chosen for part in sample.parts}
    arguments: dict[str, dict[str, int]] = {program: {} for program in programs}
    for text in given:
        name, _, value = text.partition("=")
        program, _, name = name.partition(".")
        valid = program in programs and name.isidentifier()
        if not (valid and value.isascii() and value.isdigit() and len(value) < 19):
            allowed = f"PROGRAM.NAME=N, a whole number, PROGRAM of {', '.join(sorted(programs))}"
            raise InputError("command line", "capture", "--with", text, allowed)
        arguments[program][name] = int(value)
    return arguments


def _capture(
    sample: Sample,
    settings: Settings,
    arguments: dict[str, dict[str, int]],
    out: Path,
    progress: Progress,
) -> dict[str, Any]:
    """Build, run and write one sample. Returns its summary."""
    started = time.monotonic()
    parts = [replace(p, arguments={**p.arguments, **arguments[p.program]}) for p in sample.parts]
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
    """Progress bars on stderr that stay visible; none if stderr is not a terminal."""
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
    """Print a table that fits 80 columns; --json has more values."""
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
    for name, s in done.items():
        if "instructions_per_second" in s:
            line = f"{name}: {s['instructions_per_second'] / 1e6:.1f} M instructions/s"
            if "slowdown" in s:
                line += f", {s['slowdown']:.0f} times slower than by itself"
            print(line)
