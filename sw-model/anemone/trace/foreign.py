# SPDX-License-Identifier: Apache-2.0
"""Reads traces of other simulators: DRAMsim3, Ramulator 2, and gem5's text format.

The first line of a file identifies the format. The files do not contain their clock's period: if
the user gives it in ns, rows have gaps, otherwise not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from anemone.hardware.geometry import LINE_BYTES, Geometry
from anemone.io.errors import MISSING, Bare, InputError
from anemone.trace.columns import COLUMNS
from anemone.trace.csvscan import BAD, FEW, OK, count_lines
from anemone.trace.foreignscan import ABSENT, DECIMAL, HEX, WORD, scan


@dataclass(frozen=True)
class Format:
    """The line format of a kind of trace.

    first: pattern of its first line. fields: names and forms, in order; the last `optional` ones
    may be absent. reads, writes: words of the field `op`. clock: the field with the time, or with
    `bubbles` the number of instructions since the row before.
    """

    name: str
    first: str
    fields: dict[str, int]
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    clock: str | None = None
    bubbles: bool = False
    optional: int = 0


_GEM5 = {"op": WORD, "addr": DECIMAL, "size": DECIMAL, "flags": DECIMAL, "tick": DECIMAL}
_NO_FLAGS = {name: form for name, form in _GEM5.items() if name != "flags"}
_N, _OP = r"\d+", "[rwu]"


def _gem5(before: str, fields: dict[str, int], after: str) -> Format:
    """A line format of gem5's decode_packet_trace.py. before, after: additional fields."""
    known = dict.fromkeys(before.split(), DECIMAL) | fields | dict.fromkeys(after.split(), DECIMAL)
    first = ",".join(_OP if name == "op" else _N for name in known)
    return Format("gem5's text form", first, known, ("r",), ("w",), "tick")


# All of gem5's monitors write flags; the packet's number and the program counter are only written
# if known. So with two numbers after the size, the first one is the flags.
FORMATS = (
    Format(
        "DRAMsim3", r"(0[xX])?[0-9a-fA-F]+\s+[A-Za-z_]+\s+\d+",
        {"addr": HEX, "op": WORD, "cycle": DECIMAL},
        ("READ", "read", "P_MEM_RD", "P_FETCH"), ("WRITE", "write", "P_MEM_WR", "BOFF"), "cycle",
    ),
    Format(
        "Ramulator 2, LoadStoreTrace", r"(LD|ST)\s+(0[xX][0-9a-fA-F]+|\d+)",
        {"op": WORD, "addr": DECIMAL}, ("LD",), ("ST",),
    ),
    Format(
        "Ramulator 2, SimpleO3", r"\d+\s+\d+(\s+\d+)?",
        {"bubbles": DECIMAL, "addr": DECIMAL, "written": DECIMAL},
        clock="bubbles", bubbles=True, optional=1,
    ),
    *(_gem5(before, fields, after) for before in ("", "number")
      for fields, after in ((_GEM5, ""), (_GEM5, "pc"), (_NO_FLAGS, ""))),
)  # fmt: skip
_VECTORS = re.compile(rb"[RW]\s+\d+(,\d+)+\s*$")


def format_of(path: object, text: bytes) -> Format | None:
    """The format of a trace that starts with `text`; None if it is unknown."""
    line = next((some for some in text[:4096].splitlines() if some.strip()), b"").strip()
    if _VECTORS.match(line):
        allowed = "addresses (LoadStoreTrace): only Ramulator knows whose address such a vector is"
        raise InputError(path, "line 1", "format", Bare("Ramulator 2, ReadWriteTrace"), allowed)
    return next((f for f in FORMATS if re.fullmatch(f.first.encode(), line)), None)


def foreign_columns(
    path: object, kind: Format, blocks: Iterable[bytes], geometry: Geometry, clock_ns: float | None
) -> Iterator[dict[str, np.ndarray]]:
    """Yield the columns block by block. clock_ns: ns of one unit of the clock."""
    reader = _Reader(path, kind, geometry, clock_ns)
    if clock_ns is not None and kind.clock is None:
        allowed = f"a trace whose lines have a time, which those of {kind.name} have not"
        raise InputError("command line", "options", "--clock-ns", clock_ns, allowed)
    for block in blocks:
        yield reader.read(block)


