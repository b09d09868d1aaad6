# SPDX-License-Identifier: Apache-2.0
"""`anemone caption` end to end: its output and files, and its errors for invalid input."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from anemone.caption import model as models
from tests.commands import assert_refused, run

HEADER = "l1_miss_latency_ns,ddr_read_latency_ns,ipc,new_allocations\n"
SAMPLES = HEADER + "100,150,0.5,1\n90,140,0.6,1\n80,130,0.7,1\n95,150,0.5,0\n95,150,0.5,1\n"
MODEL = """beta = [1.0, -0.01, 0.0, 1.0]
window = 1
step = 20.0
min_step = 9.0
start = 5
"""
REPLAY = ["caption", "replay", "--samples", "s.csv", "--model", "m.toml"]
WEIGHTS = "sys/kernel/mm/mempolicy/weighted_interleave"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("s.csv").write_text(SAMPLES)
    Path("m.toml").write_text(MODEL)
    return tmp_path


@pytest.fixture
def root(files: Path) -> Path:
    """The sysfs of Linux 6.9 with two nodes."""
    (files / "root" / WEIGHTS).mkdir(parents=True)
    for node in (0, 1):
        (files / "root" / WEIGHTS / f"node{node}").write_text("7\n")
    return files / "root"


def weights(root: Path) -> list[str]:
    return [(root / WEIGHTS / f"node{n}").read_text().strip() for n in (0, 1)]


def test_replay(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run([*REPLAY, "--json"], capsys)
    report = json.loads(out)
    assert (status, err, list(report)) == (0, "", ["periods"])
    assert all(list(p) == ["estimate", "step", "ratio"] for p in report["periods"])
    assert [p["estimate"] for p in report["periods"]] == pytest.approx([0.5, 0.7, 0.9, 0.55, 0.55])
    assert [p["step"] for p in report["periods"]] == [20, 20, 20, -10, -10]
    assert [p["ratio"] for p in report["periods"]] == [5, 25, 45, 35, 35]
    status, out, err = run(REPLAY, capsys)
    assert (status, err) == (0, "") and "-10.00" in out and "35.00" in out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "content is No such file"),
        ("", "columns is missing"),
        (HEADER, "line 2: samples is missing"),
        ("ipc,new_allocations\n1,1\n", "l1_miss_latency_ns is missing"),
        (HEADER.replace("ipc", "IPC") + "1,1,1,1\n", 'column is "IPC"'),
        (HEADER.replace("ipc", "ipc,ipc") + "1,1,1,1,1\n", "ipc is there twice"),
        (SAMPLES + "1,2,3\n", "line 7: values is 3"),
        (SAMPLES + "1,2,x,1\n", 'line 7: ipc is "x"'),
        (SAMPLES + "1,2,nan,1\n", 'ipc is "nan"'),
        (SAMPLES + "-1,2,3,1\n", 'l1_miss_latency_ns is "-1"'),
        (SAMPLES + "1,2,3,inf\n", 'new_allocations is "inf"'),
        (SAMPLES + "1e101,2,3,1\n", 'line 7: l1_miss_latency_ns is "1e101"'),
    ],
)
def test_bad_samples(files: Path, content, message, capsys) -> None:
    words = ["caption", "replay", "--samples", str(files / "s.csv"), "--model", "m.toml"]
    assert_refused(files / "s.csv", content, message, words, capsys)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("beta = [1.0, -0.01, 0.0, 1.0]", "beta = [1.0, 2.0]", "line 1: beta is [1.0, 2.0]"),
        ("beta = [1.0, -0.01", 'beta = [1.0, "x"', "line 1: beta is"),
        ("beta = [1.0", "beta = [inf", "beta is"),
        ("beta = [1.0", "beta = [-1e101", "line 1: beta is [-1e+101"),
        ("window = 1", "window = 0", "line 2: window is 0"),
        ("window = 1", "window = 1.5", "window is 1.5"),
        ("step = 20.0\n", "", "step is missing"),
        ("min_step = 9.0", "min_step = -1", "line 4: min_step is -1"),
        ("start = 5", "start = 101", "line 5: start is 101"),
        ("start = 5", "begin = 5", "begin is 5"),
        ("start = 5", "start = 5\n[live]\nhysteresis = 2", "live.hysteresis is 2"),
        ("start = 5", "start = 5\n[live]\nrestart = 0", "live.restart is 0"),
        ("start = 5", 'start = 5\ncounters = ["cpi"]', 'counters is ["cpi"]'),
        ("start = 5", "start = = 5", "line 5, column 9: TOML is wrong"),
    ],
)
def test_bad_models(files: Path, old, new, message, capsys) -> None:
    assert old in MODEL
    words = ["caption", "replay", "--samples", "s.csv", "--model", str(files / "m.toml")]
    assert_refused(files / "m.toml", MODEL.replace(old, new), message, words, capsys)


def at_ratios(noise: float = 0.0) -> str:
    """Samples of a program whose throughput is 2 - 0.01 L1 - 0.002 DDR + 0.5 IPC."""
    rng = np.random.default_rng(1)
    lines = ["l1_miss_latency_ns,ddr_read_latency_ns,ipc,ratio,throughput"]
    for ratio in range(0, 70, 10):
        for i in range(3):
            l1, ddr, ipc = 80 + (ratio - 30) ** 2 / 50 + i, 200 - ratio + i * i, 0.7 - ratio / 200
            y = 2 - 0.01 * l1 - 0.002 * ddr + 0.5 * ipc + noise * rng.standard_normal()
            lines.append(f"{l1!r},{ddr!r},{ipc!r},{ratio},{float(y)!r}")
    return "\n".join(lines) + "\n"


def test_fit(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The fit finds known weights, and `replay` accepts the written model."""
    Path("f.csv").write_text(at_ratios())
    words = ["caption", "fit", "--samples", "f.csv", "--out", "out"]
    status, out, err = run([*words, "--json"], capsys)
    report = json.loads(out)
    assert (status, err) == (0, "")
    assert report["beta"] == pytest.approx([2, -0.01, -0.002, 0.5], abs=1e-6)
    assert report["r2"] == pytest.approx(1) and report["r2_left_out"] == pytest.approx(1)
    assert report["direction"] == 1 and report["doubts"] == []
    assert json.loads(Path("out/fit.json").read_text()) == report
    assert Path("out/fit.svg").read_text().startswith("<svg")
    assert list(models.read("out/model.toml").beta) == report["beta"]
    assert run([*REPLAY[:-1], "out/model.toml", "--json"], capsys)[0] == 0
    assert "R² of ratios left out" in run(words, capsys)[1]


