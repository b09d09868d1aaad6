# SPDX-License-Identifier: Apache-2.0
"""`anemone tier` end to end: its output files, and its errors for invalid input."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from anemone.tiering import result
from tests.commands import assert_refused, run

CONFIG = """\
page = "4KiB"
outstanding = 2
interval_ms = 0.0001
[fast]
pages = 1
latency_ns = 10
gb_per_s = 64
[slow]
pages = 2
latency_ns = 100
gb_per_s = 16
"""
# Reads of a fast page and then a slow one by two threads; the third read waits for the first.
TRACE = """\
addr,write,thread,gap_ns,op
0,0,0,1,1
0x1000,0,0,0,1
0x1040,0,0,0,2
0x2000,1,1,150,3
"""
KEYS = ["time_ns", "accesses", "promoted", "demoted", "migrated_bytes", "telemetry_cpu_ns",
        "policy_cpu_ns", "accesses_per_second", "latency_ns"]  # fmt: skip


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "t.toml").write_text(CONFIG)
    (tmp_path / "t.csv").write_text(TRACE)
    return tmp_path


def arguments(files: Path, *more: str) -> list[str]:
    return [
        "tier", "--config", str(files / "t.toml"), "--trace", str(files / "t.csv"),
        "--out", str(files / "out"), "--device-gib", "1", *more,
    ]  # fmt: skip


def test_a_run(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(arguments(files), capsys)
    assert (status, err) == (0, "")
    assert "4 accesses" in out and "25.0%" in out
    assert sorted(path.name for path in (files / "out").iterdir()) == sorted(result.FILES)
    report = json.loads((files / "out" / "report.json").read_text())
    assert list(report) == KEYS and report.pop("accesses_per_second") > 0
    assert report == {
        "time_ns": 250.0, "accesses": {"fast": 1, "slow": 3},
        "promoted": 0, "demoted": 0, "migrated_bytes": 0,
        "telemetry_cpu_ns": 0.0, "policy_cpu_ns": 0.0,
        "latency_ns": {"p50": 100.0, "p95": 100.0, "p99": 100.0, "p999": 100.0},
    }  # fmt: skip
    rows = pq.read_table(files / "out" / "timeline.parquet").to_pylist()
    assert [row["time_ns"] for row in rows] == [100.0, 200.0]
    assert [row["slow_accesses"] for row in rows] == [2, 1]
    assert [row["requests"] for row in rows] == [2, 1]
    assert rows[0]["throughput"] == 3 / 100 * 1e9


def test_json(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(arguments(files, "--json"), capsys)
    assert (status, err) == (0, "")
    assert json.loads(out) == json.loads((files / "out" / "report.json").read_text())


def test_a_second_run_writes_the_same_bytes(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also with a policy that moves pages and a source that uses random numbers."""
    (files / "t.toml").write_text(
        CONFIG.replace("pages = 2\n", "pages = 9\n")
        + '[policy]\nname = "hottest"\n[telemetry]\nsource = "scan"\nsample_ms = 0.00002\n'
    )

    def written() -> tuple[bytes, str]:
        assert run(arguments(files), capsys)[0] == 0
        report = (files / "out" / "report.json").read_text()
        kept = [line for line in report.splitlines() if "per_second" not in line]
        return (files / "out" / "timeline.parquet").read_bytes(), "\n".join(kept)

    assert written() == written()


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(["tier", "--help"], capsys)
    assert status == 0 and "first-touch" in out and "timeline.parquet" in out


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.toml", CONFIG.replace("pages = 1", "pages = x"), "line 5"),
        ("t.toml", CONFIG.replace("pages = 1", "pages = 1.5"), "fast.pages is 1.5"),
        ("t.toml", None, "a TOML file that can be read"),
        ("t.csv", None, "a trace that can be read"),
        ("t.csv", "addr,write\n1,0\n1,2\n", "row 2 (line 3): write is"),
        ("t.csv", "addr,write,gap_ns\n1,0,-1\n", "gap_ns is"),
        ("t.csv", "addr,write\n0,0\n0x1000,0\n0x2000,0\n0x3000,0\n", "page is at 0x3000"),
        ("t.csv", "addr,write\n0x40000000,0\n", 'addr is "0x40000000"'),
    ],
)
def test_bad_input(
    files: Path, name: str, content: str | None, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert_refused(files / name, content, message, arguments(files), capsys)


def test_a_column_that_is_needed(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """PEBS sees loads but not prefetches, so it needs the column `kind`."""
    (files / "t.toml").write_text(CONFIG + '[telemetry]\nsource = "pebs"\n')
    message = 'columns: kind is missing; allowed: must be there with the telemetry source "pebs"'
    assert_refused(files / "t.csv", TRACE, message, arguments(files), capsys)


CAP = '[policy]\nname = "bandwidth-cap"\n[telemetry]\nsource = "mbm"\n'


def test_a_cap_needs_who_tells_whose(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Other sources are refused in TIER.toml and --run, and so is a thread that does not exist."""
    wrong = CONFIG + CAP.replace("mbm", "oracle")
    message = 'telemetry.source is "oracle"; allowed: a source for policy "bandwidth-cap": mbm'
    assert_refused(files / "t.toml", wrong, message, arguments(files), capsys)
    words = ["tier", "compare", "--trace", str(files / "t.csv"), "--run"]
    status, out, err = run([*words, "bandwidth-cap+pebs"], capsys)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and 'telemetry is "pebs"; allowed: a source behind' in err
    (files / "t.toml").write_text(CONFIG + CAP.replace('cap"', 'cap"\nthread = 2'))
    message = "threads: policy.thread is 2; allowed: 0 to 1"
    assert_refused(files / "t.csv", TRACE, message, arguments(files), capsys)
    (files / "t.toml").write_text(CONFIG + CAP)
    assert run(arguments(files), capsys)[0] == 0


def test_the_engine_is_nemos(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--engine selects the pipelines, with the model as default; it is refused without them."""
    words = arguments(files, "--engine", "rtl")
    assert_refused(files / "t.toml", CONFIG, "--engine says", words, capsys)
    with (files / "t.toml").open("a") as file:
        file.write('[telemetry]\nsource = "nemo"\nfast = "none"\n')
    reports = []
    for more in ((), ("--engine", "model")):
        status, out, _ = run(arguments(files, "--json", *more), capsys)
        reports.append({**json.loads(out), "accesses_per_second": 0})
        assert status == 0
    assert reports[0] == reports[1]
