# SPDX-License-Identifier: Apache-2.0
"""Traces in CSV: pyarrow reads them, a block of whole lines at a time.

A block that pyarrow refuses is still in memory, also from a pipe: csvscan then says what is wrong
and where, or, if nothing is (00 for 0, a value in quotes, a line of blanks), what the block holds.
pyarrow is restricted, so that csvscan would read all that it accepts as the same.
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
_MOST = 1 << 16  # bytes of a header line
_BLOCK = 4 << 20  # bytes read at a time
_BOM = b"\xef\xbb\xbf"


def csv_columns(
    path: object, first: bytes, blocks: Iterator[bytes], geometry: Geometry
) -> Iterator[dict[str, np.ndarray]]:
    """The columns, a block after the other. first: the block before `blocks`."""
    if not first:
        raise InputError(path, "file", "size", Bare("0 bytes"), _HEADER)
    reader = _Reader(path, _names(path, first), geometry)
    start = first.find(b"\n") + 1 or len(first)
    yield reader.read(first[start:])
    for block in blocks:
        yield reader.read(block)


def line_blocks(head: bytes, file: BinaryIO) -> Iterator[bytes]:
    """A file's text in blocks that end with a line, but for the last. head: what was read of it."""
    kept = [head]
    while piece := file.read(_BLOCK):
        if end := piece.rfind(b"\n") + 1:
            yield b"".join([*kept, piece[:end]])
            kept = []
        kept.append(piece[end:])
    if rest := b"".join(kept):
        yield rest


def _names(path: object, block: bytes) -> list[str]:
    """The columns that the header line names."""
    header, _, _ = block[:_MOST].removeprefix(_BOM).partition(b"\n")
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
    """Reads blocks of one file in their order, and knows the row and line that each begins at."""

    def __init__(self, path: object, names: list[str], geometry: Geometry) -> None:
        import pyarrow as pa
        from pyarrow import csv

        self.path, self.names, self.geometry = path, names, geometry
        self.rows, self.lines = 0, 1  # before the block
        self.most = {name: COLUMNS[name].largest(geometry) for name in names}
        types = {Form.FLAG: pa.bool_(), Form.WORD: pa.string()}
        self._read = csv.ReadOptions(column_names=names)
        # Quotes that are not a pair, and what they may hide, csvscan knows.
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
        """A block's columns by pyarrow; None if that is not to be had."""
        import pyarrow as pa
        from pyarrow import csv

        # To pyarrow a carriage return ends a line, and a byte order mark is nothing, wherever.
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
        """An array of the column's type; None if a value is not allowed."""
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
        if form == Form.NUMBER and values.max(initial=0) > self.most[name]:
            return None
        # A copy, as pyarrow's memory cannot be written to.
        return values.astype(COLUMNS[name].dtype)

    def _exact(self, block: bytes) -> dict[str, np.ndarray]:
        """A block's columns by csvscan, or the first thing that is wrong with it."""
        from anemone.trace.csvscan import BAD, FEW, OK, count_lines, scan

        text = np.frombuffer(block, np.uint8)
        forms = np.array([COLUMNS[name].form for name in self.names], np.int64)
        most = np.array(list(self.most.values()), np.uint64)
        out = np.zeros((len(forms) + 1, int(count_lines(text))), np.uint64)
        row, line, error, field, first, last = scan(text, forms, most, out)
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
        """The numbers at places of the block. line: that of a row which is not yet in `lines`."""
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
