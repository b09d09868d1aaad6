# SPDX-License-Identifier: Apache-2.0
"""Common parts of the commands: options, progress bars, tables, JSON."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import typer

from anemone.hardware.geometry import Geometry
from anemone.io.errors import OutputError, oneline

if TYPE_CHECKING:
    from rich.table import Table

    from anemone.replay import Progress


class Backend(StrEnum):
    """The choices of `--engine`: the Verilated RTL or the golden model."""

    rtl = "rtl"
    model = "model"


SIZES = Geometry()


def size_option(text: str) -> Any:
    """An option that Geometry checks, so that an error is one line with name, value and limits."""
    return typer.Option(help=text, metavar="N")


def number(size: str) -> Any:
    """A size as a number; other text is unchanged, so that Geometry refuses it."""
    try:
        return int(size)
    except ValueError:
        return size


def print_json(report: dict) -> None:
    # Escape non-ASCII characters unless stdout supports them.
    ascii_only = not (sys.stdout.encoding or "").lower().startswith("utf")
    print(json.dumps(report, indent=2, ensure_ascii=ascii_only))


@contextmanager
def printing() -> Iterator[None]:
    """Make errors of printing inside it an OutputError."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # stdout's encoding may lack some letters
    try:
        yield
        sys.stdout.flush()
    except OSError as e:
        # Otherwise Python tries to flush again at exit and prints another error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OutputError(f"stdout: {e.strerror}") from e


@contextmanager
def progress(title: str) -> Iterator[Progress | None]:
    """A progress bar on stderr, if it is a terminal."""
    from rich.console import Console
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with Bar(console=console, transient=True) as bar:
        task = bar.add_task(title.replace("[", r"\["), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def show_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table of texts: the first column is left-aligned, the others right-aligned."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(title))
    for i, name in enumerate(columns):
        table.add_column(escape(name), justify="right" if i else "left")
    for row in rows:
        table.add_row(*(escape(text) for text in row))
    Console().print(table)


def print_table(table: Table, speed: float, what: str, cycles: int, out: str) -> None:
    """Print a table of results, their speed and the output folder."""
    from rich.console import Console

    console = Console()
    console.print(table)
    text = f"{speed:,.0f} {what}/s" + (f" in {cycles:,} cycles" if cycles else "")
    console.print(
        f"{text}; results in {oneline(out, 400)}", markup=False, highlight=False, soft_wrap=True
    )
