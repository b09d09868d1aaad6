# SPDX-License-Identifier: Apache-2.0
"""The exception for invalid input, and its one-line message."""

from __future__ import annotations

from typing import Any

_LONGEST = 80  # most characters of a value in a message


class Bare(str):
    """A description instead of a value (`missing`, `truncated`), shown without quotes."""


MISSING = Bare("missing")


class InputError(ValueError):
    """Invalid input: the file, the place in it, the field, its value, and what is allowed.

    `str()` is always one printable line with all five, for any input bytes. The command line prints
    it to stderr, exits with status 2 and writes no output.
    """

    def __init__(self, file: object, place: str, field: str, value: Any, allowed: str) -> None:
        self.file, self.place, self.field = str(file), place, field
        self.value, self.allowed = value, allowed
        super().__init__(
            f"{oneline(self.file, 400)}: {oneline(place, 200)}: "
            f"{oneline(field, _LONGEST)} is {show(value)}; allowed: {oneline(allowed, 400)}"
        )


class OutputError(RuntimeError):
    """Standard output could not be written; the result files are complete."""


def oneline(text: str, longest: int = _LONGEST) -> str:
    """`text` with unprintable characters escaped; the middle of a long text is cut out."""
    if len(text) > longest:
        tail = longest // 4
        text = f"{text[: longest - tail]} ... {text[-tail:]}"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def show(value: Any, depth: int = 2) -> str:
    """A value approximately as the user wrote it: `"text"`, `true`, `12`, `0x400000000`, `[0, 1]`.

    It never fails and its length is limited: invalid input may have integers of ten thousand digits
    (which Python refuses to print in decimal) and lists nested a thousand deep.
    """
    if isinstance(value, Bare):
        return oneline(value, 200)
    if isinstance(value, str):
        return f'"{oneline(value)}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"  # JSON's; TOML has none
    if isinstance(value, int):
        return str(value) if abs(value) < 1 << 20 else oneline(hex(value))
    if isinstance(value, list):
        if depth == 0:
            return "[...]"
        some = ", ".join(show(v, depth - 1) for v in value[:4])
        return f"[{some}{', ...' if len(value) > 4 else ''}]"
    if isinstance(value, dict):
        if depth == 0:
            return "{...}"
        some = ", ".join(f"{oneline(str(k))} = {show(v, depth - 1)}" for k, v in value.items())
        return oneline(f"{{{some}}}", 160)
    return oneline(str(value))
