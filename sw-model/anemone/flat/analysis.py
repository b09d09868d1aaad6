# SPDX-License-Identifier: Apache-2.0
"""Runs a trace in flat memory mode with near memory of half its footprint, and compares results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from anemone.backends import NAMES
from anemone.flat.config import FlatConfig, load_config
from anemone.flat.placement import PLACEMENTS, place
from anemone.flat.recount import recount
from anemone.flat.replay import run
from anemone.flat.result import HIT, FlatResult, differences, write
from anemone.hardware.geometry import LINE_BYTES, Geometry
from anemone.io.outputs import write_files
from anemone.trace import Trace
from anemone.trace.pages import tenants

Step = Callable[[str, int, int], None]  # progress callback: (task, work done, all work)


@dataclass(frozen=True)
class PlacedRun:
    """A trace with one placement of its pages.

    results: by backend; the hardware's is first if it ran. agreed: differences of the backends,
    None if only one ran. counted: differences of the first backend from a direct count of the
    trace.
    """

    placement: str
    config: FlatConfig
    results: dict[str, FlatResult]
    agreed: list[str] | None
    counted: list[str]

    @property
    def first(self) -> FlatResult:
        return next(iter(self.results.values()))

    @property
    def complaints(self) -> list[str]:
        """All errors and differences, as text."""
        wrong = [
            f"{NAMES[backend]}: {result.mismatches:,} reads of wrong lines"
            for backend, result in self.results.items()
            if result.mismatches
        ]
        agreed = [f"RTL and model: {line}" for line in self.agreed or []]
        return [*wrong, *agreed, *(f"output and trace: {line}" for line in self.counted)]

    @property
    def good(self) -> bool:
        return not self.complaints

    @property
    def hit_rate(self) -> float:
        return float(np.mean(self.first.outcomes == HIT)) if len(self.first.outcomes) else 0.0

    def hit_rates(self, of: np.ndarray, count: int, among: np.ndarray | None = None) -> np.ndarray:
        """The hit rate of each group, float64[count]; 0 for a group without accesses.

        of: int64[n], the group of each access. among: bool[n], the accesses to count.
        """
        hit = self.first.outcomes == HIT
        if among is not None:
            of, hit = of[among], hit[among]
        return np.bincount(of, hit, count) / np.maximum(np.bincount(of, minlength=count), 1)

    @property
    def near_bytes(self) -> int:
        return self.config.near_lines * LINE_BYTES


def placements(trace: Trace) -> tuple[str, ...]:
    """The placements that make a difference: with a single tenant there are no conflicts."""
    return PLACEMENTS if len(tenants(trace)) > 1 else PLACEMENTS[:1]


def run_flat(
    name: str, trace: Trace, folder: Path, backends: Sequence[str], geometry: Geometry, step: Step
) -> list[PlacedRun]:
    """Run a trace in each placement on each backend; results go to folder/PLACEMENT."""
    return [_run(name, trace, p, folder / p, backends, geometry, step) for p in placements(trace)]


def _run(
    name: str,
    trace: Trace,
    placement: str,
    folder: Path,
    backends: Sequence[str],
    geometry: Geometry,
    step: Step,
) -> PlacedRun:
    placed = place(trace, placement)
    write_files(
        folder,
        {
            "flat.toml": lambda path: path.write_text(
                f"# Half of what the trace {name} touches, {placement}; made by anemone sim\n"
                f"near_lines = {placed.config.near_lines}\n",
                encoding="utf-8",
            ),
            "trace.parquet": lambda path: _write_trace(path, placed.trace),
        },
    )
    config = load_config(folder / "flat.toml", geometry)  # through the same loader as a user's file
    results: dict[str, FlatResult] = {}
    for backend in backends:
        what = f"{name}, flat, {placement}, on the {NAMES[backend]}"
        step(what, 0, 1)
        results[backend] = run(
            config,
            placed.trace,
            backend,
            geometry,
            lambda done, total, w=what: step(w, done, total),
            folder / "trace.parquet",
        )
        write(results[backend], folder / backend)
        step(what, 1, 1)
    agreed = differences(*results.values()) if len(backends) == 2 else None
    counted = differences(results[backends[0]], recount(config, placed.trace))
    return PlacedRun(placement, config, results, agreed, counted)


def _write_trace(path: Path, trace: Trace) -> None:
    columns = {"addr": trace.addr, "write": trace.write.astype(bool)}
    columns |= {
        name: column
        for name in ("time_ns", "tenant")
        if (column := getattr(trace, name)) is not None
    }
    pq.write_table(pa.table(columns), path, compression="zstd")
