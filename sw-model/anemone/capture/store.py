# SPDX-License-Identifier: Apache-2.0
"""Writes captures as Parquet: traces, with their origin in the metadata, and instructions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anemone.capture.run import Capture
from anemone.io.errors import InputError
from anemone.io.outputs import unwritable
from anemone.trace.columns import KINDS

if TYPE_CHECKING:
    import pyarrow as pa

METADATA = b"anemone.capture"
# Measured on the four samples, in bits per event after zstd: addresses take 0.3 to 16 as byte
# streams and 7 to 18 plain; times take 0.1 to 7 as differences and 15 to 21 plain.
_ENCODING = {"addr": "BYTE_STREAM_SPLIT", "write": "RLE", "time_ns": "DELTA_BINARY_PACKED"}
_MORE_ENCODING = {"dep": "RLE", "op": "DELTA_BINARY_PACKED"}
_ROWS = 1 << 20  # rows in a row group
_LEVEL = 19


def write(capture: Capture, path: Path, origin: dict[str, Any]) -> int:
    """Write a trace to `path` atomically. Returns its size in bytes. Raises InputError.

    origin: written to the file's metadata as JSON.
    """
    import pyarrow as pa

    more = {name: pa.array(column) for name, column in capture.more.items()}
    if "kind" in more:
        more["kind"] = pa.DictionaryArray.from_arrays(more["kind"], pa.array(KINDS))
    table = pa.table(
        {
            "addr": pa.array(capture.addr, pa.uint64()),
            "write": pa.array(capture.write, pa.bool_()),
            "time_ns": pa.array(capture.time_ns, pa.uint64()),
            "tenant": pa.array(capture.tenant, pa.uint16()),
            **more,
        }
    )
    encoding = {**_ENCODING, **{n: e for n, e in _MORE_ENCODING.items() if n in more}}
    dictionary = ["tenant", *(name for name in ("thread", "gap_ns", "kind") if name in more)]
    return _write(table, path, origin, encoding, dictionary)


def write_instructions(
    rows: np.ndarray, operations: np.ndarray, path: Path, origin: dict[str, Any]
) -> int:
    """Write instructions (program.py's arrays) like `write`, one row each. Their loads and stores
    are lists of addresses, of sizes in bytes, and of whether they are stores.
    """
    import pyarrow as pa

    offsets = pa.array(np.append(rows["first"], len(operations)).astype(np.int32))

    def lists(values: np.ndarray) -> pa.ListArray:
        return pa.ListArray.from_arrays(offsets, pa.array(values))

    names = ("thread", "pc", "bytes", "branch", "address_registers", "reads", "writes")
    columns = {name: pa.array(rows[name]) for name in names}
    columns["branch"] = pa.array(rows["branch"] != 0)
    columns["address"] = lists(operations["address"])
    columns["size"] = lists(operations["bytes"].astype(np.uint8))
    columns["store"] = lists(operations["store"] != 0)
    return _write(pa.table(columns), path, origin, None, True)


def _write(
    table: pa.Table,
    path: Path,
    origin: dict[str, Any],
    encoding: dict[str, str] | None,
    dictionary: list[str] | bool,
) -> int:
    import pyarrow.parquet as pq

    metadata = {METADATA: json.dumps(origin, sort_keys=True).encode()}
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("wb") as file:  # an open file, since pyarrow takes only UTF-8 names
                pq.write_table(
                    table.replace_schema_metadata(metadata),
                    file,
                    compression="zstd",
                    compression_level=_LEVEL,
                    use_dictionary=dictionary,
                    column_encoding=encoding,
                    row_group_size=_ROWS,
                )
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as e:
        raise unwritable(path, e) from e
    return path.stat().st_size


def origin_of(path: Path) -> dict[str, Any]:
    """The origin in a file that `write` wrote. Raises InputError if it has none."""
    import pyarrow.parquet as pq

    metadata = pq.read_schema(path).metadata or {}
    if METADATA not in metadata:
        raise InputError(path, "metadata", METADATA.decode(), "missing", "a captured trace")
    return json.loads(metadata[METADATA])


def columns_equal(a: Path, b: Path) -> bool:
    """Whether two files have the same rows, independent of their encoding."""
    import pyarrow.parquet as pq

    left, right = pq.read_table(a), pq.read_table(b)
    return left.column_names == right.column_names and all(
        left[n].equals(right[n]) for n in left.column_names
    )
