# SPDX-License-Identifier: Apache-2.0
"""`anemone replay` end to end: its output files, and its errors for invalid input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from anemone.backends import rtl
from tests.commands import assert_refused, run

RULE = """\
[[rule]]
name = "hot"
type = "RW"
range = [0x0, 0x4_0000_0000]
primary = { mask = "0xFFFFFFFFFFFFFFFF", shift = 21 }
update = { op = "add", operand = 1 }
read_effect = { op = "reset", value = 0 }
map = "identity"
read_every = 2
"""
TRACE = "addr,write\n0x200000,1\n0x200040,0\n0x200000,0\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "r.toml").write_text(RULE)
    (tmp_path / "t.csv").write_text(TRACE)
    return tmp_path


def arguments(files: Path, *more: str) -> list[str]:
    return [
        "replay", "--rules", str(files / "r.toml"), "--trace", str(files / "t.csv"),
        "--engine", "model", "--out", str(files / "out"), *more,
    ]  # fmt: skip


def test_a_run(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(arguments(files), capsys)
    assert (status, err) == (0, "")
    assert "hot" in out and "3 events" in out
    states = pq.read_table(files / "out" / "states.parquet").to_pylist()
    assert states == [{"rule": "hot", "index": 1, "channel": 0, "value": 1}]
    reads = pq.read_table(files / "out" / "reads.parquet").to_pylist()
    assert reads == [
        {"rule": "hot", "event": 2, "index": 1, "channel": 0, "value": 1},
        {"rule": "hot", "event": 2, "index": 1, "channel": 1, "value": 1},
    ]
    report = json.loads((files / "out" / "report.json").read_text())
    assert set(report) == {"events", "rules", "cycles", "events_per_second"}
    assert (report["events"], report["cycles"]) == (3, 0)
    assert report["rules"] == [
        {"name": "hot", "matched": 3, "unmapped": 0, "out_of_range": 0, "notifications": 0}
    ]


def test_json_and_sizes(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--channels", "1", "--states", "16", "--table", "2", "--pipelines", "1"]
    status, out, err = run(arguments(files, *sizes, "--device-gib", "16", "--json"), capsys)
    assert (status, err) == (0, "")
    assert json.loads(out) == json.loads((files / "out" / "report.json").read_text())
    states = pq.read_table(files / "out" / "states.parquet").to_pylist()
    assert states == [{"rule": "hot", "index": 1, "channel": 0, "value": 1}]


def test_a_second_run_replaces_the_first(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(arguments(files), capsys)
    first = (files / "out" / "states.parquet").read_bytes()
    (files / "t.csv").write_text(TRACE.splitlines()[0] + "\n0x0,1\n")
    assert run(arguments(files), capsys)[0] == 0
    assert (files / "out" / "states.parquet").read_bytes() != first
    assert len(list((files / "out").iterdir())) == 3


def test_an_operand_too_wide_is_told(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "r.toml").write_text(RULE + 'width = 8\nnotify = { op = "ge", operand = 300 }\n')
    status, _, err = run(arguments(files), capsys)
    assert status == 0 and err.count("\n") == 1 and "notify.operand 0x12c is wider" in err


BAD = [
    ("r.toml", RULE.replace('"add"', '"none"'), 'rule 1 "hot" (line 6): update.op is "none"'),
    ("r.toml", RULE.replace("shift = 21", "shift = 99"), "primary.shift is 99"),
    ("r.toml", RULE * 2, 'rule 2 "hot" (line 11): name is "hot"'),
    ("r.toml", "".join(RULE.replace('"hot"', f'"{i}"') for i in range(9)), 'rule 9 "8" (line 73)'),
    ("r.toml", "\0", "TOML is wrong"),
    ("r.toml", None, "No such file or directory"),
    ("t.csv", TRACE + "-1,0\n", 'row 4 (line 5): addr is "-1"'),
    ("t.csv", TRACE + "0x400000000,0\n", 'row 4 (line 5): addr is "0x400000000"'),
    ("t.csv", TRACE + "1\n", "row 4 (line 5): write is missing"),
    ("t.csv", "addr,write\n", "trace is empty"),
    ("t.csv", "PAR1", "Parquet is damaged"),
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
        (["--channels", "3"], "command line: --channels: channels is 3; allowed: 1, 2 or 4"),
        (["--states", "12"], "--states: states is 12"),
        (["--device-gib", "0"], "--device-gib: device_gib is 0"),
        (["--table", "x"], '--table: table is "x"; allowed: a power of two'),
        (["--channels", "abc"], '--channels: channels is "abc"; allowed: 1, 2 or 4'),
        (["--table", "65536"], "--table: table is 65536; allowed: at most 32768 for 8 pipelines"),
        (["--pipelines", ""], '--pipelines: pipelines is ""; allowed: 1 to 32'),
        (["--states", "1.5"], '--states: states is "1.5"'),
        (["--device-gib", "9" * 5000], "--device-gib: device_gib is "),
        (["--out", ""], "--out is No such file or directory"),
        (["--engine", "fpga"], "'fpga' is not one of"),
        (["--frob"], "No such option"),
    ],
)
def test_bad_command_line(
    files: Path, capsys: pytest.CaptureFixture[str], more: list[str], message: str
) -> None:
    status, out, err = run(arguments(files, *more), capsys)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and message in err, err
    assert not (files / "out").exists()


def test_bad_input_is_one_line_whatever_there_was_to_warn_of(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "r.toml").write_text(RULE + 'width = 8\nnotify = { op = "ge", operand = 300 }\n')
    (files / "t.csv").write_text("addr,write\nx,1\n")
    status, _, err = run(arguments(files), capsys)
    assert status == 2 and err.count("\n") == 1 and 'addr is "x"' in err


def test_an_engine_that_fails(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise rtl.BackendError("no compiler")

    monkeypatch.setattr(rtl, "run", failing)
    status, out, err = run([*arguments(files), "--engine", "rtl"], capsys)
    assert (status, out, err) == (1, "", "anemone: no compiler\n")
    assert not (files / "out").exists()


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(["replay", "--help"], capsys)
    assert status == 0
    for word in ("--rules", "--device-gib", "[[rule]]", "anemone replay --rules hot.toml"):
        assert word in out
    assert "replay" in run([], capsys)[1]


def test_help_is_quick_to_import() -> None:
    heavy = "numpy", "numba", "pyarrow", "polars"
    code = (
        "import sys; from anemone import cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        f"sys.exit(str([m for m in {heavy} if m in sys.modules] or ''))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""


COMMAND = str(Path(sys.executable).with_name("anemone"))


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_stdout_that_takes_nothing(files: Path, more: list[str]) -> None:
    """It gives one line and status 1, and the result files exist."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [COMMAND, *arguments(files, *more)], stdout=full, stderr=subprocess.PIPE, text=True,
            check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "anemone: stdout: No space left on device\n")
    assert (files / "out" / "report.json").exists()


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_stdout_that_knows_few_letters(files: Path, more: list[str]) -> None:
    (files / "r.toml").write_text(RULE.replace('"hot"', '"h\u00f6t"'))
    done = subprocess.run(
        [COMMAND, *arguments(files, *more), "--out", files / "\u00f6"], capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"}, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\xf6t" in done.stdout or json.loads(done.stdout)["rules"][0]["name"] == "h\u00f6t"


def test_names_that_are_not_text(files: Path) -> None:
    """File names of rules, trace and folder that are not valid text."""
    folder = Path(os.fsdecode(os.fsencode(files) + b"/d\xff"))
    folder.mkdir()
    for name in ("r.toml", "t.csv"):
        (files / name).rename(folder / name)
    for more in ([], ["--json"]):
        done = subprocess.run([COMMAND, *arguments(folder, *more)], capture_output=True)
        assert (done.returncode, done.stderr) == (0, b"")
        assert len(list((folder / "out").iterdir())) == 3


def test_the_installed_command(files: Path) -> None:
    """In a separate process: the entry point, the status, and exactly one line on stderr."""
    command = [COMMAND]
    done = subprocess.run(command + arguments(files), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    (files / "t.csv").write_text("addr,write\n1,1\nx,1\n")
    (files / "out" / "report.json").write_text("kept")
    done = subprocess.run(command + arguments(files), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f'anemone: {files / "t.csv"}: row 2 (line 3): addr is "x"; '
        "allowed: 0 to 0x3ffffffff (16 GiB), decimal or 0x"
    ]
    assert (files / "out" / "report.json").read_text() == "kept"