class _Reader:
    """Reads the blocks of one file in order."""

    def __init__(
        self, path: object, kind: Format, geometry: Geometry, clock_ns: float | None
    ) -> None:
        self.path, self.kind, self.geometry, self.clock_ns = path, kind, geometry, clock_ns
        self.names = list(kind.fields)
        self.forms = np.array(list(kind.fields.values()), np.int64)
        self.words = dict.fromkeys(kind.reads, False) | dict.fromkeys(kind.writes, True)
        self.codes = np.array([int.from_bytes(w.encode()) for w in self.words], np.uint64)
        self.lines, self.time = 0, -1  # before the block

    def read(self, block: bytes) -> dict[str, np.ndarray]:
        """A block's columns. Raises InputError."""
        text = np.frombuffer(block, np.uint8)
        out = np.zeros((len(self.forms) + 1, int(count_lines(text))), np.uint64)
        minimum = len(self.forms) - self.kind.optional
        rows, line, error, field, first, last = scan(text, self.forms, minimum, out)
        fields = dict(zip([*self.names, "line"], out[:, :rows], strict=True))
        columns = self._columns(fields)  # first, to report errors in earlier rows
        if error != OK:
            fields_of = " ".join(self.names)
            value = block[first:last].decode("utf-8", "backslashreplace")
            allowed = f"a line of {self.kind.name}: {fields_of}"
            if error == FEW:
                raise self._wrong(line, self.names[field], MISSING, allowed)
            name = self.names[field] if error == BAD else f"field {field + 1}"
            raise self._wrong(line, name, value, allowed)
        self.lines += int(np.count_nonzero(text == 10))
        return columns

    def _columns(self, fields: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        addr, line = fields["addr"], fields["line"]
        write = np.zeros(len(addr), np.bool_)
        if "op" in fields:
            write = self._writes(fields["op"], line)
        gap = self._gaps(fields[self.kind.clock], line) if self.clock_ns else None
        row = np.arange(len(addr))
        if "size" in fields:
            # A packet becomes one row for each of its lines.
            begin, size = addr // np.uint64(LINE_BYTES), np.maximum(fields["size"], np.uint64(1))
            self._in_device(addr + size - np.uint64(1), line)
            lines = ((addr + size - np.uint64(1)) // np.uint64(LINE_BYTES) - begin).astype(np.int64)
            row = np.repeat(row, lines + 1)
            nth = np.arange(len(row)) - np.repeat(np.cumsum(lines + 1) - lines - 1, lines + 1)
            addr = np.where(nth == 0, addr[row], (begin[row] + nth.astype(np.uint64)) * LINE_BYTES)
            write, gap = write[row], None if gap is None else np.where(nth == 0, gap[row], 0.0)
        self._in_device(addr, line[row])
        if "written" in fields:
            # A row with two addresses reads the first and writes the second.
            both = fields["written"] != ABSENT
            order = np.concatenate([2 * row, 2 * row[both] + 1])
            write = np.concatenate([write, np.ones(np.count_nonzero(both), np.bool_)])
            written = fields["written"][both]
            self._in_device(written, line[both])
            addr = np.concatenate([addr, written])
            order = np.argsort(order, kind="stable")
            addr, write = addr[order], write[order]
            gap = None if gap is None else np.concatenate([gap, np.zeros(len(written))])[order]
        columns = {"addr": addr.astype(np.uint64), "write": write}
        return columns if gap is None else columns | {"gap_ns": gap}

    def _writes(self, op: np.ndarray, line: np.ndarray) -> np.ndarray:
        at = op[:, None] == self.codes
        if not (known := at.any(axis=1)).all():
            bad = int(np.argmin(known))
            value = int(op[bad]).to_bytes(8).lstrip(b"\0").decode("utf-8", "backslashreplace")
            allowed = f"of {self.kind.name} {', '.join(self.words)}"
            raise self._wrong(int(line[bad]), "op", value, allowed)
        return np.array(list(self.words.values()))[at.argmax(axis=1)]

    def _gaps(self, clock: np.ndarray, line: np.ndarray) -> np.ndarray:
        """Gaps to the row before, so that no row issues before its time: float64[n], ns."""
        if self.kind.bubbles:
            return clock * self.clock_ns
        first = clock[:1] if self.time < 0 else np.array([self.time], np.uint64)
        before = np.concatenate([first, clock[:-1]])
        if (falls := clock < before).any():
            bad = int(np.argmax(falls))
            allowed = f"at least {int(before[bad])}, that of the row before"
            raise self._wrong(int(line[bad]), str(self.kind.clock), int(clock[bad]), allowed)
        if len(clock):
            self.time = int(clock[-1])
        return (clock - before) * self.clock_ns

    def _in_device(self, addr: np.ndarray, line: np.ndarray) -> None:
        column = COLUMNS["addr"]
        if (past := addr > np.uint64(column.largest(self.geometry))).any():
            bad = int(np.argmax(past))
            value, allowed = hex(int(addr[bad])), column.allowed(self.geometry)
            raise self._wrong(int(line[bad]), "addr", value, allowed)

    def _wrong(self, line: int, field: str, value: object, allowed: str) -> InputError:
        return InputError(self.path, f"line {self.lines + line}", field, value, allowed)
