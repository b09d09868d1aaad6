# SPDX-License-Identifier: Apache-2.0
"""Policies: decisions on known numbers, and that each finds a hot set that moves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anemone.hardware.geometry import Geometry
from anemone.policies.colloid import Colloid
from anemone.policies.hemem import HeMem
from anemone.policies.linux import Damos, NumaBalancing, Tpp
from anemone.policies.memtis import Memtis, skewness
from anemone.tiering import Heat, Migration, Statistics, Tier, TierConfig, Units, simulate
from anemone.tiering.parameters import POLICIES, SOURCES, load
from anemone.trace import Trace

GEOMETRY = Geometry(device_gib=1)


def seen(
    heat: list[float], tier: list[int], now_ms: float = 1000, free: int = 0, **more: Any
) -> Statistics:
    """A policy's input for pages of 4 KiB."""
    n = len(heat)
    units = Units(np.arange(n), np.array(tier, np.uint8), np.zeros(n, bool))
    writes = np.array(more.pop("writes", [0.0] * n))
    fast = tier.count(0) + free
    return Statistics(
        now_ns=now_ms * 1e6, units=units, heat=Heat(np.array(heat, float), writes),
        free=(free, 100), capacity=(fast, 100), span=1, frame_bytes=4096,
        **{"accesses": (10, 10), "latency_ns": (100.0, 300.0)} | more,
    )  # fmt: skip


def test_hemem_by_hand() -> None:
    policy = HeMem(samples_per_access=1.0)
    # A page is hot with 8 samples, but not with 7; or with 4 samples of stores.
    answer = policy.act(seen([8, 7, 4, 0, 0], [1, 1, 1, 0, 0], writes=[0, 0, 4, 0, 0]))
    assert answer.promote.tolist() == [0, 2] and answer.demote.tolist() == [3, 4]
    # Above 18 samples all counts are halved: 8 + 11 and 7 + 0 become 9.5 and 3.5.
    answer = policy.act(seen([11, 0, 0, 0, 0], [1, 1, 1, 0, 0], 2000))
    assert answer.promote.tolist() == [0] and answer.demote.tolist() == [3]
    # With free frames nothing is demoted; migrations stay within the limit.
    assert len(policy.act(seen([0] * 5, [1, 1, 1, 0, 0], 3000, free=2)).demote) == 0
    slow = HeMem(samples_per_access=1.0, migrate_gb_per_s=4096e-9)
    assert slow.act(seen([9, 9, 0], [1, 1, 0])).promote.tolist() == [0]


def test_tpp_by_hand() -> None:
    """A page moves up at its second fault; 2 % of the fast tier is kept free."""
    policy = Tpp(headroom=0.5)
    assert policy.act(seen([5, 0, 1, 0], [1, 1, 0, 0])).promote.tolist() == []
    answer = policy.act(seen([5, 5, 0, 1], [1, 1, 0, 0], 2000))
    assert answer.promote.tolist() == [0]
    # One frame for the promotion, half of two as headroom; page 2 was accessed before page 3.
    assert answer.demote.tolist() == [2, 3]


def test_numa_balancing_by_hand() -> None:
    policy = NumaBalancing(hot_threshold_ms=100.0)
    # Within 1000 ms: faults after 50 ms, and after 200 ms.
    answer = policy.act(seen([20.0, 5.0, 1.0], [1, 1, 0]))
    assert answer.promote.tolist() == [0] and answer.demote.tolist() == [2]


def test_damos_by_hand() -> None:
    policy = Damos(cold_intervals=2)
    assert policy.act(seen([20, 9, 0], [1, 1, 0])).promote.tolist() == [0]
    assert policy.act(seen([20, 9, 0], [1, 1, 0], 2000)).demote.tolist() == [2]


def test_colloid_by_hand() -> None:
    """Pages move up while the fast tier is faster, and down when it is slower."""
    up = Colloid().act(seen([10, 30, 5], [1, 1, 0], accesses=(10, 35)))
    assert up.promote.tolist() == [0] and up.demote.tolist() == [2]  # the hottest page is too hot
    up = Colloid().act(seen([10, 10, 5], [1, 1, 0], accesses=(5, 20)))
    assert up.promote.tolist() == [0] and up.demote.tolist() == [2]
    down = Colloid().act(seen([9, 1, 1], [0, 0, 1], accesses=(10, 1), latency_ns=(400, 300)))
    assert down.promote.tolist() == [] and down.demote.tolist() == [1]
    even = Colloid().act(seen([9, 1, 1], [0, 0, 1], latency_ns=(300, 301)))
    assert len(even.promote) == len(even.demote) == 0


