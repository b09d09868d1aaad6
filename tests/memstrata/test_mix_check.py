# SPDX-License-Identifier: Apache-2.0
"""Machines simulated together compared with their profiles; results by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anemone.studies import flat_mixes, profiles
from anemone.studies.mix_check import _coloured, by_profiles, judge, together
from anemone.studies.profiles import LOCAL_ONLY, PLATFORM, TIERED, Place, machine, profile
from anemone.studies.surfaces import Surface
from tests.commands import run
from tests.memstrata.test_flat_slowdown import WORKLOAD
from tests.memstrata.test_mixes import by_misses

WARM = {**WORKLOAD, "warm": 10_000}


def test_a_machine_by_itself_is_as_fast_as_its_profile(tmp_path: Path) -> None:
    local, tiered = profile(WARM, [LOCAL_ONLY, TIERED], tmp_path)
    cycles = round(tiered["seconds"] * machine(PLATFORM).ghz * 1e9)
    (here,) = together([WARM], [1.0], cycles)
    assert here == pytest.approx(local["seconds"], rel=0.05)
    (there,) = together([WARM], [0.0], cycles)
    assert there == pytest.approx(tiered["seconds"], rel=0.05)


def test_machines_have_their_own_shares() -> None:
    """Of two equal machines one is fully dedicated; on local memory both are equally fast."""
    fast, slow = together([WARM] * 2, [0.999, 0.0], 400_000)
    assert slow > 1.05 * fast
    one, two = together([WARM] * 2, [1.0, 1.0], 400_000)
    assert one == pytest.approx(two, rel=0.02) and fast == pytest.approx(one, rel=0.05)


def test_machines_side_by_side_are_as_their_profiles(tmp_path: Path) -> None:
    """Machines that do not fit any cache, at shares that were not profiled, are close to their
    profiles."""
    size = {"operations": 400_000, "warm": 200_000, "vm_bytes": 48 << 20, "filled": 0.35}
    chase = {"kernel": "chase", "settings": {"bytes": 16 << 20, "work": 50, "chains": 2}}
    gather = {"kernel": "gather", "settings": {"bytes": 8 << 20, "work": 60}}
    two = {"cores": 2, "vm_bytes": 96 << 20}
    workloads = [{**WORKLOAD, **size, **more} for more in (chase, gather, {**chase, **two})]
    grid = [Place(d) for d in (0.0, 0.5, 1.0)]
    surfaces = [
        Surface({(p.dedicated, 1.0): r for p, r in zip(grid, rows, strict=True)})
        for rows in (profile(w, grid, tmp_path) for w in workloads)
    ]

    def slower(machines: list[float], local: list[float]) -> list[float]:
        return [100 * (a / b - 1) for a, b in zip(machines, local, strict=True)]

    places, all_local = [0.0, 0.25, 0.75], [1.0] * 3
    cycles = round(by_profiles(surfaces, places)[0] * machine(PLATFORM).ghz * 1e9)
    predicted = slower(*(by_profiles(surfaces, some) for some in (places, all_local)))
    full = slower(*(together(workloads, some, cycles) for some in (places, all_local)))
    apart = [abs(a - b) for a, b in zip(predicted, full, strict=True)]
    assert predicted[0] > 3 * predicted[2] > 0 and max(apart) < 5 and sum(apart) / 3 < 3


def test_machines_in_full_share_no_near_line() -> None:
    near = [3, 5, 2]
    frames = _coloured(near)
    assert [len(f) for f in frames] == [2 * n for n in near]
    colours = [{int(f) % sum(near) for f in some} for some in frames]
    assert [len(c) for c in colours] == near and len(set.union(*colours)) == sum(near)


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
