# SPDX-License-Identifier: Apache-2.0
"""Mixes of machines by their profiles: surfaces, shared bandwidth, jobs and policies, by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import inf
from pathlib import Path

import pytest

from anemone.memstrata.judges import Forest
from anemone.memstrata.loop import Judged, Reading
from anemone.memstrata.outliers import METRICS, Line
from anemone.studies import flat_mixes, memstrata, profiles
from anemone.studies.flat_mixes import KINDS, MIXES, OUTLIER, Draw
from anemone.studies.mixes import PAGE_BYTES, Job, Mix, Policy
from anemone.studies.profiles import FAR, LOCAL
from anemone.studies.surfaces import Surface, shares
from tests.commands import run

GB = 512  # pages of 2 MiB


def row(seconds: float, gb_per_s: float = 1.0, far: float = 0.0, misses: float = 0.0) -> dict:
    metrics = dict.fromkeys(METRICS, 1.0)
    return {**metrics, "seconds": seconds, "instructions": 1e6, "miss_ratio": misses,
            "gb_per_s": gb_per_s, "far_gb_per_s": far}  # fmt: skip


def by_misses(slowdown: float, gb_per_s: float = 1.0) -> Surface:
    """A surface with this slowdown if nothing is dedicated, which falls with the dedicated share
    and is independent of bandwidth. Its request rate follows its slowdown."""
    slow = {**row(1 + slowdown, gb_per_s, gb_per_s / 4, 0.5), "requests": slowdown}
    local = {**row(1.0, gb_per_s), "requests": slowdown}
    return Surface({(0.0, 1.0): slow, (1.0, 1.0): local})


def test_between_what_was_profiled() -> None:
    surface = Surface({
        (0.0, 1.0): row(2.0, 3.0, 1.0, 0.4), (0.0, 0.5): row(4.0, 1.5, 0.5, 0.4),
        (1.0, 1.0): row(1.0, 3.0), (1.0, 0.5): row(2.0, 1.5),
    })  # fmt: skip
    assert surface.at(0.0).seconds == 2 and surface.at(1.0, 0.5).seconds == 2
    assert surface.at(0.5).seconds == pytest.approx(1.5)
    assert surface.at(0.5).miss_ratio == pytest.approx(0.2)
    assert surface.at(0.0, 2 / 3).seconds == pytest.approx(3.0)  # halfway from 1 to 1/0.5
    assert surface.at(0.0, 0.25).seconds == pytest.approx(8.0)  # extrapolated by the same distance
    here = surface.at(0.0, 0.25)
    assert here.far_gb_per_s == pytest.approx(0.25) and here.near_gb_per_s == pytest.approx(0.5)


def test_what_others_leave_of_the_bandwidth() -> None:
    half = by_misses(0.0, LOCAL.gb_per_s / 2)
    assert shares([(half, 1.0)]) == [1.0]
    assert shares([(half, 1.0), (by_misses(0.0, 0.0), 1.0)]) == pytest.approx([1.0, 0.5], abs=1e-3)
    # Each gets at least an equal part.
    assert shares([(half, 1.0)] * 3) == pytest.approx([1 / 3] * 3, abs=1e-3)
    idle = [(by_misses(0.0, 0.0), 1.0)] * 2
    assert shares(idle, (0.0, FAR.gb_per_s / 4)) == pytest.approx([0.75] * 2, abs=1e-3)
    assert shares([]) == []


def job(name: str, slowdown: float, work: float = inf) -> Job:
    return Job(name, 8 * GB, 2, ((by_misses(slowdown, 0.0), 1.0),), work)


def truth(readings: Mapping[str, Reading]) -> dict[str, Judged]:
    """An oracle: outliers are those that the tests name so."""
    return {n: Judged(n.startswith("slow"), r.misses) for n, r in readings.items()}


def test_without_software_a_machine_is_as_slow_as_its_place() -> None:
    done = Mix([job("slow", 0.3), job("calm", 0.0)], 0.33, Policy()).run(60)
    slow, calm = done.ended
    assert slow.slowdown == pytest.approx(0.3 * 0.67, rel=1e-3) and calm.slowdown == 0
    assert (slow.seconds, done.copied_gb, done.judged) == (60, 0, 0)


@pytest.mark.parametrize("policy", [Policy(truth), Policy(oracle=True)], ids=["loop", "oracle"])
def test_pages_go_to_who_is_slow(policy: Policy) -> None:
    """No page is created or lost, and moved pages are copied. At the end the slow machine has all
    dedicated pages, a third of both machines, except one page, because there are two colours."""
    mix = Mix([job("slow", 0.3), job("calm", 0.0)], 0.33, policy)
    done = mix.run(300)
    slow, calm = done.ended
    assert mix.host.dedicated("calm") * 8 * GB <= 1
    assert mix.host.dedicated("slow") == pytest.approx(0.66, abs=0.001)
    pages = 8 * GB * 0.33
    assert done.copied_gb == pytest.approx(3 * pages * PAGE_BYTES / 1e9, rel=0.01)
    assert done.copy_s == pytest.approx(done.copied_gb / 10)
    assert 0.3 * 0.34 < slow.slowdown < 0.3 * 0.67 and calm.slowdown == 0
    if not policy.oracle:
        # One machine is always an outlier, the other never.
        assert done.right == done.judged == 60 and done.reacted == [10]


def test_the_oracle_is_no_worse_than_the_loop() -> None:
    jobs = [job("slow 1", 0.5), job("slow 2", 0.2), job("calm 1", 0.04), job("calm 2", 0.0)]
    worst = [
        max(r.slowdown for r in Mix(jobs, 0.33, policy).run(300).ended)
        for policy in (Policy(oracle=True), Policy(truth), Policy())
    ]
    assert worst == sorted(worst) and worst[0] < worst[2]


def test_who_asks_for_a_page_on_the_move_waits() -> None:
    """A machine with frequent accesses waits for the whole copy, one without any not at all."""
    waits = []
    for requests in (0.0, 1e9):
        busy = {**row(1.0), "requests": requests, "gb_per_s": 0.0}
        surface = Surface({(0.0, 1.0): busy, (1.0, 1.0): busy})
        jobs = [Job(n, 8 * GB, 1, ((surface, 1.0),)) for n in ("slow", "calm")]
        done = Mix(jobs, 0.33, Policy(truth)).run(300)
        waits.append(300 - done.ended[0].done)
        assert done.copied_gb > 8
    assert waits[0] == 0 and waits[1] == pytest.approx(done.copy_s, rel=0.01)


def test_jobs_end_and_are_followed() -> None:
    """A new job takes the place of an ended one, with its share of dedicated pages. The result also
    has jobs that the end of the run cuts off."""
    names = iter(("second", "third", "fourth"))
    mix = Mix(
        [job("first", 0.0, 25.0), job("calm", 0.0)], 0.33, Policy(truth),
        lambda before: job(next(names), 0.0, 25.0),
    )  # fmt: skip
    done = mix.run(60)
    assert [(r.job.name, r.seconds) for r in done.ended] == [
        ("first", 25), ("second", 25), ("calm", 60), ("third", 10),
    ]  # fmt: skip
    assert mix.host.dedicated("third") == pytest.approx(0.33, abs=0.001)


def test_phases_by_turns() -> None:
    one, two = by_misses(0.0), by_misses(0.5)
    phased = Job("a", GB, 1, ((one, 10.0), (two, 5.0)))
    assert [phased.phase(t) for t in (0, 9.9, 10, 14.9, 15)] == [one, one, two, two, one]


def test_jobs_are_drawn_by_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws depend only on the place and have the mix's kinds; a changing job has two workloads."""
    some = {
        kind: [{"kernel": f"{kind} {i}", "vm_bytes": i << 25, "cores": i} for i in (1, 2, 4)]
        for kind in (*KINDS, OUTLIER)
    }
    monkeypatch.setattr(flat_mixes, "choice", lambda quick, seed: some)
    monkeypatch.setattr(flat_mixes, "surface", lambda workload, places: by_misses(0.0))
    one, two = (Draw(MIXES["changing"], False, 1, 3, ends) for ends in (True, False))
    assert [j.name for j in one.jobs] == [j.name for j in two.jobs]
    assert [j.name.split()[1] for j in one.jobs] == [f"{k}:" for k in MIXES["changing"]]
    assert [len(j.phases) for j in one.jobs] == [1, 1, 1, 1, 2, 2]
    assert all(j.pages == j.cores * 1024 for j in one.jobs)
    assert all(60 <= j.work <= 240 for j in one.jobs) and two.jobs[0].work == inf
    later = [one.next_job(j).name for j in one.jobs]
    assert later == [two.next_job(j).name for j in reversed(two.jobs)][::-1]
    assert all(name.split()[0].endswith(".2") for name in later)


