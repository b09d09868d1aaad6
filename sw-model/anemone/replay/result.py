# SPDX-License-Identifier: Apache-2.0
"""The result of a replay on either backend, and its output files in a canonical form."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from anemone.io.outputs import ROW_GROUP, parquet_writer, write_files, write_json

FILES = ("states.parquet", "reads.parquet", "report.json")


@dataclass(frozen=True)
class Counters:
    """A pipeline's counts of events; docs/golden-model.md defines them."""

    name: str
    matched: int = 0
    unmapped: int = 0
    out_of_range: int = 0
    notifications: int = 0


@dataclass(frozen=True, eq=False)
class States:
    """Non-zero counters at the end, one per row.

    rule: uint16, position of the rule in the rule file. index: uint64, counter within the channel.
    channel: uint8. value: uint64.
    """

    rule: np.ndarray
    index: np.ndarray
    channel: np.ndarray
    value: np.ndarray

    def __post_init__(self) -> None:
        _settle(self)

    def __len__(self) -> int:
        return len(self.rule)


@dataclass(frozen=True, eq=False)
class Reads:
    """Non-zero counters from the periodic reads, one per row, with values before the effect.

    Columns of States, and event: uint64, the number of events before the read.
    """

    rule: np.ndarray
    event: np.ndarray
    index: np.ndarray
    channel: np.ndarray
    value: np.ndarray

    def __post_init__(self) -> None:
        _settle(self)

    def __len__(self) -> int:
        return len(self.rule)


_TYPES = {
    "rule": np.uint16, "event": np.uint64, "index": np.uint64,
    "channel": np.uint8, "value": np.uint64,
}  # fmt: skip


def _settle(rows: States | Reads) -> None:
    """Convert columns to their types, and sort rows by rule, event, index, channel."""
    columns = {}
    for f in fields(rows):
        columns[f.name] = np.ascontiguousarray(getattr(rows, f.name), dtype=_TYPES[f.name])
    if len({c.shape for c in columns.values()}) != 1 or columns["rule"].ndim != 1:
        raise ValueError("columns of a result differ in length")
    order = ("rule", "event", "index", "channel")
    keys = [columns[name] for name in order if name in columns]
    if not _ascending(keys):
        by = np.lexsort(keys[::-1])
        columns = {name: column[by] for name, column in columns.items()}
    for name, column in columns.items():
        object.__setattr__(rows, name, column)


def _ascending(keys: list[np.ndarray]) -> bool:
    """Whether the rows are already sorted. The model's are, and sorting would triple the memory."""
    for at in range(0, max(len(keys[0]) - 1, 0), ROW_GROUP):
        tied = np.ones(min(ROW_GROUP, len(keys[0]) - 1 - at), bool)
        for key in keys:
            a, b = key[at : at + len(tied)], key[at + 1 : at + 1 + len(tied)]
            if np.any(tied & (a > b)):
                return False
            tied &= a == b
    return True


@dataclass(frozen=True, eq=False)
class Result:
    """The result of a replay.

    states, reads: in canonical order. counters: one per rule, in the order of the rule file.
    events: rows of the trace. cycles: clock cycles of the RTL, 0 for the model. seconds: wall-clock
    time of the replay alone, without building, reading and writing.
    """

    states: States
    reads: Reads
    counters: Sequence[Counters]
    events: int
    cycles: int
    seconds: float

    @property
    def report(self) -> dict:
        """The content of report.json."""
        rules = [asdict(c) for c in self.counters]
        speed = round(self.events / self.seconds, 1) if self.seconds > 0 else 0.0
        return {
            "events": self.events,
            "rules": rules,
            "cycles": self.cycles,
            "events_per_second": speed,
        }


def no_reads() -> Reads:
    """The reads of a replay without read_every."""
    empty = np.empty(0)
    return Reads(empty, empty, empty, empty, empty)


def differences(a: Result, b: Result) -> list[str]:
    """The differences of two replays of a trace, as text; empty if they are equal.

    Cycles and speed may differ. Only the first difference of each kind is reported.
    """
    differing = []
    if a.events != b.events:
        differing.append(f"events: {a.events} and {b.events}")
    if len(a.counters) != len(b.counters):
        differing.append(f"rules: {len(a.counters)} and {len(b.counters)}")
    pairs = zip(a.counters, b.counters, strict=False)
    differing += [f"counters: {x} and {y}" for x, y in pairs if x != y]
    for kind in ("states", "reads"):
        x, y = getattr(a, kind), getattr(b, kind)
        names = [f.name for f in fields(x)]
        n = min(len(x), len(y))
        unlike = np.zeros(n, bool)
        for name in names:
            unlike |= getattr(x, name)[:n] != getattr(y, name)[:n]
        first = int(np.argmax(unlike)) if unlike.any() else n
        if len(x) != len(y):
            differing.append(f"{kind}: {len(x)} and {len(y)} non-zero values")
        if first < max(len(x), len(y)):
            rows = [
                {k: int(getattr(r, k)[first]) for k in names} if first < len(r) else "no row"
                for r in (x, y)
            ]
            differing.append(f"{kind}: row {first + 1}: {rows[0]} and {rows[1]}")
    return differing


def write(result: Result, out: str | os.PathLike) -> None:
    """Write states.parquet, reads.parquet and report.json to the folder `out`, all or none
    (anemone.io.outputs). Raises InputError if `out` cannot be written.
    """
    write_files(
        out,
        {
            "states.parquet": lambda path: _write_rows(path, result, result.states),
            "reads.parquet": lambda path: _write_rows(path, result, result.reads),
            "report.json": lambda path: write_json(path, result.report),
        },
    )


def _write_rows(path: Path, result: Result, rows: States | Reads) -> None:
    """Write one Parquet file with rules by name, one row group at a time to limit memory."""
    import pyarrow as pa

    names = pa.array([c.name for c in result.counters], pa.string())
    columns = [f.name for f in fields(rows)]
    types = {"rule": pa.string(), "channel": pa.uint8()}
    schema = pa.schema([(name, types.get(name, pa.uint64())) for name in columns])
    with parquet_writer(path, schema, ["rule", "channel"]) as writer:
        for at in range(0, len(rows), ROW_GROUP):
            part = {c: getattr(rows, c)[at : at + ROW_GROUP] for c in columns}
            rule = names.take(pa.array(part.pop("rule")))
            rest = [pa.array(part[c], schema.field(c).type) for c in columns[1:]]
            writer.write_table(pa.table([rule, *rest], schema=schema), row_group_size=ROW_GROUP)
