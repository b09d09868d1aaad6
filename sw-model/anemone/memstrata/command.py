# SPDX-License-Identifier: Apache-2.0
"""The command line of `anemone memstrata`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anemone.terminal import print_json, printing, show_table

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


@app.callback()
def memstrata() -> None:
    """Keeps `plan` a command of its own."""


@app.command(epilog=_PLAN)
def plan(
    vms: Annotated[Path, typer.Option(help="The machines.", metavar="VMS.json")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
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
