# SPDX-License-Identifier: Apache-2.0
"""memo on any machine: its output, that its checks can fail, and comparisons of times within one
run that differ strongly on every machine.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from anemone.bench import memo as compared
from anemone.io.build_cache import locked
from anemone.memo import results
from tests.commands import assert_refused
from tests.commands import run as anemone

ROOT = Path(__file__).resolve().parents[2]
MEMO = ROOT / "build" / "memo" / "memo"
QUICK = [
    "--node",
    "0",
    "--bytes",
    "1M",
    "--batches",
    "50",
    "--seconds",
    "0.001",
    "--threads",
    "1,2",
]


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """Build with warnings as errors, once, by one worker at a time."""
    words = ["make", "-s", "-C", ROOT / "sim/memo", f"BUILD={MEMO.parent}"]
    with locked(MEMO):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def memo(*words: str, program: Path = MEMO) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *words], capture_output=True, text=True, check=False)


def isas() -> list[str]:
    flags = re.search(r"^flags\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)[1]
    wide = [("avx512", "avx512f"), ("avx2", "avx2"), ("sse2", "sse2")]
    return [name for name, flag in wide if flag in flags.split()]


@pytest.mark.parametrize("isa", isas())
def test_every_test_of_a_run(isa: str, tmp_path: Path) -> None:
    """With each vector width the JSON has all rows, `plot` accepts it, and the checks passed."""
    tests = "latency,chase,bandwidth,copy"
    done = memo(*QUICK, "--isa", isa, "--json", "--tests", tests)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["isa"], report["checks"]) == (isa, "passed")
    assert report["tsc_ghz"] > 0.1 and report["timer_ns"] > 0 and report["cpus"] >= 1
    (tmp_path / "memo.json").write_text(done.stdout)
    rows = results.read(tmp_path / "memo.json")
    assert [r["access"] for r in rows["latency"]] == ["ld", "nt-ld", "st", "nt-st"]
    assert all(r["p10_ns"] <= r["ns"] <= r["p90_ns"] for r in rows["latency"])
    assert [r["bytes"] for r in rows["chase"]] == [4096 << i for i in range(10)]
    walks = {
        (r["order"], r["hint"], r["reads"], r["writes"], r["threads"]) for r in rows["bandwidth"]
    }
    assert len(walks) == len(rows["bandwidth"]) == 2 * 2 * 5 * 2
    assert all(r["gb_per_s"] > 0 for r in [*rows["bandwidth"], *rows["copy"]])
    assert {r["by"] for r in rows["copy"]} == {"st", "nt-st", "rep movsb", "memcpy"}
    assert rows["copy"][-1]["block_bytes"] == 1 << 19


def test_the_widest_is_the_default() -> None:
    done = memo(*QUICK, "--json", "--tests", "latency")
    assert json.loads(done.stdout)["isa"] == isas()[0]


def test_memory_is_slower_than_the_first_cache() -> None:
    """Memory is at least ten times slower even with a large last-level cache; the test needs
    three.
    """
    done = memo("--json", "--node", "0", "--bytes", "16M", "--tests", "chase")
    rows = json.loads(done.stdout)["rows"]
    assert rows[-1]["bytes"] == 16 << 20
    assert rows[-1]["ns"] > 3 * rows[0]["ns"] > 0
    assert all(r["best_ns"] <= r["ns"] for r in rows)


def test_the_last_cache() -> None:
    """The row exists; its values depend on other users of the cache."""
    (row,) = json.loads(memo("--json", "--node", "0", "--tests", "cache").stdout)["rows"]
    assert row["serves"] == ("yes" if row["half_ns"] < 0.7 * row["past_ns"] else "no")


def test_checks_can_fail(tmp_path: Path) -> None:
    """Each kernel that does not read or write is detected, and changes the exit status."""
    program = built_with(tmp_path / "broken", "broken.c", "kernels")
    done = memo(*QUICK, "--json", "--tests", "latency,bandwidth,copy", program=program)
    assert done.returncode == 1 and json.loads(done.stdout)["checks"] == "wrong"
    for message in (
        "ld: 50 of 50",
        "nt-st: 50 of 50",
        "did not read what was written",
        "copy by st",
    ):
        assert f"memo: wrong: {message}" in done.stderr or message in done.stderr
    assert "copy by memcpy" not in done.stderr  # memcpy was not replaced


def built_with(program: Path, source: str, *without: str) -> Path:
    """A program of this folder with memo's objects except these."""
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-O1", "-pthread", f"-I{ROOT}/sim/memo"]
    other = {*without, "plain_chase", "atomic_chase"}  # separate programs
    objects = [o for o in MEMO.parent.glob("*.o") if o.stem not in other]
    command = ["cc", *flags, ROOT / "tests/memo" / source, *objects, "-o", program]
    subprocess.run(command, check=True)
    return program


