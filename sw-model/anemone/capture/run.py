# SPDX-License-Identifier: Apache-2.0
"""Runs a captured program, reads the lines that left its cache, and merges a sample's tenants."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from anemone.capture.samples import Part
from anemone.capture.settings import BASE_PAGE, HUGE_PAGE, LINE, Settings
from anemone.io.errors import Bare, InputError

# Flags in the word of an event's address (sim/capture/filter.hpp).
WRITE, PREFETCH, NON_TEMPORAL = 1 << 63, 1 << 62, 1 << 61
_ADDRESS = NON_TEMPORAL - 1
_EVENT_BYTES = 16

Step = Callable[[int], None]  # progress callback: events so far


@dataclass(frozen=True, eq=False)
class Capture:
    """Lines that left or entered a cache, in order.

    addr: uint64[n], physical byte addresses. write, prefetch, non_temporal: bool[n]. time_ns:
    uint64[n], non-decreasing. tenant: uint16[n]. programs: the totals of each program. more:
    additional columns of a program in QEMU, by name (program.py).
    """

    addr: np.ndarray
    write: np.ndarray
    prefetch: np.ndarray
    non_temporal: np.ndarray
    time_ns: np.ndarray
    tenant: np.ndarray
    programs: dict[str, Any]
    more: dict[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.addr)

    def rows(self, which: np.ndarray) -> dict[str, np.ndarray]:
        """The columns at the given rows."""
        return {name: getattr(self, name)[which] for name in COLUMNS}


COLUMNS = ("addr", "write", "prefetch", "non_temporal", "time_ns", "tenant")


def run(program: Path, part: Part, settings: Settings, step: Step | None = None) -> Capture:
    """Run one captured program to its end. Raises InputError if it fails."""
    arguments = [f"{name}={value}" for name, value in part.arguments.items()]
    with tempfile.TemporaryDirectory(prefix="anemone-capture-") as folder:
        events, totals = Path(folder, "events"), Path(folder, "totals")
        process = subprocess.Popen(
            [part.program, *arguments, f"seed={settings.seed}"],
            executable=program,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={
                "ANEMONE_CAPTURE": settings.text(),
                "ANEMONE_CAPTURE_OUT": str(events),
                "ANEMONE_CAPTURE_TOTALS": str(totals),
            },
        )
        try:
            errors = _watch(process, events, step)
        finally:
            process.kill()
            process.wait()
        if process.returncode or not totals.exists():
            lines = errors.strip().splitlines() or [f"ended with status {process.returncode}"]
            allowed = "a run that ends well"
            raise InputError("capture", part.program, "the program", Bare(lines[-1]), allowed)
        raw = np.fromfile(events, dtype="<u8").reshape(-1, 2)
        totals_and_output = {"said": errors.strip(), **json.loads(totals.read_text())}
    word = raw[:, 0]
    return Capture(
        addr=word & np.uint64(_ADDRESS),
        write=(word & np.uint64(WRITE)) != 0,
        prefetch=(word & np.uint64(PREFETCH)) != 0,
        non_temporal=(word & np.uint64(NON_TEMPORAL)) != 0,
        time_ns=raw[:, 1].copy(),
        tenant=np.full(len(raw), part.tenant, np.uint16),
        programs={part.program: totals_and_output},
    )


def _watch(process: subprocess.Popen[str], events: Path, step: Step | None) -> str:
    """Wait for the end and report progress by the size of the file. Returns the program's
    output.
    """
    while True:
        try:
            errors, _ = process.communicate(timeout=0.2)
            return errors
        except subprocess.TimeoutExpired:
            if step is not None and events.exists():
                step(events.stat().st_size // _EVENT_BYTES)


def merge(captures: list[Capture], events: int) -> Capture:
    """Merge programs on one device by time, until the first of them ends.

    At most `events` rows; at equal times, programs are in their order in the list. Each program has
    its own cache, as with a cache that is partitioned between tenants.
    """
    order = np.argsort(np.concatenate([c.time_ns for c in captures]), kind="stable")
    joined = {n: np.concatenate([getattr(c, n) for c in captures])[order] for n in COLUMNS}
    end = min(c.time_ns[-1] for c in captures if len(c))
    keep = min(int(np.searchsorted(joined["time_ns"], end, side="right")), events)
    programs = {name: totals for c in captures for name, totals in c.programs.items()}
    return Capture(**{n: column[:keep] for n, column in joined.items()}, programs=programs)


def summary(capture: Capture) -> dict[str, Any]:
    """Statistics of a trace; seconds are of the trace's clock."""

    def distinct(unit: int) -> int:
        return len(np.unique(capture.addr // np.uint64(unit)))

    tenants, counts = np.unique(capture.tenant, return_counts=True)
    return {
        "events": len(capture),
        "reads": int((~capture.write).sum()),
        "writes": int(capture.write.sum()),
        "prefetches": int(capture.prefetch.sum()),
        "non_temporal": int(capture.non_temporal.sum()),
        "footprint_bytes": distinct(LINE) * LINE,
        "base_pages": distinct(BASE_PAGE),
        "huge_pages": distinct(HUGE_PAGE),
        "seconds": float(capture.time_ns[-1]) / 1e9 if len(capture) else 0.0,
        "tenants": {str(t): int(n) for t, n in zip(tenants, counts, strict=True)},
        "programs": capture.programs,
    }
