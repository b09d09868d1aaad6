# SPDX-License-Identifier: Apache-2.0
"""The Verilated expander equals the golden model, call by call and in a whole run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from anemone.control import ALL_MEMORY, Controller, Field, ModelController, RtlController, Spec
from anemone.hardware.geometry import Geometry
from anemone.policies.hemem import HeMem
from anemone.policies.memtis import Memtis
from anemone.studies import noisy_neighbour
from anemone.tiering import Migration, Policy, Tier, TierConfig, simulate
from anemone.tiering.sources.nemo import Nemo
from anemone.trace import Trace

HUGE, BASE, PAGES = 21, 12, 16


@pytest.fixture(scope="module")
def controllers() -> Iterator[tuple[RtlController, ModelController]]:
    rtl = RtlController(Geometry())
    yield rtl, ModelController(Geometry())
    rtl.close()


def both(controllers: tuple[Controller, ...], spec: Spec, regions: dict[int, int]) -> list:
    found = [one.register(spec) for one in controllers]
    for one in found:
        for key, region in regions.items():
            one.set_translation(key, region)
    return found


def access(controllers: tuple, seed: int, n: int = 3000) -> None:
    rng = np.random.default_rng(seed)
    addr = (rng.integers(0, PAGES << HUGE, n) & ~63).astype(np.uint64)
    write = rng.random(n) < 0.3
    for one in controllers:
        one.access(addr, write)


def test_the_listings(controllers: tuple[RtlController, ModelController]) -> None:
    """NEMO's three listings at once, with reads, folding, reset, new rules and notifications."""
    page = Field(ALL_MEMORY, HUGE)
    skew = both(
        controllers,
        Spec(primary=page, sub=Field(0x1F_F000, BASE), read_effect=("reset", 0), regions=4),
        {3: 0, 5: 1},
    )
    hot = both(
        controllers,
        Spec(primary=page, read_effect=("reset", 0), regions=64),
        {p: p for p in range(PAGES)},
    )
    tenants = both(
        controllers,
        Spec(primary=page, notify=("ge", 600), read_effect=("reset", 0), regions=2),
        {p: p % 2 for p in range(PAGES)},
    )
    events: list[list] = [[], []]
    for one, seen in zip(tenants, events, strict=True):
        one.on_notify(seen.append)
    for seed in (1, 2):
        access(controllers, seed)
        for pair in (skew, hot, tenants):
            assert np.array_equal(pair[0].by_channel(True), pair[1].by_channel(True))
        for pair in (skew, hot):
            rtl, model = (one.read() for one in pair)
            assert np.array_equal(rtl, model) and rtl.sum() > 100
            assert not pair[0].read().any()
        for one in skew:
            one.reprogram([7, 30, 31])
    assert [one.dispatch() for one in controllers] == [1, 1]
    assert [one.dispatch() for one in controllers] == [0, 0]
    assert events[0] == events[1] and len(events[0]) == 1
    hot[0].remove(), hot[1].remove()
    access(controllers, 3)
    again = both(controllers, Spec(primary=page, regions=8), {1: 5})
    assert not again[0].read().any()


@pytest.mark.parametrize("width", [8, 32])
@pytest.mark.parametrize("effect", [("shr", 1), ("none", 0)])
def test_widths_and_effects(
    controllers: tuple[RtlController, ModelController], width: int, effect: tuple[str, int]
) -> None:
    spec = Spec(primary=Field(ALL_MEMORY, HUGE), type="W", update=("addsat", 3), width=width,
                read_effect=effect, regions=64)  # fmt: skip
    pair = both(controllers, spec, {p: p + 3 for p in range(PAGES)})
    for seed in (4, 5):
        access(controllers, seed)
        rtl, model = (one.by_channel(False) for one in pair)
        assert np.array_equal(rtl, model) and rtl.any()
    for one in pair:
        one.remove()


def test_it_says_what_is_not_there(controllers: tuple[RtlController, ModelController]) -> None:
    for one in controllers:
        with pytest.raises(ValueError, match="key"):
            one.register(Spec(primary=Field(ALL_MEMORY, HUGE))).set_translation(8192, 0)


MACHINE = TierConfig(
    1 << HUGE, 8, Tier(4, 114.0, 100.0), Tier(64, 380.0, 16.0), posted=48, start="slow",
    interval_ns=600_000.0, migration=Migration(gb_per_s=100.0, lines=64, on_write="wait"),
)  # fmt: skip


def shifting(n: int = 30_000) -> Trace:
    """Three hot pages that change over time; four frames of each have most of the accesses."""
    rng = np.random.default_rng(7)
    hot = np.where(np.arange(n) < n // 2, rng.integers(0, 3, n), rng.integers(8, 11, n))
    page = np.where(rng.random(n) < 0.8, hot, rng.integers(0, PAGES, n))
    frame = np.where(rng.random(n) < 0.8, rng.integers(0, 4, n) * 100, rng.integers(0, 512, n))
    addr = (page << HUGE) + (frame << BASE) + (rng.integers(0, 64, n) << 6)
    return Trace(addr.astype(np.uint64), rng.random(n) < 0.2, gap_ns=np.full(n, 200.0))


@pytest.mark.parametrize(
    ("policy", "pipelines", "width"),
    [(HeMem(samples_per_access=0.1, migrate_gb_per_s=1e3), 1, 64),
     (Memtis(samples_per_access=0.1, cooling=50_000), 2, 8)],
)  # fmt: skip
def test_a_run_decides_the_same(policy: Policy, pipelines: int, width: int) -> None:
    """Counts by page and then by frame are equal while pages are promoted and split."""
    reports = []
    for engine in ("model", "rtl"):
        source = Nemo(pipelines, width, fast="none", engine=engine)
        done = simulate(MACHINE, shifting(), replace(policy), source, Geometry())
        report = {**done.report, "accesses_per_second": 0}
        columns = {name: values.tolist() for name, values in done.timeline.items()}
        reports.append(json.dumps([report, columns]))
        assert len(columns["time_ns"]) >= 3 and done.promoted >= 3
        assert not policy.splits or done.extra["migration"]["split"] > 0
    assert reports[0] == reports[1]


def test_a_study_finds_the_same() -> None:
    """A point of a study with a tenant's counter that notifies and is read with reset."""
    point = {"victim": "store", "how": "NEMO, interrupts", "timing": "queue", "k": 8192,
             "seconds": 1, "seed": 1}  # fmt: skip
    by_model, by_rtl = (
        noisy_neighbour.STUDY.run({**point, "engine": engine}) for engine in ("model", "rtl")
    )
    assert by_model == by_rtl and by_rtl["counted"]["notified"] > 0
