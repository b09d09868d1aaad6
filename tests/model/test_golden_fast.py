# SPDX-License-Identifier: Apache-2.0
"""The fast golden model equals the reference model, and is fast."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anemone.golden import fast, nemo
from anemone.hardware.geometry import Geometry
from anemone.telemetry.rules import (
    EFFECTS,
    HASH_BITS,
    NEAR,
    OP_CODES,
    OPERANDS,
    OPS,
    PREDICATES,
    U64,
    WIDTHS,
    Rule,
)
from tests.model.strategies import events, geometries, rules, table_entries

SEED = 20261121


def reads_of(t: fast.Telemetry) -> list[tuple[int, ...]]:
    return [row for part in t.reads for row in zip(*(c.tolist() for c in part), strict=True)]


def assert_same(f: fast.Telemetry, p: nemo.Telemetry) -> None:
    for name in ("matched", "unmapped", "out_of_range", "notifications", "notified"):
        assert getattr(f, name) == getattr(p, name), name
    rows = zip(*(c.tolist() for c in f.nonzero()), strict=True)
    assert list(rows) == list(p.nonzero())


@settings(max_examples=400)
@given(st.data())
def test_replay_equals_the_plain_model(data: st.DataObject) -> None:
    geometry = data.draw(geometries)
    rule = data.draw(rules(geometry))
    addr, write = data.draw(events(120))
    f, p = fast.Telemetry(rule, geometry), nemo.Telemetry(rule, geometry)
    f.events(addr, write)
    expected = nemo.replay(p, zip(addr.tolist(), write.tolist(), strict=True))
    assert reads_of(f) == expected
    assert_same(f, p)


@settings(max_examples=100)
@given(st.data())
def test_outcomes_equal_the_plain_model(data: st.DataObject) -> None:
    """Events with an outcome in near memory, and rules that filter by it."""
    geometry = data.draw(geometries)
    rule = replace(data.draw(rules(geometry)), near=data.draw(st.sampled_from(NEAR)))
    addr, write = data.draw(events(120))
    codes = data.draw(st.lists(st.integers(0, 2), min_size=len(addr), max_size=len(addr)))
    f, p = fast.Telemetry(rule, geometry), nemo.Telemetry(rule, geometry)
    f.events(addr, write, near=np.array(codes, np.uint8))
    trace = zip(addr.tolist(), write.tolist(), [NEAR[code] for code in codes], strict=True)
    assert reads_of(f) == nemo.replay(p, trace)
    assert_same(f, p)


@settings(max_examples=200)
@given(st.data())
def test_hashes_equal_the_plain_model(data: st.DataObject) -> None:
    """Hashes, also with offsets that are too wide."""
    geometry = data.draw(geometries)
    rule = data.draw(rules(geometry))
    size = data.draw(st.integers(1, geometry.counters(rule.width)))
    multiplier = data.draw(st.integers(0, (1 << HASH_BITS - 1) - 1)) * 2 + 1
    shift = data.draw(st.sampled_from([0, 3, 6, 12]))
    rule = replace(rule, hash_multiplier=multiplier, hash_size=size, sub_mask=U64, sub_shift=shift)
    addr, write = data.draw(events(120))
    addr = addr | np.uint64(data.draw(st.sampled_from([0, 1 << 26, 1 << 27, 1 << 29])))
    f, p = fast.Telemetry(rule, geometry), nemo.Telemetry(rule, geometry)
    f.events(addr, write)
    assert reads_of(f) == nemo.replay(p, zip(addr.tolist(), write.tolist(), strict=True))
    assert_same(f, p)


def test_a_rule_that_asks_takes_no_event_without_an_outcome() -> None:
    geometry = Geometry(channels=1, pipelines=1, states=16, table=2)
    rule = Rule(name="a", end=1 << 20, near="hit", primary_mask=0, map=[[0, 0]])
    f, p = fast.Telemetry(rule, geometry), nemo.Telemetry(rule, geometry)
    f.events(np.zeros(5, np.uint64), np.zeros(5, bool))
    nemo.replay(p, [(0, False)] * 5)
    assert_same(f, p)
    assert f.matched == 0


@settings(max_examples=200)
@given(st.data())
def test_any_interleaving_equals_the_plain_model(data: st.DataObject) -> None:
    """Events between table changes, line reads of both kinds and both acknowledges."""
    geometry = data.draw(geometries)
    rule = data.draw(rules(geometry))
    f, p = fast.Telemetry(rule, geometry), nemo.Telemetry(rule, geometry)
    expected, seen = [], 0
    for _ in range(data.draw(st.integers(1, 8))):
        addr, write = data.draw(events(20))
        f.events(addr, write)
        # The reference's replay counts from 1 at each call, although a read period may be in
        # progress.
        for a, w in zip(addr.tolist(), write.tolist(), strict=True):
            p.event(a, w)
            seen += 1
            if rule.read_every and seen % rule.read_every == 0:
                expected += [(seen, *row) for row in p.nonzero()]
                for channel, line in itertools.product(
                    range(geometry.channels), range(geometry.lines)
                ):
                    p.read_line(channel, line, effect=True)
        what = data.draw(
            st.sampled_from(["map", "unmap", "read", "snapshot", "acknowledge", "take"])
        )
        if what in ("map", "unmap"):
            key, base = data.draw(table_entries(geometry, rule.width))
            for t in (f, p):
                t.set_translation(key, base, what == "map")
        elif what == "acknowledge":
            f.acknowledge()
            p.acknowledge()
        else:
            channel = data.draw(st.integers(0, geometry.channels - 1))
            line = data.draw(st.integers(0, geometry.lines - 1))
            effect = what == "read"
            words = f.read_line(channel, line, effect)
            assert words == p.read_line(channel, line, effect)
            if what == "take":
                others = st.lists(st.integers(0, 2**64 - 1), min_size=8, max_size=8)
                words = data.draw(st.one_of(st.just(words), others))
                f.acknowledge_line(channel, line, words)
                p.acknowledge_line(channel, line, words)
    assert reads_of(f) == expected
    assert_same(f, p)


def read_lines(p: nemo.Telemetry, at: list[int], effect: bool) -> list[list[int]]:
    """The result of `read` for these counters, from line reads; each line is read once."""
    geometry, width = p.geometry, p.rule.width
    per_line = 512 // width
    values = {
        (line, channel): nemo.unpack(p.read_line(channel, line, effect), width)
        for line in {i // per_line for i in at}
        for channel in range(geometry.channels)
    }
    return [
        [values[i // per_line, channel][i % per_line] for channel in range(geometry.channels)]
        for i in at
    ]


@st.composite
def picks(draw: st.DrawFn, counters: int) -> tuple[object, list[int]]:
    """An index for `read`, and the counters that it selects."""
    number = st.integers(0, counters - 1)
    kind = draw(st.sampled_from(["all", "slice", "range", "list", "array"]))
    if kind == "all":
        return None, list(range(counters))
    if kind in ("slice", "range"):
        first, last = sorted((draw(number), draw(number)))
        every = range(first, last, draw(st.integers(1, 40)))
        return (slice(every.start, every.stop, every.step) if kind == "slice" else every), [*every]
    some = draw(st.lists(number, max_size=6))
    return (some if kind == "list" else np.array(some, np.uint32)), some


@settings(max_examples=200)
@given(st.data())
def test_bulk_reads_between_batches_equal_the_plain_model(data: st.DataObject) -> None:
    """The calls of the tiering simulator: events, bulk reads, many table entries at once."""
    geometry = data.draw(geometries)
    rule = replace(data.draw(rules(geometry)), read_every=0)
    f, p = fast.Telemetry(rule, geometry), nemo.Telemetry(rule, geometry)
    for _ in range(data.draw(st.integers(1, 6))):
        addr, write = data.draw(events(20))
        f.events(addr, write)
        for event in zip(addr.tolist(), write.tolist(), strict=True):
            p.event(*event)
        what = data.draw(st.sampled_from(["read", "read", "snapshot", "map", "unmap", "clear"]))
        if what in ("map", "unmap"):
            entries = table_entries(geometry, rule.width)
            changed = data.draw(st.lists(entries, max_size=9, unique_by=lambda entry: entry[0]))
            keys, bases = np.array(changed, np.uint64).reshape(-1, 2).T
            f.set_translation(keys, bases, what == "map")
            for key, base in changed:
                p.set_translation(key, base, what == "map")
        elif what == "clear":
            f.clear()
            p.clear()
        else:
            index, meant = data.draw(picks(geometry.counters(rule.width)))
            values = f.read(index, effect=what == "read")
            assert (values.dtype, values.shape) == (np.uint64, (len(meant), geometry.channels))
            assert values.tolist() == read_lines(p, meant, what == "read")
        assert_same(f, p)


@settings(max_examples=100)
@given(st.data())
def test_batches_are_as_one_call(data: st.DataObject) -> None:
    geometry = data.draw(geometries)
    rule = data.draw(rules(geometry))
    addr, write = data.draw(events(120))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(addr)), max_size=5)))
    whole, parts = fast.Telemetry(rule, geometry), fast.Telemetry(rule, geometry)
    whole.events(addr, write)
    for first, last in zip([0, *cuts], [*cuts, len(addr)], strict=True):
        parts.events(addr[first:last], write[first:last])
    assert reads_of(parts) == reads_of(whole)
    assert parts.read().tolist() == whole.read().tolist()
    assert parts._counts.tolist() == whole._counts.tolist()


def test_what_is_not_there_is_refused() -> None:
    geometry = Geometry(channels=2, pipelines=1, states=16, table=4)
    t = fast.Telemetry(Rule(name="a", end=1 << 20, width=32, map=[[0, 0]]), geometry)
    for index in ([-1], [32], np.array([0, 1 << 40]), [0.5], ["a"]):
        with pytest.raises(IndexError, match="counters are whole numbers of 0 to 31"):
            t.read(index, effect=True)
    table = t._table.tolist()
    for key, base, message in (
        (4, 0, "key 4: 0 to 3"),
        (-1, 0, "key -1: 0 to 3"),
        (0, 32, "base 32: 0 to 31"),
        (np.array([1, 4]), 0, "key .*: 0 to 3"),
        (np.array([1, 2]), np.array([0, -1]), "base .*: 0 to 31"),
    ):
        with pytest.raises(ValueError, match=message):
            t.set_translation(key, base)
    assert t._table.tolist() == table
    with pytest.raises(ValueError, match="2 addresses, 1 flags"):
        t.events(np.zeros(2, np.uint64), np.zeros(1, bool))
    with pytest.raises(ValueError, match="1 addresses, 2 outcomes"):
        t.events(np.zeros(1, np.uint64), np.zeros(1, bool), near=np.zeros(2, np.uint8))
    assert t.matched == 0


def test_a_bulk_read_is_no_loop_of_lines() -> None:
    """All 131,072 8-bit counters take less time at once than one channel's line by line."""
    fast.warm_up()
    rule = Rule(name="a", end=1 << 20, width=8, effect_op="add", effect_operand=1)
    t = fast.Telemetry(rule, Geometry())
    lines = Geometry().counters(8) // t.per_line
    at_once, by_line = [], []
    for count in range(5):
        started = time.thread_time()
        assert (t.read(effect=True) == count).all()
        at_once.append(time.thread_time() - started)
    for _ in range(5):
        started = time.thread_time()
        for line in range(lines):
            t.read_line(line, 0, effect=True)
        by_line.append(time.thread_time() - started)
    print(f"{min(at_once) * 1e3:.1f} ms at once, {min(by_line) * 1e3:.1f} ms a channel by line")
    assert min(at_once) < min(by_line)


