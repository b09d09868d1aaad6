# SPDX-License-Identifier: Apache-2.0
"""Compiles sim/core into a library; again only if the sources or the compiler changed."""

from __future__ import annotations

import ctypes
import functools

from anemone.capture.build import ROOT, compile_library


@functools.cache
def library() -> ctypes.CDLL:
    """The core model's library. Raises InputError (one line) if it cannot be compiled."""
    folder = ROOT / "sim" / "core"
    flags = ["-std=c++20", "-Wall", "-Wextra", "-O3", "-march=x86-64-v2"]
    path = compile_library(
        ROOT / "build" / "core" / "libcore.so",
        sorted(folder.glob("*.cpp")),
        sorted(folder.glob("*.hpp")),
        flags,
    )
    loaded = ctypes.CDLL(str(path))
    for name, returned, arguments in _CALLS:
        call = getattr(loaded, name)
        call.restype, call.argtypes = returned, arguments
    return loaded


_U64 = ctypes.c_uint64
_TEXT, _SIZE, _HANDLE = ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p
_CALLS = (
    ("anemone_core_new", _HANDLE, (_TEXT, _TEXT, _SIZE)),
    ("anemone_core_delete", None, (_HANDLE,)),
    ("anemone_core_operations", _SIZE, (_HANDLE, _SIZE, _HANDLE, _HANDLE)),
    ("anemone_core_kernel", ctypes.c_int, (_HANDLE, _SIZE, _TEXT, _TEXT, _SIZE)),
    (
        "anemone_core_trace",
        ctypes.c_int,
        (_HANDLE, _SIZE, _HANDLE, _SIZE, ctypes.c_int, _TEXT, _SIZE),
    ),
    ("anemone_core_place", None, (_HANDLE, _U64, _U64, ctypes.c_double, ctypes.c_double)),
    ("anemone_core_frames", ctypes.c_int, (_HANDLE, _U64, _U64, _HANDLE, _SIZE, _TEXT, _SIZE)),
    ("anemone_core_run", ctypes.c_int, (_HANDLE, _U64, _U64, _TEXT, _SIZE)),
    ("anemone_core_names", _TEXT, ()),
    ("anemone_core_counts", None, (_HANDLE, _SIZE, ctypes.c_int, _HANDLE)),
    ("anemone_core_memory", None, (_HANDLE, _HANDLE)),
    ("anemone_core_placed", None, (_HANDLE, _HANDLE)),
    ("anemone_core_parts", _SIZE, (_HANDLE, _SIZE, _HANDLE, _SIZE)),
)
