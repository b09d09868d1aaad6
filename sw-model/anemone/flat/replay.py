# SPDX-License-Identifier: Apache-2.0
"""A trace through flat memory mode, on either backend."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from anemone.backends import BACKENDS
from anemone.flat.config import FlatConfig
from anemone.flat.result import FlatResult
from anemone.hardware.geometry import Geometry
from anemone.trace import Trace

# Called now and then with the accesses done and those there are.
Progress = Callable[[int, int], None]


def run(
    config: FlatConfig,
    trace: Trace,
    backend: str,
    geometry: Geometry | None = None,
    progress: Progress | None = None,
    name: object = "trace",
) -> FlatResult:
    """Run a trace on backend "model" (golden.flat_fast) or "rtl" (backends.rtl.flat).

    A write is of the whole line, with the number of its row, from 1, in every 8 bytes.
    geometry: the device, whose size the RTL is built for. name: what errors call the trace.
    Raises InputError for an address where there is no memory.
    """
    config.check(trace, name)
    if backend == "rtl":
        from anemone.backends.rtl import flat  # builds and drives the verilated controller

        return flat.run(config, trace, geometry or Geometry(), progress)
    if backend != "model":
        raise ValueError(f"no backend {backend!r}: one of {BACKENDS}")
    return _model(config, trace, progress)


def _model(config: FlatConfig, trace: Trace, progress: Progress | None) -> FlatResult:
    from anemone.golden.flat_fast import FlatMemory

    addr = np.ascontiguousarray(trace.addr, np.uint64)
    write = np.ascontiguousarray(trace.write, np.bool_)
    FlatMemory.warm_up()
    memory = FlatMemory(config)
    started = time.perf_counter()
    outcomes = memory.accesses(addr, write, progress)
    seconds = time.perf_counter() - started
    return FlatResult(memory.counts, *memory.sets(), outcomes, memory.mismatches, seconds)
