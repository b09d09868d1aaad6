# SPDX-License-Identifier: Apache-2.0
"""The studies of Caption and of memo's devices: evaluation of known curves, quick runs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anemone.caption.algorithm import Tuning
from anemone.caption.model import Model
from anemone.models.camp.interleave import Endpoints, Tier
from anemone.models.camp.slowdown import Stalls
from anemone.studies import caption, memo_devices
from anemone.studies.caption_judge import PERIODS, Profile, Ran, run_controller
from tests.commands import run

_ENDS = Endpoints(1e6, Tier(Stalls(1.0, 1.0, 1.0), 100, 100), Tier(Stalls(2.0, 2.0, 2.0), 250, 250))
# The estimate is IPC, which equals the throughput.
_MODEL = Model((0.0, 0.0, 0.0, 1.0), window=1)


def _peak(at: float, height: float = 2.0) -> Profile:
    """A mix whose throughput has its maximum at a percentage on CXL, and falls on both sides."""
    rows = [
        {"cxl": x, "throughput": (t := height - abs(x - at) / 100), "ipc": t,
         "l1_miss_latency_ns": 1.0, "ddr_read_latency_ns": 1.0}
        for x in range(0, 101, 5)
    ]  # fmt: skip
    return Profile("peak", rows, _ENDS)


@pytest.mark.parametrize("best", [0, 30, 60, 100])
def test_it_settles_at_the_peak(best: int) -> None:
    """It settles within a step of the peak; with a peak at the start only the steps around it
    cost.
    """
    profile = _peak(best)
    ran = run_controller([profile], _MODEL)[0]
    assert profile.best["cxl"] == best and abs(ran.share - best) <= 10
    assert ran.settled == pytest.approx(2.0, abs=0.1)
    assert ran.converged <= best / 10 + 2


def test_what_a_run_says() -> None:
    """`settled` is the mean of the last periods; `lost` is the missing work before, in periods."""
    shares = np.array([0.0, 20.0, *[30.0] * (PERIODS - 2)])
    throughput = np.array([1.0, 1.5, *[2.0] * (PERIODS - 2)])
    ran = Ran(shares, throughput)
    assert (ran.share, ran.settled, ran.converged) == (30.0, 2.0, 1)
    assert ran.lost == pytest.approx(0.5 + 0.25)


def test_slow_pages_and_phases() -> None:
    """With a quarter of the pages new it takes longer; a phase starts at the share of the last
    one.
    """
    fast, slow = (run_controller([_peak(60)], _MODEL, new)[0] for new in (1.0, 0.25))
    assert slow.converged > fast.converged
    first, second = run_controller([_peak(60), _peak(0)], replace(_MODEL, tuning=Tuning()))
    assert second.shares[0] == pytest.approx(first.shares[-1], abs=15)
    assert abs(second.share) <= 15 and second.lost > 0


def test_the_mixes() -> None:
    """At least twelve mixes, single and in pairs of two kinds, reproducible by seed."""
    mixes = caption.mixes(1)
    assert len(mixes) >= 12 and mixes == caption.mixes(1) != caption.mixes(2)
    assert all(sum(p["cores"] for p in mix["programs"]) == caption.CORES for mix in mixes)
    pairs = [mix["programs"] for mix in mixes if len(mix["programs"]) == 2]
    assert pairs and all(a["kernel"] != b["kernel"] for a, b in pairs)


def test_a_burst_by_hand() -> None:
    """With 16 parallel loads the last line waits for 15 others. A chase takes each latency."""
    point = {"device": "CXL-C", "timing": "queue", "seed": 1, "bursts": 2}
    seen = memo_devices._latency(point)
    latency, line = 573.0, 64 / 5.1
    assert seen["chase"] == pytest.approx(latency)
    for name in memo_devices.INSTRUCTIONS:
        assert seen[name] == pytest.approx((latency + 15 * line) / 16)


def test_a_store_is_half_of_what_memory_moves() -> None:
    point = {"device": "CXL-A", "timing": "queue", "seed": 1, "lines": 32 * 600}
    seen = memo_devices._bandwidth(point)
    for name in (*memo_devices.MIXES, "ld", "nt-ld", "nt-st"):
        assert seen[name] == pytest.approx(17.7, rel=0.02), name
    assert seen["st"] == pytest.approx(17.7 / 2, rel=0.02)


@pytest.mark.parametrize("name", ["caption", "memo-devices"])
def test_quick_runs(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(["study", name, "--quick", "--json", "--out", str(tmp_path)], capsys)
    report = json.loads(out)
    assert status == 0 and report["quick"] and all(np.isfinite(r["here"]) for r in report["rows"])
    papers = [r for r in report["rows"] if r["paper"] is not None]
    assert papers and all(r["why"] for r in papers if abs(r["here"] / r["paper"] - 1) > 0.05)
    assert (tmp_path / "README.md").exists() and list(tmp_path.glob("*.svg"))
