# SPDX-License-Identifier: Apache-2.0
"""Flat memory mode's workloads and their profiles; results of the study of Figure 5 by hand."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from anemone.models.core import Kernel, Memory, Tier, machine, simulate
from anemone.studies import profiles
from anemone.studies.camp_workloads import INSTRUCTIONS, PROGRAMS
from anemone.studies.flat_slowdown import FASTER, SLOWER, STUDY, compared, judge
from anemone.studies.flat_workloads import CORES, PROGRAM, RANGES, SIZES, drawn
from anemone.studies.profiles import LOCAL_ONLY, TIERED, Place, near_lines, profile, slowdown
from tests.commands import run


def test_the_workloads() -> None:
    """At least 100 workloads of all categories, within their ranges; each just fits its machine."""
    every = drawn(1)
    assert len(every) >= 100 and every == drawn(1) != drawn(2)
    assert {w["category"] for w in every} == {*RANGES, PROGRAM}
    assert sum(w.get("program") in PROGRAMS for w in every) == len(PROGRAMS) * len(CORES)
    for w in every:
        assert w["cores"] in CORES and w["vm_bytes"] in SIZES and 0.2 < w["filled"] < 0.99
    for category, kernels in RANGES.items():
        some = [w for w in every if w["category"] == category]
        assert {w["kernel"] for w in some} == {kernel for kernel, _ in kernels}
        assert {(w["kernel"], w["cores"]) for w in some} >= {(kernels[0][0], n) for n in CORES}
        for w in some:
            assert 4096 <= w["settings"]["bytes"] * w["cores"] <= w["vm_bytes"]


# A workload without a pattern, with 40 % of its machine's 4 MiB.
def test_the_ranges_are_frozen() -> None:
    """Ranges and workloads are as fixed before any slowdown was computed."""
    text = json.dumps([RANGES, drawn(1)], sort_keys=True)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "66c93a829d30b2fe"


WORKLOAD = {
    "category": "web", "kernel": "scatter", "cores": 1, "vm_bytes": 4 << 20, "filled": 0.4,
    "settings": {"bytes": 4 * 1024 * 1024 * 4 // 10, "work": 20}, "operations": 20_000, "warm": 0,
}  # fmt: skip


def test_a_profile_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = [LOCAL_ONLY, TIERED, profiles.FAR_ONLY]
    first = profile(WORKLOAD, places, tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    monkeypatch.setattr(profiles, "simulate", None)
    assert profile(WORKLOAD, places, tmp_path) == first
    with pytest.raises(TypeError):  # a workload with other settings runs again
        profile({**WORKLOAD, "warm": 1}, places, tmp_path)


def test_places(tmp_path: Path) -> None:
    """Half of near memory misses, except its dedicated part; with only far memory all misses."""
    shares = [1.0, 0.0, 0.5, None]
    local, tiered, half, far = profile(WORKLOAD, [Place(s) for s in shares], tmp_path)
    assert local["miss_ratio"] == 0 and far["miss_ratio"] == 1
    assert tiered["miss_ratio"] == pytest.approx(0.2, abs=0.05)
    assert half["miss_ratio"] == pytest.approx(0.1, abs=0.04)
    assert local["requests"] == pytest.approx(tiered["requests"], rel=0.1)
    assert local["far_gb_per_s"] == 0 < tiered["far_gb_per_s"]
    assert slowdown(local, local) == 0 <= slowdown(tiered, local) < slowdown(far, local)


@pytest.mark.parametrize("category", ["web", "key-value"])
def test_runs_are_long_enough(category: str, tmp_path: Path) -> None:
    """A longer run of lookups on four cores gives the same accesses and slowdown. A tenth of the
    run has more accesses, because its caches start empty."""
    workload = next(
        w for w in STUDY.points(False, 1)
        if (w["category"], w.get("kernel"), w["cores"]) == (category, "hash", 4)
    )  # fmt: skip

    def tiered(of: float) -> tuple[float, float]:
        sizes = {name: int(of * workload[name]) for name in ("operations", "warm")}
        local, there = profile({**workload, **sizes}, [LOCAL_ONLY, TIERED], tmp_path)
        return there["requests"], slowdown(there, local)

    (asked, slower), (longer, still) = tiered(1.0), tiered(3.0)
    assert asked == pytest.approx(longer, rel=0.25) and slower == pytest.approx(still, abs=0.02)
    assert tiered(0.1)[0] > 1.2 * longer


def test_captured_programs_are_run_to_their_end() -> None:
    """Each copy runs the whole capture, and is counted after a third of it."""
    for workload in STUDY.points(False, 1):
        each = [workload[key] // workload["cores"] for key in ("operations", "warm")]
        if workload["category"] == PROGRAM:
            assert sum(each) == INSTRUCTIONS and each[0] == 2 * each[1]


def test_less_bandwidth_is_slower(tmp_path: Path) -> None:
    stream = {**WORKLOAD, "kernel": "stream", "settings": {"bytes": 1 << 20, "step": 32}}
    whole, part = profile(stream, [Place(1.0), Place(1.0, bandwidth=0.02)], tmp_path)
    assert part["seconds"] > 2 * whole["seconds"]


def test_near_lines_are_whole_pages() -> None:
    assert near_lines(1 << 20, 0.0) == (1 << 19) // 64
    assert near_lines(1 << 20, 0.33) % 64 == 0
    assert (
        near_lines(1 << 20, 0.33) * 128 <= (1 << 20) * 0.67 < (near_lines(1 << 20, 0.33) + 64) * 128
    )


def test_what_is_kept_of_a_run() -> None:
    """A profile has latencies in ns and counts per thousand instructions, as from perf."""
    memory = Memory(Tier(100, 1000), Tier(250, 1000), near_lines=1 << 14, filled=0.9)
    on = machine("spr").with_(l3_kib=1920)
    counts = simulate(on, memory, [Kernel("chase", {"bytes": 1 << 20})], 5000)
    kept = profiles.measured(counts)
    assert kept["l3_ns"] == counts.mean_ns("l3_miss") > 100
    thousand = counts.counters["instructions"] / 1000
    assert kept["requests"] * thousand == counts.near_hits + counts.near_misses
    assert kept["l2_mpki"] * thousand == counts.counters["l2_miss"]


def _answer(cxl: float, tiered: float, mixed: float, miss: float = 0.0) -> dict:
    seconds = {"local": 1.0, "CXL only": 1 + cxl, "tiered": 1 + tiered, "mixed": 1 + mixed}
    return {name: {"seconds": s, "miss_ratio": miss} for name, s in seconds.items()}


def test_judged_by_hand() -> None:
    size = {"operations": 10, "warm": 1, "cores": 2, "vm_bytes": 128 << 20, "kernel": "hash"}
    answers = [
        ({"category": "web", **size}, _answer(0.01, 0.0, 0.0)),
        ({"category": "database", **size}, _answer(0.3, 0.08, 0.04, 0.2)),
        ({"category": "graph", **size}, _answer(0.58, 0.4, 0.2, 0.41)),
        ({"category": PROGRAM, "program": "sort", **size}, _answer(0.1, 0.04, 0.01)),
    ]
    found = judge(answers)
    rows = {r.what: r for r in found.rows}
    assert rows["workloads"].here == 4
    assert rows["tiered: within 5 %"].here == 50 and rows["tiered: within 5 %"].paper == 73
    assert rows["tiered: within 10 %"].here == rows["mixed: within 5 %"].here == 75
    assert rows["CXL only: the worst"].here == pytest.approx(58)
    assert rows["CXL only: the worst"].why == "" and rows["tiered: within 5 %"].why == SLOWER
    assert rows["tiered: miss ratio of the slowest"].here == pytest.approx(41)
    assert rows["database and big data: CXL only, the worst"].here == pytest.approx(30)
    assert rows["captured programs, tiered: within 5 %"].here == 100
    assert (
        "| graph | 1 | 58.0 %, 58.0 % | 40.0 %, 40.0 % | 20.0 %, 20.0 % | 41 % |" in found.notes[0]
    )
    assert "| graph: hash | 2 | 8 | 58.0 % | 40.0 % | 20.0 % |" in found.notes[2]
    assert "| program: sort | 2 | 8 | 10.0 % | 4.0 % | 1.0 % |" in found.notes[2]


def test_why_goes_by_the_side() -> None:
    """A worst above the paper's, or fewer within a limit, is `SLOWER`; the others are `FASTER`."""
    assert compared("worst", "%", 50.0, 51.0).why == "" == compared("worst", "%", None, 51.0).why
    assert compared("worst", "%", 50.0, 60.0).why == SLOWER == compared("none", "%", 0.0, 1.0).why
    assert compared("worst", "%", 50.0, 40.0).why == FASTER
    assert compared("within", "%", 50.0, 40.0, True).why == SLOWER
    assert compared("within", "%", 50.0, 60.0, True).why == FASTER


def test_quick_run(tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(profiles, "FOLDER", tmp_path / "profiles")
    words = ["study", "flat-slowdown", "--quick", "--json", "--out", str(tmp_path / "out")]
    status, out, _ = run(words, capsys)
    report = json.loads(out)
    assert status == 0 and report["quick"] and all(np.isfinite(r["here"]) for r in report["rows"])
    papers = [r for r in report["rows"] if r["paper"] is not None]
    assert papers and all(r["why"] for r in papers if abs(r["here"] / r["paper"] - 1) > 0.05)
    assert (tmp_path / "out/README.md").exists() and list((tmp_path / "out").glob("*.svg"))
