# SPDX-License-Identifier: Apache-2.0
"""Builds files once, and again only if an input changed.

`built` is for everything that takes longer than hashing its inputs: elaborated hardware, Verilated
simulators, instrumented programs, kernel modules. Processes and threads may call it concurrently.
What depends on nothing but its inputs, all checkouts of a user can share: it is stored by their
hash in the user's cache, and goes after a month without use.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# What all checkouts of the user share, by hash.
SHARED = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "anemone" / "built"
UNUSED = 30 * 24 * 3600  # seconds that a shared result is kept without use


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


def built(
    out: Path, inputs: Iterable[str | Path], make: Callable[[Path], None], shared: bool = False
) -> Path:
    """The file or folder `out`, made by `make(fresh)` unless it exists and its inputs are
    unchanged.

    shared: another checkout of the user may have made it; nothing in it may depend on where it is.

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
            if shared:
                _made_once(SHARED / now, fresh, make)
            else:
                make(fresh)
            stamp.unlink(missing_ok=True)
            if out.is_dir():
                _remove(out)
            fresh.replace(out)
        finally:
            _remove(fresh)
        stamp.write_text(now)
    return out


def _made_once(kept: Path, fresh: Path, make: Callable[[Path], None]) -> None:
    """Write `fresh` from the shared result `kept`, which is made first if there is none."""
    if kept.exists():
        os.utime(kept)
        return _copy(kept, fresh)
    make(fresh)
    # Without a place for it, or with another who was faster, it is just not shared.
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        for old in kept.parent.iterdir():
            if old.stat().st_mtime < time.time() - UNUSED:
                _remove(old)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            _copy(fresh, Path(folder) / "copy")
            (Path(folder) / "copy").rename(kept)
        os.utime(kept)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy2(source, target)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
