# SPDX-License-Identifier: Apache-2.0
"""Functions compiled by numba, with a cache that is valid until a file in their folder changes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit


def compiled(**options: Any) -> Callable[[Callable], Callable]:
    """njit with these options, without the interpreter lock.

    Functions and constants of other files are compiled into a caller, but numba's cache checks only
    the caller's file. So the cache's key here also has a hash of the whole folder.
    """

    def decorate(function: Callable) -> Callable:
        found = njit(cache=True, nogil=True, **options)(function)
        # numba 0.57 to 0.68 has no public interface for this; a test fails if this stops working.
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
