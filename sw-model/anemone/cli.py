# SPDX-License-Identifier: Apache-2.0
"""The command line, `anemone`. Heavy imports wait until a command runs, so that help is quick."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anemone.errors import InputError, OutputError, oneline
from anemone.geometry import Geometry

if TYPE_CHECKING:
    from rich.table import Table

    from anemone.flat import FlatResult
    from anemone.replay import Progress
    from anemone.result import Result

FAILED, BAD_INPUT = 1, 2  # exit statuses

# Further commands: name -> (module with a Typer `app`, one line of help). Imported when called.
LATER = {
    "sim": ("anemone.simrun", "Replay the sample traces on both engines, compare, and report."),
    "bench": ("anemone.bench", "Measure slots, latency and speed of both engines."),
    "capture": ("anemone.capture", "Capture memory traces of real programs."),
}

# The base of what Typer raises for a wrong command line; it has no public name of its own.
_UsageError = typer.BadParameter.__mro__[2]

app = typer.Typer(
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Memory telemetry in hardware: replay traces through rules, on the RTL or its model.",
)


class Engine(StrEnum):
    """Which engine runs the rules."""

    rtl = "rtl"
    model = "model"


_SIZES = Geometry()


def _size(text: str) -> Any:
    """An option that Geometry checks, so that its name, value and what is allowed are one line."""
    return typer.Option(help=text, metavar="N")


def _number(size: str) -> Any:
    """A size as a number; anything else as it is, for Geometry to refuse."""
    try:
        return int(size)
    except ValueError:
        return size


_EXAMPLE = """
**Example.** Count the accesses to each 2 MiB page, and see the counters:

    $ cat hot.toml
    [[rule]]
    name = "hotness"
    type = "RW"                                 # R, W or RW
    range = [0x0, 0x4_0000_0000]                # bytes; the end is exclusive
    primary = { mask = "0xFFFFFFFFFFFFFFFF", shift = 21 }
    update = { op = "add", operand = 1 }
    map = "identity"                            # page i has counter i

    $ printf 'addr,write\\n0x200000,1\\n0x200040,0\\n' > two.csv

    $ anemone replay --rules hot.toml --trace two.csv --engine model --out hot

DIR then has states.parquet (counters at the end), reads.parquet (what the periodic reads of
`read_every` returned) and report.json. docs/rules.md describes every field of a rule.

Bad input is one line on stderr and exit status 2, and DIR is as it was.
"""


@app.callback()
def _root() -> None:
    """The options of all commands: none."""


@app.command("replay", epilog=_EXAMPLE)
def _replay(
    rules: Annotated[Path, typer.Option(help="Rules, TOML.", metavar="RULES.toml")],
    trace: Annotated[Path, typer.Option(help="Accesses, CSV or Parquet.", metavar="TRACE")],
    engine: Annotated[Engine, typer.Option(help="The Verilated RTL, or the golden model.")],
    out: Annotated[str, typer.Option(help="Folder for the results.", metavar="DIR")],
    channels: Annotated[str, _size("Memory channels: 1, 2 or 4.")] = str(_SIZES.channels),
    pipelines: Annotated[str, _size("Rules at once.")] = str(_SIZES.pipelines),
    states: Annotated[str, _size("64-bit states a channel of a rule.")] = str(_SIZES.states),
    table: Annotated[str, _size("Entries of a translation table.")] = str(_SIZES.table),
    device_gib: Annotated[str, _size("The device's memory, GiB.")] = str(_SIZES.device_gib),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print report.json instead of a table.")
    ] = False,
) -> None:
    """Replay a trace through telemetry rules and write every counter.

    Both engines write the same bytes, but for cycles and speed in report.json.
    """
    geometry = Geometry(*map(_number, (channels, pipelines, states, table, device_gib)))
    from anemone import result as results
    from anemone.outputs import check_out
    from anemone.replay import replay
    from anemone.rules import load_rules, truncated_operands
    from anemone.traces import read_trace

    loaded = load_rules(rules, geometry)
    check_out(out, results.FILES)
    accesses = read_trace(trace, geometry)
    # Not before all input was read: what is wrong with it is to be the one line on stderr.
    for warning in truncated_operands(loaded):
        print(f"anemone: {oneline(str(rules), 400)}: {warning}", file=sys.stderr)
    with _progress(f"{oneline(trace.name)} on {engine.value}") as progress:
        done = replay(loaded, accesses, geometry, engine.value, progress)
    results.write(done, out)
    with _printing():
        if as_json:
            _print_json(done.report)
        else:
            _table(done, out)


_FLAT_EXAMPLE = """
**Example.** A near memory of 1024 lines (64 KiB) before a far memory of the same size:

    $ cat flat.toml
    near_lines = 1024                    # of 64 B
    ratio = 1                            # far lines to a near line, 1 to 4
    policy = "every"                     # every, nth or one_in (and n), never
    dedicated = [0x10_0000, 0x10_4000]   # near memory without sets, bytes

    $ printf 'addr,write\\n0x0,1\\n0x10000,0\\n0x0,0\\n' > three.csv

    $ anemone flat --config flat.toml --trace three.csv --engine model --out flat

Lines 0 and 0x10000 share a place near: the write hits, both reads miss and swap. DIR then has
report.json (hits, misses, swaps, and what they asked of near and far memory) and sets.parquet (the
sets that do not hold what they held after reset). docs/flat.md says exactly what each access does.

