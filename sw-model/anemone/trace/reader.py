# SPDX-License-Identifier: Apache-2.0
"""Traces: one row a 64 B memory access, in the order it reaches the device; CSV or Parquet.

Both formats have the columns addr (device byte address) and write (0, 1, true, false), and may
have time_ns (nanoseconds) and tenant (0 to 65535). Which format a file is in, its content says.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from anemone.hardware.geometry import Geometry
from anemone.io.errors import MISSING, Bare, InputError

COLUMNS = {"addr": np.uint64, "write": np.bool_, "time_ns": np.uint64, "tenant": np.uint16}
REQUIRED = ("addr", "write")
_KNOWN = "the columns addr, write and optionally time_ns, tenant, each once"
_HEADER = "a header line addr,write[,time_ns][,tenant], or a Parquet file"
_MOST = 1 << 16  # bytes of a header line


@dataclass(frozen=True, eq=False)
class Trace:
    """Accesses in order: addr uint64[n], bytes; write bool[n]; time_ns uint64[n]; tenant uint16[n].

    The last two are None where the file has no such column.
    """

    addr: np.ndarray
    write: np.ndarray
    time_ns: np.ndarray | None = None
    tenant: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.addr)


def read_trace(path: str | os.PathLike, geometry: Geometry) -> Trace:
    """Read a trace; every address is checked against the device. Raises InputError."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(_MOST)
            if head[:4] == b"PAR1":
                columns = _read_parquet(path, file, geometry)
            else:
                if file.seekable():  # only a pipe's text need be in memory twice
                    file.seek(0)
                    head = b""
                columns = _read_csv(path, head + file.read(), geometry)
    except (OSError, ValueError) as e:
        if isinstance(e, InputError):
            raise
        why = Bare(getattr(e, "strerror", None) or str(e))
        raise InputError(path, "file", "content", why, "a trace that can be read") from e
    if not len(columns["addr"]):
        raise InputError(path, "file", "trace", Bare("empty"), "at least one row")
    return Trace(**columns)


def _allowed(name: str, geometry: Geometry) -> str:
    """What a column may hold, in words."""
    return {
        "addr": f"0 to {geometry.device_bytes - 1:#x} ({geometry.device_gib} GiB), decimal or 0x",
        "write": "0, 1, true or false",
        "time_ns": "a whole number of 0 to 2^64 - 1",
        "tenant": "a whole number of 0 to 65535",
    }[name]


def _most(name: str, geometry: Geometry) -> int:
    """The largest value of a column."""
    most = {"addr": geometry.device_bytes - 1, "write": 1, "tenant": 0xFFFF}
    return most.get(name, (1 << 64) - 1)


def _check_names(path: object, place: str, names: list[str], allowed: str) -> None:
    for i, name in enumerate(names):
        if name not in COLUMNS or name in names[:i]:
            raise InputError(path, place, "column", name, allowed)
    for name in REQUIRED:
        if name not in names:
            raise InputError(path, place, f"column {name}", MISSING, allowed)


# --- CSV ---------------------------------------------------------------------------------------


def _read_csv(path: object, data: bytes, geometry: Geometry) -> dict[str, np.ndarray]:
    from anemone.trace.csvscan import BAD, FEW, count_lines, scan

    if not data:
        raise InputError(path, "file", "size", Bare("0 bytes"), _HEADER)
    header, _, _ = data[:_MOST].removeprefix(b"\xef\xbb\xbf").partition(b"\n")
    try:
        text = header.decode("ascii")
    except UnicodeDecodeError as e:
        raise InputError(path, "line 1", "header", repr(header[:40])[2:-1], _HEADER) from e
    names = [name.strip().strip('"') for name in text.split(",")]
    if not set(names) & set(COLUMNS):
        raise InputError(path, "line 1", "header", text, _HEADER)
    _check_names(path, "line 1", names, _KNOWN)

    raw = np.frombuffer(data, np.uint8)
    start = data.find(b"\n") + 1 or len(data)
    rows = int(count_lines(raw, start))
    columns = {name: np.zeros(rows if name in names else 0, t) for name, t in COLUMNS.items()}
    kinds = np.array([list(COLUMNS).index(name) for name in names], np.int64)
    most = np.array([_most(name, geometry) for name in COLUMNS], np.uint64)
    row, line, error, column, first, last = scan(raw, start, kinds, most, *columns.values())
    if error:
        place = f"row {row + 1} (line {line})"
        value: Any = data[first:last].decode("utf-8", "backslashreplace")
        if error == BAD:
            name = names[column]
            raise InputError(path, place, name, value, _allowed(name, geometry))
        fields = f"{len(names)} fields, {','.join(names)}"
        if error == FEW:
            raise InputError(path, place, names[column], MISSING, fields)
        raise InputError(path, place, f"field {column + 1}", value, fields)
    return {name: columns[name][:row] for name in names}


# --- Parquet -----------------------------------------------------------------------------------


def _read_parquet(path: object, file: BinaryIO, geometry: Geometry) -> dict[str, np.ndarray]:
    import pyarrow as pa

    if not file.seekable():
        allowed = "a file, as Parquet is read from its end; through a pipe CSV"
        raise InputError(path, "file", "Parquet", Bare("a pipe"), allowed)
    parts: dict[str, list[np.ndarray]] = {}
    row = 0
    for batch in _batches(path, file):
        if not parts:
            _check_names(path, "schema", batch.schema.names, _KNOWN)
            for field in batch.schema:
                flag = field.name == "write" and pa.types.is_boolean(field.type)
                if not (pa.types.is_integer(field.type) or flag):
                    kind = "a boolean or integer" if field.name == "write" else "an integer"
                    found = Bare(f"of type {field.type}")
                    raise InputError(path, "schema", field.name, found, f"{kind} column")
            parts = {name: [] for name in batch.schema.names}
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            parts[name].append(_column(path, row, name, column, geometry))
        row += batch.num_rows
    return {name: np.concatenate(p) for name, p in parts.items()}


def _batches(path: object, content: BinaryIO) -> Iterator[Any]:
    """Batches of a Parquet file, at least one (perhaps empty); all its failures as InputError.

    content: the open file, for pyarrow takes no name that is not UTF-8.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(content, page_checksum_verification=True) as file:
            yield pa.RecordBatch.from_pylist([], schema=file.schema_arrow)
            yield from file.iter_batches(1 << 20)
    except InputError:
        raise
    # What a decoder raises on a corrupt file is anybody's guess; it is a bad file all the same.
    except Exception as e:
        why = Bare("damaged: " + (str(e).splitlines() or [type(e).__name__])[0])
        raise InputError(path, "file", "Parquet", why, "a complete Parquet file") from e


def _column(path: object, before: int, name: str, column: Any, geometry: Geometry) -> np.ndarray:
    """One batch of a column as its own type, or the first row that will not go."""
    if column.null_count:
        at = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        value: Any = Bare("null")
    else:
        values = column.to_numpy(zero_copy_only=False)
        bad = values < 0 if values.dtype.kind == "i" else np.zeros(len(values), bool)
        # A signed column cannot hold what it cannot hold: compare as unsigned where it is not < 0.
        bad = bad | (values.astype(np.uint64) > np.uint64(_most(name, geometry)))
        if not bad.any():
            return values.astype(COLUMNS[name])
        at = int(np.argmax(bad))
        value = int(values[at])
    raise InputError(path, f"row {before + at + 1}", name, value, _allowed(name, geometry))
