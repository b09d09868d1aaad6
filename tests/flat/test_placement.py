# SPDX-License-Identifier: Apache-2.0
"""Placement with near memory of half the footprint: pages that share colours, and a direct
count.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anemone import flat
from anemone.cli import main
from anemone.flat import FlatConfig, differences
from anemone.flat import analysis as flat_analysis
from anemone.flat.placement import PAGE_SHIFT, PLACEMENTS, place
from anemone.flat.recount import recount
from anemone.trace import Trace
from tests.sim import synthetic

PAGE = 1 << PAGE_SHIFT


@st.composite
def programs(draw: st.DrawFn) -> Trace:
    """Few tenants, each with its own pages at random addresses; every page is touched."""
    sizes = draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    names = draw(st.lists(st.integers(0, 65535), unique=True, min_size=4, max_size=4))
    owner = np.repeat(np.array(names[: len(sizes)]), sizes)
    number = draw(st.permutations(draw(st.lists(st.integers(0, 1 << 20), unique=True,
                  min_size=len(owner), max_size=len(owner)))))  # fmt: skip
    more = draw(st.lists(st.integers(0, len(owner) - 1), max_size=60))
    page = np.append(np.arange(len(owner)), np.array(more, np.int64))
    line = np.array(draw(st.lists(st.integers(0, 63), min_size=len(page), max_size=len(page))))
    addr = np.array(number, np.uint64)[page] * np.uint64(PAGE) + line.astype(np.uint64) * np.uint64(
        64
    )
    write = np.array(draw(st.lists(st.booleans(), min_size=len(page), max_size=len(page))))
    return Trace(addr, write, None, owner[page].astype(np.uint16))


@given(trace=programs(), placement=st.sampled_from(PLACEMENTS))
def test_every_page_has_a_frame_of_its_own(trace: Trace, placement: str) -> None:
    placed = place(trace, placement)
    old, new = (t.addr // np.uint64(PAGE) for t in (trace, placed.trace))
    assert len(np.unique(old)) == len(np.unique(new)) == len({*zip(old, new, strict=True)})
    assert np.array_equal(trace.addr % np.uint64(PAGE), placed.trace.addr % np.uint64(PAGE))
    tenants = len(np.unique(trace.tenant))
    pages = len(np.unique(old))
    assert new.max() < 2 * placed.colours and pages <= 2 * placed.colours <= pages + tenants
    placed.config.check(placed.trace.addr, "trace")


@given(trace=programs())
def test_who_shares_places(trace: Trace) -> None:
    """Isolated tenants share no colours; conflicting ones share as many as possible."""

    def shared(placement: str) -> tuple[int, int]:
        placed = place(trace, placement)
        frames, first = np.unique(placed.trace.addr // np.uint64(PAGE), return_index=True)
        owner = dict(zip(frames.tolist(), trace.tenant[first].tolist(), strict=True))
        pairs = [
            (owner[f], owner[f + placed.colours]) for f in owner if f + placed.colours in owner
        ]
        return sum(a == b for a, b in pairs), sum(a != b for a, b in pairs)

    owned = np.unique(np.stack([trace.addr // np.uint64(PAGE), trace.tenant]), axis=1)[1]
    sizes = np.bincount(owned.astype(np.int64))
    assert shared("isolated")[1] == 0
    own, others = shared("conflicting")
    expected = min(int(sizes.sum()) // 2, int(sizes.sum() - sizes.max()))
    assert others >= expected - 1 and own <= max(0, int(sizes.max()) - int(sizes.sum()) // 2)


@given(trace=programs(), placement=st.sampled_from(PLACEMENTS))
def test_a_plain_count_is_the_models(trace: Trace, placement: str) -> None:
    placed = place(trace, placement)
    counted = recount(placed.config, placed.trace)
    assert differences(flat.run(placed.config, placed.trace, "model"), counted) == []


def test_a_plain_count_knows_what_it_can_count() -> None:
    trace = place(synthetic.neighbours(1_000), "isolated").trace
    for config in (FlatConfig(99, ratio=2), FlatConfig(99, policy="never")):
        with pytest.raises(ValueError, match="can be recounted"):
            recount(config, trace)


def test_a_result_that_differs_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One hit too many, or a read of a wrong line, makes `anemone sim` fail."""
    path = synthetic.save(synthetic.neighbours(3_000), tmp_path / "mixed.parquet")
    run = flat_analysis.run

    def sim() -> tuple[int, dict]:
        words = ["sim", "--engine", "model", "--traces", str(path), "--out", str(tmp_path / "out")]
        with pytest.raises(SystemExit) as stop:
            main([*words, "--json"])
        return int(stop.value.code or 0), json.loads(capsys.readouterr().out)

    status, report = sim()
    assert status == 0 and report["equal"]
    assert [placed["placement"] for placed in report["traces"][0]["flat"]] == [
        "isolated",
        "conflicting",
    ]
    assert all(placed["equals_trace"] for placed in report["traces"][0]["flat"])

    def wrong(*words: object) -> flat.FlatResult:
        result = run(*words)
        return replace(result, counts=replace(result.counts, hits=result.counts.hits + 1))

    monkeypatch.setattr(flat_analysis, "run", wrong)
    status, report = sim()
    assert status == 1 and "hits: " in report["traces"][0]["flat"][0]["differences"][0]
    monkeypatch.setattr(flat_analysis, "run", lambda *words: replace(run(*words), mismatches=1))
    status, report = sim()
    assert status == 1 and not report["equal"]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "model: 1 reads of wrong lines" in page


def test_what_was_run_can_be_run_again(tmp_path: Path) -> None:
    """`anemone flat` accepts the written flat.toml and trace.parquet."""
    path = synthetic.save(synthetic.moving(3_000), tmp_path / "moving.parquet")
    out = tmp_path / "out"
    with pytest.raises(SystemExit) as stop:
        main(["sim", "--engine", "model", "--traces", str(path), "--out", str(out)])
    assert stop.value.code == 0
    folder = out / "moving" / "flat" / "isolated"
    words = [
        "flat",
        "--config",
        str(folder / "flat.toml"),
        "--trace",
        str(folder / "trace.parquet"),
    ]
    with pytest.raises(SystemExit) as stop:
        main([*words, "--engine", "model", "--out", str(tmp_path / "again")])
    assert not stop.value.code
    again, first = (f / "sets.parquet" for f in (tmp_path / "again", folder / "model"))
    assert again.read_bytes() == first.read_bytes() and len(pq.read_table(first)) > 0