Bad input is one line on stderr and exit status 2, and DIR is as it was. A read that did not return
what was written is counted under mismatches, and the exit status is 1.
"""


@app.command("flat", epilog=_FLAT_EXAMPLE)
def _flat(
    config: Annotated[Path, typer.Option(help="Near and far memory, TOML.", metavar="FLAT.toml")],
    trace: Annotated[Path, typer.Option(help="Accesses, CSV or Parquet.", metavar="TRACE")],
    engine: Annotated[Engine, typer.Option(help="The Verilated RTL, or the golden model.")],
    out: Annotated[str, typer.Option(help="Folder for the results.", metavar="DIR")],
    device_gib: Annotated[str, _size("The device's memory, GiB.")] = str(_SIZES.device_gib),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print report.json instead of a table.")
    ] = False,
) -> None:
    """Run a trace through flat memory mode: near and far memory as one, swapped by line.

    Both engines write the same bytes, but for cycles, forwarded and speed in report.json.
    """
    geometry = Geometry(device_gib=_number(device_gib))
    from anemone import flat
    from anemone.outputs import check_out
    from anemone.traces import read_trace

    loaded = flat.load_config(config, geometry)
    check_out(out, flat.FILES)
    accesses = read_trace(trace, geometry)
    with _progress(f"{oneline(trace.name)} on {engine.value}") as progress:
        done = flat.run(loaded, accesses, engine.value, geometry, progress, trace)
    flat.write(done, out)
    with _printing():
        if as_json:
            _print_json(done.report)
        else:
            _flat_table(done, out)
    if done.mismatches:
        wrong = f"{done.mismatches:,} reads did not return what was last written to their line"
        print(f"anemone: {wrong}", file=sys.stderr)
        raise typer.Exit(FAILED)


def _print_json(report: dict) -> None:
    # Escaped unless stdout can show it: JSON is the same either way.
    ascii_only = not (sys.stdout.encoding or "").lower().startswith("utf")
    print(json.dumps(report, indent=2, ensure_ascii=ascii_only))


@contextmanager
def _printing() -> Iterator[None]:
    """What is printed in here reaches stdout, or OutputError says why not."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name's letters need not be known
    try:
        yield
        sys.stdout.flush()
    except OSError as e:
        # Or else Python tries again at exit, and complains in its own way.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OutputError(f"stdout: {e.strerror}") from e


@contextmanager
def _progress(title: str) -> Iterator[Progress | None]:
    """A bar on stderr while something runs, if a person is looking."""
    from rich.console import Console
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with Bar(console=console, transient=True) as bar:
        task = bar.add_task(title.replace("[", r"\["), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _table(result: Result, out: str) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table("rule", title=f"{result.events:,} events")
    for name in ("matched", "unmapped", "out of range", "notifications"):
        table.add_column(name, justify="right")
    for c in result.counters:
        counts = (c.matched, c.unmapped, c.out_of_range, c.notifications)
        table.add_row(Text(c.name), *(f"{n:,}" for n in counts))
    _print_table(table, result.report["events_per_second"], "events", result.cycles, out)


def _flat_table(result: FlatResult, out: str) -> None:
    from rich.table import Table

    counts, report = result.counts, result.report
    looked_up = counts.hits + counts.misses
    table = Table("", title=f"{report['accesses']:,} accesses")
    for name in ("count", "of those in sets"):
        table.add_column(name, justify="right")
    for name in ("hits", "misses", "swaps"):
        share = f"{report[name] / looked_up:.1%}" if looked_up else ""
        table.add_row(name, f"{report[name]:,}", share)
    for name in ("near_reads", "near_writes", "far_reads", "far_writes", "mismatches"):
        table.add_row(name.replace("_", " "), f"{report[name]:,}")
    if result.cycles:
        table.add_row("forwarded", f"{result.forwarded:,}")
    _print_table(table, report["accesses_per_second"], "accesses", result.cycles, out)


def _print_table(table: Table, speed: float, what: str, cycles: int, out: str) -> None:
    """A table of results, how fast they came and where they are."""
    from rich.console import Console

    console = Console()
    console.print(table)
    said = f"{speed:,.0f} {what}/s" + (f" in {cycles:,} cycles" if cycles else "")
    console.print(
        f"{said}; results in {oneline(out, 400)}", markup=False, highlight=False, soft_wrap=True
    )


def _add_later(argv: list[str]) -> None:
    """Register the further commands: the one that is called for real, the others for the help."""
    called = next((a for a in argv if not a.startswith("-")), None)
    for name, (module, text) in LATER.items():
        if find_spec(module) is None:
            continue
        if name == called:
            app.add_typer(import_module(module).app, name=name)
        else:
            app.command(name, help=text)(lambda: None)


def main(argv: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 the engines failed, 2 the input is at fault."""
    argv = (sys.argv[1:] if argv is None else argv) or ["--help"]
    _add_later(argv)
    try:
        status = app(argv, prog_name="anemone", standalone_mode=False)
    except InputError as e:
        print(f"anemone: {e}", file=sys.stderr)
        status = BAD_INPUT
    except _UsageError as e:
        print(f"anemone: {oneline(e.format_message(), 400)} (try --help)", file=sys.stderr)
        status = BAD_INPUT
    except RuntimeError as e:
        # An engine that cannot be built or that failed says so; anything else keeps its traceback.
        if not type(e).__module__.startswith("anemone."):
            raise
        print(f"anemone: {e}", file=sys.stderr)
        status = FAILED
    except (KeyboardInterrupt, typer.Abort):
        status = 130
    sys.exit(status if isinstance(status, int) else 0)


if __name__ == "__main__":
    main()
