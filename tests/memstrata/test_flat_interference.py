# SPDX-License-Identifier: Apache-2.0
"""Machines that share near lines or an L3: their frames, simulations of two, results by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from anemone.models.core import machine
from anemone.studies import flat_interference
from anemone.studies.flat_interference import SETTINGS, frames_of, judge, side_by_side, smaller
from anemone.studies.flat_slowdown import FASTER
from anemone.studies.flat_workloads import PROGRAM, drawn
from tests.commands import run
from tests.memstrata.test_flat_slowdown import WORKLOAD

# Reads only, because a dirty line is written back where it was just brought near.
ONE = {**WORKLOAD, "kernel": "hash", "seed": 1}


def test_frames() -> None:
    """Isolated machines share no near page; conflicting ones compete only with each other."""
    pages, near = 64, 64 * 8
    for shared in (False, True):
        one, other = frames_of(pages, shared, 1)
        assert sorted([*one, *other]) == list(range(2 * near))
        assert len({*(one % near)}) == (near if shared else near // 2)
        assert bool({*(one % near)} & {*(other % near)}) == shared
    assert frames_of(pages, True, 1)[0].tolist() != frames_of(pages, True, 2)[0].tolist()


@pytest.fixture
def small_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small caches, which do not hold the neighbour's few MiB."""
    on = machine("spr").with_(l2_kib=64, l3_kib=32 * 240)
    monkeypatch.setattr(flat_interference, "machine", lambda _: on)


@pytest.mark.usefixtures("small_caches")
def test_who_shares_near_lines_loses_them() -> None:
    """Alone, half of a machine's accesses miss. Beside a neighbour that accesses more often all of
    them do, and the neighbour has nearly all near lines."""
    isolated, conflicting = (side_by_side(ONE, shared, False) for shared in (False, True))
    assert 0.15 < isolated["misses"] < 0.3  # accesses that hit a cache do not reach memory
    assert conflicting["misses"] > 0.9
    assert conflicting["ns"] > 1.05 * isolated["ns"]
    assert conflicting["neighbour"] > 1.5 * isolated["neighbour"]
    assert conflicting["far"] < isolated["far"] < 0.9
    assert min(isolated["scans"], conflicting["scans"]) > 1


@pytest.mark.usefixtures("small_caches")
def test_who_shares_the_l3_loses_it() -> None:
    size = {"kernel": "chase", "settings": {"bytes": 256 << 10, "work": 1}, "filled": 0.07}
    halves, shared = (side_by_side({**ONE, **size}, False, l3) for l3 in (False, True))
    assert shared["ns"] > 1.2 * halves["ns"]


def test_judged_by_hand() -> None:
    def answer(*ns: float, misses: float = 0.5) -> dict:
        return {
            s: {"ns": n, "misses": misses, "neighbour": 50.0, "scans": 1.5, "far": 0.4}
            for s, n in zip(SETTINGS, ns, strict=True)
        }

    answers = [
        ({"category": "web", "kernel": "hash", "cores": 1}, answer(1.0, 1.0, 1.05, 1.05)),
        ({"category": "graph", "kernel": "mixed", "cores": 2}, answer(1.0, 1.2, 1.3, 1.5)),
        ({"category": PROGRAM, "program": "sort", "cores": 1}, answer(1.0, 1.3, 1.05, 1.4)),
    ]
    found = judge(answers)
    rows = {r.what: r for r in found.rows}
    here = {what: r.here for what, r in rows.items()}
    assert here["workloads"] == 2 and here["captured programs"] == 1
    assert rows["Figure 6: slowed by more than 10 %"].paper == 73
    assert here["Figure 6: slowed by more than 10 %"] == 50
    assert here["Figure 6: the worst"] == pytest.approx(25)
    assert "p95" in rows["Figure 6: the worst"].why
    assert here["captured programs, Figure 6: the worst"] == pytest.approx(100 * (1.4 / 1.3 - 1))
    assert here["Figure 7: L3 shared, slowed by more than 10 %"] == pytest.approx(200 / 3)
    assert here["Figure 7: near memory shared, the worst"] == pytest.approx(30)
    assert here["Figure 7: near memory slows more than the L3"] == pytest.approx(200 / 3)
    suffer = "Figure 7: of those that the L3 slows by more than 10 %, near memory does, too"
    assert here[suffer] == 50 and here["Figure 7: and both slow them more than each"] == 100
    assert rows[suffer].why.startswith("they are: graph: mixed, program: sort; a captured")
    assert rows["Figure 7: and both slow them more than each"].why == ""
    assert rows["Figure 6: slowed by more than 10 %"].why == FASTER
    assert here["scans before what is counted, at least"] == 1.5
    assert "| graph: mixed | 2 | 25.0 % | 20.0 % | 30.0 % | 50.0 % |" in found.notes[0]


def test_the_points() -> None:
    """Three workloads of a category, and one copy of each program; quick runs have no program."""
    points = flat_interference.STUDY.points(False, 1)
    kernels = [p for p in points if p["category"] != PROGRAM]
    programs = {p["program"] for p in points if p["category"] == PROGRAM}
    assert len(kernels) == 21 and len(points) == 21 + len(programs)
    assert programs == {w["program"] for w in drawn(1) if w["category"] == PROGRAM}
    quick = flat_interference.STUDY.points(True, 1)
    assert quick and all(p["category"] != PROGRAM and p["vm_bytes"] <= 32 << 20 for p in quick)


@pytest.mark.usefixtures("small_caches")
def test_the_quick_run(tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    few = [smaller(p, 4) for p in flat_interference.STUDY.points(True, 1)[:1]]
    monkeypatch.setattr(flat_interference.FlatInterference, "points", lambda *_: few)
    words = ["study", "flat-interference", "--quick", "--json", "--out", str(tmp_path)]
    status, out, err = run(words, capsys)
    assert status == 0, err
    rows = json.loads(out)["rows"]
    assert all(np.isfinite(r["here"]) for r in rows)
    assert all(r["why"] for r in rows if r["paper"] and abs(r["here"] / r["paper"] - 1) > 0.05)
    assert (tmp_path / "README.md").exists() and list(tmp_path.glob("*.svg"))
