# SPDX-License-Identifier: Apache-2.0
"""Reads traces, as a whole or in batches. The content selects CSV, Parquet or a foreign format."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from anemone.hardware.geometry import Geometry
from anemone.io.errors import Bare, InputError
from anemone.trace.columns import Trace, concatenate, rebatch
from anemone.trace.csvfile import csv_columns, line_blocks
from anemone.trace.foreign import foreign_columns, format_of
from anemone.trace.parquetfile import parquet_columns
from anemone.trace.samples import kind_of

_PARQUET = b"PAR1"
# Compressed texts are refused with a hint; Parquet has its own compression.
_PACKED = {b"\x1f\x8b": ("gzip", "gunzip"), b"\x28\xb5\x2f\xfd": ("zstd", "unzstd"),
           b"\xfd7zXZ\0": ("xz", "unxz")}  # fmt: skip


def batches(
    path: str | os.PathLike,
    geometry: Geometry,
    rows: int = 1 << 20,
    clock_ns: float | None = None,
) -> Iterator[Trace]:
    """The accesses of a trace file in order, in batches of `rows` rows; the last may be shorter.

    Memory use does not depend on the file's length. No batch is empty, and all have the same
    columns.

    path: CSV, Parquet, or a trace of another simulator (foreign.FORMATS); a pipe except for
    Parquet. geometry: the device; addresses are checked against its size. clock_ns: ns of one unit
    of another simulator's clock, so that its rows have gaps. Raises ValueError if `rows` is not
    positive, and InputError when the iterator reaches an error; rows and lines in it are counted in
    the whole file.
    """
    return rebatch(_parts(path, geometry, clock_ns), rows)


def read_trace(path: str | os.PathLike, geometry: Geometry) -> Trace:
    """The whole trace of a file. Raises InputError."""
    return concatenate(_parts(path, geometry))


def _parts(
    path: str | os.PathLike, geometry: Geometry, clock_ns: float | None = None
) -> Iterator[Trace]:
    """A trace file in batches of a size that suits its format, with at least one row in total."""
    rows = 0
    try:
        with Path(path).open("rb") as file:
            head = file.read(len(_PARQUET))
            blocks = iter(()) if head == _PARQUET else line_blocks(head, file)
            first = next(blocks, b"")
            if samples := kind_of(first):
                allowed = "accesses: samples give hit ratios, by anemone tier, and nothing else"
                raise InputError(path, "file", "content", Bare(f"samples of {samples}"), allowed)
            for magic, (by, undo) in _PACKED.items():
                if first.startswith(magic):
                    what = Bare(f"compressed by {by}")
                    raise InputError(path, "file", "content", what, f"what {undo} gives")
            kind = format_of(path, first)
            if kind:
                parts = foreign_columns(path, kind, chain([first], blocks), geometry, clock_ns)
            elif clock_ns is not None:
                allowed = "a trace of another simulator: this one says ns itself"
                raise InputError("command line", "options", "--clock-ns", clock_ns, allowed)
            elif head == _PARQUET:
                parts = parquet_columns(path, file, geometry)
            else:
                parts = csv_columns(path, first, blocks, geometry)
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
