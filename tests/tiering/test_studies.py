# SPDX-License-Identifier: Apache-2.0
"""Studies: kept points, workers that die, result pages, and the sweep's formula."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anemone.io.errors import InputError
from anemone.studies import STUDIES, hemem_values, memtis, sketches, sweep, tuning
from anemone.studies import cluster as clusters
from anemone.studies.page import page
from anemone.studies.study import Found, Point, Row, Study, answers, result
from anemone.studies.sweep import formula
from tests.commands import assert_refused, run
from tests.inputs import ROOT


class Squares(Study):
    """Each point records that it ran; one may kill its process the first time."""

    title, about = "Squares", "They grow."

    def __init__(self, folder: Path, kills: int = -1) -> None:
        self.folder, self.kills = folder, kills

    def points(self, quick: bool, seed: int) -> list[Point]:
        return [{"n": n} for n in range(6)]

    def run(self, point: Point) -> dict[str, Any]:
        ran = self.folder / f"ran-{point['n']}"
        first = not ran.exists()
        ran.write_text(ran.read_text() + "x" if not first else "x")
        if point["n"] == self.kills and first:
            os.kill(os.getpid(), signal.SIGKILL)
        return {"square": point["n"] ** 2}

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        rows = [Row(f"{p['n']} squared", "", 25.0, a["square"], "smaller") for p, a in answers]
        return Found(rows, notes=["A note."], constants={"power": 2})


def test_a_killed_worker_loses_nothing(tmp_path: Path) -> None:
    """Another worker runs its point again; kept answers are not run again the next time."""
    study, folder = Squares(tmp_path, kills=4), tmp_path / "points"
    progress = []
    points = study.points(True, 1)
    found = answers(study, points, folder, 2, lambda *now: progress.append(now))
    assert [a["square"] for _, a in found] == [0, 1, 4, 9, 16, 25]
    assert [now[:2] for now in progress] == [(n, 6) for n in range(1, 7)] and progress[-1][2] == 0
    times = [len((tmp_path / f"ran-{n}").read_text()) for n in range(6)]
    # Answers of the dead worker that were not fetched yet are also run again.
    assert times[4] == 2 and max(times) == 2
    min(folder.iterdir()).unlink()
    left = []
    answers(study, points, folder, 1, lambda *now: left.append(now[:2]))
    assert left == [(6, 6)]


def test_a_scheduler_that_is_not_there(tmp_path: Path) -> None:
    study = Squares(tmp_path)
    with pytest.raises(InputError, match="--scheduler"):
        answers(study, study.points(True, 1), tmp_path / "p", 1, scheduler="nothing://here")


@contextmanager
def cluster(tmp_path: Path, count: int) -> Iterator[str]:
    """The address of a dask scheduler with workers in separate processes that know ROOT."""
    file, running = tmp_path / "scheduler.json", []
    common = ["--scheduler-file", str(file), "--no-dashboard"]
    workers = [["worker", *common, "--no-nanny", "--nthreads", "1"]] * count
    try:
        for kind, *words in (
            ["scheduler", *common, "--host", "127.0.0.1", "--port", "0"],
            *workers,
        ):
            command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *words]
            with (tmp_path / f"{kind}-{len(running)}.log").open("w") as log:
                running.append(subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log))
            while not file.exists():
                assert running[0].poll() is None, (tmp_path / "scheduler-0.log").read_text()
                time.sleep(0.05)
        yield json.loads(file.read_text())["address"]
    finally:
        for process in running:
            process.kill()
            process.wait()


def test_a_killed_worker_of_a_cluster(tmp_path: Path) -> None:
    """The other worker runs its point, no answer is lost, and kept answers are not run again."""
    study, folder = Squares(tmp_path, kills=1), tmp_path / "points"
    points = study.points(True, 1)
    with cluster(tmp_path, 2) as address:
        found = answers(study, points, folder, 1, scheduler=address)
        assert [a["square"] for _, a in found] == [0, 1, 4, 9, 16, 25]
        assert (tmp_path / "ran-1").read_text() == "xx"
        min(folder.iterdir()).unlink()
        left = []
        answers(study, points, folder, 1, lambda *now: left.append(now[:2]), address)
    assert left == [(6, 6)]


def test_a_scheduler_without_workers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lack of workers is reported at once, and an error if none connects."""
    monkeypatch.setattr(clusters, "_HAS_WORKERS_WITHIN", "1s")
    study = Squares(tmp_path)
    with (
        cluster(tmp_path, 0) as address,
        pytest.raises(InputError, match=r"--scheduler.*with a worker within 1s"),
    ):
        answers(study, study.points(True, 1), tmp_path / "p", 1, scheduler=address)
    assert f"dask worker {address}" in capsys.readouterr().err


