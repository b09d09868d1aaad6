# SPDX-License-Identifier: Apache-2.0
"""`anemone flat` end to end: its output files, and its errors for invalid input."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anemone import flat
from anemone.backends.rtl import flat as rtl_flat
from anemone.flat import Counts, FlatConfig, FlatResult, differences
from anemone.io import outputs
from anemone.io.errors import InputError
from anemone.trace import Trace, rebatch
from tests.commands import assert_refused, run

CONFIG = """\
near_lines = 4
policy = "nth"
n = 2
dedicated = [0x1000, 0x1080]
"""
# Lines 1 and 5 are of set 1, 2 and 6 of set 2; the last access but one is dedicated.
LINES = [(1, 1), (5, 0), (5, 0), (1, 0), (2, 1), (6, 1), (6, 1), (64, 0), (5, 0)]
TRACE = "addr,write\n" + "".join(f"{line * 64:#x},{write}\n" for line, write in LINES)
COUNTS = {
    "hits": 3, "misses": 5, "swaps": 2,
    "near_reads": 9, "near_writes": 7, "far_reads": 3, "far_writes": 3,
}  # fmt: skip
KEYS = ["accesses", *COUNTS, "mismatches", "cycles", "forwarded", "accesses_per_second"]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "f.toml").write_text(CONFIG)
    (tmp_path / "t.csv").write_text(TRACE)
    return tmp_path


def arguments(files: Path, *more: str) -> list[str]:
    return [
        "flat", "--config", str(files / "f.toml"), "--trace", str(files / "t.csv"),
        "--engine", "model", "--out", str(files / "out"), *more,
    ]  # fmt: skip


def test_a_run(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(arguments(files), capsys)
    assert (status, err) == (0, "")
    assert "9 accesses" in out and "37.5%" in out and "forwarded" not in out
    assert sorted(path.name for path in (files / "out").iterdir()) == sorted(flat.FILES)
    report = json.loads((files / "out" / "report.json").read_text())
    assert list(report) == KEYS
    speed = report.pop("accesses_per_second")
    assert speed > 0
    assert report == {"accesses": 9, **COUNTS, "mismatches": 0, "cycles": 0, "forwarded": 0}
    sets = pq.read_table(files / "out" / "sets.parquet")
    assert sets.schema.equals(pa.schema([("set", pa.uint64()), ("tag", pa.uint8())]))
    assert sets.to_pylist() == [{"set": 1, "tag": 1}, {"set": 2, "tag": 1}]


def test_json(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(arguments(files, "--json", "--device-gib", "1"), capsys)
    assert (status, err) == (0, "")
    assert json.loads(out) == json.loads((files / "out" / "report.json").read_text())


def test_a_second_run_writes_the_same_bytes(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def written() -> dict[str, object]:
        assert run(arguments(files), capsys)[0] == 0
        report = json.loads((files / "out" / "report.json").read_text())
        report.pop("accesses_per_second")
        return {"sets": (files / "out" / "sets.parquet").read_bytes(), "report": report}

    assert written() == written()


BAD = [
    ("f.toml", CONFIG.replace("4", "0", 1), "line 1: near_lines is 0"),
    ("f.toml", CONFIG.replace("n = 2", ""), "top level: n is missing"),
    ("f.toml", CONFIG + "size = 3\n", "line 5: size is 3; allowed: only the keys near_lines,"),
    ("f.toml", "\0", "TOML is wrong"),
    ("f.toml", None, "No such file or directory"),
    ("t.csv", TRACE + "0x200,0\n", "row 10: addr is 512; allowed: below 0x200 (2 x 4 lines), or"),
    ("t.csv", TRACE + "0x1080,0\n", "row 10: addr is 4224; allowed"),
    ("t.csv", TRACE + "0x400000000,0\n", 'row 10 (line 11): addr is "0x400000000"'),
    ("t.csv", TRACE + "0,2\n", 'row 10 (line 11): write is "2"'),
    ("t.csv", "addr,write\n", "trace is empty"),
    ("t.csv", None, "No such file or directory"),
    ("out", "in the way", "--out is Not a directory"),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD)
def test_bad_input(
    files: Path, capsys: pytest.CaptureFixture[str], name: str, content: str | None, message: str
) -> None:
    assert_refused(files / name, content, message, arguments(files), capsys)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--device-gib", "0"], "--device-gib: device_gib is 0"),
        (["--device-gib", "x"], '--device-gib: device_gib is "x"'),
        (["--out", ""], "--out is No such file or directory"),
        (["--engine", "fpga"], "'fpga' is not one of"),
        (["--ratio", "2"], "No such option"),
    ],
)
def test_bad_command_line(
    files: Path, capsys: pytest.CaptureFixture[str], more: list[str], message: str
) -> None:
    status, out, err = run(arguments(files, *more), capsys)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and message in err, err
    assert not (files / "out").exists()


def test_reads_of_wrong_data_fail_the_command(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The results are still written, with the number of mismatches."""
    right = flat.run

    def wrong(*arguments: object) -> FlatResult:
        return replace(right(*arguments), mismatches=3)

    monkeypatch.setattr(flat, "run", wrong)
    status, _, err = run(arguments(files), capsys)
    message = "anemone: 3 reads did not return what was last written to their line\n"
    assert (status, err) == (1, message)
    assert json.loads((files / "out" / "report.json").read_text())["mismatches"] == 3


