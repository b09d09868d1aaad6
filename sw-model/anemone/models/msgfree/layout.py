# SPDX-License-Identifier: Apache-2.0
"""Where the data of a datatype that leaves gaps are (sim/mpi/types.c)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

LINE_BYTES = 64
_WORD = re.compile(r"[(){}]|-?\d+")

Runs = tuple[np.ndarray, np.ndarray]  # int64: where each begins and ends


@dataclass(frozen=True)
class Layout:
    """item_bytes: of data. extent: from an item to the next. first: from an item's origin to its
    first byte. starts, lengths: runs of an item's data from its origin on, in the type map's order;
    where they have more than item_bytes, some gaps are not known, and an item counts as a whole.
    """

    item_bytes: int
    extent: int
    first: int
    starts: tuple[int, ...]
    lengths: tuple[int, ...]

    @lru_cache(maxsize=1024)  # noqa: B019
    def runs(self, posted: int, received: int) -> Runs:
        """Of the first `received` bytes where `posted` would have fitted, from the buffer's first
        byte on: apart and in order.
        """
        items = posted // self.item_bytes
        origin = -self.first - min(0, (items - 1) * self.extent)
        taken = -(-received // self.item_bytes)
        steps = np.arange(taken, dtype=np.int64) * self.extent + origin
        starts = (steps[:, None] + np.array(self.starts, np.int64)).ravel()
        lengths = np.tile(np.array(self.lengths, np.int64), taken)
        if sum(self.lengths) == self.item_bytes:
            before = np.cumsum(lengths) - lengths
            lengths = np.clip(received - before, 0, lengths)
        some = lengths > 0
        return united(starts[some], lengths[some])


def read_layout(size: str, extent: str, first: str, text: str) -> Layout:
    """Of a line of a .names file. Raises ValueError."""
    words = _WORD.findall(text)
    if re.sub(r"\s", "", text) != "".join(words):
        raise ValueError(text)
    words.reverse()
    starts, lengths = _parse(words)
    if words or int(lengths.sum()) < int(size) or int(size) <= 0:
        raise ValueError(text)
    return Layout(int(size), int(extent), int(first), tuple(starts.tolist()),
                  tuple(lengths.tolist()))  # fmt: skip


def _parse(words: list[str]) -> Runs:
    """Starts and lengths of the layout at the end of `words`, which are taken from there."""
    word = words.pop() if words else ""
    if word == "(":
        times, stride = int(words.pop()), int(words.pop())
        starts, lengths = _parse(words)
        if words.pop() != ")":
            raise ValueError(word)
        steps = np.arange(times, dtype=np.int64) * stride
        return _joined((steps[:, None] + starts).ravel(), np.tile(lengths, times))
    if word == "{":
        parts = [(np.empty(0, np.int64), np.empty(0, np.int64))]
        while (word := words.pop()) != "}":
            starts, lengths = _parse(words)
            parts.append((starts + int(word), lengths))
        starts, lengths = (np.concatenate(some) for some in zip(*parts, strict=True))
        return _joined(starts, lengths)
    return np.array([0]), np.array([int(word)])


def _joined(starts: np.ndarray, lengths: np.ndarray) -> Runs:
    """A run that begins where the one before ends is part of it."""
    if not len(starts):
        return starts, lengths
    new = np.flatnonzero(np.append(True, starts[1:] != starts[:-1] + lengths[:-1]))
    return starts[new], np.add.reduceat(lengths, new)


def united(starts: np.ndarray, lengths: np.ndarray) -> Runs:
    """Ranges that may overlap, as begins and ends of ranges that are apart, in order."""
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], (starts + lengths)[order]
    if not len(starts):
        return starts, ends
    until = np.maximum.accumulate(ends)
    new = np.flatnonzero(np.append(True, starts[1:] > until[:-1]))
    return starts[new], until[np.append(new[1:], len(starts)) - 1]


def lines(runs: Runs, buffer: int) -> int:
    """Cache lines that these runs from a buffer on touch."""
    starts, ends = (runs[0] + buffer) // LINE_BYTES, (runs[1] + buffer - 1) // LINE_BYTES
    before = np.append(-1, ends[:-1])
    return int((ends - np.maximum(starts, before + 1) + 1).sum())