def test_sketches() -> None:
    """A sketch finds a shifting set that rotated counters miss; a counter for each page is exact.

    The points use the golden model.
    """
    point = {"trace": "shifting", "accesses": 400_000, "pages": 1 << 12, "seed": 1}
    some = sketches.STUDY.run({**point, "share": 0.5, "engine": "model"})
    assert some["kib"] == 2 * 4 * 2048 / 1024
    found = {name: measured["found"] for name, measured in some["of"].items()}
    assert found["sketch of 4"] > found["exact"] + 20
    steady = sketches.STUDY.run({**point, "trace": "zipf", "share": 1.0, "engine": "model"})
    assert steady["of"]["exact"] == {"found": 100.0, "error": 0.0}
    assert steady["of"]["sketch of 4"]["error"] < some["of"]["sketch of 4"]["error"]


def test_a_sweep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Points with other values in their fields, without duplicates; invalid files are refused."""
    monkeypatch.setattr(sweep, "STUDY", Squares(tmp_path))
    file = tmp_path / "s" / "sweep.toml"
    file.parent.mkdir()
    file.write_text("n = [7, 8]")
    words = ["study", "sweep", "--sweep", str(file), "--out", str(tmp_path / "out")]
    status, out, err = run(words, capsys)
    assert (status, err) == (0, "") and "2 points" in out
    content = json.loads((tmp_path / "out" / "sweep.json").read_text())
    expected = [{"point": {"n": n}, "answer": {"square": n * n}} for n in (7, 8)]
    assert content == expected
    for wrong, message in (
        ("m = [1]", "only the keys n"),
        ("n = []", "at least one"),
        ('n = ["a"]', "int"),
    ):
        assert_refused(file, wrong, message, words, capsys)


def test_the_page_and_the_result(tmp_path: Path) -> None:
    study = Squares(tmp_path)
    found = study.finish(answers(study, study.points(False, 1), tmp_path / "p", 1))
    text = page("squares", study, found, 7, True, "2026-01-01")
    assert "| 5 squared |  | 25 | 25 | smaller |" in text and "| power | 2 |" in text
    assert "2026-01-01" in text and "seed 7" in text and "quick" in text and "A note." in text
    report = result("squares", 7, True, found)
    assert list(report) == ["study", "seed", "quick", "rows", "constants"]
    assert report["rows"][2] == {
        "what": "2 squared", "unit": "", "paper": 25.0, "here": 4, "why": "smaller",
    }  # fmt: skip


def test_the_sweep_is_the_formulas(tmp_path: Path) -> None:
    """They agree within an interval, and the paper's example gives 36.6 s."""
    assert formula(16, 7, 8192, 64) == pytest.approx(36.57, abs=0.01)
    point = {"gib": 1, "pipelines": 7, "states": 8192, "width": 64, "engine": "model"}
    answer = sweep.STUDY.run(point)
    assert 0 <= answer["seconds"] - formula(1, 7, 8192, 64) <= 0.5 + 0.02


def test_every_study_has_points() -> None:
    from importlib import import_module

    for name, (module, _) in STUDIES.items():
        study = import_module(module).STUDY
        quick, full = study.points(True, 1), study.points(False, 1)
        assert 0 < len(quick) <= len(full), name
        assert json.loads(json.dumps(full)) == full
        assert study.title and study.about


def test_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "STUDY", Squares(tmp_path))
    words = ["study", "sweep", "--quick", "--out", str(tmp_path / "out"), "--json", "--seed", "3"]
    status, out, err = run(words, capsys)
    assert (status, err) == (0, "")
    report = json.loads(out)
    assert report == json.loads((tmp_path / "out" / "result.json").read_text())
    assert (report["study"], report["seed"], report["quick"]) == ("sweep", 3, True)
    assert "| 5 squared |" in (tmp_path / "out" / "README.md").read_text()
    status, out, _ = run(["study", "--list"], capsys)
    assert status == 0 and [line.split()[0] for line in out.splitlines()] == list(STUDIES)
    status, _, err = run(["study", "nothing"], capsys)
    assert status == 2 and 'NAME is "nothing"' in err


