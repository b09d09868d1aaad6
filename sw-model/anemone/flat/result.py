# SPDX-License-Identifier: Apache-2.0
"""What flat memory mode made of a trace, whichever backend ran it, and how it is written."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from anemone.io.outputs import ROW_GROUP, parquet_writer, write_files, write_json

FILES = ("sets.parquet", "report.json")
# Of an access; the codes are the hardware's, too.
HIT, MISS, SWAP, DEDICATED = range(4)  # MISS: one that does not swap


@dataclass
class Counts:
    """What accesses were, and what they asked near and far memory for (accesses of a line).

    swaps: those of the misses that swapped. An access to dedicated memory is neither hit nor miss.
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
    """The outcome of a trace.

    sets uint64[m], tags uint8[m]: the sets whose near line has not tag 0 at the end, ascending, and
    the tag that it has. outcomes: uint8[n], HIT, MISS, SWAP or DEDICATED by access.
    mismatches: reads whose data were not those last written. cycles: clock cycles the RTL took, and
    forwarded: accesses that a swap in flight spared its ports; the model has neither, so 0.
    seconds: wall-clock time of the accesses alone, without building, reading or writing.
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
        """The contents of report.json."""
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
    """Where two runs of one trace differ, in words; empty when they are equal.

    Cycles, speed and what was forwarded may differ.
    """
    said = [
        f"{f.name}: {x} and {y}"
        for f in fields(Counts)
        if (x := getattr(a.counts, f.name)) != (y := getattr(b.counts, f.name))
    ]
    if a.mismatches != b.mismatches:
        said.append(f"mismatches: {a.mismatches} and {b.mismatches}")
    for name in ("outcomes", "sets", "tags"):
        x, y = getattr(a, name), getattr(b, name)
        if len(x) != len(y):
            said.append(f"{name}: {len(x)} and {len(y)} of them")
        n = min(len(x), len(y))
        unlike = np.flatnonzero(x[:n] != y[:n])
        if len(unlike):
            at = unlike[0]
            said.append(f"{name}: number {at + 1} is {x[at]} and {y[at]}")
    return said


def write(result: FlatResult, out: str | os.PathLike) -> None:
    """Write sets.parquet and report.json into the folder `out`.

    All at once (anemone.io.outputs). Raises InputError if `out` cannot be written.
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
