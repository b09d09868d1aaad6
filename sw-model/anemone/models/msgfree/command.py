# SPDX-License-Identifier: Apache-2.0
"""The command line of `anemone msgfree`. Heavy imports wait until it runs: help is quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anemone.terminal import print_json, printing, show_table

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Which MPI receives would be better as loads from CXL memory. docs/message-free.md says "
    "what the model takes and gives.",
)

_EVALUATE = """
**SITE.json**, of one receive in the program:

    { "messages": [16384, 16384],
      "samples": [ { "latency_ns": 7, "source": "L1" }, { "latency_ns": 95, "source": "MEM" } ],
      "rate": 2000, "loads_per_element": 2, "element_bytes": 8, "unpack": false,
      "metrics": { "mem_gb_per_s": 11.0, "l3_miss_share": 0.04, "l1_gb_per_s": 90.0,
                   "l2_gb_per_s": 12.0, "l2_load_share": 0.1 } }

`rate` is how many loads a sample stands for. `source` is L1, L2, L3, LFB or MEM. `metrics` are of
the whole program; shares are of its loads, 0 to 1.

**PARAMS.toml** is of the machine; without `--params` it is the one of the paper's single node, with
Optane as CXL memory. `anemone msgfree params` prints it, to begin from.

    $ anemone msgfree evaluate --site SITE.json
"""


@app.command(epilog=_EVALUATE)
def evaluate(
    site: Annotated[Path, typer.Option(help="What is known of a receive.", metavar="SITE.json")],
    params: Annotated[
        Path | None,
        typer.Option(
            help="The machine. [default: the paper's]", metavar="PARAMS.toml", show_default=False
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """What a receive costs as messages and as loads from CXL memory, by Eq. 1 to 10."""
    from importlib.resources import as_file

    from anemone.models.msgfree.model import evaluate as answer
    from anemone.models.msgfree.parameters import PAPER, read_parameters
    from anemone.models.msgfree.site import read_site

    with as_file(PAPER) as paper:
        machine = read_parameters(params or paper)
    found = answer(read_site(site), machine)
    with printing():
        if as_json:
            print_json(
                {
                    "weights_first": found.first,
                    "weights_later": found.later,
                    "transfer": vars(found.transfer),
                    "access": vars(found.access),
                    "gain_ns": found.gain_ns,
                }
            )
            return
        costs = (("transfer", found.transfer), ("access", found.access))
        rows = [(what, f"{c.mpi_ns:,.0f}", f"{c.cxl_ns:,.0f}") for what, c in costs]
        total = [_in_all(costs, side) for side in ("mpi_ns", "cxl_ns")]
        show_table("ns of all messages", ["", "MPI", "CXL"], [*rows, ("in all", *total)])
        shares = [
            (name, f"{found.first[name]:.1%}" if name in found.first else "", f"{weight:.1%}")
            for name, weight in found.later.items()
        ]
        show_table("Weights", ["category", "first loads", "later loads"], shares)
        better = "loads from CXL memory" if found.gain_ns > 0 else "messages"
        print(f"Better as {better}, by {abs(found.gain_ns):,.0f} ns.")


def _in_all(costs: tuple, side: str) -> str:
    """One side's costs in all."""
    return f"{sum(getattr(cost, side) for _, cost in costs):,.0f}"


@app.command()
def params() -> None:
    """Print the parameters of the paper's machine, TOML, to begin from."""
    from anemone.models.msgfree.parameters import PAPER

    with printing():
        print(PAPER.read_text(encoding="utf-8"), end="")
