# SPDX-License-Identifier: Apache-2.0
"""Reads files that users write, mainly TOML, and checks their tables; errors are one line."""

from __future__ import annotations

import math
import os
import re
import tomllib
from pathlib import Path
from typing import Any

from anemone.hardware.geometry import Geometry
from anemone.io.errors import MISSING, Bare, InputError

U64 = (1 << 64) - 1


def read_text(path: str | os.PathLike, kind: str = "TOML") -> str:
    """The text of a file. kind: its format, for errors. Raises InputError for any unusable file."""
    return decoded(path, read_bytes(path, kind))


def read_bytes(path: str | os.PathLike, kind: str) -> bytes:
    """The bytes of a file. kind: its format, for errors. Raises InputError for any unusable
    file.
    """
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as e:
        why = Bare(getattr(e, "strerror", None) or str(e))
        raise InputError(path, "file", "content", why, f"a {kind} file that can be read") from e


def decoded(path: object, data: bytes) -> str:
    """The UTF-8 text in a file's bytes. path: its name in errors. Raises InputError."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        value = Bare(f"byte 0x{data[e.start]:02x}")
        raise InputError(path, f"line {line}", "text", value, "UTF-8 text") from e


def parse_toml(text: str, file: object) -> dict[str, Any]:
    """The top-level table of a TOML text. `file`: its name in errors. Raises InputError."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as e:
        # tomllib's messages end with the place, except for too long integers and too deep nesting.
        message, at = str(e), re.search(r" \(at line (\d+), column (\d+)\)$", str(e))
        place = f"line {at[1]}, column {at[2]}" if at else "file"
        why = Bare("wrong: " + (message[: at.start()] if at else message))
        raise InputError(file, place, "TOML", why, "valid TOML") from e


def toml_place(text: str, field: str) -> str:
    """The line of a field, `key` or `table.key`, in the usual layout; tomllib does not give it.

    It is the line of the table's header if the key is absent or ambiguous, and "top level" if that
    is absent, too.
    """
    table, _, key = field.rpartition(".")
    here, lines, head = "", [], ""
    for number, line in enumerate(text.split("\n"), 1):
        if header := re.match(r"\s*\[\s*([\w-]+)\s*\]", line):
            here = header[1]
            head = f"line {number}" if here in (table, field) else head
        elif here == table and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            lines.append(number)
    return f"line {lines[0]}" if len(lines) == 1 else head or "top level"


_HEX = re.compile(r"0[xX][0-9a-fA-F]+(_[0-9a-fA-F]+)*")


def whole_number(value: Any) -> int | None:
    """An integer: a TOML integer or a hex string, because TOML integers are below 2^63."""
    if isinstance(value, str) and _HEX.fullmatch(value):
        return int(value, 16)
    return value if type(value) is int else None


class Table:
    """A TOML table or JSON object, with methods to check it and to report errors."""

    def __init__(self, file: object, place: str, content: Any, line: Any = None, path: str = ""):
        self.file, self.place, self.content, self.line, self.path = file, place, content, line, path

    def wrong(self, key: str, allowed: str, value: Any = None) -> InputError:
        field = f"{self.path}.{key}" if self.path else key
        line = self.line(field) if self.line else ""
        if value is None:
            value = self.content.get(key, MISSING)
        return InputError(self.file, self.place + line, field, value, allowed)

    def only(self, *required: str, optional: tuple[str, ...] = ()) -> None:
        """Check that the keys are exactly the required ones and some of the optional ones."""
        known = (*required, *optional)
        for key in self.content:
            if key not in known:
                raise self.wrong(key, "only the keys " + ", ".join(known))
        for key in required:
            if key not in self.content:
                raise self.wrong(key, "must give " + ", ".join(required))

    def table(self, key: str) -> Table | None:
        """A table within this one; None if it is absent."""
        if key not in self.content:
            return None
        content = self.content[key]
        if not isinstance(content, dict):
            raise self.wrong(key, "a table { key = value, ... }")
        path = f"{self.path}.{key}" if self.path else key
        return Table(self.file, self.place, content, self.line, path)

    def choice(self, key: str, names: tuple[str, ...]) -> str:
        value = self.content[key]
        if not isinstance(value, str) or value not in names:
            raise self.wrong(key, ", ".join(names))
        return value

    def number(self, key: str, maximum: int = U64, also: str = "", minimum: int = 0) -> int:
        value = whole_number(self.content.get(key))
        if value is None or not minimum <= value <= maximum:
            top = str(maximum) if maximum < 1 << 20 else hex(maximum)
            allowed = f"a whole number of {minimum} to {top}"
            if maximum == U64:
                allowed += " or a string of hex"
            raise self.wrong(key, f"{allowed}, or {also}" if also else allowed)
        return value

    def real(
        self, key: str, minimum: float = -math.inf, above: bool = False, maximum: float = math.inf
    ) -> float:
        """A finite number from `minimum` (with `above`, more than it) to `maximum`."""
        value = self.content.get(key)
        if type(value) in (int, float):
            try:
                value = float(value)
            except OverflowError:
                value = math.inf
            within = math.isfinite(value) and value <= maximum
            if within and (value > minimum if above else value >= minimum):
                return value
        bound = f" {'above' if above else 'of at least'} {minimum:g}" if minimum > -math.inf else ""
        if maximum < math.inf:
            bound += f" and at most {maximum:g}"
        raise self.wrong(key, f"a finite number{bound}")

    def byte_range(self, key: str, geometry: Geometry, step: int = 1) -> tuple[int, int]:
        """Device byte addresses [start, end), both multiples of `step`."""
        last = geometry.device_bytes
        value = self.content[key]
        ends = [whole_number(v) for v in value] if isinstance(value, list) else []
        inside = len(ends) == 2 and None not in ends and 0 <= ends[0] < ends[1] <= last
        if inside and not any(end % step for end in ends):
            return ends[0], ends[1]
        steps = f", multiples of {step}" if step > 1 else ""
        size = f"{last:#x} ({geometry.device_gib} GiB)"
        raise self.wrong(key, f"[start, end] with 0 <= start < end <= {size}{steps}")
