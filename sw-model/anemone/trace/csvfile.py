# SPDX-License-Identifier: Apache-2.0
"""Reads CSV traces with pyarrow, a block of whole lines at a time.

If pyarrow refuses a block, csvscan parses it again; it is still in memory, also from a pipe.
csvscan finds the error and its place, or accepts spellings that pyarrow does not know (00 for 0, a
value in quotes, a line of blanks). pyarrow's options are restricted, so that csvscan reads
everything that pyarrow accepts as the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from anemone.hardware.geometry import Geometry
from anemone.io.errors import MISSING, Bare, InputError
from anemone.trace.columns import COLUMNS, KINDS, OPTIONAL, REQUIRED, Form, check_names

_HEADER = (
    f"a header line {','.join(REQUIRED)}[,{'][,'.join(OPTIONAL)}], Parquet, or another's trace"
)
_MAX_HEADER = 1 << 16  # most bytes of a header line
_BLOCK = 4 << 20  # bytes read at a time
_BOM = b"\xef\xbb\xbf"


def csv_columns(
    path: object, first: bytes, blocks: Iterator[bytes], geometry: Geometry
) -> Iterator[dict[str, np.ndarray]]:
    """Yield the columns block by block. first: the block before `blocks`."""
    if not first:
        raise InputError(path, "file", "size", Bare("0 bytes"), _HEADER)
    reader = _Reader(path, _names(path, first), geometry)
    start = first.find(b"\n") + 1 or len(first)
    yield reader.read(first[start:])
    for block in blocks:
        yield reader.read(block)


def line_blocks(head: bytes, file: BinaryIO) -> Iterator[bytes]:
    """A file's text in blocks of whole lines; the last line may lack its end. head: text already
    read.
    """
    kept = [head]
    while piece := file.read(_BLOCK):
        if end := piece.rfind(b"\n") + 1:
            yield b"".join([*kept, piece[:end]])
            kept = []
        kept.append(piece[end:])
    if rest := b"".join(kept):
        yield rest


def _names(path: object, block: bytes) -> list[str]:
    """The column names in the header line."""
    header, _, _ = block[:_MAX_HEADER].removeprefix(_BOM).partition(b"\n")
    try:
        text = header.decode("ascii")
    except UnicodeDecodeError as e:
        raise InputError(path, "line 1", "header", repr(header[:40])[2:-1], _HEADER) from e
    names = [name.strip().strip('"') for name in text.split(",")]
    if not set(names) & set(COLUMNS):
        raise InputError(path, "line 1", "header", text, _HEADER)
    check_names(path, "line 1", names)
    return names


class _Reader:
    """Reads the blocks of one file in order, and tracks the row and line of each block's start."""

    def __init__(self, path: object, names: list[str], geometry: Geometry) -> None:
        import pyarrow as pa
        from pyarrow import csv

        self.path, self.names, self.geometry = path, names, geometry
        self.rows, self.lines = 0, 1  # before the block
        self.maximum = {name: COLUMNS[name].largest(geometry) for name in names}
        types = {Form.FLAG: pa.bool_(), Form.WORD: pa.string()}
        self._read = csv.ReadOptions(column_names=names)
        # csvscan handles quotes, including unpaired ones.
        self._parse = csv.ParseOptions(quote_char=False)
        self._convert = csv.ConvertOptions(
            column_types={
                name: types.get(COLUMNS[name].form) or pa.from_numpy_dtype(COLUMNS[name].dtype)
                for name in names
            },
            null_values=[],
            true_values=["1", "true", "True", "TRUE"],
            false_values=["0", "false", "False", "FALSE"],
            check_utf8=False,
        )

    def read(self, block: bytes) -> dict[str, np.ndarray]:
        """A block's columns. Raises InputError."""
        columns = self._quick(block)
        if columns is None:
            columns = self._exact(block)
        self.rows += len(columns["addr"])
        self.lines += int(np.count_nonzero(np.frombuffer(block, np.uint8) == 10))
        return columns

    def _quick(self, block: bytes) -> dict[str, np.ndarray] | None:
        """A block's columns by pyarrow; None if pyarrow cannot read it exactly."""
        import pyarrow as pa
        from pyarrow import csv

        # pyarrow ends lines at any carriage return and ignores byte order marks anywhere.
        if block.startswith(_BOM) or (
            b"\r" in block and block.count(b"\r") != block.count(b"\r\n")
        ):
            return None
        try:
            table = csv.read_csv(pa.BufferReader(block), self._read, self._parse, self._convert)
        except pa.ArrowInvalid:
            return None
        columns = {name: self._settled(name, table.column(name)) for name in self.names}
        return None if any(c is None for c in columns.values()) else columns

    def _settled(self, name: str, column: Any) -> np.ndarray | None:
        """The values with the column's type; None if a value is not allowed."""
        import pyarrow as pa
        import pyarrow.compute as pc

        form = COLUMNS[name].form
        if form == Form.WORD:
            column = pc.index_in(column, pa.array(KINDS))
            if column.null_count:
                return None
        values = column.to_numpy()
        if form == Form.REAL and not (np.isfinite(values) & ~np.signbit(values)).all():
            return None
        if form == Form.NUMBER and values.max(initial=0) > self.maximum[name]:
            return None
        # Copy, because pyarrow's memory is read-only.
        return values.astype(COLUMNS[name].dtype)

    def _exact(self, block: bytes) -> dict[str, np.ndarray]:
        """A block's columns by csvscan. Raises InputError for the first error."""
        from anemone.trace.csvscan import BAD, FEW, OK, count_lines, scan

        text = np.frombuffer(block, np.uint8)
        forms = np.array([COLUMNS[name].form for name in self.names], np.int64)
        maximum = np.array(list(self.maximum.values()), np.uint64)
        out = np.zeros((len(forms) + 1, int(count_lines(text))), np.uint64)
        row, line, error, field, first, last = scan(text, forms, maximum, out)
        columns = {}
        for at, name in enumerate(self.names):
            done = out[at, : row + (error != OK and at < field)]
            columns[name] = (
                self._reals(name, block, done, out[-1], line)
                if COLUMNS[name].form == Form.REAL
                else done.astype(COLUMNS[name].dtype)
            )
        if error == OK:
            return columns
        value: Any = block[first:last].decode("utf-8", "backslashreplace")
        if error == BAD:
            raise self._wrong(self.names[field], row, line, value)
        fields = f"{len(self.names)} fields, {','.join(self.names)}"
        if error == FEW:
            raise InputError(self.path, self._place(row, line), self.names[field], MISSING, fields)
        raise InputError(self.path, self._place(row, line), f"field {field + 1}", value, fields)

    def _reals(
        self, name: str, block: bytes, places: np.ndarray, lines: np.ndarray, line: int
    ) -> np.ndarray:
        """The numbers at these places of the block. line: the line of a row that is not in `lines`
        yet.
        """
        spans = [(place >> 32, place & 0xFFFF_FFFF) for place in places.tolist()]
        values = np.array([float(block[first:last]) for first, last in spans], np.float64)
        if (endless := np.isinf(values)).any():
            row = int(np.argmax(endless))
            value = block[slice(*spans[row])].decode("ascii")
            raise self._wrong(name, row, int(lines[row]) or line, value)
        return values

    def _place(self, row: int, line: int) -> str:
        return f"row {self.rows + row + 1} (line {self.lines + line})"

    def _wrong(self, name: str, row: int, line: int, value: str) -> InputError:
        allowed = COLUMNS[name].allowed(self.geometry)
        return InputError(self.path, self._place(row, line), name, value, allowed)