@pytest.mark.parametrize("gib", [1, 256, 1024])
def test_lines_of_large_memory(tmp_path: Path, gib: int) -> None:
    """A batch has sixteen different lines of the whole region, also with 2^32 lines or more."""
    program = built_with(tmp_path / "far", "far.c", "latency", "main")
    done = memo(str(gib << 30), program=program)
    assert done.returncode == 0
    batches = np.array(done.stdout.split(), np.uint64).reshape(1000, 16)
    assert all(len(set(batch)) == 16 for batch in batches.tolist())
    maximum = (gib << 30) // 64
    assert batches.max() < maximum
    spread, _ = np.histogram(batches, 16, (0, maximum))
    assert spread.min() > 800 and spread.max() < 1200


def test_only_nodes_of_the_cpuset(tmp_path: Path) -> None:
    program = built_with(tmp_path / "cpuset", "cpuset.c", "memory", "main")
    assert memo(program=program).stdout.split() == ["0", "65"]


def test_one_file_that_needs_no_library() -> None:
    headers = subprocess.run(["readelf", "-ld", MEMO], capture_output=True, text=True, check=True)
    assert "INTERP" not in headers.stdout and "NEEDED" not in headers.stdout


def test_a_table_for_people() -> None:
    done = memo(*QUICK, "--tests", "latency,copy", "--pages", "4k")
    assert done.returncode == 0
    assert re.search(r"^ +node +access +ns ", done.stdout, re.MULTILINE)
    assert re.search(r"^ +0 +nt-st .* 4 KiB$", done.stdout, re.MULTILINE)
    assert "vectors; a reading of the time costs" in done.stdout and "checks passed" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--node", "1023"], "--node is 1023; allowed: a node of this host"),
        (["--node", "-1"], '--node is "-1"'),
        (["--tests", "latency,speed"], '--tests is "latency,speed"'),
        (["--bytes", "1T"], '--bytes is "1T"'),
        (["--bytes", "99999999999999999999"], "--bytes is"),
        (["--bytes", "4K", "--threads", "64"], "--bytes is 4096; allowed: at least 16 lines"),
        (["--threads", "1,,2"], '--threads is "1,,2"'),
        (["--threads", "0"], '--threads is "0"'),
        (["--ratios", "0:0"], '--ratios is "0:0"'),
        (["--ratios", "1"], '--ratios is "1"'),
        (["--seconds", "nan"], '--seconds is "nan"'),
        (["--batches", "0"], '--batches is "0"'),
        (["--pages", "1g"], '--pages is "1g"'),
        (["--isa", "mmx"], '--isa is "mmx"'),
        (["--what"], "see memo --help"),
        (["what"], '"what" is no option'),
    ],
)
def test_bad_options(words: list[str], message: str) -> None:
    done = memo(*words)
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr


