# SPDX-License-Identifier: Apache-2.0
"""Builds files once, and again only if an input changed.

`built` is for everything that takes longer than hashing its inputs: elaborated hardware, Verilated
simulators, instrumented programs, kernel modules. Processes and threads may call it concurrently.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


def digest(inputs: Iterable[str | Path]) -> str:
    """A hash of texts, and of files by name and content, as 64 hexadecimal digits."""
    total = hashlib.sha256()
    for part in inputs:
        data = part.read_bytes() if isinstance(part, Path) else part.encode()
        name = part.name if isinstance(part, Path) else ""
        total.update(f"{name} {len(data)} ".encode() + data)
    return total.hexdigest()


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Hold the lock file `.NAME.lock` next to `out`; it is released if the process dies."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with (out.parent / f".{out.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def built(out: Path, inputs: Iterable[str | Path], make: Callable[[Path], None]) -> Path:
    """The file or folder `out`, made by `make(fresh)` unless it exists and its inputs are
    unchanged.

    `make` writes to a temporary path, which replaces `out` when it returns, so that an incomplete
    result is never visible. A running program keeps its old file, but no program may run in a
    folder that is replaced. Exceptions of `make` are passed on.
    """
    stamp = out.parent / f".{out.name}.stamp"
    with locked(out):
        now = digest(inputs)
        if out.exists() and stamp.exists() and stamp.read_text() == now:
            return out
        fresh = out.parent / f".{out.name}.new"
        _remove(fresh)
        try:
            make(fresh)
            stamp.unlink(missing_ok=True)
            if out.is_dir():
                _remove(out)
            fresh.replace(out)
        finally:
            _remove(fresh)
        stamp.write_text(now)
    return out


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
