# SPDX-License-Identifier: Apache-2.0
"""Reads traces, whole or in batches: CSV or Parquet. Which of them a file is, its content says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from anemone.hardware.geometry import Geometry
from anemone.io.errors import Bare, InputError
from anemone.trace.columns import Trace, concatenate, rebatch
from anemone.trace.csvfile import csv_columns
from anemone.trace.parquetfile import parquet_columns

_PARQUET = b"PAR1"


def batches(path: str | os.PathLike, geometry: Geometry, rows: int = 1 << 20) -> Iterator[Trace]:
    """The accesses of a trace file in order, `rows` at a time, in memory that its length adds
    nothing to.

    path: CSV or Parquet; CSV may be a pipe. geometry: the device, whose size addresses are checked
    against. Each batch has `rows` rows, but the last, which has those that are left; none is empty,
    and all have the same columns. Raises ValueError if `rows` is not positive; and, when the
    iterator gets there, InputError: rows and lines are those of the whole file.
    """
    return rebatch(_parts(path, geometry), rows)


def read_trace(path: str | os.PathLike, geometry: Geometry) -> Trace:
    """All of a trace file: its `batches` as one. Raises InputError."""
    return concatenate(_parts(path, geometry))


def _parts(path: str | os.PathLike, geometry: Geometry) -> Iterator[Trace]:
    """A trace file in batches of whatever size suits its format; there is a row in one of them."""
    rows = 0
    try:
        with Path(path).open("rb") as file:
            head = file.read(len(_PARQUET))
            if head == _PARQUET:
                parts = parquet_columns(path, file, geometry)
            else:
                parts = csv_columns(path, head, file, geometry)
            for columns in parts:
                rows += len(columns["addr"])
                yield Trace(**columns)
    except (OSError, ValueError) as e:
        if isinstance(e, InputError):
            raise
        why = Bare(getattr(e, "strerror", None) or str(e))
        raise InputError(path, "file", "content", why, "a trace that can be read") from e
    if not rows:
        raise InputError(path, "file", "trace", Bare("empty"), "at least one row")
