# SPDX-License-Identifier: Apache-2.0
"""The result of a trace in flat memory mode on either backend, and its output files."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from anemone.io.outputs import ROW_GROUP, parquet_writer, write_files, write_json

FILES = ("sets.parquet", "report.json")
# Outcomes of an access, with the hardware's codes.
HIT, MISS, SWAP, DEDICATED = range(4)  # MISS: one that does not swap


@dataclass
class Counts:
    """Outcomes of accesses, and the line accesses of near and far memory that they required.

    swaps: misses that swapped. An access to dedicated memory is neither hit nor miss.
    """

    hits: int = 0
    misses: int = 0
    swaps: int = 0
    near_reads: int = 0
    near_writes: int = 0
    far_reads: int = 0
    far_writes: int = 0


@dataclass(frozen=True, eq=False)
class FlatResult:
    """The result of a trace.

    sets: uint64[m], tags: uint8[m]: the sets whose near line does not have tag 0 at the end,
    ascending, and its tag. outcomes: uint8[n], HIT, MISS, SWAP or DEDICATED for each access.
    mismatches: reads that did not return the data last written. cycles: clock cycles of the RTL;
    forwarded: port accesses that were served from a swap in flight instead; both are 0 for the
    model. seconds: wall-clock time of the accesses alone, without building, reading and writing.
    """

    counts: Counts
    sets: np.ndarray
    tags: np.ndarray
    outcomes: np.ndarray
    mismatches: int
    seconds: float
    cycles: int = 0
    forwarded: int = 0

    @property
    def report(self) -> dict:
        """The content of report.json."""
        accesses = len(self.outcomes)
        return {
            "accesses": accesses,
            **asdict(self.counts),
            "mismatches": self.mismatches,
            "cycles": self.cycles,
            "forwarded": self.forwarded,
            "accesses_per_second": round(accesses / self.seconds, 1) if self.seconds > 0 else 0.0,
        }


def differences(a: FlatResult, b: FlatResult) -> list[str]:
    """The differences of two runs of a trace, as text; empty if they are equal.

    Cycles, speed and forwarded accesses may differ.
    """
    differing = [
        f"{f.name}: {x} and {y}"
        for f in fields(Counts)
        if (x := getattr(a.counts, f.name)) != (y := getattr(b.counts, f.name))
    ]
    if a.mismatches != b.mismatches:
        differing.append(f"mismatches: {a.mismatches} and {b.mismatches}")
    for name in ("outcomes", "sets", "tags"):
        x, y = getattr(a, name), getattr(b, name)
        if len(x) != len(y):
            differing.append(f"{name}: {len(x)} and {len(y)} of them")
        n = min(len(x), len(y))
        unlike = np.flatnonzero(x[:n] != y[:n])
        if len(unlike):
            at = unlike[0]
            differing.append(f"{name}: number {at + 1} is {x[at]} and {y[at]}")
    return differing


def write(result: FlatResult, out: str | os.PathLike) -> None:
    """Write sets.parquet and report.json to the folder `out`, both or none (anemone.io.outputs).

    Raises InputError if `out` cannot be written.
    """
    write_files(
        out,
        {
            "sets.parquet": lambda path: _write_sets(path, result),
            "report.json": lambda path: write_json(path, result.report),
        },
    )


def _write_sets(path: Path, result: FlatResult) -> None:
    import pyarrow as pa

    schema = pa.schema([("set", pa.uint64()), ("tag", pa.uint8())])
    rows = pa.table([pa.array(result.sets), pa.array(result.tags)], schema=schema)
    with parquet_writer(path, schema, ["tag"]) as writer:
        writer.write_table(rows, row_group_size=ROW_GROUP)
