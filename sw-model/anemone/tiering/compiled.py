# SPDX-License-Identifier: Apache-2.0
"""Functions that numba compiles, and keeps compiled until a file of their folder changes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit


def compiled(**options: Any) -> Callable[[Callable], Callable]:
    """njit, with these options, that lets go of the interpreter.

    Functions of other files are compiled into a caller, and so are constants. numba's cache asks
    for the caller's file only; here what is kept also bears what its whole folder said.
    """

    def decorate(function: Callable) -> Callable:
        found = njit(cache=True, nogil=True, **options)(function)
        # There is no other way to it (numba 0.57 to 0.68; a test fails where it is lost).
        kept = found._cache._cache_file
        kept._source_stamp = (
            kept._source_stamp,
            _digest(Path(function.__code__.co_filename).parent),
        )
        return found

    return decorate


@cache
def _digest(folder: Path) -> str:
    content = (path.name.encode() + path.read_bytes() for path in sorted(folder.glob("*.py")))
    return hashlib.sha256(b"\0".join(content)).hexdigest()
