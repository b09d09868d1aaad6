# SPDX-License-Identifier: Apache-2.0
"""docs/tiering.md: its commands and code run, and its tables are complete."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from anemone.tiering import parse_config
from anemone.tiering.devices import devices
from anemone.tiering.parameters import POLICIES, SOURCES
from tests.commands import run

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "tiering.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.S)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A reader's working folder with the page's files."""
    (tmp_path / "sim").symlink_to(ROOT / "sim")
    policy = (ROOT / "examples" / "tutorial" / "own.py").read_text()
    (tmp_path / "own.py").write_text("\n\n".join([policy, *blocks("python")]))
    (tmp_path / "tier.toml").write_text(blocks("toml")[0])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(start: str, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """Run the page's command that starts with this text. Returns its output."""
    (line,) = [b.strip() for b in blocks("sh") if b.startswith(start)]
    status, out, err = run([*shlex.split(line)[1:], *more], capsys)
    assert (status, err) == (0, ""), err
    return out


def test_a_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = json.loads(command("anemone tier --config", capsys))
    assert report["accesses"]["fast"] > 0 and report["telemetry"]["lines"] > 0
    assert sorted(p.name for p in (folder / "out").iterdir()) == ["report.json", "timeline.parquet"]


def test_flat_memory_mode() -> None:
    machine, flat = blocks("toml")
    tiers = machine.partition("[placement]")[0]
    tiers = re.sub(r"^scale.*\n|(?<=\[slow\]\n)pages.*\n", "", tiers, flags=re.M)
    config = parse_config(tiers + flat, "docs/tiering.md").flat_config
    assert config.near_lines == 2048 * 4096 // 64 and len(config.dedicated_lines) == (1 << 28) // 64


def test_own_policy_and_source(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start = "anemone tier compare --trace sim/traces/redis.parquet --interval-ms 5 --run none"
    content = json.loads(command(start, capsys, "--json", "--out", "out"))
    assert content == json.loads((folder / "out" / "compare.json").read_text())
    none, own, oracle = content["runs"]
    assert none["report"]["promoted"] == 0 < own["report"]["promoted"]
    assert oracle["telemetry"] == "oracle" and oracle["report"]["policy_cpu_ns"] > 0


def test_compare_says_what_it_cannot_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "t.csv").write_text("addr,write\n0,0\n0x1000,1\n")
    status, out, _ = run(
        ["tier", "compare", "--trace", "t.csv", "--run", "hemem+pebs", "--run", "hottest+oracle"],
        capsys,
    )
    assert status == 0 and "hemem with pebs did not run: the trace has no column kind" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--device", "x"], '--device is "x"; allowed: nemo, camp-cxl-a'),
        (["--page", "1GiB"], "--page is"),
        (["--fast", "0"], "--fast is 0.0; allowed: a share above 0"),
        (["--run", "himem+pebs"], 'policy is "himem"; allowed: none, hemem'),
        (["--run", "hemem"], 'telemetry is "none"; allowed: a source behind hemem+'),
    ],
)
def test_bad_options(
    folder: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "t.csv").write_text("addr,write\n0,0\n")
    status, out, err = run(["tier", "compare", "--trace", "t.csv", *words], capsys)
    assert (status, out) == (2, "") and err.count("\n") == 1 and message in err, err


def test_tables_name_all_there_is() -> None:
    for names, heading in ((SOURCES, "Telemetry"), (POLICIES, "Policies")):
        section = TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        assert set(re.findall(r"^(?:\| |- )`([\w-]+)`", section, re.M)) == set(names)
    toml = blocks("toml")[0]
    for key in ("name", "source"):
        listed = re.search(rf"{key} = .*# none, (.*), FILE.py:CLASS", toml)
        assert listed and set(listed[1].split(", ")) == set(POLICIES if key == "name" else SOURCES)
    parse_config(toml, "docs/tiering.md")


def test_help_names_all_devices(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(["tier", "--help"], capsys)
    text = re.sub(r"[^\w-]+", "", out)
    assert all(name in text for name in devices())