def test_the_draw_of_sensitivity_is_the_first_that_is_served(monkeypatch) -> None:
    """Of 30 % of slowdown a third dedicated leaves 20.1, two thirds 9.9; of 12 % less than 5 go."""
    assert [flat_mixes.served([job("a", s)]) for s in (0.3, 0.12, 0.0)] == [True, False, False]
    monkeypatch.setattr(
        flat_mixes, "Draw",
        lambda kinds, quick, seed, number, ends: type("", (), {
            "jobs": [job("a", 0.0), job("b", 0.3 if number % 8 >= 3 else 0.1)]
        }),
    )  # fmt: skip
    assert flat_mixes.first_served("balanced", False, 12345) == 3
    monkeypatch.setattr(flat_mixes, "served", lambda jobs: False)
    assert flat_mixes.first_served("balanced", False, 12346) == 0


def test_forests_judge_by_a_line_or_by_counts() -> None:
    seen = []

    def ask(request: dict) -> list[list[float]]:
        seen.extend(request["ask"][0]["rows"])
        return [[0.9]]

    metrics = {**dict.fromkeys(METRICS, 2.0), "l3_ns": 150.0}
    readings = {"a": Reading(metrics, 1000.0, 250.0)}
    guessed = Forest(Path("m"), Line(0.01, -1.0), ask)(readings)["a"]
    counted = Forest(Path("m"), None, ask)(readings)["a"]
    assert (guessed, counted) == (Judged(True, 500.0), Judged(True, 250.0))
    assert [r[0] for r in seen] == [1.0, 0.5]
    assert Forest(Path("m"), None, ask)({}) == {}


