# SPDX-License-Identifier: Apache-2.0
"""The choice of dedicated pages by hotness and by misses, by hand; a quick run of the study."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anemone.studies import flat_workloads, profiles
from anemone.studies.memstrata_pages import judge, over_time, regions
from anemone.studies.pages import Chosen, Pages, Part, by_hotness, by_misses, counted
from tests.commands import run
from tests.memstrata.test_flat_slowdown import WORKLOAD


def of(*parts: Part) -> Pages:
    """A machine of 100 pages, 30 dedicated."""
    return Pages(100, 30, parts, 1.0)


# Requests, misses and page walks per second; half of the requests of tiered pages miss.
BUSY = Part(20, 0.3, 2000, 700, 100)
CALM = Part(40, 0.3, 400, 140, 100)
IDLE = Part(20, 0.3, 0, 0, 0)


def test_by_hotness_by_hand() -> None:
    """6 of the 20 unused pages and 6 of IDLE's are dedicated, so 42 hot tiered pages get 12."""
    found = by_hotness(of(BUSY, CALM, IDLE), lambda walks: 2000 if walks else 0)
    part = 0.3 + 0.7 * 12 / 42
    assert found.shares == pytest.approx((part, part, 0.0))
    assert found.moved == pytest.approx(12)
    lukewarm = by_hotness(of(BUSY, CALM, IDLE), lambda walks: 10)
    assert lukewarm == Chosen((0.3, 0.3, 0.3), 0.0)
    one = by_hotness(of(BUSY, CALM), lambda walks: 2000 if walks == 5 else 10)  # 100 of 20 pages
    assert one.shares == pytest.approx((0.3 + 0.7 * 12 / 14, 0.3))


def test_by_misses_by_hand() -> None:
    """BUSY has 50 misses per page and CALM 5: all of BUSY and 10 pages of CALM are dedicated."""
    assert (BUSY.would_miss, CALM.would_miss, IDLE.would_miss) == pytest.approx((50, 5, 0))
    found = by_misses(of(CALM, BUSY, IDLE))
    assert found.shares == pytest.approx((0.25, 1.0, 0.0)) and found.moved == pytest.approx(14)
    assert Part(10, 1.0, 100, 0, 1).would_miss == 5  # none of it can miss, so half is assumed


def test_over_time() -> None:
    """Moving a tenth of the pages in steps of 2 % takes 50 s of 300."""
    assert over_time(0.2, 0.1, 0.0) == pytest.approx(0.1)
    assert over_time(0.2, 0.1, 0.1) == pytest.approx((0.15 * 50 + 0.1 * 250) / 300)
    assert over_time(0.2, 0.1, 1.2) == pytest.approx(0.175)  # halfway in 300 s


def test_regions() -> None:
    assert regions(of(BUSY)) == 20
    assert regions(of(*[BUSY] * 9)) == 38


def test_chosen_pages_are_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 40 % of a machine in use, a third of its pages holds nearly all used data."""
    monkeypatch.setattr(profiles, "FOLDER", tmp_path)
    random, local = counted(WORKLOAD, 0.33)
    assert random.unused == pytest.approx(0.6, abs=0.01) and random.parts[0].missed > 0
    chosen = by_misses(random)
    assert chosen.shares[0] == pytest.approx(0.33 / 0.4, abs=0.02)
    better, _ = counted(WORKLOAD, 0.33, chosen)
    assert 0 <= better.slowdown(local) < random.slowdown(local)
    assert better.parts[0].missed < random.parts[0].missed


def test_judged_by_hand() -> None:
    point = {"category": "web", "kernel": "hash"}
    answer = {
        "random": 0.10, "hotness": 0.12, "miss counters": 0.05, "unused": 0.2,
        "hotness: core": 0.01, "miss counters: core": 0.001, "copied: core": 0.05,
    }  # fmt: skip
    rows = {r.what: r.here for r in judge([(point, answer), (point, answer)]).rows}
    assert rows["hotness: median gain over random"] == pytest.approx(-2)
    assert rows["hotness: worse by more than 1 point"] == 2
    assert rows["miss counters: better by more than 1 point"] == 2
    assert rows["miss counters: the worst"] == pytest.approx(5)
    assert rows["hotness: of a core, to look, at most"] == pytest.approx(1)


def test_the_quick_run(tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(profiles, "FOLDER", tmp_path / "profiles")
    two = {category: flat_workloads.RANGES[category] for category in ("web", "science")}
    monkeypatch.setattr(flat_workloads, "RANGES", two)
    words = ["study", "memstrata-pages", "--quick", "--json", "--out", str(tmp_path / "pages")]
    status, out, err = run(words, capsys)
    assert status == 0, err
    rows = {r["what"]: r["here"] for r in json.loads(out)["rows"]}
    assert rows["workloads"] == 2
    assert rows["miss counters: the worst"] <= rows["random: the worst"] + 1