def test_a_fit_of_noise_is_not_to_be_trusted(files: Path, capsys) -> None:
    Path("f.csv").write_text(at_ratios(noise=0.2))
    words = ["caption", "fit", "--samples", "f.csv", "--out", "out", "--json"]
    status, out, err = run(words, capsys)
    assert status == 0 and "not to be trusted: R²" in err
    assert json.loads(out)["doubts"] and "# not to be trusted" in Path("out/model.toml").read_text()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (at_ratios().replace("throughput", "new_allocations", 1), "throughput is missing"),
        ("\n".join(at_ratios().splitlines()[:4]) + "\n", "samples is 3"),
        (at_ratios().replace(",60,", ",160,"), 'ratio is "160"'),
        ("l1_miss_latency_ns,ddr_read_latency_ns,ipc,ratio,throughput\n" + "".join(
            f"{i},7,{i * i},{i},{i}\n" for i in range(8)), "ddr_read_latency_ns always the same"),
        ("l1_miss_latency_ns,ddr_read_latency_ns,ipc,ratio,throughput\n" + "".join(
            f"{i},{2 * i},{i * i},{i},{i}\n" for i in range(8)), "a sum of others"),
        ("l1_miss_latency_ns,ddr_read_latency_ns,ipc,ratio,throughput\n" + "".join(
            f"{i},{i**3},{i * i},{i},5\n" for i in range(8)), "throughput is always 5"),
    ],
)  # fmt: skip
def test_bad_fits(files: Path, content, message, capsys) -> None:
    words = ["caption", "fit", "--samples", str(files / "s.csv"), "--out", "out"]
    assert_refused(files / "s.csv", content, message, words, capsys)


def live(root: Path, *words: str) -> list[str]:
    return [
        "caption",
        "run",
        "--model",
        "m.toml",
        "--samples",
        "s.csv",
        "--root",
        str(root),
        *words,
    ]


def test_run_decides_as_replay_does(root: Path, monkeypatch, capsys) -> None:
    """Each decision has a reason. The weights of the decisions are written in order, and the
    previous weights are restored.
    """
    from anemone.caption import actuator

    written = []
    real = actuator.WeightedInterleave.set
    monkeypatch.setattr(
        actuator.WeightedInterleave,
        "set",
        lambda self, ratio: (real(self, ratio), written.append(weights(root)))[0],
    )
    status, out, err = run(live(root, "--json"), capsys)
    done = [json.loads(line) for line in out.splitlines()]
    pure = json.loads(run([*REPLAY, "--json"], capsys)[1])["periods"]
    assert (status, err) == (0, "")
    assert [{k: d[k] for k in ("estimate", "step", "ratio")} for d in done] == pure
    assert [d["decision"] for d in done] == ["start", "step", "step", "reverse", "reverse"]
    assert all(d["reason"] for d in done) and "no new allocations" in done[3]["reason"]
    assert written == [list(map(str, actuator.weights_of(p["ratio"]))) for p in pure]
    assert weights(root) == ["7", "7"]


