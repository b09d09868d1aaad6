# SPDX-License-Identifier: Apache-2.0
"""What is built from files is built once: anew only when one of its inputs is another.

`built` is for everything that takes longer than to hash its inputs: elaborated hardware, Verilated
simulators, instrumented programs, kernel modules. Several processes and threads may ask at once.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


def digest(inputs: Iterable[str | Path]) -> str:
    """A hash of texts, and of files by name and content; 64 hexadecimal digits."""
    total = hashlib.sha256()
    for part in inputs:
        data = part.read_bytes() if isinstance(part, Path) else part.encode()
        name = part.name if isinstance(part, Path) else ""
        total.update(f"{name} {len(data)} ".encode() + data)
    return total.hexdigest()


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """One holder at a time of `.NAME.lock` beside `out`; one that dies lets go of it."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with (out.parent / f".{out.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def built(out: Path, inputs: Iterable[str | Path], make: Callable[[Path], None]) -> Path:
    """`out`, a file or folder, made by `make(fresh)` unless it is there and of these inputs.

    `make` writes to the path it is given, which becomes `out` when it returns: what it leaves half
    done is never seen. A program that runs goes on with its old file; in a folder that is replaced
    nothing may run. What `make` raises goes through.
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
