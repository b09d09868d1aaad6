# SPDX-License-Identifier: Apache-2.0
"""Calibration finds known constants, reports doubts, and its programs run."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anemone.io.errors import InputError
from anemone.models.camp import calibrate, read_calibration
from anemone.models.camp import record as recorder
from anemone.models.camp.calibrate import BENCHMARKS, last_cache, on_model, scaled
from anemone.models.camp.fit import Point, fit
from anemone.models.camp.slowdown import CONSTANTS, Calibration, predict
from tests.commands import one_line, run

KNOWN = Calibration(k_drd=0.9, p=30.0, q=0.6, k_cache=1.5, k_store=2.5)


def point(number: int, tolerance: float, known: Calibration = KNOWN) -> Point:
    """A microbenchmark that follows the model exactly: MLP / L is `tolerance`."""
    dram = {
        "c": 1e6, "P2": 5e5 + 3e4 * number, "P3": 4e5, "P4": 8000.0, "P5": 4000.0 + 500 * number,
        "P6": 2e4 * number, "P11": 1e6, "P12": tolerance * 3e5, "P13": 3e5,
        "P14": 600.0, "P15": 1000.0, "P16": 70.0, "P17": 30.0,
    }  # fmt: skip
    slower = predict(dram, known, "spr")
    p3 = dram["P3"] + slower.drd * dram["c"]
    factor = 1 / (known.p * tolerance + known.q)
    cxl = {
        **dram,
        "P3": p3,
        "P2": p3 + dram["P2"] - dram["P3"] + slower.cache * dram["c"],
        "P6": dram["P6"] + slower.store * dram["c"],
        "P13": dram["P13"] * (1 + factor),
    }
    return Point(f"p{number}", dram, cxl)


def points(n: int, known: Calibration = KNOWN) -> list[Point]:
    return [point(i + 1, t, known) for i, t in enumerate(np.geomspace(0.005, 0.05, n))]


@given(
    st.floats(0.1, 3), st.floats(1, 100), st.floats(0.1, 2), st.floats(0.1, 20), st.floats(0.1, 5)
)
def test_known_constants_are_found_again(k_drd, p, q, k_cache, k_store) -> None:
    known = Calibration(k_drd, p, q, k_cache, k_store)
    found = fit(points(5, known), "spr")
    for name in CONSTANTS:
        assert getattr(found.calibration, name) == pytest.approx(getattr(known, name), rel=1e-6)
    assert max(found.residuals.values()) < 1e-6 and found.doubts == ()


def test_noise_is_left_over_and_told() -> None:
    noisy = points(6)
    for i, each in enumerate(noisy):
        each.cxl["P3"] *= 1.6 if i % 2 else 0.7
        each.cxl["P2"] = max(each.cxl["P2"], each.cxl["P3"])
    found = fit(noisy, "spr")
    assert found.residuals["drd"] > 0.1
    assert any(doubt.startswith("k_drd leaves") for doubt in found.doubts)


def test_a_factor_that_is_no_hyperbola_is_told() -> None:
    """A wrong factor is reported even if P3's rise fits the model with some k_drd."""
    noisy = points(6)
    for i, each in enumerate(noisy):
        factor = each.cxl["P13"] / each.dram["P13"] - 1
        each.cxl["P13"] = each.dram["P13"] * (1 + factor * (1.6 if i % 2 else 0.5))
    found = fit(noisy, "spr")
    assert found.residuals["drd"] < 0.01 and found.residuals["factor"] > 0.5
    assert [doubt.split(" leave ")[0] for doubt in found.doubts] == ["p and q"]


def test_too_few_points_and_collinear_ones() -> None:
    assert any("of 2 points" in doubt for doubt in fit(points(2), "spr").doubts)
    same = [point(i, 0.01 * (1 + i / 100)) for i in range(1, 6)]
    found = fit(same, "spr")
    assert any("collinear" in doubt for doubt in found.doubts)
    assert found.calibration.p == 0
    # A constant factor still fits collinear points.
    assert 1 / found.calibration.q == pytest.approx(1 / (30 * 0.0103 + 0.6), rel=0.02)