def _answer(slowdown: float, core: float = 1.0, **more: object) -> dict:
    return {"machines": [{"name": "a", "slowdown": slowdown}], "judged": 10, "right": 9,
            "intervals": [1.0, 2.0], "copied_gb": 5.0, "core": core, **more}  # fmt: skip


def test_judged_by_hand() -> None:
    point = {"mix": "web-heavy", "share": 0.33, "ends": False}
    answers = [
        ({**point, "policy": "no software"}, _answer(40.0, judged=0, right=0, intervals=[])),
        ({**point, "policy": "Memstrata"}, _answer(6.0, 3.0)),
        ({**point, "policy": "miss counters"}, _answer(5.0)),
        ({**point, "policy": "oracle"}, _answer(4.0, judged=0, right=0, intervals=[])),
        ({**point, "policy": "Memstrata", "ends": True}, _answer(9.0, 2.0)),
    ]
    found = memstrata.judge(answers)
    rows = {r.what: (r.paper, r.here, bool(r.why)) for r in found.rows}
    assert rows == {
        "Figure 10, the common mixes: the worst, no software": (35.0, 40.0, True),
        "Figure 10, the common mixes: the worst, Memstrata": (6.0, 6.0, False),
        "Figure 10, the common mixes: the worst, miss counters": (None, 5.0, False),
        "Figure 10, the common mixes: the worst, oracle": (None, 4.0, False),
        "Figure 13, machines that come and go: the worst, Memstrata": (6.0, 9.0, True),
        "Memstrata: of a core, at most": (4.0, 3.0, True),
    }
    why = {r.what: r.why for r in found.rows}
    assert why["Figure 13, machines that come and go: the worst, Memstrata"] == memstrata.WHY_MORE
    assert why["Memstrata: of a core, at most"].startswith("copies alone, 5 GB in web-heavy: three")
    assert memstrata.row("", "%", 6.0, 5.0).why == memstrata.WHY_LESS
    assert "| machines rightly judged, at the end of each interval |  | 90.0 % |" in found.notes[0]
    assert "| intervals until an outlier is found |  | 1.5 | 1.5 |  |" in found.notes[0]
    assert all(len(kinds) == 6 for kinds in MIXES.values())


def test_quick_runs(tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A quick run makes profiles, forests and mixes without kept results."""
    monkeypatch.setattr(profiles, "FOLDER", tmp_path / "profiles")
    monkeypatch.setattr(flat_mixes, "FORESTS", tmp_path / "forests")
    for name in ("memstrata", "memstrata-sensitivity"):
        words = ["study", name, "--quick", "--json", "--out", str(tmp_path / name)]
        status, out, err = run(words, capsys)
        assert status == 0, err
        report = json.loads(out)
        assert report["quick"] and report["rows"]
        papers = [r for r in report["rows"] if r["paper"] is not None]
        assert all(r["why"] for r in papers if abs(r["here"] / r["paper"] - 1) > 0.05)
        assert (tmp_path / name / "README.md").exists() and list((tmp_path / name).glob("*.svg"))
