# SPDX-License-Identifier: Apache-2.0
"""`anemone replay` with both engines writes the same bytes; `anemone bench` measures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anemone import cli
from anemone.bench import command as bench
from anemone.bench import instructions
from tests.rtl.geometries import TYPICAL

RULES = """\
[[rule]]
name = "pages"
type = "RW"
range = [0x0, 0x4000_0000]
primary = { mask = "0xFFFFFFFFFFFFFFFF", shift = 12 }
update = { op = "add", operand = 1 }
width = 16
notify = { op = "ge", operand = 3 }
read_effect = { op = "shr", operand = 1 }
map = "identity"
read_every = 50

[[rule]]
name = "writes"
type = "W"
range = [0x0, 0x1_0000]
primary = { mask = "0xFFFFFFFFFFFFFFFF", shift = 14 }
sub = { mask = 0x3000, shift = 12 }
update = { op = "max", operand = "line" }
read_effect = { op = "reset", value = 5 }
map = [[0, 0], [2, 60]]
read_every = 33
"""


def replayed(engine: str, folder: Path) -> dict[str, bytes]:
    sizes = ["channels", "pipelines", "states", "table"]
    options = [word for name in sizes for word in (f"--{name}", str(getattr(TYPICAL, name)))]
    out = folder / engine
    with pytest.raises(SystemExit) as ended:
        cli.main(
            [
                "replay", "--rules", str(folder / "rules.toml"), "--trace",
                str(folder / "trace.csv"), "--engine", engine, "--out", str(out),
                "--device-gib", "1", *options,
            ]
        )  # fmt: skip
    assert not ended.value.code
    return {path.name: path.read_bytes() for path in out.iterdir()}


def test_both_engines_write_the_same_bytes(tmp_path: Path) -> None:
    rows = [f"{i * 0x9E40 % 0x20000:#x},{i % 3 == 0:d}" for i in range(400)]
    (tmp_path / "trace.csv").write_text("\n".join(["addr,write", *rows, ""]))
    (tmp_path / "rules.toml").write_text(RULES)
    hardware, model = (replayed(engine, tmp_path) for engine in ("rtl", "model"))
    for name in ("states.parquet", "reads.parquet"):
        assert hardware[name] == model[name], name
    report, other = (json.loads(files["report.json"]) for files in (hardware, model))
    assert report["rules"] == other["rules"] and report["events"] == other["events"] == 400
    assert report["cycles"] > 400 // TYPICAL.channels and other["cycles"] == 0


def test_slots_and_latencies_hold() -> None:
    messages: list[str] = []
    measures = bench.saturation(TYPICAL, 3000, messages.append)
    assert [(m.name, m.value) for m in measures] == [(name, 1.0) for name, *_ in bench.SATURATIONS]
    measures += bench.latencies(TYPICAL, messages.append)
    assert not any(m.missed for m in measures), measures
    assert len(messages) == len(bench.SATURATIONS) + 1


@pytest.fixture
def short_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instructions are counted over fewer cycles: callgrind takes 50 times as long."""
    monkeypatch.setattr(instructions, "SHORT", 200)
    monkeypatch.setattr(instructions, "LONG", 600)


@pytest.mark.usefixtures("short_counts")
def test_a_count_of_instructions_repeats_and_has_a_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instructions, "CEILINGS", {8: 1, 1: 10**9, 0: 1})
    busy, idle = instructions.measures(TYPICAL, lambda _: None)  # it has no eight pipelines
    assert (busy.name, idle.name) == ("1 rule", "0 rules")
    assert busy.value > idle.value > 1000 and not busy.missed and idle.missed
    (again,) = (m for m in instructions.measures(TYPICAL, lambda _: None) if m.name == busy.name)
    assert again.value == pytest.approx(busy.value, rel=0.001)


@pytest.mark.usefixtures("short_counts")
def test_a_bar_in_cycles_that_is_missed_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A missed cycle bar fails the command; a missed speed does not."""
    monkeypatch.setattr(bench, "Geometry", lambda: TYPICAL)
    arguments = ["bench", "--out", str(tmp_path / "b.json"), "--cycles", "200", "--events", "2000"]
    monkeypatch.setattr(bench, "GOLDEN_EVENTS", 1000)
    monkeypatch.setattr(bench, "RTL_BAR", 10**15)
    for bar, status in ((10, 0), (9, 1)):
        monkeypatch.setattr(bench, "LATENCY_BAR", bar)
        with pytest.raises(SystemExit) as ended:
            cli.main(arguments)
        assert (ended.value.code or 0) == status
        measures = json.loads((tmp_path / "b.json").read_text())["measures"]
        counted = "RTL, instructions a cycle"
        assert {m["group"] for m in measures} >= {"latency", "RTL", counted, "golden model"}
    assert "bars missed: event to state, read to engine's line" in capsys.readouterr().err
