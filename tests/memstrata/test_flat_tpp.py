# SPDX-License-Identifier: Apache-2.0
"""Software tiering like TPP's compared with flat memory: moves and costs by hand, a quick run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anemone.studies import flat_tpp, profiles
from anemone.studies.flat_tpp import judge, moves, overhead, placed
from anemone.studies.profiles import LOCAL_ONLY, profile
from tests.commands import run
from tests.memstrata.test_flat_slowdown import WORKLOAD

GIB = 1 << 30


def test_what_fits_does_not_move(tmp_path: Path) -> None:
    assert moves(8 * GIB, 0.4, 1.0, 1e9) == (0.0, 0.0)
    (local,) = profile(WORKLOAD, [LOCAL_ONLY], tmp_path)
    there, walks = placed(WORKLOAD, 1.0)
    assert there == pytest.approx(local["seconds"]) and walks > 0
    half, _ = placed(WORKLOAD, 0.5)
    assert half > 1.1 * there


def test_moves_by_hand() -> None:
    """A scan of 2.5 GiB takes a second. All far pages fault and move, or a few if few are used."""
    size = 2.5 * GIB
    pages = size / 4096
    faults, promoted = moves(size, 1.0, 0.49, 1e12)
    assert faults == promoted == pytest.approx(0.51 * pages)
    faults, promoted = moves(size, 1.0, 0.49, 0.01 * pages)
    assert faults == pytest.approx(0.51 * pages * 0.00995, rel=1e-3)
    assert promoted == pytest.approx(faults * 0.00995, rel=1e-3)
    assert overhead(1e5, 2e4, 1) == pytest.approx(0.1 + 0.06)


def test_a_core_waits_for_its_own_faults() -> None:
    """Four cores with the same faults per core lose the same share of time as one core."""
    assert overhead(4e5, 8e4, 4) == pytest.approx(overhead(1e5, 2e4, 1))
    assert overhead(1e5, 2e4, 4) == pytest.approx(0.16 / 4)


def test_the_study_divides_stalls_by_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """With four cores a fault stops only a quarter of the machine."""
    monkeypatch.setattr(flat_tpp, "profile", lambda *_: [{"seconds": 1.0}, {"seconds": 1.1}])
    monkeypatch.setattr(flat_tpp, "placed", lambda *_: (1.0, 1e5))
    point = {"filled": 1.0, "vm_bytes": GIB}
    one, four = (flat_tpp.STUDY.run({**point, "cores": cores})["tpp"] for cores in (1, 4))
    assert one > 0.001 and four == pytest.approx(one / 4)


def test_judged_by_hand() -> None:
    def answer(flat: float, tpp: float) -> dict:
        return {"flat": flat, "tpp": tpp, "placed": tpp / 2, "fits": tpp == 0, "promoted": tpp,
                "core": 0.1}  # fmt: skip

    some = [({}, answer(0.04, 0.0)), ({}, answer(0.1, 0.8)), ({}, answer(0.0, 1.2))]
    rows = {r.what: r.here for r in judge(some).rows}
    assert rows["TPP-like: above 50 %"] == pytest.approx(200 / 3)
    assert rows["TPP-like, moves for nothing: above 50 %"] == pytest.approx(100 / 3)
    assert rows["flat memory: above 50 %"] == 0
    assert rows["flat memory: above 5 %"] == pytest.approx(100 / 3)
    assert rows["TPP-like: promoted, at most"] == 1.2


def test_the_quick_run(tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(profiles, "FOLDER", tmp_path / "profiles")
    few = flat_tpp.STUDY.points(True, 1)[::7]
    monkeypatch.setattr(flat_tpp.FlatTpp, "points", lambda *_: few)
    words = ["study", "flat-tpp", "--quick", "--json", "--out", str(tmp_path / "tpp")]
    status, out, err = run(words, capsys)
    assert status == 0, err
    rows = json.loads(out)["rows"]
    assert all(r["why"] for r in rows if r["paper"] and abs(r["here"] / r["paper"] - 1) > 0.05)
