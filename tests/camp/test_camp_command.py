# SPDX-License-Identifier: Apache-2.0
"""`anemone camp` end to end: its output, and its errors for invalid input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.camp.test_camp_models import BY_HAND, E, linear
from tests.camp.test_camp_perf import VALUES, csv
from tests.commands import run

CAL = "k_drd = 2.0\np = 1.5\nq = 0.2\nk_cache = 4.0\nk_store = 0.5\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("c.json").write_text(json.dumps(BY_HAND))
    Path("cal.toml").write_text(CAL)
    Path("e.json").write_text(json.dumps(E))
    return tmp_path


def predicted(capsys, *words: str, platform: str = "skx", counters: str = "c.json") -> tuple:
    arguments = ["--counters", counters, "--calibration", "cal.toml", "--platform", platform]
    return run(["camp", "predict", *arguments, *words], capsys)


def test_predict(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = predicted(capsys, "--json")
    report = json.loads(out)
    assert (status, err) == (0, "") and list(report) == ["S_DRd", "S_Cache", "S_Store", "S"]
    assert list(report.values()) == pytest.approx([1.2, 0.225, 0.02, 1.445])
    status, out, err = predicted(capsys)
    assert (status, err) == (0, "") and "+144.50%" in out


def test_predict_by_interval(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two seconds, the second without store stalls; the total uses the sums."""
    seconds = [{"t": 1, **BY_HAND}, {"t": 2.5, **BY_HAND, "P6": 0}]
    Path("c.json").write_text(json.dumps({"intervals": seconds}))
    report = json.loads(predicted(capsys, "--json")[1])
    assert report["S_Store"] == pytest.approx(0.01)
    assert [(i["t"], i["S_Store"]) for i in report["intervals"]] == [
        (1, pytest.approx(0.02)),
        (2.5, 0),
    ]
    assert "2.5 s" in predicted(capsys)[1]


