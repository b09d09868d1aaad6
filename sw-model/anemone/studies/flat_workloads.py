# SPDX-License-Identifier: Apache-2.0
"""The workloads of flat memory mode: the ranges of their settings, and how they are drawn.

They were fixed before any slowdown was computed. Categories are those of Memstrata §3.2, and
kernels have the memory accesses of programs of a category. Ranges follow the paper's slowdowns with
only CXL memory: web workloads hardly slow down, databases and big data lose up to 20 %, the others
up to 58 %. There a lookup that misses costs some 260 cycles more, so web misses at most once in
10,000 instructions, and key-value stores, graphs and science once in a few hundred. Effects of
tiers and dedicated pages were not considered.

Capacities are a 64th of the paper's (SCALE); caches, times and bandwidths are not scaled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anemone.studies.camp_workloads import COMMANDS, PROGRAMS, drawn_settings
from anemone.studies.study import Point

SCALE = 64
_GB = (1 << 30) // SCALE
SIZES = tuple(n * _GB for n in (2, 4, 8, 16, 32))  # memory of machines (§3.2), up to 32 GB (§6)
CORES = (1, 2, 4)  # cores of a machine: 40 % have at most two (§2.2); 4 to 8 GB per core (§2.1)
_EACH = 16  # workloads of a category
_PAGE_OVERHEAD = 1.02  # pages of a machine per page of data, for page tables and partly used pages

# Data of a core in all arrays, so that its machine has 4 or 8 GB per core.
_BYTES = ("log", 11 * _GB // 5, 15 * _GB // 2)
_LOOKUP = {"bytes": _BYTES, "stores": ("real", 0.0, 0.5), "mispredict": ("real", 0.0, 0.1)}
_STREAM = {"bytes": _BYTES, "step": [8, 16, 32]}

# Category -> (kernel, its ranges), used in turn; camp_workloads.py has the format of a range.
RANGES: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "web": (
        ("hash", {**_LOOKUP, "work": ("log", 300, 1000), "depth": ("whole", 1, 2),
                  "hot": ("real", 0.97, 0.999)}),
        ("gather", {**_LOOKUP, "work": ("log", 300, 1000), "hot": ("real", 0.97, 0.999)}),
    ),
    "database": (
        ("hash", {**_LOOKUP, "work": ("log", 200, 1000), "depth": ("whole", 1, 3),
                  "hot": ("real", 0.9, 0.995)}),
        ("stream", {**_STREAM, "work": ("log", 16, 200), "chains": ("whole", 1, 2),
                    "stores": ("real", 0.0, 0.5)}),
        ("mixed", {**_LOOKUP, "work": ("log", 32, 200), "hot": ("real", 0.9, 0.995)}),
    ),
    "machine learning": (
        ("gather", {**_LOOKUP, "work": ("log", 20, 400), "hot": ("real", 0.5, 0.98)}),
        ("stream", {**_STREAM, "work": ("log", 8, 64), "chains": ("whole", 1, 3),
                    "stores": ("real", 0.0, 0.3)}),
    ),
    "key-value": (
        ("hash", {**_LOOKUP, "work": ("log", 300, 1000), "depth": ("whole", 1, 2),
                  "hot": ("real", 0.5, 0.98)}),
        ("scatter", {"bytes": _BYTES, "work": ("log", 200, 1000), "hot": ("real", 0.5, 0.98)}),
    ),
    "big data": (
        ("sort", {**_STREAM, "work": ("log", 4, 64), "mispredict": ("real", 0.0, 0.2)}),
        ("mixed", {**_LOOKUP, "work": ("log", 16, 200), "hot": ("real", 0.9, 0.99)}),
        ("stream", {**_STREAM, "work": ("log", 8, 64), "stores": ("real", 0.0, 1.0)}),
    ),
    "graph": (
        ("gather", {**_LOOKUP, "work": ("log", 8, 200), "hot": ("real", 0.5, 0.98)}),
        ("mixed", {**_LOOKUP, "work": ("log", 8, 64), "hot": ("real", 0.5, 0.98)}),
    ),
    "science": (
        ("stencil", {**_STREAM, "work": ("log", 1, 16)}),
        ("stream", {**_STREAM, "work": ("log", 2, 64), "chains": ("whole", 1, 4),
                    "stores": ("real", 0.0, 1.0)}),
        ("chase", {"bytes": _BYTES, "work": ("log", 200, 1000), "chains": ("log", 1, 8)}),
        ("stride", {"bytes": _BYTES, "work": ("log", 8, 200), "step": [64]}),
    ),
}  # fmt: skip
# CAMP's captured programs: a copy's data are part of a machine of 8 GB per copy, of which the mean
# share of those above is in use.
PROGRAM = "program"
_OF_PROGRAM, _FILLED = 8 * _GB, 0.75


def drawn(seed: int) -> list[Point]:
    """The workloads as points: first kernels, then programs.

    vm_bytes: the machine's memory; filled: the share of it that is in use.
    """
    rng = np.random.default_rng(seed)
    points: list[Point] = []
    for category, kernels in RANGES.items():
        for i in range(_EACH):
            kernel, ranges = kernels[i % len(kernels)]
            settings = drawn_settings(rng, ranges)
            settings["bytes"] = settings["bytes"] // _arrays(kernel, settings) - (2 << 20)
            cores = CORES[i // len(kernels) % len(CORES)]
            data = cores * _data(kernel, settings)
            vm = next(size for size in SIZES if size >= _PAGE_OVERHEAD * data)
            points.append(
                {"category": category, "kernel": kernel, "settings": settings, "cores": cores,
                 "vm_bytes": vm, "filled": data / vm}
            )  # fmt: skip
    return points + [
        {"category": PROGRAM, "program": name, "cores": cores, "vm_bytes": cores * _OF_PROGRAM,
         "filled": _FILLED}
        for name in (*PROGRAMS, *COMMANDS)
        for cores in CORES
    ]  # fmt: skip


def of_each(workloads: list[Point], count: int) -> list[Point]:
    """The first `count` workloads of each generated category."""
    return [w for c in RANGES for w in [w for w in workloads if w["category"] == c][:count]]


def _arrays(kernel: str, settings: dict[str, float]) -> int:
    """Arrays of so many bytes each that a kernel has (sim/core/kernels.cpp)."""
    streams = int(settings.get("chains", 1)) + (settings.get("stores", 0) > 0)
    if kernel in ("stream", "stride"):
        return streams
    if kernel == "mixed":
        return max(2, streams)
    return 2 if kernel in ("gather", "stencil", "sort") else 1


def _data(kernel: str, settings: dict[str, float]) -> int:
    """Bytes that a kernel accesses in the long run. A chase has a power of two of lines."""
    size = int(settings["bytes"])
    return 1 << (size.bit_length() - 1) if kernel == "chase" else _arrays(kernel, settings) * size
