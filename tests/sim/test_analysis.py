# SPDX-License-Identifier: Apache-2.0
"""The analysis finds the known properties of synthetic traces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anemone.analysis.hot_set import hot_set, hot_traffic
from anemone.analysis.telemetry import Analysis, analyse
from anemone.hardware.geometry import Geometry
from anemone.sim.job import Input, run_trace
from anemone.trace import Trace
from tests.sim import synthetic

GEOMETRY = Geometry()


def analysis(trace: Trace, folder: Path) -> Analysis:
    run = run_trace("made", Input(trace), folder, ["model"], GEOMETRY, lambda *_: None)
    assert run.good
    return analyse(run.outputs["model"], run.rules, trace, GEOMETRY)


def test_the_hot_set_is_seen_to_move_in_the_very_poll(tmp_path: Path) -> None:
    trace = synthetic.moving()
    found = analysis(trace, tmp_path)
    (poll,) = found.hotset.moves
    first, last = found.polls.edges[poll], found.polls.edges[poll + 1]
    assert first <= len(trace) // 2 < last
    assert found.polls.times[poll] == pytest.approx(first * 40e-9)
    assert found.hotset.stable


def test_hotness_is_every_access_where_it_went(tmp_path: Path) -> None:
    trace = synthetic.moving()
    found = analysis(trace, tmp_path)
    assert found.heat.counts.sum() == len(trace)
    pages = trace.addr >> np.uint64(21)
    assert found.heat.pages.tolist() == np.unique(pages).tolist()
    poll, column = 3, 7
    part = pages[found.polls.edges[poll] : found.polls.edges[poll + 1]]
    assert found.heat.counts[poll, column] == np.sum(part == found.heat.pages[column])


def test_even_use_and_a_scan_have_no_hot_set_that_moves() -> None:
    rng = np.random.default_rng(5)
    even = hot_set(rng.poisson(100, (30, 60)))
    assert even.moves == []
    assert np.nanmin(even.kept) > 0.7
    scan = np.zeros((30, 60), np.int64)
    for poll in range(30):
        scan[poll, 2 * poll : 2 * poll + 2] = 100
    found = hot_set(scan)
    assert found.moves == []
    assert not found.stable


def test_a_hot_set_that_comes_back_moves_twice() -> None:
    counts = np.full((48, 50), 10)
    counts[:, :10] = 500
    counts[15:31] = np.roll(counts[15:31], 25, axis=1)
    assert hot_set(counts).moves == [15, 31]


def test_one_odd_poll_is_no_move() -> None:
    counts = np.full((48, 50), 10)
    counts[:, :10] = 500
    counts[20] = np.roll(counts[12], 25)
    assert hot_set(counts).moves == []


def test_traffic_kept_is_that_of_the_old_pages_over_that_of_the_best() -> None:
    earlier, now = np.array([9, 8, 1, 0]), np.array([5, 0, 7, 3])
    assert hot_traffic(earlier, now, 2) == 5 / 12
    assert hot_traffic(now, now, 2) == 1.0
    assert hot_traffic(earlier, np.zeros(4, int), 2) == 1.0


def test_the_skewed_page_has_the_score_of_its_formula(tmp_path: Path) -> None:
    trace = synthetic.skewed()
    found = analysis(trace, tmp_path).skewness
    assert len(found.pages) == 10
    assert found.base.sum() == len(trace)
    top = int(np.argmax(found.score))
    assert found.pages[top] == 100
    assert found.base[top, 7] == found.base[top].sum()
    mean = found.base[found.base > 0].mean()
    assert found.score[top] == pytest.approx(np.log2(1 + (found.base[top, 7] / mean) ** 2))
    assert found.score[np.arange(10) != top].max() < 1


def test_bandwidth_of_the_tenants_and_when_the_cap_was_passed(tmp_path: Path) -> None:
    trace = synthetic.neighbours()
    found = analysis(trace, tmp_path)
    assert trace.tenant is not None
    assert found.bandwidth.counts.sum(axis=0).tolist() == np.bincount(trace.tenant).tolist()
    rate = found.bandwidth.rate(found.polls)
    assert (rate * found.polls.spans[:, None]).sum() == pytest.approx(64 * len(trace))
    over = found.bandwidth.counts > found.bandwidth.cap
    assert np.all(found.bandwidth.fired[over]), "past the cap on all channels is past it on one"
    assert found.bandwidth.fired[:, 2].any()
    assert not found.bandwidth.fired[:, :2].any()
    assert found.bandwidth.notifications > 0


def test_a_trace_without_clock_and_tenants_is_told_in_events(tmp_path: Path) -> None:
    trace = Trace(np.arange(5000, dtype=np.uint64) * 4096, np.zeros(5000, bool))
    found = analysis(trace, tmp_path)
    assert not found.polls.timed
    assert found.polls.times[-1] == 5000
    assert found.bandwidth.names == ["tenant 0"]
