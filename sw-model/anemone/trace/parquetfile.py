# SPDX-License-Identifier: Apache-2.0
"""Reads Parquet traces, a batch of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from anemone.hardware.geometry import Geometry
from anemone.io.errors import Bare, InputError
from anemone.trace.columns import COLUMNS, KINDS, Form, check_names

_ROWS = 1 << 20  # rows of a batch
_BUFFER = 1 << 20  # bytes of a column read at a time
_TYPES = {
    Form.NUMBER: "an integer column",
    Form.FLAG: "a boolean or integer column",
    Form.REAL: "a floating-point or integer column",
    Form.WORD: "a column of strings, or a dictionary of them",
}


def parquet_columns(
    path: object, file: BinaryIO, geometry: Geometry
) -> Iterator[dict[str, np.ndarray]]:
    """Yield the columns batch by batch."""
    if not file.seekable():
        allowed = "a file, as Parquet is read from its end; through a pipe CSV"
        raise InputError(path, "file", "Parquet", Bare("a pipe"), allowed)
    rows = -1  # rows before the batch; -1 for the empty first batch, which is only for the schema
    for batch in _batches(path, file):
        if rows < 0:
            _check_schema(path, batch.schema)
            rows = 0
        pairs = zip(batch.schema.names, batch.columns, strict=True)
        yield {name: _column(path, rows, name, column, geometry) for name, column in pairs}
        rows += batch.num_rows


def _batches(path: object, content: BinaryIO) -> Iterator[Any]:
    """Batches of a Parquet file, first an empty one. All failures become InputError.

    content: the open file, because pyarrow only takes names in UTF-8.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # With pre_buffer pyarrow would keep everything that it has read in memory.
        options = {"buffer_size": _BUFFER, "pre_buffer": False}
        with pq.ParquetFile(content, page_checksum_verification=True, **options) as file:
            yield pa.RecordBatch.from_pylist([], schema=file.schema_arrow)
            yield from file.iter_batches(_ROWS)
    except InputError:
        raise
    # A decoder may raise any exception for a corrupt file.
    except Exception as e:
        why = Bare("damaged: " + (str(e).splitlines() or [type(e).__name__])[0])
        raise InputError(path, "file", "Parquet", why, "a complete Parquet file") from e


def _check_schema(path: object, schema: Any) -> None:
    check_names(path, "schema", schema.names)
    for field in schema:
        form = COLUMNS[field.name].form
        if not _suits(field.type, form):
            found = Bare(f"of type {field.type}")
            raise InputError(path, "schema", field.name, found, _TYPES[form])


def _suits(kind: Any, form: Form) -> bool:
    """Whether a column of this pyarrow type can hold values of this form."""
    from pyarrow import types

    if form == Form.WORD:
        if types.is_dictionary(kind):
            kind = kind.value_type
        return types.is_string(kind) or types.is_large_string(kind)
    return (
        types.is_integer(kind)
        or (form == Form.FLAG and types.is_boolean(kind))
        or (form == Form.REAL and types.is_floating(kind))
    )


def _column(path: object, before: int, name: str, column: Any, geometry: Geometry) -> np.ndarray:
    """One batch of a column with its type. Raises InputError for the first invalid row."""
    if column.null_count:
        at = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        value: Any = Bare("null")
    else:
        values, bad = _values(name, column, geometry)
        if not bad.any():
            return values.astype(COLUMNS[name].dtype)
        at = int(np.argmax(bad))
        value = column[at].as_py()
    raise InputError(path, f"row {before + at + 1}", name, value, COLUMNS[name].allowed(geometry))


def _values(name: str, column: Any, geometry: Geometry) -> tuple[np.ndarray, np.ndarray]:
    """(a column without nulls as numbers, which of them are invalid)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    form = COLUMNS[name].form
    if form == Form.WORD:
        codes = pc.index_in(column.cast(pa.string()), pa.array(KINDS))
        bad = codes.is_null().to_numpy(zero_copy_only=False)
        return codes.fill_null(0).to_numpy(), bad
    values = column.to_numpy(zero_copy_only=False)
    if form == Form.REAL:
        return values, ~((values >= 0) & (values < np.inf))
    bad = values < 0 if values.dtype.kind == "i" else np.zeros(len(values), bool)
    # A limit may exceed a signed column's type, so compare non-negative values as unsigned.
    maximum = np.uint64(COLUMNS[name].largest(geometry))
    return values, bad | (values.astype(np.uint64) > maximum)
