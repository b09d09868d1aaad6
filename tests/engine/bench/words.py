# SPDX-License-Identifier: Apache-2.0
"""Answers the engine's reads of the words of a line that is written back, on one channel."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from anemone.hardware.geometry import WORDS_PER_LINE

if TYPE_CHECKING:
    from tests.engine.bench.driver import Driver


class LineWords:
    """The port `acknowledgeWords` of a channel."""

    def __init__(self, driver: Driver, channel: int) -> None:
        self._driver = driver
        self._port = port = f"acknowledgeWords_{channel}"
        self._index, self._first = (driver.getter(f"{port}_{pin}") for pin in ("index", "first"))
        self._ready = driver.getter(f"acknowledge_{channel}_ready")
        self._asked: tuple[int, bool] | None = None  # in the cycle before
        self._firsts: set[int] = set()  # words that were read for the first time

    def cycle(self, words: list[int] | None = None, lost: Collection[int] = ()) -> None:
        """At the end of a cycle: set the inputs of the next. words: the line on offer. lost: words
        with an uncorrectable error, which counts when they are read for the first time.
        """
        if words is None:
            self._forget()
            return
        if self._asked:
            index, first = self._asked
            error = index in lost if first else True
            values = {f"{self._port}_word": words[index], f"{self._port}_lost": int(error)}
            self._driver.set(**values)
        index, first = int(self._index(), 2), self._first() == "1"
        if first:
            assert index not in self._firsts, f"word {index} is read for the first time again"
            self._firsts.add(index)
        self._asked = index, first
        if self._ready() == "1":
            assert len(self._firsts) == WORDS_PER_LINE, f"only {self._firsts} were checked"
            self._forget()

    def _forget(self) -> None:
        self._asked = None
        self._firsts.clear()
