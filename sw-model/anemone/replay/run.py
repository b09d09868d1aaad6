# SPDX-License-Identifier: Apache-2.0
"""Replays a trace with a set of rules, on either backend."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import numpy as np

from anemone.backends import BACKENDS
from anemone.hardware.geometry import Geometry
from anemone.replay.result import Counters, Reads, Result, States
from anemone.telemetry.rules import Rule
from anemone.trace import Trace

# Progress callback: (work done, all work), in a unit of the backend.
Progress = Callable[[int, int], None]


def replay(
    rules: Sequence[Rule],
    trace: Trace,
    geometry: Geometry,
    backend: str,
    progress: Progress | None = None,
) -> Result:
    """Replay a trace on backend "model" (anemone.golden.fast) or "rtl" (anemone.backends.rtl).

    Every event goes to every rule. After every rule.read_every events, all telemetry lines of the
    rule are read with effect before the next event, also after the last event. The states at the
    end are a snapshot. Raises ValueError for a rule that depends on near memory, which a replay
    does not have.
    """
    if asking := [rule.name for rule in rules if rule.near != "any"]:
        raise ValueError(f"rules {asking} ask what near memory had, which a replay has none of")
    if backend == "rtl":
        from anemone.backends import rtl  # builds and drives the Verilated backend; slow to import

        return rtl.run(rules, trace, geometry, progress)
    if backend != "model":
        raise ValueError(f"no backend {backend!r}: one of {BACKENDS}")
    return _model(rules, trace, geometry, progress)


def _model(
    rules: Sequence[Rule], trace: Trace, geometry: Geometry, progress: Progress | None
) -> Result:
    from anemone.golden import fast

    addr = np.ascontiguousarray(trace.addr, np.uint64)
    write = np.ascontiguousarray(trace.write, np.bool_)
    total, done, lock = len(trace) * len(rules), 0, Lock()

    def step(events: int) -> None:
        nonlocal done
        with lock:
            done += events
            if progress:
                progress(done, total)

    def run(rule: Rule) -> fast.Telemetry:
        telemetry = fast.Telemetry(rule, geometry)
        telemetry.events(addr, write, step)
        return telemetry

    fast.warm_up()
    started = time.perf_counter()
    # The compiled kernels release the interpreter lock, so rules run in parallel.
    with ThreadPoolExecutor(max(1, min(len(rules), os.cpu_count() or 1))) as pool:
        telemetries = list(pool.map(run, rules))
    seconds = time.perf_counter() - started

    states = _columns([[t.nonzero()] for t in telemetries], 3)
    reads = _columns([t.reads for t in telemetries], 4)
    counters = [
        Counters(t.rule.name, t.matched, t.unmapped, t.out_of_range, t.notifications)
        for t in telemetries
    ]
    return Result(States(*states), Reads(*reads), counters, len(trace), 0, seconds)


def _columns(rules: list, columns: int) -> list[np.ndarray]:
    """Concatenate each rule's lists of columns, with a column of rule numbers in front."""
    rows = [sum(len(part[0]) for part in parts) for parts in rules]
    out = [np.repeat(np.arange(len(rules), dtype=np.uint16), rows)]
    for c in range(columns):
        arrays = [part[c] for parts in rules for part in parts]
        out.append(np.concatenate(arrays) if arrays else np.empty(0, np.uint64))
    return out
