# SPDX-License-Identifier: Apache-2.0
"""`anemone capture -- PROGRAM ARGS` from the user's point of view."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anemone.capture import store
from anemone.cli import main
from tests.capture.guests import guest


def capture(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "anemone.cli", "capture", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_any_program_is_captured_and_its_output_is_not_ours(tmp_path: Path) -> None:
    options = ["--name", "own", "--native", "--json", "--instructions", "1000", "--llc-kib", "64"]
    done = capture("--out", tmp_path, *options, "--", guest(), "flow")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)["own"]
    assert done.stderr.count("0x") == 4  # two pointers, in the native run and in the capture
    assert report["status"] == 0 and report["threads"] == 1 and report["slowdown"] > 1
    assert report["instructions_per_second"] > 0 and report["marked"] > 4096
    assert sum(report["kinds"].values()) == report["events"] == report["reads"] + report["writes"]

    path = tmp_path / "own.parquet"
    assert {p.name for p in tmp_path.iterdir()} == {path.name, "instructions"}
    trace = pq.read_table(path)
    assert trace.num_rows == report["events"] and path.stat().st_size == report["bytes"]
    assert [(f.name, f.type) for f in trace.schema] == [
        ("addr", pa.uint64()),
        ("write", pa.bool_()),
        ("time_ns", pa.uint64()),
        ("tenant", pa.uint16()),
        ("thread", pa.uint16()),
        ("gap_ns", pa.float64()),
        ("dep", pa.bool_()),
        ("kind", pa.dictionary(pa.uint8(), pa.string())),
        ("op", pa.uint64()),
    ]
    assert all(column.null_count == 0 for column in trace.columns)
    counts = {c["values"]: c["counts"] for c in trace["kind"].value_counts().to_pylist()}
    assert counts == {name: n for name, n in report["kinds"].items() if n}
    origin = store.origin_of(path)
    assert origin["about"].endswith(" flow") and "instruction_ps=250" in origin["settings"]
    assert origin["speed"]["slowdown"] == report["slowdown"]

    listed = pq.read_table(tmp_path / "instructions" / "own.parquet")
    assert listed.num_rows == 1000
    rows = listed.to_pylist()
    assert all(len(r["address"]) == len(r["size"]) == len(r["store"]) for r in rows)
    assert any(r["store"] == [True] and r["size"] == [8] for r in rows)


@pytest.mark.parametrize(("mode", "says"), [("fail", "status 7"), ("crash", "SIGSEGV")])
def test_a_program_that_fails_is_a_warning(mode: str, says: str, tmp_path: Path) -> None:
    done = capture("--out", tmp_path, "--name", "own", "--", guest(), mode)
    assert done.returncode == 0, done.stderr
    assert "warning" in done.stderr and says in done.stderr
    assert "own" in done.stdout and "instructions/s" in done.stdout
    assert (tmp_path / "own.parquet").exists()


def test_a_program_without_end_is_ended_and_no_warning(tmp_path: Path) -> None:
    done = capture("--out", tmp_path, "--name", "own", "--events", "10000", "--", guest(), "spin")
    assert done.returncode == 0 and done.stderr in ("", "spins\n")  # at the end of its first round
    assert pq.read_metadata(tmp_path / "own.parquet").num_rows == 10_000


def refused(capsys: pytest.CaptureFixture[str], out: Path, *arguments: str) -> str:
    """The one-line error of a refused command line."""
    with pytest.raises(SystemExit) as e:
        main(["capture", "--out", str(out), *arguments])
    output = capsys.readouterr()
    assert e.value.code == 2 and output.err.count("\n") == 1 and not output.out, output.err
    assert not out.exists()
    return output.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["kvstore", "--skip", "1"], ["--skip", '"kvstore"', "redis, gcc, rocksdb"]),
        (["kvstore", "--native"], ["--native", "-- PROGRAM ARGS"]),
        (["--name", "x"], ["--name", "-- PROGRAM ARGS"]),
        (["--"], ["PROGRAM is missing", "-- PROGRAM ARGS"]),
        (["--", "no-such-program"], ['"no-such-program"', "PATH"]),
        (["--", "FOLDER"], ["an executable, by its path"]),
        (["--", "SCRIPT"], ["a script", "its interpreter"]),
        (["--", "TEXT"], ["not an x86-64 program", "ELF"]),
        (["--", "NARROW"], ["not an x86-64 program", "ELF"]),
        (["kvstore", "--", "env"], ['"kvstore"', "either samples, or -- PROGRAM"]),
        (["--name", "a/b", "--", "env"], ["--name", '"a/b"', "letters"]),
        (["--instructions", "-1", "--", "env"], ["--instructions", "-1", "0 to "]),
        (["--instruction-ps", "0", "--", "env"], ["--instruction-ps", "0", "1 to "]),
        (["--ways", "0", "--", "env"], ["--ways", "0", "1 to 64"]),
        (["--skip", "1000000000", "--", "GUEST", "fail"], ["none recorded", "--skip"]),
        (["--device-gib", "1", "--base-gib", "1", "--", "env"], ["--base-gib", "less than"]),
    ],
)
def test_bad_input_is_one_line_status_two_and_nothing_left(
    arguments: list[str], says: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = Path(guest()).read_bytes()[:64]
    narrow = head[:4] + b"\x01" + head[5:]
    for name, content in (("SCRIPT", b"#!/bin/sh\n"), ("TEXT", b"text\n"), ("NARROW", narrow)):
        (tmp_path / name).write_bytes(content)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "FOLDER").mkdir()
    (tmp_path / "GUEST").symlink_to(guest())
    named = [str(tmp_path / a) if a.isupper() else a for a in arguments]
    message = refused(capsys, tmp_path / "out", *named)
    for word in says:
        assert word in message


def test_a_program_of_more_memory_than_the_device_is_one_line(tmp_path: Path) -> None:
    done = capture("--out", tmp_path / "out", "--device-gib", "1", "--", guest(), "large")
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert "the device is full" in done.stderr and "--device-gib" in done.stderr
    assert not (tmp_path / "out").exists()


def test_without_qemu_it_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "dirname", "mkdir", "flock"):
        (tools / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    done = capture("--out", tmp_path / "out", "--", guest(), "fail")
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert "qemu is missing" in done.stderr and not (tmp_path / "out").exists()


def test_a_program_in_anothers_place_is_told(tmp_path: Path) -> None:
    """`env` searches PATH: failed executions, then one that replaces the process."""
    done = capture("--out", tmp_path, "--llc-kib", "64", "--", "env", guest(), "flow")
    assert done.returncode == 0, done.stderr
    assert "executed another program in its place" in done.stderr
    failed = capture("--out", tmp_path, "--name", "f", "--llc-kib", "64", "--", "env", "/no/such")
    assert "in its place" not in failed.stderr and "status 127" in failed.stderr


def test_both_runs_read_the_same_input(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("".join(f"{i * 7919 % 10_007}\n" for i in range(20_000)))
    command = [sys.executable, "-m", "anemone.cli", "capture", "--out", tmp_path, "--llc-kib", "64"]
    command += ["--native", "--json", "--", "sort"]
    with text.open() as file:
        done = subprocess.run(command, stdin=file, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("10006\n") == 2 * text.read_text().count("10006\n")
    assert json.loads(done.stdout)["sort"]["slowdown"] > 1
    piped = subprocess.run(command, input="1\n", capture_output=True, text=True, check=False)
    assert piped.returncode == 2 and "--native is a pipe" in piped.stderr


def test_no_slow_down_of_runs_that_ended_differently(tmp_path: Path) -> None:
    """The first run creates a file that makes the second run fail."""
    done = capture("--out", tmp_path, "--native", "--json", "--llc-kib", "64",
                   "--", "mkdir", tmp_path / "made")  # fmt: skip
    report = json.loads(done.stdout)["mkdir"]
    assert report["status"] == 1 and "slowdown" not in report and report["native_seconds"] > 0


def test_an_interrupt_ends_a_capture_and_keeps_it(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "anemone.cli", "capture", "--out", str(tmp_path), "--json",
               "--name", "a.b", "--llc-kib", "64", "--", guest(), "spin"]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr  # which the program's output is part of
        while b"spins" not in (line := process.stderr.readline()):
            assert line, "the program never ends by itself"
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert json.loads(out)["a.b"]["status"] is None
    assert pq.read_metadata(tmp_path / "a.b.parquet").num_rows > 100
