# SPDX-License-Identifier: Apache-2.0
"""Parameters of a machine: measured ones, and those of the paper."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from anemone.cli import main
from anemone.io.errors import InputError
from anemone.models.msgfree import measure
from anemone.models.msgfree.parameters import read_parameters
from tests.msgfree.mpi import each_mpi, launcher, settings, traced  # noqa: F401

ROWS = {
    "chase": [{"bytes": 1 << 30, "ns": 90.0}, {"bytes": 4096, "ns": 1.0}],
    "bandwidth": [
        {"order": "sequential", "gb_per_s": 20.0},
        {"order": "sequential", "gb_per_s": 30.0},
        {"order": "random", "gb_per_s": 40.0},
    ],
}


@each_mpi
def test_the_ping_pong_sends_what_it_says(mpi: str, tmp_path: Path) -> None:
    """With one batch: 11 and 10 round trips of 8 bytes, and 2 windows of 16 for each of 4 sizes."""
    ranks = traced(mpi, 2, ["pingpong", "1"], tmp_path / "run")
    for rank in ranks:
        first = int(rank.header["rank"]) == 0
        large = {} if first else {1 << power: 32 for power in (16, 18, 20, 22)}
        small = 2 * 10 + (8 if first else 0)
        assert Counter(rank.records["bytes"].tolist()) == {8: small, **large}


@each_mpi
def test_mpi_is_measured(mpi: str) -> None:
    words = [launcher(mpi), "-n", "2"]
    found = measure.ping_pong(words, None)
    assert found["mpi_lat"][0] > 50  # ns; shorter is impossible for a message
    assert 0 < found["mpi_bw"][0] < 1000
    with pytest.raises(InputError):
        measure.ping_pong([words[0], "-n", "1"], None)


def test_the_largest_chase_and_the_best_stream() -> None:
    assert measure.of_memory(ROWS) == {
        "mem_lat": (90.0, "memo, chase through 1024 MiB"),
        "peak_mem_gb_per_s": (30.0, "memo, all processors read"),
    }
    found = measure.of_node(ROWS, 2, 123.0)
    assert (found["cxl_lat"][0], found["cxl_atomic_lat"][0]) == (90.0, 123.0)


def test_atomics_are_measured() -> None:
    """On 1 MiB of node 0, which every machine has; a locked addition takes several cycles."""
    assert 2 < measure.atomic_ns(0, 1 << 20) < 100_000
    with pytest.raises(InputError):
        measure.atomic_ns(1023, 1 << 20)


def test_nodes_and_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for index, (level, kind, size) in enumerate(
        [(1, "Data", "32K"), (1, "Instruction", "64K"), (2, "Unified", "512K")]
    ):
        (tmp_path / f"index{index}").mkdir()
        for name, value in (("level", level), ("type", kind), ("size", size)):
            (tmp_path / f"index{index}" / name).write_text(f"{value}\n")
    assert measure.cache_bytes(tmp_path) == {1: 32 << 10, 2: 512 << 10}
    (tmp_path / "has_cpu").write_text("1-2\n")
    (tmp_path / "has_memory").write_text("0-1,3\n")
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(measure, "memo", lambda *options: asked.append(options) or ROWS)
    monkeypatch.setattr(measure, "atomic_ns", lambda node, size: float(node * 100 + size))
    found = measure.memory(None, tmp_path, tmp_path)
    assert found["cxl_atomic_lat"][0] == 1 << 30  # node 0
    assert set(found) == {
        "mem_lat", "peak_mem_gb_per_s", "peak_l1_gb_per_s", "peak_l2_gb_per_s", "cxl_lat",
        "cxl_atomic_lat",
    }  # fmt: skip
    assert [words[words.index("-n") + 1] for words in asked] == ["1", "1", "1", "0"]
    assert [words[words.index("-b") + 1] for words in asked if "-b" in words] == ["16384", "262144"]
    measure.memory(3, tmp_path, tmp_path)
    assert asked[-1][asked[-1].index("-n") + 1] == "3"
    asked.clear()
    with pytest.raises(InputError, match="--node is 2; allowed: a node with memory: 0, 1, 3"):
        measure.memory(2, tmp_path, tmp_path)
    assert not asked  # nothing is measured first


def test_the_file_says_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measure, "memory", lambda node: measure.of_memory(ROWS))
    out = tmp_path / "here.toml"
    with pytest.raises(SystemExit) as ended:
        main(["msgfree", "params", "--out", str(out)])
    assert not ended.value.code and str(out) in capsys.readouterr().out
    paper, here = read_parameters(), read_parameters(out)
    changed = {n for n in vars(paper) if getattr(paper, n) != getattr(here, n)}
    assert changed == {"mem_lat", "peak_mem_gb_per_s"}
    lines = [line for line in out.read_text().splitlines() if not line.startswith("#")]
    assert {line.split(" ")[0] for line in lines if "# here: " in line} == changed
    assert all("# here: " in line or "# paper" in line for line in lines)