def test_the_engine_counts_where_nemo_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """--engine is used and named on the page; studies without NEMO and full ones are refused."""

    class Counted(Squares):
        def points(self, quick: bool, seed: int) -> list[Point]:
            return [{"n": 2, "engine": "model"}, {"n": 3}]

        def run(self, point: Point) -> dict[str, Any]:
            return {"square": 25 if point.get("engine") == "rtl" else point["n"]}

    monkeypatch.setattr(sweep, "STUDY", Counted(tmp_path))
    words = ["study", "sweep", "--out", str(tmp_path / "out"), "--json", "--engine", "rtl"]
    status, out, err = run([*words, "--quick"], capsys)
    report = json.loads(out)
    assert (status, err) == (0, "") and [row["here"] for row in report["rows"]] == [25, 3]
    assert "Verilated" in report["constants"]["NEMO's counts"]
    for refused, message in (
        (words, "model; rtl with --quick"),
        (["study", "loaded-latency", *words[2:]], "NEMO counts nothing, in ranking, tuning, hemem"),
    ):
        status, out, err = run(refused, capsys)
        assert (status, out) == (2, "") and err.count("\n") == 1 and message in err, err
        assert '--engine is "rtl"' in err


def test_a_fifth_of_the_keys() -> None:
    """A fifth of the keys has 80 % of the accesses, for any number of keys."""
    for items in (50, 1000, 30_000):
        share = hemem_values.zipf_of(items)
        assert share[items // 5 - 1] == pytest.approx(0.8, abs=0.01) and share[-1] == 1


@pytest.mark.parametrize(
    ("study", "change"),
    [
        (hemem_values.STUDY, {"what": 16384, "k": 1024, "seconds": 4}),
        (memtis.STUDY, {"what": "silo", "ratio": 2, "k": 1024, "seconds": 4, "warm": 2}),
    ],
)
def test_a_study_from_points_to_page(study: Study, change: dict[str, Any], tmp_path: Path) -> None:
    """Each source once, on the smallest machine, up to the numbers of the page."""
    points = {
        json.dumps({**point, **change, "timing": timing}): None
        for point in study.points(True, 1)
        for timing in ("queue", "dram")
    }
    done = answers(study, [json.loads(point) for point in points], tmp_path, 1)
    found = study.finish(done)
    assert len(found.rows) > 5 and found.pictures and found.notes
    assert all(np.isfinite(row.here) for row in found.rows)
    assert all(row.why for row in found.rows if row.paper is not None)
    assert all(0 < answer["fast"] < 1 for _, answer in done)


def test_settings_are_drawn_alike() -> None:
    """Setting 0 is the published one; others are within a factor of four, and reproducible."""
    for policy, source in tuning._PAIRS:
        published = tuning.drawn_settings(policy, source, 0, 1)
        drawn = [tuning.drawn_settings(policy, source, n, 1) for n in (1, 1, 2)]
        assert drawn[0] == drawn[1] != drawn[2]
        for name, value in published.items():
            if name != "quota":
                assert value / 4.01 <= drawn[0][name] <= value * 4.01
    assert tuning.drawn_settings("memtis", "pebs", 0, 1)["quota"] == 0.03
    points = tuning.STUDY.points(True, 1)
    of = {
        tuple(p["pair"]): sum(tuple(q["pair"]) == tuple(p["pair"]) for q in points) for p in points
    }
    assert len(set(of.values())) == 1, "all have the same number of settings"


def test_what_was_tuned_is_told_of_another_seed() -> None:
    """Settings are chosen with another store than the reported one."""
    point = {**tuning.STUDY.points(True, 1)[0], "k": 1024, "seconds": 2}
    rates = [tuning.STUDY.run({**point, "use": use})["requests_per_second"]
            for use in ("tune", "tell", "tell")]  # fmt: skip
    assert rates[0] != rates[1] == rates[2]
