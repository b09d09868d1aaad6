# SPDX-License-Identifier: Apache-2.0
"""Users' traces: the report shows the capture's metadata, and CSV works like Parquet."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from anemone.capture.store import METADATA
from anemone.cli import main
from anemone.hardware.geometry import Geometry
from anemone.sim.job import Input
from tests.sim import synthetic

ORIGIN = {"about": "made & up", "programs": {"noisy": {"tenant": 2}, "quiet": {"tenant": 0}}}


def captured(path: Path, metadata: object) -> Path:
    """A trace whose schema has `metadata` where a capture writes its origin."""
    table = pq.read_table(synthetic.save(synthetic.neighbours(3_000), path))
    pq.write_table(table.replace_schema_metadata({METADATA: json.dumps(metadata).encode()}), path)
    return path


def test_the_programs_are_called_by_their_names(tmp_path: Path) -> None:
    path = captured(tmp_path / "mixed.parquet", ORIGIN)
    given = Input.read(path, Geometry())
    assert (given.about, given.programs) == ("made & up", {2: "noisy", 0: "quiet"})
    with pytest.raises(SystemExit) as stop:
        main(["sim", "--engine", "model", "--traces", str(path), "--out", str(tmp_path / "out")])
    assert stop.value.code == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "made &amp; up" in page
    assert "tenant 2 (noisy)" in page
    assert ">tenant 1<" in page


@pytest.mark.parametrize(
    "metadata", [{}, [], {"programs": 3}, {"about": 1, "programs": {"a": {}}}, "x"]
)
def test_a_trace_that_says_other_things_of_itself_is_still_a_trace(
    metadata: object, tmp_path: Path
) -> None:
    given = Input.read(captured(tmp_path / "odd.parquet", metadata), Geometry())
    assert len(given.trace) == 3_000
    assert (given.about, given.programs) == ("", {})


def test_a_short_csv_without_a_clock_is_reported_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "short.csv"
    path.write_text("addr,write\n0x200000,1\n0x200040,0\n0x400000,0\n", encoding="utf-8")
    with pytest.raises(SystemExit) as stop:
        main(["sim", "--engine", "model", "--traces", str(path), "--out", str(tmp_path / "out")])
    assert stop.value.code == 0
    assert "short" in capsys.readouterr().out
    assert (tmp_path / "out" / "short" / "model" / "reads.parquet").exists()
