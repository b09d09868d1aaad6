# SPDX-License-Identifier: Apache-2.0
"""Writes folders of results: all files of a run or none, and equal bytes for equal values."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from anemone.io.errors import Bare, InputError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

ROW_GROUP = 1 << 20  # rows; fixed, so that the bytes depend on the values alone


def write_files(out: str | os.PathLike, files: Mapping[str, Callable[[Path], None]]) -> None:
    """Write files to the folder `out`, each by a function of a path.

    The folder is made if absent, and files of an earlier run are replaced. Each file is written
    under a temporary name and renamed, so a reader never sees a partial file and a failure keeps
    the old files. Raises InputError if `out` cannot be written.
    """
    check_out(out, tuple(files))
    out = Path(out)
    try:
        with _folder(out):
            temporary = {name: out / f".{name}.{os.getpid()}" for name in files}
            try:
                for name, fill in files.items():
                    fill(temporary[name])
                for name in files:
                    temporary[name].replace(out / name)
            finally:
                for path in temporary.values():
                    path.unlink(missing_ok=True)
    except OSError as e:
        raise unwritable(out, e) from e


def write_json(path: Path, content: dict) -> None:
    """Write a report as JSON; keys keep their order."""
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8")


@contextmanager
def parquet_writer(
    path: Path, schema: pa.Schema, dictionary: Sequence[str] = ()
) -> Iterator[pq.ParquetWriter]:
    """Write a Parquet file with fixed settings. dictionary: columns with few distinct values."""
    import pyarrow.parquet as pq

    settings = {
        "compression": "zstd",
        "compression_level": 3,
        "version": "2.6",
        "use_dictionary": list(dictionary),
        "write_page_checksum": True,
        "store_schema": False,
    }
    # An open file, since pyarrow takes only UTF-8 names.
    with path.open("wb") as file, pq.ParquetWriter(file, schema, **settings) as writer:
        yield writer


def check_out(out: str | os.PathLike, names: Sequence[str] = (), option: str = "--out") -> None:
    """Raise InputError if `out` cannot be written; commands call this before the work starts.

    names: the files to be written to `out`. option: where it was given.
    """
    given, out = os.fspath(out), Path(out)
    try:
        if not given:  # Path("") would be the current folder
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        # lexists also finds dangling links, which a folder cannot replace.
        there = next(p for p in (out, *out.absolute().parents) if os.path.lexists(p))
        if not there.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(there, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        longest = os.pathconf(there, "PC_NAME_MAX")
        if any(len(os.fsencode(part)) > longest for part in out.parts):
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    except (OSError, ValueError) as e:
        raise unwritable(given, e, option) from e
    for name in names:
        path = out / name
        if os.path.lexists(path) and not path.is_file():
            what = Bare("not a regular file")
            raise InputError(path, "output file", option, what, "a regular file, or none")


def unwritable(out: str | os.PathLike, error: Exception, option: str = "--out") -> InputError:
    why = Bare(getattr(error, "strerror", None) or str(error))
    where = os.fspath(out) or "command line"
    return InputError(where, "output folder", option, why, "a folder that can be made and written")


@contextmanager
def _folder(out: Path) -> Iterator[None]:
    """Make a folder and its parents; on failure remove those that were made."""
    made = [p for p in (out, *out.parents) if not p.exists()]
    try:
        out.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for folder in made:
            with suppress(OSError):  # not made yet, or not empty
                folder.rmdir()
        raise