def test_memtis_by_hand() -> None:
    """The hottest bins that fit are hot: 40 and 33 are in one bin, 9 is in a lower one."""
    policy = Memtis(samples_per_access=1.0, split=False)
    answer = policy.act(seen([40, 33, 9, 0, 0], [1, 1, 1, 0, 0]))
    assert answer.promote.tolist() == [0, 1] and answer.demote.tolist() == [3, 4]
    # Three pages of one bin do not fit two frames, so this bin is not hot.
    answer = Memtis(samples_per_access=1.0).act(seen([40, 33, 39, 0, 0], [1, 1, 1, 0, 0]))
    assert answer.promote.tolist() == []


def test_memtis_asks_for_hot_and_cold_pages_by_turns() -> None:
    policy = Memtis(samples_per_access=1.0, split=False)
    pages = [40, 33, 9, 0, 0], [1, 1, 1, 1, 0]
    asked = [policy.act(seen(*pages, free=1)).watch.tolist() for _ in range(3)]
    assert asked == [[0, 1], [2, 3], [0, 1]]


@pytest.mark.parametrize(("exact", "sums"), [(False, [6, 4, 3]), (True, [6, 1, 1])])
def test_memtis_by_samples_or_by_counts(exact: bool, sums: list[float]) -> None:
    """Skewness is of all samples that cooling has left, or of the last interval's accesses."""
    scored = []

    class Scored(Memtis):
        def scores(self, now: Statistics, base: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            scored.append(base.sum())
            return super().scores(now, base)

    policy = Scored(samples_per_access=1.0, cooling=1)
    for count in (6, 1, 1):
        base = np.zeros((1, 4))
        base[0, 2] = count
        given = seen([count], [1])
        heat = replace(given.heat, base_page=np.array([0]), base=base, exact=exact)
        policy.act(replace(given, heat=heat, span=4))
    assert scored == sums


def test_skewness_by_hand() -> None:
    """The published scale with 512 frames: one hot frame, uniform, no hot frame, and very hot."""
    base = np.zeros((4, 512))
    base[0, 3] = 4
    base[1] = 4
    base[3] = 100
    score, used = skewness(base, 1)
    # (4 · 512)² / 11 / 1² = 381,300: 11 and nine more; (4 · 512)² · 512 / 11 / 512² = 744: 2^9.
    assert score.tolist() == [20, 10, 0, 0] and used.tolist() == [True, True, False, True]


def moving(share: float, n: int = 120_000) -> Trace:
    """A share of the accesses goes to 8 of 64 pages, and after half of the trace to 8 others."""
    rng = np.random.default_rng(1)
    hot = np.where(np.arange(n) < n // 2, rng.integers(40, 48, n), rng.integers(50, 58, n))
    page = np.where(rng.random(n) < share, hot, rng.integers(0, 64, n))
    page[:64] = np.arange(64)
    addr = page * 4096 + rng.integers(0, 64, n) * 64
    return Trace(
        addr.astype(np.uint64), np.zeros(n, bool), gap_ns=np.full(n, 100.0),
        kind=np.zeros(n, np.uint8),
    )  # fmt: skip


# A suitable source for each policy, with parameters for an interval of 0.2 ms.
SUITED: dict[str, tuple[dict, str, dict]] = {
    "hemem": ({"samples_per_access": 0.1}, "pebs", {"period": 10, "sample_ns": 0.0}),
    "memtis": ({"samples_per_access": 0.1, "cooling": 400}, "nemo", {"fast": "nemo"}),
    "tpp": ({}, "hint-faults", {"fault_ns": 0.0}),
    "numa-balancing": ({"hot_threshold_ms": 0.05}, "hint-faults", {"fault_ns": 0.0}),
    "damos": (
        {"cold_intervals": 2, "cold_share": 0.4},
        "scan",
        {"sample_ms": 0.01, "least_regions": 30},
    ),
    "colloid": ({}, "oracle", {}),
    "hottest": ({}, "oracle", {}),
}


# BandwidthCap moves no pages; test_throttle.py tests it.
@pytest.mark.parametrize("name", [name for name in POLICIES if name != "bandwidth-cap"])
def test_a_hot_set_is_found_again(name: str) -> None:
    """In each half of the trace more accesses are fast than without a policy."""
    config = TierConfig(
        4096, 4, Tier(16, 10.0, 64.0), Tier(64, 300.0, 16.0), interval_ns=2e5,
        migration=Migration(gb_per_s=20.0),
    )  # fmt: skip
    policy, source, settings = SUITED[name]
    made = load(name, POLICIES)(**policy), load(source, SOURCES)(**settings)
    # An accessed bit cannot distinguish hot pages from rarely accessed ones.
    share = 0.99 if source == "hint-faults" else 0.9
    result = simulate(config, moving(share), *made, GEOMETRY)
    fast = result.timeline["fast_accesses"]
    share = fast / (fast + result.timeline["slow_accesses"])
    # Without a policy it is a quarter of a tenth.
    assert share[15:30].mean() > 0.5 and share[-15:].mean() > 0.5, share.round(2)
