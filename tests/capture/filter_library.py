# SPDX-License-Identifier: Apache-2.0
"""The capture's filter (sim/capture/filter.hpp), driven through its C interface."""

from __future__ import annotations

import ctypes
import functools
import json

import numpy as np

from anemone.capture.build import build_library
from anemone.capture.run import NON_TEMPORAL, PREFETCH, WRITE
from anemone.capture.settings import LINE, Settings

LOAD, WARM, RECORD = 0, 1, 2
_MAX_EVENTS = 1 << 16


@functools.cache
def library() -> ctypes.CDLL:
    lib = ctypes.CDLL(str(build_library()))
    handle, u64, size = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t
    text = ctypes.c_char_p
    for name, result, *arguments in [
        ("new", handle, text, text, size),
        ("delete", None, handle),
        ("access", ctypes.c_int, handle, u64, u64, u64, ctypes.c_int),
        ("stream", None, handle, u64, u64),
        ("fence", None, handle),
        ("call", None, handle),
        ("idle", None, handle, u64),
        ("phase", None, handle, ctypes.c_int),
        ("flush", None, handle),
        ("translate", u64, handle, u64),
        ("take", size, handle, ctypes.c_void_p, size),
        ("totals", ctypes.c_int, handle, text, size),
    ]:
        function = getattr(lib, f"anemone_filter_{name}")
        function.restype, function.argtypes = result, arguments
    return lib


class Refused(Exception):
    """The filter does not take these settings."""


class Filter:
    """As PlainFilter; addresses are the program's, events are of physical lines."""

    def __init__(self, settings: Settings | str, phase: int = RECORD) -> None:
        text = settings if isinstance(settings, str) else settings.text()
        error = ctypes.create_string_buffer(200)
        self._handle = library().anemone_filter_new(text.encode(), error, len(error))
        if not self._handle:
            raise Refused(error.value.decode())
        if phase:
            self.phase(phase)
        self.times: list[int] = []

    def __del__(self) -> None:
        if self._handle:
            library().anemone_filter_delete(self._handle)

    def __getattr__(self, name: str):
        return functools.partial(getattr(library(), f"anemone_filter_{name}"), self._handle)

    def take(self) -> list[tuple[str, int]]:
        words = np.zeros((_MAX_EVENTS, 2), np.uint64)
        n = library().anemone_filter_take(self._handle, words.ctypes.data, _MAX_EVENTS)
        assert n < _MAX_EVENTS
        self.times += words[:n, 1].tolist()
        return [_event(word) for word in words[:n, 0].tolist()]

    def totals(self) -> dict[str, int]:
        text = ctypes.create_string_buffer(4096)
        assert library().anemone_filter_totals(self._handle, text, len(text)) < len(text)
        return json.loads(text.value)


def _event(word: int) -> tuple[str, int]:
    line = (word & (NON_TEMPORAL - 1)) // LINE
    if word & WRITE:
        return ("stream" if word & NON_TEMPORAL else "back"), line
    return ("prefetch" if word & PREFETCH else "fill"), line
