# SPDX-License-Identifier: Apache-2.0
"""Scaled machines: what is preserved, and that results at scales k and k/2 agree."""

from __future__ import annotations

import numpy as np
import pytest

from anemone.hardware.geometry import Geometry
from anemone.tiering import Migration, Tier, TierConfig, Tlb, simulate
from anemone.tiering.config import made
from anemone.tiering.scaling import scaled
from anemone.trace import Trace

PAGES, HOT = 4096, 512  # of the unscaled machine
GEOMETRY = Geometry(device_gib=1)
WHOLE = TierConfig(
    4096, 10, Tier(1024, 100.0, 128.0, "ddr5-4800", 4), Tier(PAGES, 400.0, 16.0, "ddr4-3200", 2),
    posted=48, policy="hemem", telemetry="pebs", interval_ns=1e6,
    policy_with={"samples_per_access": 1 / 64}, telemetry_with={"period": 64, "buffer": 4096},
    migration=Migration(gb_per_s=8.0, unmap_ns=500.0, shootdown_ns=1000.0),
)  # fmt: skip


def program(k: int, seed: int) -> Trace:
    """20 ms with 90 % of the accesses to an eighth of the pages, for a machine scaled by k."""
    rng, n = np.random.default_rng(seed), 1_600_000 // k
    hot = rng.permutation(PAGES // k)[: HOT // k]
    page = np.where(rng.random(n) < 0.9, rng.choice(hot, n), rng.integers(0, PAGES // k, n))
    page[: PAGES // k] = rng.permutation(PAGES // k)
    return Trace(
        (page * 4096 + rng.integers(0, 64, n) * 64).astype(np.uint64), rng.random(n) < 0.2,
        gap_ns=rng.exponential(12.5 * k, n), kind=np.zeros(n, np.uint8),
    )  # fmt: skip


def results(k: int, timing: str, seed: int) -> np.ndarray:
    """(ms, share of fast accesses, promotions per page, CPU per ms) of a run scaled by k."""
    config = scaled(TierConfig(**{**vars(WHOLE), "timing": timing}), k)
    trace = program(k, seed)
    done = simulate(config, trace, *made(config), GEOMETRY)
    return np.array([
        done.time_ns / 1e6, done.accesses[0] / len(trace), done.promoted * k / PAGES,
        1e3 * (done.telemetry_cpu_ns + done.policy_cpu_ns) / done.time_ns,
    ])  # fmt: skip


@pytest.mark.parametrize("timing", ["queue", "dram"])
def test_k_and_half_of_it_agree(timing: str) -> None:
    """They agree within the variation of seeds: the means differ by at most four standard
    errors.
    """
    small, large = (np.array([results(k, timing, seed) for seed in range(5)]) for k in (16, 8))
    spread = np.sqrt((small.var(axis=0, ddof=1) + large.var(axis=0, ddof=1)) / 5)
    apart = np.abs(small.mean(axis=0) - large.mean(axis=0))
    assert (apart <= 4 * spread + 0.02 * large.mean(axis=0)).all(), (apart, spread)
    assert small[:, 2].min() > 0.05  # pages have moved


def test_what_is_not_scaled_does_not_agree() -> None:
    """The check above can fail: with unscaled migration and costs the small machine is faster."""
    config = scaled(WHOLE, 16)
    wrong = TierConfig(**{**vars(config), "fast": WHOLE.fast, "slow": WHOLE.slow})
    done = simulate(wrong, program(16, 0), *made(wrong), GEOMETRY)
    assert done.accesses[0] / (1_600_000 // 16) > results(16, "queue", 0)[1] + 0.05


def test_what_is_divided_and_multiplied() -> None:
    whole = TierConfig(**{**vars(WHOLE), "tlb": Tlb(1536, 30.0, 12)})
    half = scaled(whole, 2)
    assert (half.fast.pages, half.fast.gb_per_s, half.fast.latency_ns) == (512, 64.0, 200.0)
    assert (half.migration.gb_per_s, half.migration.shootdown_ns) == (4.0, 2000.0)
    assert (half.tlb, half.scale) == (Tlb(768, 60.0, 12), 2)
    assert half.policy_with == {"samples_per_access": 1 / 64, "migrate_gb_per_s": 5.0}
    assert half.telemetry_with == {"period": 64, "buffer": 2048}
    assert (half.outstanding, half.posted, half.interval_ns) == (10, 48, 1e6)
    assert scaled(half, 2) == scaled(whole, 4)


@pytest.mark.parametrize("k", [0, 2048])
def test_too_small(k: int) -> None:
    with pytest.raises(ValueError, match="scale"):
        scaled(WHOLE, k)


def test_hardware_comes_in_powers_of_two() -> None:
    nemo = TierConfig(**{**vars(WHOLE), "telemetry": "nemo", "telemetry_with": {"states": 1024}})
    assert scaled(nemo, 2).telemetry_with["states"] == 512
    with pytest.raises(ValueError, match="states would be 256"):
        scaled(nemo, 4)