def test_what_cannot_be_had_leaves_no_half_of_json() -> None:
    words = ["--node", "0", "--tests", "latency", "--pages", "huge", "--bytes", "1000G"]
    done = memo("--json", *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert "no 512000 free huge pages" in done.stderr


def test_the_pages_have_every_option() -> None:
    """--help, the man page and docs/memo.md agree, and groff reports no error."""
    page = ROOT / "docs/man/memo.1"
    words = ["groff", "-man", "-t", "-ww", "-Tascii", page]
    made = subprocess.run(words, capture_output=True, text=True, check=True)
    assert made.stderr == ""
    options = set(re.findall(r"--[a-z]+", memo("--help").stdout)) - {"--out"}
    assert set(re.findall(r"--[a-z]+", page.read_text().replace("\\-", "-"))) == options
    assert options == {f"--{name}" for name in re.findall(
        r'\{"(\w+)", [01], NULL', (ROOT / "sim/memo/options.c").read_text())}  # fmt: skip


SAMPLE = {
    "rows": [
        *(
            {"test": "latency", "node": n, "access": a, "ns": 10 + n, "batch_ns": 160,
             "p10_ns": 9, "p90_ns": 30, "batches": 100, "pages": "4 KiB"}
            for n in (0, 1) for a in ("ld", "nt-ld", "st", "nt-st")
        ),
        *(
            {"test": "chase", "node": 0, "bytes": 4096 << i, "ns": 1 + i, "best_ns": 1,
             "pages": "4 KiB"} for i in range(4)
        ),
        {"test": "cache", "node": 0, "cache_bytes": 1, "half_ns": 1, "past_ns": 2,
         "serves": "yes", "pages": "4 KiB"},
        {"test": "bandwidth", "node": 0, "order": "random", "hint": "nt", "reads": 1, "writes": 0,
         "threads": 2, "gb_per_s": 3.5, "on_cpu": 1, "pages": "4 KiB"},
        {"test": "copy", "node": 0, "by": "memcpy", "block_bytes": 256, "gb_per_s": 1,
         "best_gb_per_s": 2, "pages": "4 KiB"},
    ],
    "isa": "avx2", "tsc_ghz": 2.5, "timer_ns": 20, "cycles_per_tick": 1, "cpus": 2,
    "cache_bytes": 1, "checks": "passed", "warnings": [],
}  # fmt: skip


def test_plot(tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("memo.json").write_text(json.dumps(SAMPLE))
    status, out, err = anemone(["memo", "plot", "memo.json", "--out", "out", "--json"], capsys)
    assert (status, err) == (0, "")
    names = ["latency.svg", "chase.svg", "cache.svg", "bandwidth.svg", "copy.svg"]
    assert json.loads(out)["files"] == names
    assert all((tmp_path / "out" / name).read_text().startswith("<svg") for name in names)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"rows": [', '"rows": [[], ', "row 1: row is []"),
        ('"test": "chase"', '"test": "chased"', 'row 9: test is "chased"'),
        ('"best_ns": 1', '"worst_ns": 1', "row 9: worst_ns is 1"),
        ('"gb_per_s": 3.5', '"gb_per_s": -3.5', "gb_per_s is -3.5"),
        ('"checks": "passed"', '"checks": "wrong"', 'checks is "wrong"'),
        ('"isa"', '"asi"', "asi is"),
    ],
)
def test_bad_results(tmp_path: Path, old: str, new: str, message: str, capsys) -> None:
    content = json.dumps(SAMPLE)
    assert old in content
    path = tmp_path / "memo.json"
    path.write_text("")
    words = ["memo", "plot", str(path), "--out", str(tmp_path / "out")]
    assert_refused(path, content.replace(old, new, 1), message, words, capsys)


def test_what_mbw_prints_is_compared(monkeypatch) -> None:
    """mbw's rates are MiB/s; its best run counts, not its average."""
    output = "0\tMethod: MEMCPY\tElapsed: 0.1\tMiB: 64.00000\tCopy: 1000.000 MiB/s\n"
    output += output.replace("1000", "2000").replace("0\t", "1\t", 1)
    output += "AVG\tMethod: MEMCPY\tElapsed: 0.1\tMiB: 64.00000\tCopy: 9000.000 MiB/s\n"
    row = {"by": "memcpy", "block_bytes": 64 << 20, "best_gb_per_s": 2.0}
    monkeypatch.setattr(compared, "run", lambda *words: output)
    monkeypatch.setattr(compared, "memo", lambda *words: [{**row, "by": "st"}, row])
    assert compared.copies() == (2.0, pytest.approx(2.097152))
