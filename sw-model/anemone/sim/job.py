# SPDX-License-Identifier: Apache-2.0
"""`anemone sim` without its command line: runs traces and writes the report."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from pyarrow import ArrowException

from anemone.analysis.compare import Output, compare, recount
from anemone.analysis.telemetry import analyse
from anemone.backends import NAMES
from anemone.capture.store import origin_of
from anemone.flat.analysis import Step, run_flat
from anemone.hardware.geometry import Geometry
from anemone.io.errors import InputError
from anemone.io.outputs import unwritable
from anemone.replay import replay
from anemone.replay.result import write
from anemone.report import flat
from anemone.report.charts import save
from anemone.report.figures import pictures
from anemone.report.page import Run, page
from anemone.telemetry.paper_rules import paper_rules
from anemone.telemetry.rules import load_rules
from anemone.telemetry.rules_toml import write_rules
from anemone.trace import Trace, read_trace
from anemone.trace.pages import tenants, touched_pages


@dataclass(frozen=True)
class Input:
    """A trace, and the description and tenants' programs that its capture recorded."""

    trace: Trace
    about: str = ""
    programs: dict[int, str] = field(default_factory=dict)

    @staticmethod
    def read(path: Path, geometry: Geometry) -> Input:
        """Read a trace; it need not be from a capture. Raises InputError if it cannot be read."""
        trace = read_trace(path, geometry)
        try:
            origin = origin_of(path)
            tenants = {int(p["tenant"]): name for name, p in origin["programs"].items()}
            return Input(trace, str(origin["about"]), tenants)
        except (ValueError, KeyError, TypeError, AttributeError, ArrowException):
            return Input(trace)


def run_trace(
    name: str, given: Input, out: Path, backends: Sequence[str], geometry: Geometry, step: Step
) -> Run:
    """Replay one trace with the paper's rules on each backend, compare, and analyse."""
    trace, folder = given.trace, out / name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "rules.toml"
    title = f"NEMO Listings 2, 3 and 1 for the trace {name}; made by anemone sim"
    write_rules(paper_rules(trace, geometry), path, geometry, title)
    rules = load_rules(path, geometry)  # through the same loader as a user's file
    run = Run(
        name=name,
        about=given.about,
        events=len(trace),
        seconds=None if trace.time_ns is None else float(np.ptp(trace.time_ns)) / 1e9,
        pages=len(touched_pages(trace)[0]),
        tenants=len(tenants(trace)),
        rules=rules,
    )
    for backend in backends:
        what = f"{name} on the {NAMES[backend]}"
        step(what, 0, 1)
        result = replay(
            rules, trace, geometry, backend, lambda done, total, w=what: step(w, done, total)
        )
        write(result, folder / backend)
        run.outputs[backend] = Output.load(folder / backend)
        step(what, 1, 1)
    first = run.outputs[backends[0]]
    if len(backends) == 2:
        run.agreed = compare(first, run.outputs[backends[1]])
    run.counted = recount(rules, trace, geometry, first)
    run.flat = run_flat(name, trace, folder / "flat", backends, geometry, step)
    analysis = analyse(first, rules, trace, geometry, given.programs)
    run.moves = [float(analysis.polls.times[poll]) for poll in analysis.hotset.moves]
    run.shown = [*pictures(analysis), *flat.pictures(run.flat, trace, analysis)]
    drawn = folder / "pictures"
    drawn.mkdir(exist_ok=True)
    for figure in run.shown:
        save(figure.svg, drawn / f"{figure.key}.svg")
    run.polls = len(analysis.polls)
    return run


def load(paths: Sequence[Path], geometry: Geometry) -> dict[str, Input]:
    """The traces by name, which is the file's name up to its first dot. Raises InputError."""
    loaded: dict[str, Input] = {}
    for path in paths:
        name = path.name.split(".")[0]
        if name in loaded:
            raise InputError(path, "command line", "--traces", name, "traces of different names")
        loaded[name] = Input.read(path, geometry)
    return loaded


def simulate(
    traces: dict[str, Input], out: Path, backends: Sequence[str], geometry: Geometry, step: Step
) -> list[Run]:
    """Run every trace and write report.html. Raises InputError if `out` cannot be written."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        runs = [run_trace(name, t, out, backends, geometry, step) for name, t in traces.items()]
        temporary = out / f".report.html.{os.getpid()}"
        temporary.write_text(page(runs, geometry), encoding="utf-8")
        temporary.replace(out / "report.html")
    except OSError as e:
        raise unwritable(out, e) from e
    return runs
