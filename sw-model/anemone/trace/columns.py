# SPDX-License-Identifier: Apache-2.0
"""The table of a trace's columns, and the class that holds their arrays.

A column's type, allowed values and error text are only declared here. The readers of both formats
use this table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from enum import IntEnum

import numpy as np

from anemone.hardware.geometry import Geometry
from anemone.io.errors import MISSING, InputError

# Kinds of accesses that telemetry sources distinguish; a name's position is its code.
KINDS = ("load", "rfo", "prefetch", "writeback", "nt")
_U64 = (1 << 64) - 1


class Form(IntEnum):
    """How a value is written; csvscan uses the same codes."""

    NUMBER = 0  # an integer; in CSV decimal or 0x
    FLAG = 1  # 0 or 1; in CSV also true or false; in Parquet also a boolean
    REAL = 2  # a finite number of at least 0; in CSV decimal, with fraction or exponent
    WORD = 3  # one of KINDS; in Parquet a string or dictionary column


@dataclass(frozen=True)
class Column:
    """A column of a trace.

    dtype: of its array. maximum: the largest value of form NUMBER; None for the device's last byte.
    words: the allowed values for error messages; {last} and {gib} stand for the device's size.
    """

    dtype: type[np.generic]
    form: Form
    words: str
    maximum: int | None = _U64
    required: bool = False

    def largest(self, geometry: Geometry) -> int:
        """The largest value of form NUMBER."""
        return geometry.device_bytes - 1 if self.maximum is None else self.maximum

    def allowed(self, geometry: Geometry) -> str:
        """The allowed values, as text."""
        size = {"last": f"{geometry.device_bytes - 1:#x}", "gib": geometry.device_gib}
        return self.words.format(**size)


_FLAG = "0, 1, true or false"
_U16_WORDS = "a whole number of 0 to 65535"
_U64_WORDS = "a whole number of 0 to 2^64 - 1"
_KIND_WORDS = f"{', '.join(KINDS[:-1])} or {KINDS[-1]}"

COLUMNS = {
    "addr": Column(np.uint64, Form.NUMBER, "0 to {last} ({gib} GiB), decimal or 0x", None, True),
    "write": Column(np.bool_, Form.FLAG, _FLAG, 1, True),
    "time_ns": Column(np.uint64, Form.NUMBER, _U64_WORDS),
    "tenant": Column(np.uint16, Form.NUMBER, _U16_WORDS, 0xFFFF),
    "thread": Column(np.uint16, Form.NUMBER, _U16_WORDS, 0xFFFF),
    "gap_ns": Column(np.float64, Form.REAL, "a finite number of 0 or more"),
    "dep": Column(np.bool_, Form.FLAG, _FLAG, 1),
    "kind": Column(np.uint8, Form.WORD, _KIND_WORDS),
    "op": Column(np.uint64, Form.NUMBER, _U64_WORDS),
}
REQUIRED = tuple(name for name, column in COLUMNS.items() if column.required)
OPTIONAL = tuple(name for name, column in COLUMNS.items() if not column.required)
_KNOWN = f"the columns {', '.join(REQUIRED)} and optionally {', '.join(OPTIONAL)}, each once"


def check_names(path: object, place: str, names: list[str]) -> None:
    """Raise InputError unless all names are known, distinct, and include the required ones."""
    for i, name in enumerate(names):
        if name not in COLUMNS or name in names[:i]:
            raise InputError(path, place, "column", name, _KNOWN)
    for name in REQUIRED:
        if name not in names:
            raise InputError(path, place, f"column {name}", MISSING, _KNOWN)


@dataclass(frozen=True, eq=False)
class Trace:
    """Accesses in the order in which they reach the device: one array of length n per column.

    addr: uint64[n], device byte addresses. write: bool[n]. The following are None if the trace does
    not have the column. time_ns: uint64[n], time on the trace's clock. tenant: uint16[n], owner of
    the access. thread: uint16[n], its thread. gap_ns: float64[n], compute time of the thread before
    it. dep: bool[n], whether it waits for the thread's previous read. kind: uint8[n], positions in
    KINDS. op: uint64[n], number of its request.
    """

    addr: np.ndarray
    write: np.ndarray
    time_ns: np.ndarray | None = None
    tenant: np.ndarray | None = None
    thread: np.ndarray | None = None
    gap_ns: np.ndarray | None = None
    dep: np.ndarray | None = None
    kind: np.ndarray | None = None
    op: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.addr)

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """The columns that the trace has, by name, in the order of COLUMNS."""
        return {f.name: c for f in fields(self) if (c := getattr(self, f.name)) is not None}

    def part(self, first: int, last: int) -> Trace:
        """Rows first to last (exclusive), as views of this trace's arrays."""
        return Trace(**{name: column[first:last] for name, column in self.columns.items()})


def concatenate(traces: Iterable[Trace]) -> Trace:
    """Join traces. Raises ValueError if their columns differ. A single trace is not copied."""
    parts = [trace.columns for trace in traces]
    if len({tuple(part) for part in parts}) != 1:
        raise ValueError("traces to concatenate: none, or some without columns of others")
    if len(parts) == 1:
        return Trace(**parts[0])
    # pop() frees a column's parts before the next column is joined, to limit memory.
    return Trace(**{n: np.concatenate([part.pop(n) for part in parts]) for n in list(parts[0])})


def rebatch(traces: Trace | Iterable[Trace], rows: int) -> Iterator[Trace]:
    """The accesses of one or several traces in batches of `rows` rows; the last may be shorter.

    No batch is empty. A batch that is within one trace consists of views. Memory use is one batch
    and one of `traces`. Raises ValueError if `rows` is not positive, and, at the batch, if columns
    differ.
    """
    if rows < 1:
        raise ValueError(f"batches of {rows} rows: at least 1")
    return _rebatch([traces] if isinstance(traces, Trace) else traces, rows)


def _rebatch(traces: Iterable[Trace], rows: int) -> Iterator[Trace]:
    kept: list[Trace] = []
    held = 0  # rows in `kept`
    for trace in traces:
        at = 0
        while held + len(trace) - at >= rows:
            end = at + rows - held
            yield concatenate([*kept, trace.part(at, end)])
            kept, held, at = [], 0, end
        if at < len(trace):
            kept.append(trace.part(at, len(trace)))
            held += len(trace) - at
    if kept:
        yield concatenate(kept)