def test_every_combination_of_op_width_predicate_effect_and_operand() -> None:
    """Each combination of Table 1 on a short trace with few counters; each must have an effect."""
    print(f"seed {SEED}")
    rng = np.random.default_rng(SEED)
    geometry = Geometry(channels=2, pipelines=1, states=16, table=4, device_gib=1)
    acted: Counter[str] = Counter()
    combinations = list(itertools.product(OPS, WIDTHS, PREDICATES, EFFECTS, OPERANDS))
    for op, width, predicate, effect, kind in combinations:
        full = (1 << width) - 1
        other = int(rng.integers(1 << 62))
        edges = [0, 1, 2, width - 1, width, 64, 65, full, full >> 1, U64, other]
        operand, limit, reset = (edges[i] for i in rng.integers(len(edges), size=3))
        rule = Rule(
            name="r", end=1 << 30, primary_mask=0x3000, primary_shift=12, op=op, operand=operand,
            operand_kind=kind, width=width, notify_op=predicate, notify_operand=limit,
            effect_op=effect, effect_operand=reset, map=[[0, 0], [1, 7]], read_every=9,
        )  # fmt: skip
        # Lines that are wider than a narrow counter; pages 0 to 2, of which 2 has no entry.
        addr = (rng.integers(0, 1 << 16, 24) << 14 | rng.integers(0, 0x2800, 24)).astype(np.uint64)
        write = rng.random(24) < 0.5
        f, p = fast.Telemetry(rule, geometry), nemo.Telemetry(rule, geometry)
        for t in (f, p):  # non-zero values, so that shr has an effect
            t.read_line(0, 0, True)
        f.events(addr, write)
        expected = nemo.replay(p, zip(addr.tolist(), write.tolist(), strict=True))
        assert reads_of(f) == expected, rule
        assert_same(f, p)
        acted[f"predicate {predicate}"] += f.notifications > 0
        acted[f"op {op}"] += len(f.nonzero()[0]) > 0
        acted[f"effect {effect}"] += len(expected) > 0
    quiet = [name for name, times in acted.items() if times == 0]
    assert quiet == ["predicate none"]


