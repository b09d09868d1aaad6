# SPDX-License-Identifier: Apache-2.0
"""S.csv: one line per second; read as a whole or as a stream."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from anemone.caption.algorithm import Sample
from anemone.caption.model import COUNTERS, LARGEST
from anemone.io.errors import MISSING, Bare, InputError
from anemone.io.tables import read_text

ALLOCATIONS = "new_allocations"
MEASURED = ("ratio", "throughput")  # columns that `fit` needs in addition to the counters
COLUMNS = (*COUNTERS, ALLOCATIONS, *MEASURED)
_HIGHEST = {"ratio": 100.0}  # percent


def rows(
    lines: Iterable[str], wanted: Sequence[str], file: object
) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield line numbers and values by column. wanted: required columns.

    Raises InputError, which names the line and the column, when it reaches an error.
    """
    reader = csv.reader(lines)
    header: list[str] | None = None
    try:
        for cells in reader:
            if not cells:
                continue
            if header is None:
                header = _header(cells, wanted, file, reader.line_num)
                continue
            place = f"line {reader.line_num}"
            if len(cells) != len(header):
                allowed = f"{len(header)} values, as the first line has names"
                raise InputError(file, place, "values", len(cells), allowed)
            yield (
                reader.line_num,
                {
                    name: _number(text, name, file, place)
                    for name, text in zip(header, cells, strict=True)
                },
            )
    except csv.Error as e:
        raise InputError(file, f"line {reader.line_num}", "CSV", Bare(f"wrong: {e}"), "CSV") from e
    if header is None:
        raise InputError(file, "line 1", "columns", MISSING, ", ".join(wanted))


def _header(cells: list[str], wanted: Sequence[str], file: object, line: int) -> list[str]:
    names = [cell.strip() for cell in cells]
    names[0] = names[0].removeprefix("\ufeff")
    place = f"line {line}"
    for i, name in enumerate(names):
        if name not in COLUMNS:
            raise InputError(file, place, "column", name, ", ".join(COLUMNS))
        if name in names[:i]:
            raise InputError(file, place, name, Bare("there twice"), "each column once")
    for name in wanted:
        if name not in names:
            raise InputError(file, place, name, MISSING, "the columns " + ", ".join(wanted))
    return names


def _number(text: str, name: str, file: object, place: str) -> float:
    maximum = _HIGHEST.get(name, LARGEST)
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= maximum:  # also refuses NaN
        allowed = f"a finite number of at least 0 and at most {maximum:g}"
        raise InputError(file, place, name, text.strip(), allowed)
    return value


def stream(lines: Iterable[str], counters: Sequence[str], file: object) -> Iterator[Sample]:
    """The samples in lines, each as soon as its line arrives."""
    for _, row in rows(lines, (*counters, ALLOCATIONS), file):
        yield Sample(tuple(row[name] for name in counters), row[ALLOCATIONS])


def read(path: str | os.PathLike, counters: Sequence[str]) -> list[Sample]:
    """All samples of a file, at least one. Raises InputError."""
    found = list(stream(_lines(path), counters, path))
    if not found:
        raise InputError(path, "line 2", "samples", MISSING, "at least one line of samples")
    return found


def read_rows(path: str | os.PathLike, wanted: Sequence[str]) -> list[tuple[int, dict]]:
    """All rows of a file with these columns. Raises InputError."""
    return list(rows(_lines(path), wanted, path))


def _lines(path: str | os.PathLike) -> list[str]:
    return read_text(Path(path), "CSV").splitlines(keepends=True)
