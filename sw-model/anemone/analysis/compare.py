# SPDX-License-Identifier: Apache-2.0
"""Whether two replays are equal, and whether they agree with the trace.

The input is the files that a replay wrote (states.parquet, reads.parquet, report.json), because
these are what a user has.

There are two independent checks:

- `compare`: every state, read and counter of one backend equals the other's.
- `recount`: NumPy counts the same values directly from the trace. It supports only rules that add 1
  and reset to 0 on read, as all of the paper's listings do. It shares no code with either backend,
  so it finds a misreading of the rule that RTL and model have in common.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from anemone.hardware.geometry import LINE_BYTES, Geometry
from anemone.telemetry.rules import Rule
from anemone.trace import Trace

SHOWN = 10  # differences kept for each kind of row
COUNTERS = ("matched", "unmapped", "out_of_range", "notifications")
_KEYS = {"states": ("rule", "index", "channel"), "reads": ("rule", "event", "index", "channel")}


@dataclass(frozen=True)
class Rows:
    """The non-zero counter values of states.parquet or reads.parquet; equal-length columns.

    rule: int64, position of the rule. event, index, channel: int64. value: uint64 (counts).
    For states, event is the trace's length.
    """

    rule: np.ndarray
    event: np.ndarray
    index: np.ndarray
    channel: np.ndarray
    value: np.ndarray

    def __len__(self) -> int:
        return len(self.rule)

    def where(self, keep: np.ndarray) -> Rows:
        return Rows(*(getattr(self, column)[keep] for column in Rows.__dataclass_fields__))

    def same(self, other: Rows) -> bool:
        """Whether all rows are equal and in the same order."""
        names = Rows.__dataclass_fields__
        return all(np.array_equal(getattr(self, n), getattr(other, n)) for n in names)

    def joined(self, other: Rows) -> Rows:
        pairs = (
            (getattr(r, column) for r in (self, other)) for column in Rows.__dataclass_fields__
        )
        return Rows(*(np.concatenate(list(pair)) for pair in pairs))

    def of(self, rule: int) -> Rows:
        """The rows of one rule."""
        return self.where(self.rule == rule)


@dataclass(frozen=True)
class Output:
    """The output folder of one replay. Raises OSError or ValueError if a file is broken."""

    folder: Path
    report: dict
    states: pa.Table
    reads: pa.Table

    @staticmethod
    def load(folder: Path) -> Output:
        return Output(
            folder,
            json.loads((folder / "report.json").read_text(encoding="utf-8")),
            pq.read_table(folder / "states.parquet"),
            pq.read_table(folder / "reads.parquet"),
        )

    @property
    def names(self) -> list[str]:
        return [rule["name"] for rule in self.report["rules"]]

    def rows(self, kind: str) -> Rows:
        """`kind` ("states" or "reads") as arrays."""
        table = getattr(self, kind)
        number = {name: i for i, name in enumerate(self.names)}
        coded = table["rule"].combine_chunks().dictionary_encode()
        if isinstance(coded, pa.ChunkedArray):
            coded = coded.combine_chunks()
        codes = np.array([number[name] for name in coded.dictionary.to_pylist()], np.int64)
        rule = codes[coded.indices.to_numpy()] if len(table) else np.zeros(0, np.int64)
        event = (
            table["event"].to_numpy().astype(np.int64)
            if "event" in table.column_names
            else np.full(len(table), self.report["events"], np.int64)
        )
        index, channel = (table[c].to_numpy().astype(np.int64) for c in ("index", "channel"))
        return Rows(rule, event, index, channel, table["value"].to_numpy())


@dataclass(frozen=True)
class Difference:
    """One value that differs between the two sides; None if a side has no such row (it is zero)."""

    kind: str
    place: dict[str, object]
    left: int | str | None
    right: int | str | None

    def __str__(self) -> str:
        where = ", ".join(f"{k} {v}" for k, v in self.place.items())
        return f"{self.kind}: {where}: {self.left} and {self.right}"


@dataclass(frozen=True)
class Comparison:
    """The number of values compared (non-zero on either side), and the first differences.

    unlike: number of differing values by rule; "" for values of no rule. differences: at most
    `SHOWN` of each kind.
    """

    values: int
    unlike: dict[str, int]
    differences: tuple[Difference, ...]

    @property
    def total(self) -> int:
        return sum(self.unlike.values())

    @property
    def equal(self) -> bool:
        return self.total == 0

    @property
    def words(self) -> str:
        return "1 value differs" if self.total == 1 else f"{self.total:,} values differ"


class _Tally:
    """A comparison in progress."""

    def __init__(self) -> None:
        self.values = 0
        self.unlike: Counter[str] = Counter()
        self.found: list[Difference] = []

    def report(self, field: str, left: object, right: object, rule: str = "") -> None:
        """Compare one field of report.json."""
        self.values += 1
        if left != right:
            place = {"rule": rule, "counter": field} if rule else {"field": field}
            self.unlike[rule] += 1
            self.found.append(Difference("report", place, left, right))

    def rows(self, kind: str, left: Rows, right: Rows, names: list[str]) -> None:
        """Compare two sets of rows by their outer join; a missing row counts as zero."""
        if left.same(right):
            self.values += len(left)
            return
        sides = [_keyed(left), _keyed(right)]
        keys = np.union1d(sides[0][0], sides[1][0])
        value = np.zeros((2, len(keys)), np.uint64)
        for side, (key, values) in enumerate(sides):
            np.add.at(value[side], np.searchsorted(keys, key), values)
        apart = np.flatnonzero(value[0] != value[1])
        self.values += len(keys)
        for rule, count in zip(*np.unique(keys["rule"][apart], return_counts=True), strict=True):
            self.unlike[names[rule]] += int(count)
        for at in apart[:SHOWN]:
            place: dict[str, object] = {name: int(keys[at][name]) for name in _KEYS[kind]}
            place["rule"] = names[int(keys[at]["rule"])]
            self.found.append(Difference(kind, place, *(int(v) or None for v in value[:, at])))

    def done(self) -> Comparison:
        return Comparison(self.values, dict(self.unlike), tuple(self.found))


def compare(left: Output, right: Output) -> Comparison:
    """Compare two outputs: report counters rule by rule, then states, then reads."""
    tally = _Tally()
    tally.report("events", left.report["events"], right.report["events"])
    tally.report("rules", ", ".join(left.names), ", ".join(right.names))
    if tally.unlike:  # other rules or another trace: the rows cannot be compared
        return tally.done()
    for one, two in zip(left.report["rules"], right.report["rules"], strict=True):
        for field in COUNTERS:
            tally.report(field, one[field], two[field], one["name"])
    for kind in ("states", "reads"):
        one, two = getattr(left, kind), getattr(right, kind)
        if one.equals(two):
            tally.values += len(one)
            continue
        before = tally.unlike.total()
        tally.rows(kind, left.rows(kind), right.rows(kind), left.names)
        if tally.unlike.total() == before:  # the same values in another order or type
            tally.report(f"order or types in {kind}.parquet", *_described(one, two))
    return tally.done()


def _described(one: pa.Table, two: pa.Table) -> tuple[str, str]:
    """Describe how two tables of equal values differ: in their schema or in their order."""
    left, right = (" ".join(f"{f.name}: {f.type}" for f in t.schema) for t in (one, two))
    return (left, right) if left != right else ("in order", "in another order")


def _keyed(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """The rows as (sortable keys, values)."""
    keys = np.empty(len(rows), dtype=[(name, np.int64) for name in _KEYS["reads"]])
    for name in _KEYS["reads"]:
        keys[name] = getattr(rows, name)
    return keys, rows.value


def recount(rules: list[Rule], trace: Trace, geometry: Geometry, output: Output) -> Comparison:
    """Compare `output` with a direct count of the trace (see the module's docstring).

    Raises ValueError for a rule that does more than add 1 and reset to 0 on read.
    """
    tally = _Tally()
    tally.report("events", output.report["events"], len(trace))
    reads, states = output.rows("reads"), output.rows("states")
    for number, rule in enumerate(rules):
        counters, expected = _count(rule, number, trace, geometry)
        for field, counted in counters.items():
            tally.report(field, output.report["rules"][number][field], counted, rule.name)
        # Values after the last event are in the states, unless the last event triggered a read.
        read_last = rule.read_every > 0 and len(trace) % rule.read_every == 0
        left = (expected.event == len(trace)) & (not read_last)
        tally.rows("reads", reads.of(number), expected.where(~left), output.names)
        tally.rows("states", states.of(number), expected.where(left), output.names)
    return tally.done()


def _count(
    rule: Rule, number: int, trace: Trace, geometry: Geometry
) -> tuple[dict[str, int], Rows]:
    """Count from the trace: (the rule's counters, the state at the end of every poll interval)."""
    simple = ("add", "imm", 1, "reset", 0)
    asked = (rule.op, rule.operand_kind, rule.operand, rule.effect_op, rule.effect_operand)
    if asked != simple or rule.notify_op not in ("none", "ge") or rule.hash_size:
        raise ValueError(f"{rule.name}: only rules that add 1, reset to 0 and hash nothing")
    addr = trace.addr.astype(np.uint64)
    kinds = {"RW": np.ones(len(addr), bool), "W": trace.write, "R": ~trace.write}[rule.type]
    events = np.flatnonzero(kinds & (addr >= rule.start) & (addr < rule.end))
    addr = addr[events]
    key = (addr & np.uint64(rule.primary_mask)) >> np.uint64(rule.primary_shift)
    base = np.full(geometry.table, -1, np.int64)
    base[rule.map[:, 0].astype(np.int64)] = rule.map[:, 1].astype(np.int64)
    mapped = key < geometry.table
    at = np.where(mapped, base[np.where(mapped, key, 0).astype(np.int64)], -1)
    offset = (addr & np.uint64(rule.sub_mask)) >> np.uint64(rule.sub_shift)
    index = at + offset.astype(np.int64)
    hit = (at >= 0) & (index < geometry.counters(rule.width))
    channel = (addr // np.uint64(LINE_BYTES)).astype(np.int64) % geometry.channels
    ends = np.full(len(addr), len(trace), np.int64)
    if rule.read_every:
        ends = np.minimum((events // rule.read_every + 1) * rule.read_every, len(trace))
    slots = geometry.counters(rule.width)  # one integer key for each counter, which sorts faster
    joint = (ends[hit] * slots + index[hit]) * geometry.channels + channel[hit]
    joint, value = np.unique(joint, return_counts=True)
    joint, of_channel = np.divmod(joint, geometry.channels)
    end, of_index = np.divmod(joint, slots)
    if len(value) and int(value.max()) >> rule.width:
        raise ValueError(f"{rule.name}: a counter of {rule.width} bits wraps; cannot be recounted")
    fired = np.maximum(value - rule.notify_operand + 1, 0).sum() if rule.notify_op == "ge" else 0
    counters = {
        "matched": int(hit.sum()),
        "unmapped": int((at < 0).sum()),
        "out_of_range": int(((at >= 0) & ~hit).sum()),
        "notifications": int(fired),
    }
    numbers = np.full(len(value), number, np.int64)
    return counters, Rows(numbers, end, of_index, of_channel, value.astype(np.uint64))