def test_dry_run_writes_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for node in (0, 1):
        (root / WEIGHTS / f"node{node}").chmod(0o444)
    before = {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in root.rglob("node*")}
    status, out, _ = run(live(root, "--dry-run"), capsys)
    assert status == 0 and "0: start: 5.0 % to CXL (weights 19:1)" in out
    assert {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in root.rglob("node*")} == before


def test_the_tuning_interval(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With two samples per decision, the average uses all samples and allocations are summed."""
    Path("m.toml").write_text(MODEL.replace("window = 1", "window = 2"))
    done = [json.loads(x) for x in run(live(root, "--json", "--tune", "2"), capsys)[1].splitlines()]
    assert [d["new_allocations"] for d in done] == [2, 1]
    assert [d["estimate"] for d in done] == pytest.approx([0.6, 0.725])


def test_run_refuses(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(words: list[str], message: str) -> None:
        status, out, err = run(words, capsys)
        assert (status, out) == (2, "") and message in err and err.count("\n") == 1, err

    refused(live(root / "none"), "weighted_interleave is missing; allowed: Linux 6.9")
    refused(live(root, "--cxl-node", "3"), "node3 is missing")
    refused(live(root, "--cxl-node", "0"), "--cxl-node is 0")
    refused(live(root, "--interval", "0"), "--interval is 0")
    ratio = ("--ratio-file", str(root / "ratio"))
    refused(live(root, "--dram-node", "-1", *ratio), "--dram-node is -1; allowed: a node, 0 to")
    refused(live(root, "--cxl-node", "1024", *ratio), "--cxl-node is 1024")
    refused(live(root, "--ratio-file", str(root)), "--ratio-file is something else")
    refused(live(root, "--ratio-file", str(root / "no" / "ratio")), "--ratio-file is not writable")
    assert not (root / "ratio").exists()
    refused(live(root, "--tune", "9"), "samples is 0")
    refused([w if w != "s.csv" else "none.csv" for w in live(root)], "none.csv")
    assert weights(root) == ["7", "7"]


def test_a_bad_line_ends_it_with_the_weights_back(root: Path, capsys) -> None:
    Path("s.csv").write_text(SAMPLES + "1,2,3,four\n")
    status, _, err = run(live(root), capsys)
    assert status == 2 and "line 7" in err and weights(root) == ["7", "7"]


def test_sigterm_puts_the_weights_back(root: Path) -> None:
    """SIGTERM while it waits for a sample, as from systemd."""
    words = [sys.executable, "-m", "anemone.cli", *live(root)]
    words[words.index("s.csv")] = "-"
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as tool:
        tool.stdin.write("\n".join(SAMPLES.splitlines()[:3]) + "\n")
        tool.stdin.flush()
        assert "start" in tool.stdout.readline() and "step" in tool.stdout.readline()
        assert weights(root) == ["3", "1"]
        tool.send_signal(signal.SIGTERM)
        assert tool.wait(60) == 0
    assert weights(root) == ["7", "7"]


def test_the_largest_numbers_give_an_estimate(files: Path, capsys) -> None:
    """Sums of accepted values do not overflow a double, because JSON has no infinity."""
    Path("m.toml").write_text(MODEL.replace("[1.0, -0.01, 0.0,", "[-1e100, 1e100, -1e100,"))
    Path("s.csv").write_text(SAMPLES + "1e100,1e100,1e100,1\n" * 3)
    status, out, _ = run([*REPLAY, "--json"], capsys)
    assert status == 0
    assert all(np.isfinite(p["estimate"]) for p in json.loads(out)["periods"])


def test_a_file_that_is_no_ratio_stays(root: Path, capsys) -> None:
    """Another file is not overwritten; a ratio file of an earlier run is reused."""
    path = root / "notes"
    path.write_text("mine\n")
    status, out, err = run(live(root, "--ratio-file", str(path)), capsys)
    assert (status, out, err.count("\n")) == (2, "", 1) and "notes: file: --ratio-file is" in err
    assert path.read_text() == "mine\n"
    path.write_text("0 1 3 1\n")
    assert run(live(root, "--ratio-file", str(path)), capsys)[0] == 0 and not path.exists()


def test_the_ratio_file(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The ratio file for older kernels is replaced atomically, and removed at the end."""
    path = root / "ratio"
    status, out, _ = run(live(root / "none", "--ratio-file", str(path)), capsys)
    assert status == 0 and "weights 3:1" in out and not path.exists()
    from anemone.caption.actuator import RatioFile

    RatioFile(0, 2, path).set(25.0)
    assert path.read_text() == "0 2 3 1\n" and list(root.glob(".ratio*")) == []
