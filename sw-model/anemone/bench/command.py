# SPDX-License-Identifier: Apache-2.0
"""`anemone bench`: slots and latencies of the RTL in cycles, and the speed of both backends.

Counts of cycles and instructions are exact, and the exit status is 1 if one misses its bar. Speeds
depend on the machine, so their bars do not change the exit status. docs/performance.md explains
what limits each figure.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich import box
from rich.console import Console
from rich.table import Table

from anemone.backends import rtl
from anemone.backends.rtl import traffic
from anemone.backends.rtl.expect import expected
from anemone.bench import flat as flatbench
from anemone.bench import instructions
from anemone.bench import tier as tierbench
from anemone.bench.measure import REPEATS, SEED, Log, Measure, speed_measure
from anemone.golden import fast
from anemone.hardware.geometry import Geometry
from anemone.replay.result import differences
from anemone.telemetry.rules import OPS, WIDTHS, Rule, identity_map

OUT = Path("build/bench.json")
LATENCY_BAR = 10  # cycles: the port's register and NEMO's pipeline depth with our line reads
LINE_BAR, INTERRUPT_BAR = 17, 16  # cycles, docs/expander.md
RTL_BAR, GOLDEN_BAR = 500_000, 10_000_000  # events/s: RTL with 8 rules, model with one rule
GOLDEN_EVENTS = 1 << 22

# (name, kind of traffic, whether the rules' read effects are update ops).
SATURATIONS: tuple[tuple[str, traffic.Kind, bool], ...] = (
    ("random", traffic.random, False),
    ("same state", traffic.same_state, False),
    ("strided", traffic.strided, False),
    ("events and reads", traffic.mixed, False),
    ("reads only", traffic.reads, False),
    ("serial RMW", traffic.mostly_events, True),
    # 512 bits a cycle a channel, with memory's answers of the same ids among the lines.
    ("readout, 1 id, 1/8 memory", traffic.readout(1, 8), False),
    ("readout, 1 id, 1/2 memory", traffic.readout(1, 2), False),
    ("readout, 4 ids, 1/2 memory", traffic.readout(4, 2), False),
    ("readout, 256 ids, 1/8 memory", traffic.readout(256, 8), False),
)


def saturation(geometry: Geometry, cycles: int, log: Log) -> list[Measure]:
    """Slots used per cycle and channel, and whether anything was lost, by kind of traffic."""
    measures = []
    for name, kind, serial_rmw in SATURATIONS:
        log(f"slots: {name}")
        rules = traffic.bench_rules(geometry, geometry.pipelines, serial_rmw)
        rows = kind(np.random.default_rng(SEED), geometry, cycles)
        run = rtl.run_rows(rules, rows, geometry)
        result, lines = expected(rules, rows, geometry)
        unlike = differences(run.result, result)
        if not np.array_equal(run.lines, lines):
            unlike.append("lines read")
        offered = run.result.cycles * geometry.channels
        measures.append(
            Measure(
                "slots a cycle a channel", name, run.slots / offered, "slots", "1.000, none lost",
                run.slots == offered and not unlike, True,
                f"{run.result.events:,} events, {len(lines):,} lines in {run.result.cycles:,} "
                "cycles; " + ("; ".join(unlike) if unlike else "all equal to the model's"),
            )
        )  # fmt: skip
    return measures


def latencies(geometry: Geometry, log: Log) -> list[Measure]:
    """Cycles from event to state, from read to line, and from line to line."""
    log("latency")
    seen = rtl.latency(geometry)
    behind = (seen["read_to_last_line"] - seen["read_to_line"]) / (seen["reads"] - 1)

    def cycles(name: str, value: float, bar: float | None, note: str = "") -> Measure:
        if bar is None:
            return Measure("latency", name, value, "cycles", note=note)
        return Measure("latency", name, value, "cycles", f"<= {bar}", value <= bar, True, note)

    return [
        cycles("request added", seen["request_through"], 2, "upstream AR to downstream AR"),
        cycles("answer added", seen["answer_through"], 2, "downstream R to upstream R"),
        cycles("event to state", seen["event_to_state"], LATENCY_BAR, "to the write of the array"),
        cycles("read to engine's line", seen["read_to_engine_line"], LATENCY_BAR, "64 B"),
        cycles("read to line", seen["read_to_line"], LINE_BAR, "AR to R, nothing ahead"),
        cycles("line to line", behind, 1, f"mean of {seen['reads']} reads"),
        cycles("event to interrupt", seen["event_to_interrupt"], INTERRUPT_BAR, "to the message"),
    ]


def rtl_speed(geometry: Geometry, events: int, log: Log) -> list[Measure]:
    """Wall-clock events/s of the RTL with one rule and with all pipelines in use."""
    rows = traffic.random(np.random.default_rng(SEED), geometry, events // geometry.channels)
    measures = []
    for count in sorted({1, geometry.pipelines}):
        name = f"{count} rule{'s' * (count > 1)}"
        log(f"RTL, {name}")
        rules = traffic.bench_rules(geometry, count)
        runs = [rtl.run_rows(rules, rows, geometry) for _ in range(REPEATS)]
        speed = max(len(rows) / run.result.seconds for run in runs)
        cpu = max(len(rows) / max(run.user_seconds, 1e-6) for run in runs)
        bar = RTL_BAR if count == geometry.pipelines else None
        measures.append(speed_measure("RTL", name, speed, bar, cpu))
    return measures


def golden_speed(geometry: Geometry, events: int, log: Log) -> list[Measure]:
    """Wall-clock events/s of the golden model on one core, for a rule of each op at the width of
    counters that is slowest.
    """
    rng = np.random.default_rng(SEED)
    addr = rng.integers(0, geometry.device_bytes, events, np.uint64)
    write = rng.random(events) < 0.3
    fast.warm_up()
    measures = []
    for op in OPS:
        log(f"golden model, {op}")
        speed, busy = min(_speed_of(op, width, geometry, addr, write) for width in WIDTHS)
        measures.append(speed_measure("golden model", op, speed, GOLDEN_BAR, busy))
    return measures


def _speed_of(
    op: str, width: int, geometry: Geometry, addr: np.ndarray, write: np.ndarray
) -> tuple[float, float]:
    """Events a second of wall-clock time and of processor time."""
    rule = Rule(
        name=op, end=geometry.device_bytes, primary_shift=21, op=op, operand=3, width=width,
        map=identity_map(geometry, width),
    )  # fmt: skip
    seconds, cpu = [], []
    for _ in range(REPEATS):
        telemetry = fast.Telemetry(rule, geometry)
        started, spent = time.perf_counter(), time.thread_time()
        telemetry.events(addr, write)
        seconds.append(time.perf_counter() - started)
        cpu.append(time.thread_time() - spent)
    return len(addr) / min(seconds), len(addr) / max(min(cpu), 1e-6)


def table(measures: Sequence[Measure]) -> Table:
    """The figures as a table for the terminal."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    shown.add_column("what", no_wrap=True)
    shown.add_column("figure", justify="right", no_wrap=True)
    shown.add_column("bar", no_wrap=True)
    shown.add_column("", no_wrap=True)
    shown.add_column("")
    group = ""
    for m in measures:
        if m.group != group:
            shown.add_row(f"[bold]{m.group}[/]")
            group = m.group
        figure = f"{m.value:,.0f}" if m.unit == "events/s" else f"{m.value:.3f}"
        figure = f"{m.value:g}" if m.unit == "cycles" else figure
        figure = f"{m.value:,}" if m.unit == "instructions" else figure
        verdict = {None: "", True: "[green]holds[/]", False: "[yellow]below[/]"}[m.holds]
        verdict = "[bold red]MISSED[/]" if m.missed else verdict
        shown.add_row(f"  {m.name}", f"{figure} {m.unit}", m.bar, verdict, m.note)
    return shown


