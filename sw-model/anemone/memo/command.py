# SPDX-License-Identifier: Apache-2.0
"""The command line of `anemone memo`. Slow imports are deferred, so that --help is fast."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anemone.terminal import print_json, printing

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Draw memo's measurements. memo itself is a C program: `make memo`, docs/memo.md.",
)

_PLOT = """
**Example.**

    $ make memo
    $ build/memo/memo --json > memo.json
    $ anemone memo plot memo.json --out pictures

DIR then has a picture of each test that was run: latency.svg, chase.svg, cache.svg, bandwidth.svg,
copy.svg.
"""


@app.callback()
def _memo() -> None:
    """Makes typer keep `plot` as a subcommand although it is the only one."""


@app.command(epilog=_PLOT)
def plot(
    results: Annotated[Path, typer.Argument(metavar="MEMO.json", help="Output of memo --json.")],
    out: Annotated[str, typer.Option(help="Folder for the pictures.", metavar="DIR")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Draw the results of a run, one picture per test."""
    from anemone.io.outputs import check_out, write_files
    from anemone.memo import results as files
    from anemone.memo.plot import pictures

    rows = files.read(results)
    check_out(out)
    drawn = pictures(rows)
    write_files(
        out,
        {
            name: lambda path, text=text: path.write_text(text, encoding="utf-8")
            for name, text in drawn.items()
        },
    )
    with printing():
        if as_json:
            print_json({"out": out, "files": list(drawn)})
            return
        print("\n".join(str(Path(out) / name) for name in drawn))
