# SPDX-License-Identifier: Apache-2.0
"""Memstrata's classifier: halves, line, scores by hand; the forest as ONNX; the commands."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anemone.io.errors import InputError
from anemone.memstrata import outliers
from anemone.memstrata.files import read_samples
from anemone.memstrata.outliers import Line, Sample, classify, features, halves, score, smoothed
from anemone.memstrata.outliers import train as trained
from tests.commands import assert_refused, run


def sample(program: str, l3_ns: float, slowdown: float, **more: float) -> Sample:
    metrics = {"l3_ns": l3_ns, "l2_ns": 50.0, "tlb_ns": 20.0, "l2_mpki": 4.0, "requests": 5.0}
    return Sample(program, {**metrics, **more}, (l3_ns - 100) / 200, slowdown)


def drawn(programs: int, seed: int = 3) -> list[Sample]:
    """Samples of programs, three each; outliers are those whose misses cost more than 5 %."""
    rng = np.random.default_rng(seed)
    found = []
    for p in range(programs):
        requests = float(rng.uniform(0.1, 20))
        for _ in range(3):
            l3_ns = float(rng.uniform(100, 240))
            mpki = (l3_ns - 100) / 200 * requests
            found.append(sample(f"p{p}", l3_ns, mpki / 80, requests=requests))
    return found


def test_the_line() -> None:
    line = Line.through([sample("a", 120.0, 0.0), sample("b", 180.0, 0.0)])
    assert line.ratio(160.0) == pytest.approx(0.3)
    assert (line.ratio(50.0), line.ratio(1000.0)) == (0.0, 1.0)
    assert Line.through([sample("a", 120.0, 0.0)] * 2).ratio(300.0) == pytest.approx(0.1)
    idle = sample("c", 0.0, 0.0)  # no demand load misses, so it has no latency and is left out
    assert Line.through([sample("a", 120.0, 0.0), sample("b", 180.0, 0.0), idle]) == line
    row = features(sample("a", 160.0, 0.0).metrics, line.ratio(160.0))
    assert row == pytest.approx([1.5, 160.0, 50.0, 20.0, 4.0])


def test_smoothed_by_hand() -> None:
    assert smoothed([[10.0], [20.0], [0.0]]) == [[10.0], [12.0], [pytest.approx(9.6)]]


@given(st.integers(2, 30), st.integers(0, 100))
def test_no_program_is_in_both_halves(programs: int, seed: int) -> None:
    samples = drawn(programs)
    training, validation = halves(samples, seed)
    assert not {*training} & {*validation}
    assert {*training, *validation} == {s.program for s in samples}
    assert 0 <= len(validation) - len(training) <= 1


def test_scores_by_hand() -> None:
    """Of four samples one outlier is found, one is missed, and one is a false positive."""
    samples = [sample(p, 120.0, s) for p, s in zip("abcd", (0.1, 0.2, 0.0, 0.05), strict=True)]
    found = score(samples, [True, False, True, False], 1)
    assert (found.accuracy, found.precision, found.recall) == (0.5, 0.5, 0.5)
    assert 0 <= found.low < 0.5 < found.high <= 1
    nobody = score(samples[2:], [False, False], 1)
    assert (nobody.accuracy, nobody.low, nobody.precision, nobody.recall) == (1.0, 1.0, None, None)


def test_samples_of_a_program_count_as_one() -> None:
    """Ten samples of a program do not narrow the interval, because they are dependent."""
    few = [sample(p, 120.0, 0.0) for p in "abcd"]
    called = [True, False, True, False]
    many = [s for s in few for _ in range(10)]
    wide = score(many, [c for c in called for _ in range(10)], 1)
    assert wide == score(few, called, 1)


def test_training_asks_for_three(tmp_path: Path) -> None:
    """The forests are trained on one half, and predict the other."""
    seen: dict[str, Any] = {}

    def ask(request: dict[str, Any]) -> list[list[float]]:
        seen.update(request)
        return [[1.0 if row[0] > 4 else 0.0 for row in each["rows"]] for each in request["ask"]]

    samples = drawn(20)
    found = trained(samples, tmp_path, 1, ask, "samples.json")
    sizes = [len(each["rows"]) for each in (*seen["train"], *seen["ask"])]
    assert sizes == [30, 30, 30, 30] and seen["trees"] == 100
    assert [len(each["rows"][0]) for each in seen["train"]] == [5, 1]
    assert found.scores["forest"].accuracy > 0.95 and found.r2["mpki and slowdown"] > 0.99
    majority = found.scores["majority"]
    assert majority.accuracy == pytest.approx(
        np.mean([not s.outlier for s in samples if s.program in found.validation])
    ) or majority.accuracy == pytest.approx(
        np.mean([s.outlier for s in samples if s.program in found.validation])
    )


def test_figure_9_with_and_without_latencies(tmp_path: Path) -> None:
    """Programs without missing demand loads have no latency, and would spoil the correlation."""

    def ask(request: dict[str, Any]) -> list[list[float]]:
        return [[0.0] * len(each["rows"]) for each in request["ask"]]

    blind = [replace(s, metrics={**s.metrics, "l3_ns": 0.0}) for s in drawn(4, 7)]
    samples = [*drawn(20), *(replace(s, program=f"b{s.program}") for s in blind)]
    found = trained(samples, tmp_path, 1, ask, "samples.json").r2
    assert found["L3 miss latency and miss ratio"] < 0.8
    assert found["the same, where demand loads miss"] > 0.99


def test_captured_programs_are_told_apart(tmp_path: Path) -> None:
    """Captured programs have an additional score, if there are any."""

    def ask(request: dict[str, Any]) -> list[list[float]]:
        return [[1.0] * len(each["rows"]) for each in request["ask"]]

    plain = drawn(20)
    captured = [replace(s, program=f"c{s.program}", captured=True) for s in drawn(20, 5)]
    path = tmp_path / "samples.json"
    content = as_json([*plain, *captured])
    for each, s in zip(content["samples"], [*plain, *captured], strict=True):
        each.update({"captured": True} if s.captured else {})
    path.write_text(json.dumps(content))
    assert read_samples(path) == [*plain, *captured]
    found = trained(read_samples(path), tmp_path, 1, ask, path)
    apart = [s.outlier for s in captured if s.program in found.validation]
    assert found.scores["forest, captured programs"].accuracy == pytest.approx(np.mean(apart))
    assert "forest, captured programs" not in trained(plain, tmp_path, 1, ask, path).scores


def test_one_class_is_refused(tmp_path: Path) -> None:
    mild = [sample(p, 120.0, 0.01) for p in "abcd"]
    with pytest.raises(InputError, match=r"slowdown is all at most 0\.05"):
        trained(mild, tmp_path, 1, lambda request: [], "samples.json")


def as_json(samples: list[Sample]) -> dict[str, Any]:
    return {
        "samples": [
            {"program": s.program, **s.metrics, "miss_ratio": s.miss_ratio, "slowdown": s.slowdown}
            for s in samples
        ]
    }


def test_a_forest_is_trained_and_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """scikit-learn, ONNX and onnxruntime run in another environment; the model is reproducible."""
    path, model = tmp_path / "samples.json", tmp_path / "model"
    path.write_text(json.dumps(as_json(drawn(40))))
    words = ["memstrata", "train", "--samples", str(path), "--out", str(model), "--json"]
    status, out, err = run(words, capsys)
    assert status == 0, err
    report = json.loads(out)
    scores = report["scores"]
    assert scores["forest"]["accuracy"] > 0.9 and len(report["validation"]) == 20
    assert scores["forest"]["low"] <= scores["forest"]["accuracy"] <= scores["forest"]["high"]
    first = (model / "model.onnx").read_bytes()
    assert sorted(p.name for p in model.iterdir()) == ["model.json", "model.onnx"]

    calm, slow = (
        sample("x", l3, 0.0, requests=r).metrics for l3, r in ((105.0, 1.0), (235.0, 19.0))
    )
    counters = tmp_path / "counters.json"
    vms = [("calm", [calm]), ("slow", [slow]), ("now slow", [calm] * 20 + [slow] * 12)]
    listed = [{"name": name, "intervals": rows} for name, rows in vms]
    counters.write_text(json.dumps({"vms": listed}))
    asked = ["memstrata", "classify", "--model", str(model), "--counters", str(counters)]
    status, out, err = run([*asked, "--json"], capsys)
    assert status == 0, err
    is_outlier = {vm["name"]: vm["is_outlier"] for vm in json.loads(out)["vms"]}
    assert is_outlier == {"calm": False, "slow": True, "now slow": True}
    assert "slow" in run(asked, capsys)[1]
    line = Line(**report["line"])
    row = features(calm, line.ratio(calm["l3_ns"]))
    shares = classify(model / "model.onnx", [row], outliers.ask)
    assert shares == [pytest.approx(0, abs=0.2)]
    assert run(words, capsys)[0] == 0 and (model / "model.onnx").read_bytes() == first


GOOD = as_json([sample("a", 120.0, 0.0), sample("b", 180.0, 0.2)])
FIRST = GOOD["samples"][0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "samples is missing"),
        ({"samples": 3}, "samples is 3"),
        ({"samples": []}, "program is missing"),
        ({"samples": [FIRST]}, 'program is "a"'),
        ({"samples": [FIRST, 7]}, "samples[1]"),
        ({"samples": [FIRST, {**FIRST, "program": ""}]}, "samples[1]: program"),
        ({"samples": [FIRST, {**FIRST, "l3_ns": -1}]}, "l3_ns is -1"),
        ({"samples": [FIRST, {**FIRST, "miss_ratio": 1.5}]}, "miss_ratio is 1.5"),
        ({"samples": [FIRST, {**FIRST, "more": 1}]}, "more is 1"),
        ({"samples": [FIRST, {**FIRST, "captured": 1}]}, "captured is 1"),
    ],
    ids=[
        "none",
        "number",
        "empty",
        "one",
        "no object",
        "name",
        "negative",
        "ratio",
        "more",
        "captured",
    ],
)
def test_bad_samples(content: object, message: str, tmp_path: Path, capsys) -> None:
    path = tmp_path / "samples.json"
    words = ["memstrata", "train", "--samples", str(path), "--out", str(tmp_path / "model")]
    assert_refused(path, json.dumps(content), message, words, capsys)


VM = {"name": "a", "intervals": [FIRST_METRICS := {n: FIRST[n] for n in outliers.METRICS}]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "counters.json"),
        ({"vms": [VM, VM]}, "vms[1]: name"),
        ({"vms": [{"name": "a", "intervals": []}]}, "one interval at least"),
        ({"vms": [{"name": "a", "intervals": [{}]}]}, "l3_ns is missing"),
        ({"vms": [{"name": "a", "intervals": [{**FIRST_METRICS, "l2_ns": "x"}]}]}, 'l2_ns is "x"'),
        ({"vms": 1}, "vms is 1"),
    ],
    ids=["none", "twice", "empty", "missing", "text", "number"],
)
def test_bad_counters(content: object, message: str, tmp_path: Path, capsys) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / "model.json").write_text(json.dumps({"line": {"slope": 0.005, "intercept": -0.5}}))
    (model / "model.onnx").write_bytes(b"")
    folder = tmp_path / "of"
    folder.mkdir()
    path = folder / "counters.json"
    path.write_text("{}")
    words = ["memstrata", "classify", "--model", str(model), "--counters", str(path)]
    assert_refused(path, content and json.dumps(content), message, words, capsys)


def test_what_is_no_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counters = tmp_path / "counters.json"
    counters.write_text(json.dumps({"vms": [VM]}))
    (tmp_path / "model").mkdir()
    path = tmp_path / "model" / "model.json"
    path.write_text("{}")
    words = ["memstrata", "classify", "--model", str(path.parent), "--counters", str(counters)]
    assert_refused(path, "{}", "line is missing", words, capsys)
    good = json.dumps({"line": {"slope": 0.005, "intercept": -0.5}})
    path.write_text(good)
    status, out, err = run(words, capsys)
    assert (status, out) == (2, "") and "model.onnx is missing" in err


def test_samples_are_read(tmp_path: Path) -> None:
    (path := tmp_path / "s.json").write_text(json.dumps(GOOD))
    assert read_samples(path) == [sample("a", 120.0, 0.0), sample("b", 180.0, 0.2)]