def test_reads_that_fill_the_buffer_many_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast, "_BUFFER", 1)  # a buffer for exactly one read of all counters
    monkeypatch.setattr(fast, "_CHUNK", 7)
    geometry = Geometry(channels=2, pipelines=1, states=16, table=4, device_gib=1)
    rule = Rule(name="r", end=1 << 30, primary_shift=12, map=[[0, 0]], effect_op="add",
                effect_operand=1, read_every=3)  # fmt: skip
    addr, write = np.zeros(100, np.uint64), np.zeros(100, np.bool_)
    f, p = fast.Telemetry(rule, geometry), nemo.Telemetry(rule, geometry)
    steps: list[int] = []
    f.events(addr, write, steps.append)
    assert reads_of(f) == nemo.replay(p, zip(addr.tolist(), write.tolist(), strict=True))
    assert len(f.reads) >= 33 and sum(steps) == 100
    assert_same(f, p)


def test_an_op_without_a_meaning_is_no_other_op() -> None:
    """An op code without a branch in `_apply` is an error, in an update and in a read effect."""
    geometry = Geometry(channels=1, pipelines=1, states=16, table=2)
    for place in (fast.P_OP, fast.P_EFFECT):
        telemetry = fast.Telemetry(Rule(name="a", end=1 << 20, map=[[0, 0]]), geometry)
        telemetry._p[place] = max(OP_CODES.values()) + 1
        with pytest.raises(ValueError, match="without a meaning"):
            telemetry.events(np.zeros(1, np.uint64), np.zeros(1, bool))
            telemetry.read_line(0, 0, effect=True)
