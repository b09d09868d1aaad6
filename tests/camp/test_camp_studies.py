# SPDX-License-Identifier: Apache-2.0
"""The studies of CAMP: ranges, evaluation of answers with known results, quick runs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from anemone.io.errors import InputError
from anemone.models.camp import calibrate
from anemone.models.camp.interleave import Endpoints, Tier
from anemone.models.camp.slowdown import Calibration, Stalls, predict
from anemone.models.core import Memory, machine, simulate, tier
from anemone.models.core.model import CoreError
from anemone.studies import camp_assumptions, camp_judge, camp_workloads
from anemone.studies.camp_interleave_judge import Curve, _equal_latency, _first_touch
from anemone.studies.camp_judge import Judged, pearson, within
from tests.commands import one_line, run


def test_the_workloads() -> None:
    """At least 200 workloads of all kinds on 1 to 16 cores, reproducible by seed, within their
    ranges.
    """
    points = camp_workloads.drawn(1)
    assert len(points) >= 200 and points == camp_workloads.drawn(1) != camp_workloads.drawn(2)
    kinds = {p["kind"] for p in points}
    assert kinds == {*camp_workloads.RANGES, "program"} and len(kinds) == 11
    assert {p["cores"] for p in points} >= {1, 16}
    for point in points:
        for name, value in point.get("settings", {}).items():
            of = camp_workloads.RANGES[point["kind"]][1].get(name)
            if isinstance(of, list):
                assert value in of
            elif of:
                assert of[1] <= value <= of[2]
    assert len(camp_workloads.bandwidth_bound(1)) >= 20


def test_every_kind_runs() -> None:
    points = camp_workloads.drawn(3) + camp_workloads.bandwidth_bound(3)
    one = {(p["kernel"], p["cores"] > 1): p for p in points if "kernel" in p}
    memory = Memory(tier("skx"), tier("skx-numa"), 0.5)
    for point in one.values():
        programs = camp_workloads.programs_of(point, Path())
        done = simulate(machine("skx"), memory, programs, 300)
        assert done.counters["operations"] == 300 * point["cores"]


def test_copies_of_a_program_have_data_of_their_own(tmp_path: Path) -> None:
    from anemone.models.core import OPERATION

    np.save(tmp_path / "sorting.npy", np.array([(64, 1, (0, 0), 1, 0, 0, 0, 0)], OPERATION))
    point = {"kind": "program", "program": "sorting", "cores": 3}
    copies = camp_workloads.programs_of(point, tmp_path)
    assert [int(c["address"][0]) for c in copies] == [64, 64 + (1 << 50), 64 + (2 << 50)]


def test_programs_of_the_system(tmp_path: Path, monkeypatch) -> None:
    """Their input files are generated reproducibly; a missing program is named in the error."""
    monkeypatch.setattr(camp_workloads, "_LINES_OF_TEXT", 100)
    monkeypatch.setattr(camp_workloads, "_FUNCTIONS", 30)
    words = camp_workloads._words("sort", tmp_path)
    assert words[1:] == [*camp_workloads.COMMANDS["sort"][1:-1], str(tmp_path / "text.txt")]
    text = (tmp_path / "text.txt").read_text().splitlines()
    assert len(text) == 100 and all(len(line.split()) == 5 for line in text)
    (tmp_path / "text.txt").unlink()
    camp_workloads._words("sort", tmp_path)
    assert (tmp_path / "text.txt").read_text().splitlines() == text
    compiler = camp_workloads._words("cc1", tmp_path)
    done = subprocess.run(compiler, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("xz", "cc1"):
        with pytest.raises(InputError) as refused:
            camp_workloads._words(name, tmp_path)
        assert f"{name} is missing" in one_line(refused.value)


def test_hot_places_and_chains_side_by_side() -> None:
    from tests.core.ops import kernel

    cold, hot = (kernel("gather", 30_000, bytes=1 << 28, hot=h) for h in (0.0, 0.9))
    index = 30_000 / 4 / 8  # read sequentially, eight per line
    missed = [run.counters["l3_miss"] - index for run in (cold, hot)]
    assert missed[1] == pytest.approx(0.1 * missed[0], rel=0.1)
    # Later operations wait for the work, which takes 24 cycles in one chain and 6 in four.
    waits = {"bytes": 4096, "work": 24, "mispredict": 1.0}
    one, four = (kernel("gather", 27_000, ilp=n, **waits).counters["c"] / 1000 for n in (1, 4))
    assert one - four == pytest.approx(18, abs=0.5)
    with pytest.raises(CoreError, match="ilp is 0"):
        kernel("chase", 100, ilp=0)


_DRAM = {
    "c": 1e6, "P1": 6e5, "P2": 5e5, "P3": 4e5, "P4": 8e3, "P5": 2e3, "P6": 5e4, "P7": 4e3,
    "P8": 1e3, "P11": 1e6, "P12": 5e3, "P13": 3e5, "instructions": 1e6, "l3_miss": 4e3,
    "gb_per_s": 9.0,
}  # fmt: skip


class _Found:
    calibration = Calibration(1.0, 20.0, 0.5, 1.5, 2.0)


def test_a_workload_that_follows_the_model_is_without_error() -> None:
    s = predict(_DRAM, _Found.calibration, "skx")
    slow = {**_DRAM, "c": 1e6 * (1 + s.total), "P3": 4e5 + 1e6 * s.drd, "P6": 5e4 + 1e6 * s.store}
    slow["P2"] = _DRAM["P2"] + 1e5
    slow["P1"] = _DRAM["P1"] + 1e5 + 1e6 * s.cache
    one = Judged({"kind": "chase", "cores": 1}, _DRAM, slow, _Found(), "skx")
    assert one.predicted == pytest.approx(one.slowdown) == pytest.approx(sum(one.rises))
    assert one.parts == pytest.approx(one.rises)
    metrics = one.metrics(2.0)
    assert (metrics["MPKI"], metrics["latency"], metrics["AOL"]) == (4.0, 100.0, 60.0)


def test_what_camp_takes_for_granted() -> None:
    """Two workloads: one satisfies all assumptions (latency times 1.5, MLP and reads unchanged),
    the other none.
    """

    def judged(**slow: float) -> Judged:
        both = {**_DRAM, "P3": 1.8e5}
        return Judged({"kind": "chase", "cores": 1}, both, {**both, **slow}, _Found(), "skx")

    some = [judged(P11=1.5e6, P13=4.5e5, P3=3.3e5), judged(P12=6e3, P11=1.2e6, P13=3e5)]
    none = Judged({"kind": "chase", "cores": 1}, *[{**_DRAM, "P12": 0.0}] * 2, _Found(), "skx")
    kept: dict[str, tuple] = {}

    def beside(what: str, here: list, measured: list, why: str) -> list:
        kept[what.split(": ")[1]] = (here, measured, why)
        return []

    rows = camp_assumptions.rows("NUMA", [*some, none], beside)
    expected = [(95.0, 50.0), (78.0, 50.0), (12.0, 50.0), (70.0, 100.0), (None, 0.0)]
    assert [(r.paper, r.here) for r in rows] == expected
    assert kept["S_DRd by Eq. 2, of both runs"][:2] == ([0.15, 0.0], [0.15, 0.0])
    assert camp_assumptions.rows("NUMA", [none], beside) == []
    assert camp_assumptions.fitted([1.0, 2.0], [3.0, 6.0]) == 3
    assert camp_assumptions.fitted([0.0], [1.0]) == camp_assumptions.fitted([1.0], [-1.0]) == 0


def test_pearson_and_shares() -> None:
    assert pearson([1, 2, 3], [2, 4, 6]) == pytest.approx(1)
    assert pearson([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert pearson([1, 1, 1], [3, 2, 1]) == 0
    assert within([0, 0, 0, 0], [0.04, -0.04, 0.06, 0.2], 0.05) == 50


def test_a_curve_that_follows_eq_10() -> None:
    ends = Endpoints(
        1e9, Tier(Stalls(4e8, 5e7, 1e7), 90, 180), Tier(Stalls(9e8, 2e8, 5e7), 140, 600)
    )
    rows = []
    for i in range(101):
        x = i / 100
        s = Stalls(4e8, 5e7, 1e7) if i == 100 else Stalls(9e8, 2e8, 5e7)
        rows.append(
            {"x": x, "c": 1e9 * (1 + ends.at(x).total), "P1": s.s_llc + s.s_cache, "P2": s.s_llc,
             "P3": s.s_llc, "P6": s.s_sb, "l_ns": 180.0 if i == 100 else 600.0,
             "dram_ns": 90 + 100 * x, "cxl_ns": 140.0}
        )  # fmt: skip
    curve = Curve({"kernel": "stream"}, {"curve": rows}, {"dram": 90.0, "cxl": 140.0})
    assert curve.ends.bandwidth_bound and curve.error.max() < 1e-9 and len(curve.error) == 99
    assert curve.at(curve.ends.best()) == pytest.approx(curve.cycles.min(), rel=1e-4)
    assert _equal_latency(curve) == pytest.approx(0.5)
    assert _first_touch(curve) == pytest.approx(0.8 * curve.at(1.0) + 0.2 * curve.at(0.0))
    curve.kernel = "gather"
    assert _first_touch(curve) == pytest.approx(curve.at(0.8))


@pytest.mark.parametrize("name", ["camp", "camp-interleave", "camp-colocate"])
def test_quick_runs(name: str, tmp_path: Path, monkeypatch, capsys) -> None:
    for testbed in ("CXL-A", "CXL-C"):
        monkeypatch.delitem(camp_judge.TESTBEDS, testbed)
    monkeypatch.setattr(calibrate, "_OPERATIONS", 20_000)
    status, out, _ = run(["study", name, "--quick", "--json", "--out", str(tmp_path)], capsys)
    report = json.loads(out)
    assert status == 0 and report["quick"] and all(np.isfinite(r["here"]) for r in report["rows"])
    assert any(r["paper"] is not None for r in report["rows"])
    assert (tmp_path / "README.md").exists() and list(tmp_path.glob("*.svg"))
