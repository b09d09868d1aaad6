# SPDX-License-Identifier: Apache-2.0
"""The comparison finds every single wrong value."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anemone.analysis.compare import Output, compare, recount
from anemone.cli import main
from anemone.hardware.geometry import Geometry
from anemone.replay import replay
from anemone.replay.result import Reads, Result, States, write
from anemone.sim import job
from anemone.telemetry.paper_rules import paper_rules
from anemone.telemetry.rules import Rule
from anemone.trace import Trace
from tests.sim import synthetic

GEOMETRY = Geometry()
TRACE = synthetic.neighbours(9_000)
RULES = paper_rules(TRACE, GEOMETRY)


def columns(rows: States | Reads) -> dict[str, np.ndarray]:
    return {name: getattr(rows, name).copy() for name in type(rows).__dataclass_fields__}


def one_more(kind: str, row: int) -> Callable[[Result], Result]:
    """A change: one value of `kind` is one more."""

    def change(result: Result) -> Result:
        rows = columns(getattr(result, kind))
        rows["value"][row] += 1
        return replace(result, **{kind: type(getattr(result, kind))(**rows)})

    return change


def without(kind: str, row: int) -> Callable[[Result], Result]:
    """A change: one row is missing."""

    def change(result: Result) -> Result:
        rows = {name: np.delete(c, row) for name, c in columns(getattr(result, kind)).items()}
        return replace(result, **{kind: type(getattr(result, kind))(**rows)})

    return change


def elsewhere(kind: str, column: str) -> Callable[[Result], Result]:
    """A change: the last value is moved to another place."""

    def change(result: Result) -> Result:
        rows = columns(getattr(result, kind))
        rows[column][-1] = 1 - rows[column][-1] if column == "channel" else rows[column][-1] + 1
        return replace(result, **{kind: type(getattr(result, kind))(**rows)})

    return change


def counter(field: str, rule: int) -> Callable[[Result], Result]:
    """A change: a counter of the report is one more."""

    def change(result: Result) -> Result:
        counters = list(result.counters)
        was = getattr(counters[rule], field)
        counters[rule] = replace(counters[rule], **{field: was + 1})
        return replace(result, counters=counters)

    return change


CHANGES = {
    "first state": one_more("states", 0),
    "last state": one_more("states", -1),
    "first read": one_more("reads", 0),
    "last read": one_more("reads", -1),
    "no state": without("states", 5),
    "no read": without("reads", 5),
    "index of a state": elsewhere("states", "index"),
    "channel of a state": elsewhere("states", "channel"),
    "event of a read": elsewhere("reads", "event"),
    "matched": counter("matched", 0),
    "unmapped": counter("unmapped", 7),
    "out of range": counter("out_of_range", 3),
    "notifications": counter("notifications", 1),
}


@pytest.fixture(scope="module")
def good() -> Result:
    return replay(RULES, TRACE, GEOMETRY, "model")


def out(result: Result, folder: Path) -> Output:
    write(result, folder)
    return Output.load(folder)


def test_equal_is_equal(good: Result, tmp_path: Path) -> None:
    one, two = out(good, tmp_path / "a"), out(replace(good, cycles=7, seconds=9.0), tmp_path / "b")
    same = compare(one, two)
    assert same.equal
    assert same.values == len(good.states) + len(good.reads) + 4 * len(RULES) + 2
    assert recount(RULES, TRACE, GEOMETRY, one).equal


@pytest.mark.parametrize("name", CHANGES)
def test_one_wrong_value_is_found(name: str, good: Result, tmp_path: Path) -> None:
    one, two = out(good, tmp_path / "a"), out(CHANGES[name](good), tmp_path / "b")
    for left, right in ((one, two), (two, one)):
        found = compare(left, right)
        assert 1 <= found.total <= 2, "a value that moved is missing here and too many there"
        assert len(found.differences) == found.total
    assert recount(RULES, TRACE, GEOMETRY, one).equal
    assert recount(RULES, TRACE, GEOMETRY, two).total == found.total


def test_a_difference_says_where_and_what(good: Result, tmp_path: Path) -> None:
    one, two = out(good, tmp_path / "a"), out(one_more("reads", 3)(good), tmp_path / "b")
    reads = good.reads
    place = {"rule": RULES[reads.rule[3]].name}
    place |= {c: int(getattr(reads, c)[3]) for c in ("event", "index", "channel")}
    (found,) = compare(one, two).differences
    assert found.kind == "reads"
    assert found.place == place
    assert (found.left, found.right) == (int(reads.value[3]), int(reads.value[3]) + 1)
    assert compare(one, two).unlike == {place["rule"]: 1}


def test_other_rules_or_another_trace_are_found(good: Result, tmp_path: Path) -> None:
    one = out(good, tmp_path / "a")
    assert not compare(one, out(replace(good, events=8_999), tmp_path / "b")).equal
    renamed = [replace(good.counters[0], name="other"), *good.counters[1:]]
    assert not compare(one, out(replace(good, counters=renamed), tmp_path / "c")).equal


def test_recount_refuses_a_rule_that_it_cannot_count(good: Result, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="add 1"):
        recount([replace(RULES[0], op="xor")], TRACE, GEOMETRY, out(good, tmp_path))


class Engines:
    """Replaces the engines by the model with a change for each of the two."""

    def __init__(self, rtl: Callable | None = None, model: Callable | None = None) -> None:
        self.change = {"rtl": rtl, "model": model}

    def __call__(
        self, rules: Sequence[Rule], trace: Trace, geometry: Geometry, engine: str, step: object
    ) -> Result:
        result = replay(rules, trace, geometry, "model")
        change = self.change[engine]
        return change(result) if change else result


def sim(traces: Path, out: Path, *more: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(["sim", "--traces", str(traces), "--out", str(out), *more])
    return int(stop.value.code or 0)


WRONG = one_more("reads", 11)
OUTCOMES = {
    "all equal": (Engines(), 0, True, True),
    "the RTL is wrong": (Engines(rtl=WRONG), 1, False, False),
    "the model is wrong": (Engines(model=WRONG), 1, False, True),
    "both are wrong alike": (Engines(rtl=WRONG, model=WRONG), 1, True, False),
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_sim_fails_unless_all_is_equal(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    engines, status, agreed, counted = OUTCOMES[name]
    monkeypatch.setattr(job, "replay", engines)
    path = synthetic.save(TRACE, tmp_path / "mixed.parquet")
    assert sim(path, tmp_path / "out", "--json") == status
    report = json.loads(capsys.readouterr().out)
    assert report["equal"] is (status == 0)
    (trace,) = report["traces"]
    assert (trace["rtl_equals_model"], trace["equals_trace"]) == (agreed, counted)
    assert bool(trace["differences"]) is (status == 1)
    assert sim(path, tmp_path / "again") == status
    shown = capsys.readouterr().out
    assert ("NO (1)" in shown) is (status == 1)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert ("✗ not equal" in page) is (status == 1)


def test_bad_input_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fine = synthetic.save(TRACE, tmp_path / "fine.parquet")
    torn = tmp_path / "torn.parquet"
    torn.write_bytes(fine.read_bytes()[:2000])
    empty = tmp_path / "empty"
    empty.mkdir()
    for given in (tmp_path, torn, tmp_path / "absent", empty):
        assert sim(given, tmp_path / "out", "--engine", "model") == 2
        output = capsys.readouterr()
        assert output.err.count("\n") == 1, output.err
        assert not output.out
        assert not (tmp_path / "out").exists()
