# SPDX-License-Identifier: Apache-2.0
"""Machines simulated together, beside their profiles: one is as fast as alone; judged by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anemone.studies import flat_mixes, profiles
from anemone.studies.mix_check import by_profiles, judge, together
from anemone.studies.profiles import LOCAL_ONLY, TIERED, profile
from tests.commands import run
from tests.memstrata.test_flat_slowdown import WORKLOAD
from tests.memstrata.test_mixes import by_misses

WARM = {**WORKLOAD, "warm": 10_000}


def test_a_machine_by_itself_is_as_fast_as_its_profile(tmp_path: Path) -> None:
    local, tiered = profile(WARM, [LOCAL_ONLY, TIERED], tmp_path)
    cycles = round(tiered["seconds"] * profiles.machine(profiles.PLATFORM).ghz * 1e9)
    (here,) = together([WARM], [1.0], cycles)
    assert here == pytest.approx(local["seconds"], rel=0.05)
    (there,) = together([WARM], [0.0], cycles)
    assert there == pytest.approx(tiered["seconds"], rel=0.05)


def test_machines_have_their_own_shares() -> None:
    """Two that are alike, one all dedicated; on local memory both are as fast."""
    fast, slow = together([WARM] * 2, [0.999, 0.0], 400_000)
    assert slow > 1.05 * fast
    one, two = together([WARM] * 2, [1.0, 1.0], 400_000)
    assert one == pytest.approx(two, rel=0.02) and fast == pytest.approx(one, rel=0.05)


def test_by_profiles() -> None:
    some = [by_misses(0.5, 0.0), by_misses(0.0, 0.0)]
    assert by_profiles(some, [0.5, 0.5]) == pytest.approx([1.25, 1.0])


def test_judged_by_hand() -> None:
    def machine(profiles: float, full: float) -> dict:
        return {"name": "a", "dedicated": 0.3, "profiles": profiles, "full": full}

    answers = [
        ({"mix": "balanced", "when": "at first"}, {"machines": [machine(9, 7), machine(1, 2)]}),
        ({"mix": "balanced", "when": "at last"}, {"machines": [machine(6, 4)]}),
    ]
    rows = {r.what: r.here for r in judge(answers).rows}
    assert rows == pytest.approx({
        "balanced, at first: the worst, by full": 7,
        "balanced, at first: the worst, by profiles": 9,
        "balanced, at last: the worst, by full": 4,
        "balanced, at last: the worst, by profiles": 6,
        "profiles less full: mean": 1, "profiles less full: mean of the distances": 5 / 3,
        "profiles less full: the largest distance": 2,
        "machines alike above 5 % or not": 200 / 3,
    })  # fmt: skip


def test_the_quick_run(tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(profiles, "FOLDER", tmp_path / "profiles")
    monkeypatch.setattr(flat_mixes, "FORESTS", tmp_path / "forests")
    flat_mixes.choice.cache_clear()
    words = ["study", "memstrata-check", "--quick", "--json", "--out", str(tmp_path / "check")]
    status, out, err = run(words, capsys)
    assert status == 0, err
    rows = {r["what"]: r["here"] for r in json.loads(out)["rows"]}
    assert rows["profiles less full: mean of the distances"] < 20