def test_memory_that_is_not_slower() -> None:
    same = [Point(p.name, p.dram, p.dram) for p in points(4)]
    with pytest.raises(ValueError, match="no point has demand reads"):
        fit(same, "spr")


def test_stores_alone_are_no_point_of_p_and_q() -> None:
    stores = point(3, 0.01)
    none = {"P3": 0.0, "P12": 0.0, "P13": 1.0}
    both = [*points(4), Point("memset", {**stores.dram, **none}, {**stores.cxl, **none})]
    assert fit(both, "spr").calibration.k_drd == pytest.approx(KNOWN.k_drd, rel=1e-6)


def test_runs_are_compared_at_equal_work() -> None:
    assert scaled({"instructions": 30.0}, {"instructions": 10.0, "P3": 7.0})["P3"] == 21.0


def test_sizes_come_from_the_caches(tmp_path: Path) -> None:
    for i, size in enumerate(("48K", "2048K", "60M")):
        (tmp_path / f"index{i}").mkdir()
        (tmp_path / f"index{i}" / "size").write_text(size + "\n")
    assert last_cache(tmp_path) == 60 << 20
    with pytest.raises(InputError) as refused:
        last_cache(tmp_path / "none")
    assert "size is missing" in one_line(refused.value)


@pytest.fixture(scope="module")
def microbench() -> str:
    return str(calibrate.microbench())


