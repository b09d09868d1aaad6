# SPDX-License-Identifier: Apache-2.0
"""The command line of `anemone msgfree`. Heavy imports wait until it runs: help is quick."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anemone.io.errors import Bare, InputError
from anemone.terminal import print_json, printing, show_table

if TYPE_CHECKING:
    from anemone.models.msgfree.folder import Rank
    from anemone.models.msgfree.tracer import Sampler

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Which MPI receives would be better as loads from CXL memory. docs/message-free.md says "
    "what the model takes and gives.",
)

_Params = Annotated[
    Path | None,
    typer.Option(
        help="The machine. [default: the paper's]", metavar="PARAMS.toml", show_default=False
    ),
]

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
Optane as CXL memory. `anemone msgfree params` makes one.

    $ anemone msgfree evaluate --site SITE.json
"""


@app.command(epilog=_EVALUATE)
def evaluate(
    site: Annotated[Path, typer.Option(help="What is known of a receive.", metavar="SITE.json")],
    params: _Params = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """What a receive costs as messages and as loads from CXL memory, by Eq. 1 to 10."""
    from anemone.models.msgfree.model import FINITE, NotFinite
    from anemone.models.msgfree.model import evaluate as answer
    from anemone.models.msgfree.parameters import read_parameters
    from anemone.models.msgfree.site import read_site

    machine = read_parameters(params)
    asked = read_site(site)
    try:
        found = answer(asked, machine)
    except NotFinite as e:
        raise InputError(site, "call site", "gain_ns", Bare(str(e)), FINITE) from e
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


_MEASURE = """
**MPI** is measured where its launcher is given, by a ping-pong of ours between the first and the
last rank; memory and caches by memo (docs/memo.md). What is not measured is the paper's, and its
line says so. The thresholds and factors of the model always are: the paper sets them by judgement.

    $ anemone msgfree params --out here.toml -- mpirun -n 2 --host a,b
    $ anemone msgfree predict heat.run --params here.toml
    $ anemone msgfree params --paper

**CXL memory** is `--node`'s, or that of a node without processors; without one it is the paper's.
"""


@app.command(epilog=_MEASURE)
def params(
    launcher: Annotated[list[str] | None, typer.Argument(metavar="[-- mpirun ARGS]")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File. [default: print it]", metavar="PARAMS.toml", show_default=False),
    ] = None,
    node: Annotated[
        int | None,
        typer.Option(help="Its memory stands for CXL memory.", min=0, show_default=False),
    ] = None,
    paper: Annotated[bool, typer.Option("--paper", help="The paper's, nothing measured.")] = False,
    mpicc: Annotated[
        str | None,
        typer.Option(help="The compiler of that MPI. [default: beside mpirun]", show_default=False),
    ] = None,
) -> None:
    """Measure this machine's parameters, TOML."""
    import platform

    from anemone.models.msgfree import measure
    from anemone.models.msgfree.parameters import PAPER

    if paper:
        text = PAPER.read_text(encoding="utf-8")
    else:
        found = measure.memory(node) | (measure.ping_pong(launcher, mpicc) if launcher else {})
        text = measure.text(found, platform.node())
    with printing():
        if out is None:
            print(text, end="")
            return
        from anemone.io.outputs import write_files

        write_files(out.parent, {out.name: lambda at: at.write_text(text, encoding="utf-8")})
        print(out)


_LATENCY = """
**Two hosts' ports on one expander**, the Verilated hardware: one host writes messages, the other
loads each line of them, and both have other work, random lines, a third of it writes. Latency is
from the receiver's port to its line and back, at 400 MHz: controller and memory, without the link.
Memory is DDR5 that is refreshed. The first run builds the simulator: minutes.

    $ anemone msgfree latency --load 0 --load 0.5 --load 0.9
"""


@app.command(epilog=_LATENCY)
def latency(
    load: Annotated[
        list[float] | None,
        typer.Option(
            help="Other work, of what a channel can take; again for more. [default: 0 to 0.9]",
            min=0.0,
            max=1.0,
            show_default=False,
        ),
    ] = None,
    messages: Annotated[int, typer.Option(help="Of 1 KiB, at each load.", min=1)] = 400,
    in_flight: Annotated[int, typer.Option(help="Loads at a time.", min=1, max=16)] = 1,
    seed: Annotated[int, typer.Option(help="Of the other work.", min=0)] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """How long a receive's loads take on an expander that two hosts share, under load."""
    from anemone.models.msgfree import shared
    from anemone.terminal import progress

    found = []
    for one in load or shared.LOADS:
        with progress(f"load {one:g}") as step:
            found.append(shared.latency(one, messages, in_flight, seed, step))
    with printing():
        if as_json:
            print_json({"loads": [vars(one) for one in found]})
            return
        rows = [
            (f"{u.load:.2f}", f"{u.requests:.3f}", *(f"{ns:,.1f}" for ns in (u.mean, u.p50, u.p99)))
            for u in found
        ]
        columns = ["other work", "requests a cycle", "mean", "median", "99 %"]
        show_table("A load of a message, ns", columns, rows)


_RECORD = """
**Any MPI program**, unmodified, that is linked with Open MPI or MPICH as a shared library; compiled
with `-g`, its call sites have lines. The tracer is built for the launcher's MPI with the `mpicc`
beside it.

**Loads** of what was received, latency and source of each, are sampled, for `predict` to say what
access to the data costs. `perf` does so at full speed on Intel's servers (PEBS) and on
AMD's (IBS). Elsewhere `model`
does: the program runs in QEMU, a hundred times slower, and its instructions through a model of a
server's core and caches, of which the ranks of a host have equal shares. `none` records messages
alone.

    $ anemone msgfree record --out heat.run -- mpirun -n 4 ./heat 64 100 message
    $ anemone msgfree predict heat.run
"""


class LoadsFrom(StrEnum):
    """Where samples of loads come from."""

    auto = "auto"
    perf = "perf"
    model = "model"
    none = "none"


class Core(StrEnum):
    """A machine of the core model."""

    clx = "clx"
    skx = "skx"
    spr = "spr"
    emr = "emr"


@app.command(epilog=_RECORD)
def record(
    command: Annotated[list[str], typer.Argument(metavar="-- mpirun ARGS PROGRAM ARGS")],
    out: Annotated[Path, typer.Option(help="The folder to make.", metavar="FOLDER")],
    mpicc: Annotated[
        str | None,
        typer.Option(help="The compiler of that MPI. [default: beside mpirun]", show_default=False),
    ] = None,
    loads: Annotated[
        LoadsFrom, typer.Option(help="Samples of loads; auto: perf where it can, else model.")
    ] = LoadsFrom.auto,
    period: Annotated[
        int, typer.Option(help="Loads for each sample, on average.", min=1, max=10**9)
    ] = 100,
    core: Annotated[Core, typer.Option(help="Of the model: the paper's Cascade Lake, others.")] = (
        Core.clx
    ),
) -> None:
    """Run an MPI program and record each message that it receives. Exits as the program does."""
    from anemone.models.msgfree.folder import read_folder
    from anemone.models.msgfree.loads import read_loads
    from anemone.models.msgfree.tracer import record as run

    code = run(command, out, mpicc, _sampler(loads, period, core))
    ranks = read_folder(out)
    receives = sum(len(rank.records) for rank in ranks)
    amount = sum(int(rank.records["bytes"].sum()) for rank in ranks)
    with printing():
        print(f"{len(ranks)} ranks, {receives:,} receives, {amount:,} bytes; in {out}")
        if sampled := read_loads(out):
            inside = sum(len(samples.time_ns) for samples in sampled.of.values())
            print(f"{inside:,} samples of loads of what was received; {sampled.how}")
        for line in _gaps(ranks):
            print(line)
    raise typer.Exit(code)


def _sampler(loads: LoadsFrom, period: int, core: Core) -> Sampler | None:
    from anemone.models.msgfree.measured import Measured, refusal, unit_here
    from anemone.models.msgfree.modelled import Modelled

    if loads is LoadsFrom.none:
        return None
    unit = None if loads is LoadsFrom.model else unit_here()
    if unit is not None:
        return Measured(period, unit)
    if loads is LoadsFrom.perf:
        allowed = f"auto or model, as perf samples no loads here: {refusal()}"
        raise InputError("command line", "record", "--loads", loads.value, allowed)
    return Modelled(core, period)


def _gaps(ranks: Sequence[Rank]) -> list[str]:
    """What a run lacks, for people."""
    from anemone.models.msgfree.folder import size, unfinished

    ended = sum(not rank.header["finalized"] for rank in ranks)
    lost = sum(int(rank.header["lost"]) for rank in ranks)
    counts = ((size(ranks) - len(ranks), "ranks left no file"),
            (ended, "ranks did not come to MPI_Finalize"),
            (unfinished(ranks), "receives were posted and not complete at the end"),
            (lost, "receives could not be written"))  # fmt: skip
    return [f"{count} {what}" for count, what in counts if count]


_PREDICT = """
**By call site**: what its messages cost (Eq. 1 and 2) and, where FOLDER has samples of loads, what
access to the data costs (Eq. 5 to 10). Without samples a gain is of the transfer only. `use` says
CXL where it gains, MPI where it does not, and full where it gains and `--capacity` has no room.

    $ anemone msgfree predict heat.run --capacity 65536 --page heat.html
"""


@app.command(epilog=_PREDICT)
def predict(
    folder: Annotated[Path, typer.Argument(help="What `record` has made.", metavar="FOLDER")],
    params: _Params = None,
    capacity: Annotated[
        int | None, typer.Option(help="CXL memory for buffers, bytes.", min=0, show_default=False)
    ] = None,
    unpack: Annotated[
        list[str] | None,
        typer.Option(
            help="A call site whose data have to be copied out of CXL memory; again for more.",
            metavar="FILE:LINE",
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(help="Write a page with pictures.", metavar="FILE.html", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Which receives of a recorded run would be better as loads from CXL memory."""
    from anemone.models.msgfree.folder import read_folder
    from anemone.models.msgfree.loads import read_loads
    from anemone.models.msgfree.parameters import read_parameters
    from anemone.models.msgfree.predict import predict as answer
    from anemone.models.msgfree.report import access_rows, as_object, site_rows

    machine = read_parameters(params)
    ranks = read_folder(folder)
    loads = read_loads(folder)
    sites = answer(ranks, machine, unpack or (), capacity, loads)
    report = as_object(ranks, sites, capacity)
    if page is not None:
        from anemone.io.outputs import write_files
        from anemone.models.msgfree.page import page as document

        text = document(report, sites, loads.how if loads else "", _gaps(ranks))
        write_files(page.parent, {page.name: lambda at: at.write_text(text, encoding="utf-8")})
    with printing():
        if as_json:
            print_json(report)
            return
        show_table(
            "Receives by call site: transfer and gain, µs", *site_rows(sites, capacity is not None)
        )
        if any(site.samples for site in sites):
            show_table("Access to what they bring, µs", *access_rows(sites))
        collectives = sum(report["collectives"].values())
        print(f"Gain of what is taken: {report['gain_ns']:,.0f} ns, over all ranks.")
        if not all(site.samples for site in sites):
            print(
                "Without samples of loads a gain is of the transfer only: what loads from CXL "
                "memory cost more is not in it."
            )
        if collectives:
            print(f"{collectives:,} calls of collectives are not modelled.")
        for line in _gaps(ranks):
            print(line)
