# SPDX-License-Identifier: Apache-2.0
"""`anemone capture` from the user's point of view."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from anemone.capture import store
from anemone.hardware.geometry import Geometry
from anemone.trace import read_trace

QUICK = ["--events", "20000", "--with", "kvstore.keys=4000", "--llc-kib", "128"]


def capture(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "anemone.cli", "capture", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_same_command_gives_the_same_file_and_another_seed_another(tmp_path: Path) -> None:
    runs = [("a", 1), ("b", 1), ("c", 2)]
    for folder, seed in runs:
        done = capture("kvstore", "--out", tmp_path / folder, "--seed", seed, "--json", *QUICK)
        assert done.returncode == 0, done.stderr
    a, b, c = (tmp_path / folder / "kvstore.parquet" for folder, _ in runs)
    assert a.read_bytes() == b.read_bytes()
    assert not store.columns_equal(a, c)
    trace = read_trace(a, Geometry())
    report = json.loads(done.stdout)["kvstore"]
    assert len(trace) == report["events"] == 20000 == report["reads"] + report["writes"]
    assert report["bytes"] == c.stat().st_size
    for key in ("prefetches", "footprint_bytes", "seconds", "capture_seconds"):
        assert report[key] > 0
    assert [p.name for p in a.parent.iterdir()] == ["kvstore.parquet"]


def test_options_reach_the_capture(tmp_path: Path) -> None:
    options = ["--no-prefetch", "--pages", "base", "--placement", "scattered", "--base-gib", "4"]
    done = capture("kvstore", "--out", tmp_path, *options, *QUICK)
    assert done.returncode == 0, done.stderr
    assert "kvstore" in done.stdout
    path = tmp_path / "kvstore.parquet"
    settings = store.origin_of(path)["settings"].split()
    assert {"prefetch=0", "pages=base", "placement=scattered", "base_gib=4"} <= set(settings)
    trace = read_trace(path, Geometry())
    assert trace.addr.min() >= 4 << 30
    assert len(set((trace.addr >> 21).tolist())) > 500  # 4 KiB pages, all over the device


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothing"], ["NAME", '"nothing"', "graph, sqlite, kvstore, stream"]),
        (["kvstore", "--ways", "0"], ["--ways", "0", "1 to 64"]),
        (["kvstore", "--llc-kib", "100"], ["--llc-kib", "100", "power of two"]),
        (["kvstore", "--base-gib", "16"], ["--base-gib", "16", "less than"]),
        (["kvstore", "--events", "0"], ["--events", "0", "1 to "]),
        (["kvstore", "--events", "many"], ["--events"]),
        (["kvstore", "--pages", "tiny"], ["tiny", "huge"]),
        (["kvstore", "--with", "kvstore.keys=few"], ["--with", "kvstore.keys=few"]),
        (["kvstore", "--with", "graph.scale=3"], ["--with", "graph.scale=3", "kvstore"]),
        (["kvstore", "--colour"], ["--colour"]),
        (["kvstore", "--with", "kvstore.keys=1"], ["keys is 1", "100 to "]),
        (["kvstore", "--with", "kvstore.colour=1"], ["colour=1"]),
        (["stream", "--with", "stream.mib=0"], ["mib is 0", "1 to "]),
    ],
)
def test_bad_input_is_one_line_status_two_and_nothing_left(
    arguments: list[str], says: list[str], tmp_path: Path
) -> None:
    done = capture(*arguments, "--out", tmp_path / "out")
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.count("\n") == 1 and not done.stdout
    for word in says:
        assert word in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_failed_capture_leaves_the_trace_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "kvstore.parquet"
    old.write_bytes(b"old")
    monkeypatch.setenv("CXX", "no-such-compiler")
    done = capture("kvstore", "--out", tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "no-such-compiler" in done.stderr and "apt-get install g++" in done.stderr
    assert old.read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 1


def test_help_teaches() -> None:
    done = capture("--help")
    assert done.returncode == 0
    for word in ("--llc-kib", "--placement", "graph", "sqlite", "redis", "-- PROGRAM", "$ anemone"):
        assert word in done.stdout
