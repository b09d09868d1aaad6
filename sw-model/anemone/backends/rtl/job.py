# SPDX-License-Identifier: Apache-2.0
"""The harness's input: a file with rules and tables, and a file with the trace (sim/replay/job.h).

Both consist of little-endian 64-bit words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from anemone.hardware.geometry import Geometry
from anemone.telemetry.rules import OP_CODES, OPERANDS, PREDICATES, WIDTHS, Rule
from anemone.trace import Trace

MAGIC = int.from_bytes(b"ANEMJOB1", "little")
_CHUNK = 1 << 20  # rows converted at a time
WRITE, READ = 63, 62  # bits of a row
_ID, _IDS = 52, 1024  # position and number of AXI ids, in rows of both kinds

_NO_EFFECT, _RESET, _OP = 0, 1, 2  # kinds of read effect


def write_job(path: Path, rules: Sequence[Rule], geometry: Geometry) -> None:
    """Write rules and their tables for an engine with this geometry."""
    words = [MAGIC, geometry.pipelines, geometry.channels, geometry.states, geometry.table]
    words += [geometry.address_bits, len(rules)]
    with path.open("wb") as file:
        np.array(words, "<u8").tofile(file)
        for rule in rules:
            np.array([*_fields(rule), len(rule.map)], "<u8").tofile(file)
            rule.map.astype("<u8").tofile(file)


def _fields(rule: Rule) -> list[int]:
    kind = {"none": _NO_EFFECT, "reset": _RESET}.get(rule.effect_op, _OP)
    return [
        "R" in rule.type, "W" in rule.type, rule.start, rule.end,
        rule.primary_mask, rule.primary_shift, rule.sub_mask, rule.sub_shift,
        rule.hash_multiplier, rule.hash_size,
        OP_CODES[rule.op], OPERANDS.index(rule.operand_kind), rule.operand,
        WIDTHS.index(rule.width), PREDICATES.index(rule.notify_op), rule.notify_operand,
        kind, OP_CODES.get(rule.effect_op, 0), rule.effect_operand,
        rule.read_every,
    ]  # fmt: skip


def event_rows(trace: Trace) -> np.ndarray:
    """The rows of a trace's events: uint64[n]."""
    return trace.addr | trace.write.astype(np.uint64) << np.uint64(WRITE)


@dataclass(frozen=True, eq=False)
class LineReads:
    """Reads of one line each, in columns of length n; effect is bool."""

    channel: np.ndarray
    pipeline: np.ndarray
    line: np.ndarray
    effect: np.ndarray


_FIELDS = {"line": (0, 21), "pipeline": (24, 6), "effect": (32, 1), "channel": (34, 2)}


def read_rows(reads: LineReads) -> np.ndarray:
    """The rows of reads, uint64[n]; they may be anywhere between events."""
    rows = np.full(len(reads.line), 1 << READ, np.uint64)
    for name, (shift, _) in _FIELDS.items():
        rows |= getattr(reads, name).astype(np.uint64) << np.uint64(shift)
    return rows


def split_read(rows: np.ndarray) -> LineReads:
    """The inverse of read_rows."""
    columns = {
        name: rows >> np.uint64(shift) & np.uint64((1 << bits) - 1)
        for name, (shift, bits) in _FIELDS.items()
    }
    return LineReads(**columns)


def with_ids(rows: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """The rows with AXI ids, below 1024; the default is id 0."""
    if (ids >= _IDS).any():
        raise ValueError(f"AXI ids of rows are below {_IDS}")
    return rows | ids.astype(np.uint64) << np.uint64(_ID)


def write_trace(path: Path, trace: Trace) -> None:
    """Write the trace's rows in chunks, so that a long trace is not copied in memory."""
    with path.open("wb") as file:
        for at in range(0, len(trace), _CHUNK):
            part = Trace(trace.addr[at : at + _CHUNK], trace.write[at : at + _CHUNK])
            event_rows(part).astype("<u8", copy=False).tofile(file)