def test_a_failed_write_leaves_what_was_there(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(arguments(files), capsys)
    before = {p.name: p.read_bytes() for p in (files / "out").iterdir()}

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(outputs.json, "dumps", full)
    for name in ("out", "new/deep"):
        status, _, err = run(arguments(files, "--out", str(files / name)), capsys)
        assert status == 2 and "No space left on device" in err
    assert {p.name: p.read_bytes() for p in (files / "out").iterdir()} == before
    assert not (files / "new").exists()


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(["flat", "--help"], capsys)
    assert status == 0
    for word in (
        "--config",
        "--device-gib",
        "near_lines = 1024",
        "anemone flat --config flat.toml",
    ):
        assert word in out
    assert "flat" in run([], capsys)[1]


def test_the_python_interface() -> None:
    trace = Trace(*(np.array(column) for column in zip(*LINES, strict=True)))
    trace = Trace(trace.addr.astype(np.uint64) * np.uint64(64), trace.write.astype(bool))
    result = flat.run(FlatConfig(4, 1, (0x1000, 0x1080), "nth", 2), trace, "model")
    assert result.counts == Counts(**COUNTS)
    assert result.outcomes.tolist() == [0, 1, 2, 1, 0, 1, 2, 3, 0]
    assert (result.sets.tolist(), result.tags.tolist()) == ([1, 2], [1, 1])
    with pytest.raises(InputError, match=r"^trace: row 2: addr is 320"):
        flat.run(FlatConfig(2), trace, "model")
    with pytest.raises(ValueError, match="no backend 'fpga'"):
        flat.run(FlatConfig(4096), trace, "fpga")


def test_a_trace_in_batches() -> None:
    trace = Trace(*(np.array(column) for column in zip(*LINES, strict=True)))
    trace = Trace(trace.addr.astype(np.uint64) * np.uint64(64), trace.write.astype(bool))
    config = FlatConfig(4, 1, (0x1000, 0x1080), "nth", 2)
    progress: list[tuple[int, int]] = []
    result = flat.run(
        config, rebatch(trace, 4), "model", progress=lambda *step: progress.append(step)
    )
    assert differences(result, flat.run(config, trace, "model")) == []
    assert progress == [(4, 4), (8, 8), (9, 9)]
    with pytest.raises(InputError, match=r"^late.csv: row 6: addr is 512"):
        late = Trace(np.array([0, 0, 0, 0, 0, 512], np.uint64), np.zeros(6, bool))
        flat.run(FlatConfig(4), rebatch(late, 4), "model", name="late.csv")
    assert len(flat.run(config, iter([]), "model").outcomes) == 0


def test_the_rtl_is_given_all_batches_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[list[int]] = []
    monkeypatch.setattr(
        rtl_flat, "run", lambda config, trace, *rest: given.append(trace.addr.tolist())
    )
    trace = Trace(np.array([0, 64, 512], np.uint64), np.zeros(3, bool))
    flat.run(FlatConfig(8), rebatch(trace, 2), "rtl")
    assert given == [[0, 64, 512]]
    with pytest.raises(InputError, match="row 3: addr is 512"):
        flat.run(FlatConfig(4), rebatch(trace, 2), "rtl")


def test_differences_are_told() -> None:
    trace = Trace(np.array([0, 64, 128, 0], np.uint64), np.zeros(4, bool))
    result = flat.run(FlatConfig(2), trace, "model")
    assert differences(result, replace(result, cycles=9, forwarded=3, seconds=0.0)) == []
    assert result.report["accesses_per_second"] > 0
    assert replace(result, seconds=0.0).report["accesses_per_second"] == 0
    one = np.array([1], np.uint8)
    other = replace(
        result, counts=replace(result.counts, hits=7), mismatches=1, sets=one.astype(np.uint64),
        tags=one, outcomes=np.array([0, 0, 1, 2], np.uint8),
    )  # fmt: skip
    assert differences(result, other) == [
        "hits: 2 and 7",
        "mismatches: 0 and 1",
        "outcomes: number 3 is 2 and 1",
        "sets: 0 and 1 of them",
        "tags: 0 and 1 of them",
    ]
    last = replace(result, outcomes=result.outcomes[:3])
    assert differences(result, last) == ["outcomes: 4 and 3 of them"]