def write(measures: Sequence[Measure], geometry: Geometry, path: Path) -> None:
    """Write the figures as JSON, atomically by a rename."""
    content = {
        "geometry": geometry.key,
        "cpus": os.cpu_count(),
        "load_average": os.getloadavg()[0],
        "measures": [vars(m) for m in measures],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(json.dumps(content, indent=2) + "\n")
    temporary.replace(path)


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.callback(invoke_without_command=True)
def bench(
    out: Annotated[Path, typer.Option(help="JSON file for the figures.")] = OUT,
    cycles: Annotated[int, typer.Option(help="Cycles per kind of traffic.", min=1)] = 50_000,
    events: Annotated[int, typer.Option(help="Events of a timed run.", min=1)] = 1_000_000,
) -> None:
    """Measure slots, latency and speed of both backends."""
    geometry = Geometry()
    console = Console(stderr=True)

    # Build first, because builds print progress that a status line would hide.
    rtl.build(rtl.expander(geometry))
    rtl.build(rtl.flat_memory(1, geometry.address_bits))
    with console.status("") as status:

        def log(what: str) -> None:
            if console.is_terminal:
                status.update(what)
            else:
                print(f"bench: {what}", file=sys.stderr, flush=True)

        measures = saturation(geometry, cycles, log)
        measures += latencies(geometry, log)
        measures += flatbench.cycles(geometry, log)
        measures += instructions.measures(geometry, log)
        measures += rtl_speed(geometry, events, log)
        measures += flatbench.rtl_speed(geometry, events, log)
        measures += golden_speed(geometry, GOLDEN_EVENTS, log)
        measures += flatbench.golden_speed(GOLDEN_EVENTS, log)
        measures += tierbench.speeds(GOLDEN_EVENTS, log)
    write(measures, geometry, out)
    Console(width=None if sys.stdout.isatty() else 160).print(table(measures))
    print(f"figures in {out}")
    missed = [m.name for m in measures if m.missed]
    if missed:
        print(f"anemone: bars missed: {', '.join(missed)}", file=sys.stderr)
        raise typer.Exit(1)