def test_predict_of_perf(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("perf.txt").write_text(csv("spr"))
    whole = json.loads(predicted(capsys, "--json", platform="spr", counters="perf.txt")[1])
    Path("c.json").write_text(json.dumps(VALUES))
    assert whole == json.loads(predicted(capsys, "--json", platform="spr")[1])
    Path("perf.txt").write_text(csv("spr", share="33.33"))
    status, _, err = predicted(capsys, "--json", platform="spr", counters="perf.txt")
    assert status == 0 and "only 33.33 % of the time" in err


def test_interleave_and_bestshot(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(["camp", "interleave", "--endpoints", "e.json", "--json"], capsys)
    report = json.loads(out)
    assert (status, err, report["regime"]) == (0, "", "bandwidth")
    assert [p["x"] for p in report["curve"]] == [i / 100 for i in range(101)]
    assert report["curve"][50]["S_DRd"] == pytest.approx(-0.025)
    best = json.loads(run(["camp", "bestshot", "--endpoints", "e.json", "--json"], capsys)[1])
    assert list(best) == ["x", "S", "weights"]
    assert best["S"] <= min(p["S"] for p in report["curve"])
    dram, cxl = best["weights"]
    assert dram / (dram + cxl) == pytest.approx(best["x"], abs=1e-4)
    out = run(["camp", "bestshot", "--endpoints", "e.json", "--cxl-node", "3"], capsys)[1]
    assert f"echo {cxl} > /sys/kernel/mm/mempolicy/weighted_interleave/node3" in out
    assert "bandwidth-bound" in run(["camp", "interleave", "--endpoints", "e.json"], capsys)[1]


def test_a_node_alone(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("e.json").write_text(json.dumps(linear(0.5)))
    best = json.loads(run(["camp", "bestshot", "--endpoints", "e.json", "--json"], capsys)[1])
    assert best == {"x": 1.0, "S": 0.0, "weights": None}
    assert (
        "numactl --membind=0 PROGRAM"
        in run(["camp", "bestshot", "--endpoints", "e.json"], capsys)[1]
    )


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (["--cxl-node", "0"], "--cxl-node is 0; allowed: another node than --dram-node"),
        (["--dram-node", "-1"], "--dram-node"),
    ],
)
def test_nodes_that_cannot_be(files: Path, nodes: list[str], message: str, capsys) -> None:
    """Otherwise the commands would interleave a node with itself."""
    _refused(capsys, ["bestshot", "--endpoints", "e.json", *nodes], message)
    _refused(capsys, ["calibrate", "--out", "out", "--platform", "skx", *nodes], message)
    assert not Path("out").exists()


def test_endpoints_name_files(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One run, with counters and calibration in files next to E.json."""
    dram = {"s_llc": 300, "s_cache": 300, "s_sb": 40, "l_idle": 90, "l_full": 92}
    content = {"c": 1000, "platform": "skx", "counters": "c.json", "calibration": "cal.toml"}
    Path("e.json").write_text(json.dumps({**content, "dram": dram}))
    report = json.loads(run(["camp", "interleave", "--endpoints", "e.json", "--json"], capsys)[1])
    assert report["regime"] == "latency" and report["curve"][0]["S"] == pytest.approx(1.445)


def test_colocate(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("chase.json").write_text(json.dumps(linear(0.5)))
    two = [
        {"name": "stream", "gb": 10, "mpki": 9, "endpoints": linear(0.1)},
        {"name": "chase", "gb": 10, "mpki": 2, "endpoints": "chase.json"},
    ]
    Path("w.json").write_text(json.dumps({"fast_to_slow": [1, 1], "workloads": two}))
    report = json.loads(run(["camp", "colocate", "--workloads", "w.json", "--json"], capsys)[1])
    assert report["fast_gb"] == 10
    assert report["camp"]["mean"] == pytest.approx(0.05)
    assert report["mpki"]["mean"] == report["first_touch"]["mean"] == pytest.approx(0.25)
    assert "+25.0%" in run(["camp", "colocate", "--workloads", "w.json"], capsys)[1]


def _refused(capsys: pytest.CaptureFixture[str], words: list[str], *message: str) -> None:
    status, out, err = run(["camp", *words], capsys)
    assert (status, out) == (2, "") and len(err.splitlines()) == 1
    assert all(part in err for part in message), err


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("c.json", "", ["c.json", "counters is empty"]),
        ("c.json", "[1]", ["c.json", "JSON is [1]"]),
        ("c.json", '{"c": 1,}', ["c.json: line 1, column", "JSON is wrong"]),
        ("c.json", '{"c": 1, "c": 2}', ["c.json", "the key c comes twice"]),
        ("c.json", json.dumps({**BY_HAND, "P13": 0}), ["c.json", "P13 is 0"]),
        ("c.json", '{"intervals": []}', ["intervals is []"]),
        ("c.json", json.dumps({"intervals": [{**BY_HAND}]}), ["interval 1", "t is missing"]),
        ("c.json", json.dumps({"intervals": [{"t": 2, **BY_HAND}] * 2}), ["interval 2", "t is 2"]),
        ("cal.toml", CAL.replace("q = 0.2\n", ""), ["cal.toml", "q is missing"]),
        ("cal.toml", CAL.replace("4.0", "-4.0"), ["cal.toml", "k_cache is -4.0"]),
        ("cal.toml", CAL + "r = 1\n", ["cal.toml", "r is 1"]),
        ("cal.toml", "k_drd = = 1", ["cal.toml: line 1"]),
    ],
)
def test_bad_input_of_predict(files: Path, file, content, message, capsys) -> None:
    (files / file).write_text(content)
    words = ["--counters", "c.json", "--calibration", "cal.toml", "--platform", "skx"]
    _refused(capsys, ["predict", *words], *message)


def test_files_that_are_not_there(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "c.json").unlink()
    words = ["--counters", "c.json", "--calibration", "cal.toml", "--platform"]
    _refused(capsys, ["predict", *words, "skx"], "c.json", "No such file")
    _refused(capsys, ["predict", *words, "amd"], "platform")
    _refused(capsys, [], "try --help")
    _refused(capsys, ["interleave"], "--endpoints")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "workloads is missing"),
        ({"workloads": []}, "workloads is []"),
        ({"workloads": [1]}, "workload is 1"),
        ({"workloads": [{"name": "a", "gb": 0, "mpki": 1, "endpoints": E}]}, "gb is 0"),
        ({"workloads": [{"name": "a", "gb": 1, "mpki": 1, "endpoints": 5}]}, "endpoints is 5"),
        ({"workloads": [{"name": "a", "gb": 1, "mpki": 1, "endpoints": E}] * 2}, 'name is "a"'),
        ({"workloads": [{"name": "a", "gb": 1, "mpki": 1, "endpoints": E}]}, "fast_gb is missing"),
        (
            {
                "workloads": [{"name": "a", "gb": 1, "mpki": 1, "endpoints": E}],
                "fast_to_slow": [0, 0],
            },
            "fast_to_slow is [0, 0]",
        ),
    ],
)
def test_bad_input_of_colocate(files: Path, content: dict, message: str, capsys) -> None:
    (files / "w.json").write_text(json.dumps(content))
    _refused(capsys, ["colocate", "--workloads", "w.json"], "w.json", message)
