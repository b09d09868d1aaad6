# SPDX-License-Identifier: Apache-2.0
"""Runs a trace in flat memory mode, on either backend."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import numpy as np

from anemone.backends import BACKENDS
from anemone.flat.config import FlatConfig
from anemone.flat.result import FlatResult
from anemone.hardware.geometry import Geometry
from anemone.trace import Trace, concatenate

# Progress callback: (accesses done, all accesses).
Progress = Callable[[int, int], None]


def run(
    config: FlatConfig,
    trace: Trace | Iterable[Trace],
    backend: str,
    geometry: Geometry | None = None,
    progress: Progress | None = None,
    name: object = "trace",
) -> FlatResult:
    """Run a trace on backend "model" (golden.flat_fast) or "rtl" (backends.rtl.flat).

    A write writes the whole line, with the row's number (from 1) in every 8 bytes.

    trace: a Trace or its batches (anemone.trace.batches). With batches, the model keeps one batch
    and one byte (the outcome) per access in memory; the RTL always gets the whole trace. progress:
    with batches, all accesses are those read so far. geometry: the device; the RTL is built for
    its size. name: the trace's name in errors. Raises InputError for an address outside memory.
    """
    if backend == "rtl":
        from anemone.backends.rtl import flat  # builds and drives the verilated controller

        whole = trace if isinstance(trace, Trace) else concatenate(trace)
        config.check(whole.addr, name)
        return flat.run(config, whole, geometry or Geometry(), progress)
    if backend != "model":
        raise ValueError(f"no backend {backend!r}: one of {BACKENDS}")
    return _model(config, [trace] if isinstance(trace, Trace) else trace, progress, name)


def _model(
    config: FlatConfig, batches: Iterable[Trace], progress: Progress | None, name: object
) -> FlatResult:
    from anemone.golden.flat_fast import FlatMemory

    FlatMemory.warm_up()
    memory = FlatMemory(config)
    seconds = 0.0
    outcomes = [np.empty(0, np.uint8)]

    def step(done: int, size: int) -> None:
        if progress:
            progress(memory.rows + done, memory.rows + size)

    for batch in batches:
        started = time.perf_counter()
        outcomes.append(memory.accesses(batch.addr, batch.write, step, name))
        seconds += time.perf_counter() - started
    result = np.concatenate(outcomes)
    return FlatResult(memory.counts, *memory.sets(), result, memory.mismatches, seconds)