@pytest.mark.parametrize(("kind", "parameter"), [b[1:] for b in BENCHMARKS])
def test_the_programs_run(kind: str, parameter: int, microbench: str) -> None:
    words = [microbench, kind, str(1 << 20), str(parameter), "0.01", "0"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_nothing_but_setting_up(microbench: str) -> None:
    for kind in ("chase", "read", "stride", "memset"):
        done = subprocess.run([microbench, kind, str(1 << 20), "8", "0", "0"], capture_output=True)
        assert (done.returncode, done.stderr) == (0, b"")


_SETTING_UP = {"c": 7e8, "instructions": 3e8, "P1": 5e6, "P2": 4e6, "P3": 3e6, "P6": 2e8,
               "P7": 9e3, "P8": 1e3, "P12": 4e4, "P13": 6e5}  # fmt: skip
_WORK = {"c": 4e9, "instructions": 2e8, "P1": 3.9e9, "P2": 3.8e9, "P3": 3.7e9, "P6": 0.0,
         "P7": 0.0, "P8": 0.0, "P12": 2e7, "P13": 3.8e9}  # fmt: skip


def test_on_a_machine(tmp_path: Path, monkeypatch) -> None:
    """It runs on the processors of the DRAM's node and subtracts the setup. The program is timed:
    with twice the latency it does half the work, but the same setup.
    """
    cpu = min(os.sched_getaffinity(0))
    for node, cpus in enumerate((f"{cpu},{cpu}-{cpu}", "")):
        (tmp_path / f"node{node}").mkdir()
        (tmp_path / f"node{node}" / "cpulist").write_text(cpus + "\n")
    monkeypatch.setattr(calibrate, "_NODES", tmp_path)
    monkeypatch.setattr(recorder, "check_perf", lambda platform: None)
    before, seen = os.sched_getaffinity(0), set()

    def record(words: list[str], platform: str, interval: float | None) -> SimpleNamespace:
        seen.add(frozenset(os.sched_getaffinity(0)))
        times = 0.5 if words[-1] == "1" else 1.0
        work = {n: v * (times if n in ("instructions", "P12") else 1) for n, v in _WORK.items()}
        part = 0.0 if float(words[-2]) == 0 else 1.0
        return SimpleNamespace(total={n: v + part * work[n] for n, v in _SETTING_UP.items()})

    monkeypatch.setattr(recorder, "record", record)
    found = calibrate.on_machine("skx", 0, 1, lambda done, total: None)
    assert [p.name for p in found] == [name for name, *_ in BENCHMARKS]
    assert found[0].dram == pytest.approx(_WORK)
    assert found[0].cxl["P3"] == pytest.approx(2 * _WORK["P3"])
    assert found[0].cxl["c"] / found[0].dram["c"] == pytest.approx(2)
    assert seen == {frozenset({cpu})} and os.sched_getaffinity(0) == before
    with pytest.raises(InputError, match="node is 1; allowed: a node with processors"):
        calibrate.on_machine("skx", 1, 0, lambda done, total: None)


def test_what_setting_up_took_more_of_is_nothing() -> None:
    """Although runs vary, differences are not negative or out of order, and no divisor is 0."""
    whole = {"P1": 5.0, "P2": 9.0, "P3": 9.0, "P7": 3.0, "P8": 4.0, "P13": 6.0, "P15": 1.0}
    setup = {"P1": 5.0, "P2": 8.0, "P3": 7.0, "P7": 3.0, "P8": 1.0, "P13": 6.0, "P15": 2.0}
    left = {"P1": 2.0, "P2": 2.0, "P3": 2.0, "P7": 3.0, "P8": 3.0, "P13": 1.0, "P15": 1.0}
    assert calibrate.without(whole, setup) == left


@pytest.mark.parametrize(
    "words", [["chase", "99999", "17", "1", "0"], ["walk", "99999", "1", "1", "0"],
              ["read", "10", "0", "1", "0"], ["read", "99999", "0", "-1", "0"],
              ["read", "99999", "0", "1", "900"], ["read"]]
)  # fmt: skip
def test_the_programs_refuse(words: list[str], microbench: str) -> None:
    done = subprocess.run([microbench, *words], capture_output=True, text=True)
    assert done.returncode in (1, 2) and len(done.stderr.splitlines()) == 1


def test_on_the_core_model(tmp_path: Path, capsys) -> None:
    """End to end; the written points give the same fit again."""
    words = ["camp", "calibrate", "--platform", "skx", "--json", "--out"]
    first, again = tmp_path / "a", tmp_path / "b"
    status, out, _ = run([*words, str(first), "--simulate", "cxl-a"], capsys)
    report = json.loads(out)
    assert status == 0 and set(CONSTANTS) <= set(report)
    assert 0.3 < report["k_drd"] < 3 and report["k_store"] > 0.5
    constants = read_calibration(first / "cal.toml")
    assert constants.q == pytest.approx(report["q"])
    assert (first / "calibration.svg").read_text().startswith("<svg")
    status, out, _ = run([*words, str(again), "--points", str(first / "points.json")], capsys)
    assert status == 0 and json.loads(out) == report
    assert (first / "cal.toml").read_bytes() == (again / "cal.toml").read_bytes()


def test_a_chase_is_slowed_by_the_ratio_of_latencies() -> None:
    """For one chain of the core model, L is the memory's latency and MLP is 1."""
    one = on_model("spr", "cxl-b", lambda done, total: None)[0]
    ratio = one.cxl["P13"] / one.cxl["P12"] / (one.dram["P13"] / one.dram["P12"])
    assert one.name == "chase-1" and ratio == pytest.approx((271 - 7) / (114 - 7), rel=0.02)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--simulate", "cxl-b"], "--platform is missing"),
        (["--platform", "skx", "--simulate", "cxl-d"], '--simulate is "cxl-d"'),
        (["--platform", "skx", "--dram-node", "900"], "node is 900"),
        (["--platform", "skx", "--points", "p.json"], "p.json"),
    ],
)
def test_bad_words(words: list[str], message: str, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.json").write_text('{"points": [{"name": "a", "dram": {"c": 1}, "cxl": {}}]}')
    status, out, err = run(["camp", "calibrate", "--out", "out", *words], capsys)
    assert (status, out) == (2, "") and message in err and not Path("out").exists()
