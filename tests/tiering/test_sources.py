# SPDX-License-Identifier: Apache-2.0
"""Telemetry sources: their counts, accesses that they cannot see, and costs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from anemone.golden import nemo
from anemone.hardware.geometry import Geometry
from anemone.io.errors import InputError
from anemone.telemetry import Rule, identity_map
from anemone.tiering import Answer, Policy, Source, Statistics, Tier, TierConfig, simulate
from anemone.tiering.parameters import SOURCES, constants, load
from anemone.tiering.sources.faults import HintFaults
from anemone.tiering.sources.hotness_unit import HotnessUnit
from anemone.tiering.sources.nemo import Nemo
from anemone.tiering.sources.oracle import Oracle
from anemone.tiering.sources.pebs import Pebs
from anemone.tiering.sources.scan import Scan
from anemone.tiering.sources.sketch import NeoProf
from anemone.trace import KINDS, Trace

GEOMETRY = Geometry(device_gib=1)
HUGE = 2 << 20
MACHINE = TierConfig(
    HUGE, 4, Tier(2, 10.0, 64.0), Tier(100, 100.0, 16.0), start="weighted", weights=(1, 3),
    interval_ns=50_000.0,
)  # fmt: skip
NS = constants("processor")["ns_per_instruction"]


@dataclass
class Watch(Policy):
    """A policy that records all its inputs and moves given pages."""

    moves: list[Answer] = field(default_factory=list)
    splits: bool = False
    seen: list[Statistics] = field(default_factory=list)

    def act(self, seen: Statistics) -> Answer:
        self.seen.append(seen)
        return self.moves.pop(0) if self.moves else Answer()

    def heat(self) -> np.ndarray:
        """The heat by page, summed over all intervals."""
        total = np.zeros(512)
        for s in self.seen:
            np.add.at(total, s.units.frame // s.span, s.heat.units)
        return total


def accesses(n: int, pages: int = 8, kind: str | None = "load", seed: int = 1) -> Trace:
    """Page p is accessed p + 1 times as often as page 0; two threads with an access every 100
    ns.
    """
    rng = np.random.default_rng(seed)
    weight = np.arange(1, pages + 1)
    page = rng.choice(pages, n, p=weight / weight.sum())
    page[:pages] = np.arange(pages)
    addr = page * HUGE + rng.integers(0, HUGE // 64, n) * 64
    code = rng.integers(0, 5, n) if kind is None else np.full(n, KINDS.index(kind))
    return Trace(
        addr.astype(np.uint64),
        np.isin(code, (3, 4)),
        thread=(np.arange(n) % 2).astype(np.uint16),
        gap_ns=np.full(n, 200.0),
        kind=code.astype(np.uint8),
    )


def idle(n: int) -> Trace:
    """An interval without accesses after the trace, so that all accesses are reported."""
    return Trace(np.full(1, n * HUGE, np.uint64), np.zeros(1, bool), gap_ns=np.full(1, 1e6),
                 thread=np.zeros(1, np.uint16), kind=np.zeros(1, np.uint8))  # fmt: skip


def watched(trace: Trace, source: Source, config: TierConfig = MACHINE, **policy: object) -> Watch:
    watch = Watch(**policy)
    last = int(trace.addr.max()) // HUGE
    simulate(config, lambda: [trace, idle(last)], watch, source, GEOMETRY)
    return watch


def test_the_oracle_counts_the_program() -> None:
    trace = accesses(3000, kind=None)
    watch = watched(trace, Oracle(), moves=[Answer(promote=np.array([1]))])
    counted = np.bincount((trace.addr // np.uint64(HUGE)).astype(int), minlength=512)
    assert np.array_equal(watch.heat()[:7], counted[:7])
    writes = np.zeros(512)
    for s in watch.seen:
        np.add.at(writes, s.units.frame, s.heat.writes)
    assert writes.sum() == trace.write.sum()


def test_nemo_counts_are_the_hardwares() -> None:
    """They equal the reference model, run on all accesses of the slow tier, including copies."""
    fed: list[tuple[np.ndarray, np.ndarray]] = []

    class Recorded(Nemo):
        def events(self, addr: np.ndarray, flags: np.ndarray) -> None:
            fed.append((addr.copy(), (flags & 1).astype(bool)))
            super().events(addr, flags)

    source = Recorded(fast="none")
    watch = watched(accesses(3000, kind=None), source, moves=[Answer(promote=np.array([2]))])
    addr, write = (np.concatenate(column) for column in zip(*fed, strict=True))
    geometry = Geometry(device_gib=1)
    rule = Rule(name="", end=1 << 30, primary_shift=21, map=identity_map(geometry, 64))
    model = nemo.Telemetry(rule, geometry)
    for a, w in zip(addr.tolist(), write.tolist(), strict=True):
        model.event(a, w)
    counts = np.zeros(512)
    for i in range(512):
        for channel in range(2):
            counts[i] += model.read_line(channel, i // 8, False)[i % 8]
    last = source._all[0].telemetry.read().sum(axis=1)[:512]
    assert np.array_equal(last, counts)
    # Software has the counts up to its read, of pages that were slow at that time.
    assert watch.heat().sum() > 0 and (watch.heat() <= counts).all()
    assert len(addr) > 3000 * 0.7, "copies are accesses to the device"


def test_a_line_is_read_when_its_turn_comes() -> None:
    """The harvest uses the slow tier's queue: a read, its latency, the instructions, the next read.
    The policy acts after the last one, and the program is delayed.
    """
    trace = accesses(2000)
    source = Nemo(fast="none")
    watch = watched(trace, source)
    lines = 2 * 1  # two channels, one line each for eight pages
    line = 100.0 + 106 * 8 / 2 * NS
    first = watch.seen[0]
    assert first.now_ns == pytest.approx(50_000 + lines * line, abs=40)
    one = simulate(MACHINE, trace, None, Nemo(fast="none"), GEOMETRY)
    assert one.telemetry_cpu_ns >= lines * line
    assert one.extra["telemetry"]["lines"] > 0


@pytest.mark.parametrize("gib", [1, 2, 8])
def test_every_page_of_a_large_device_has_a_counter(gib: int) -> None:
    """512 words count 512, 1024 or 4096 pages: with 64, 32 or 8 bits. All reads of a page are
    seen, the last page's too.
    """
    pages = gib << 9
    machine = replace(
        MACHINE, fast=Tier(0, 10.0, 64.0), slow=Tier(pages, 100.0, 16.0), start="slow"
    )
    page = np.append(np.arange(pages), np.full(40, pages - 1)).astype(np.uint64)
    gap_ns = np.append(np.full(len(page) - 1, 200.0), 1e6)
    trace = Trace(page * np.uint64(HUGE), np.zeros(len(page), bool), gap_ns=gap_ns)
    watch = Watch()
    geometry = replace(GEOMETRY, device_gib=gib)
    simulate(machine, trace, watch, Nemo(fast="none", states=512), geometry)
    last = sum(
        seen.heat.units[seen.units.frame // seen.span == pages - 1].sum() for seen in watch.seen
    )
    assert last == 40


def test_a_device_with_more_pages_than_counters_is_refused() -> None:
    machine = replace(MACHINE, slow=Tier(16 << 9, 100.0, 16.0))
    with pytest.raises(InputError, match="device_gib is 16; allowed: at most 8,"):
        simulate(machine, accesses(10), None, Nemo(states=512), replace(GEOMETRY, device_gib=16))


def test_frames_are_watched_by_turns() -> None:
    """112 pages of 2 MiB at a time (NEMO §5.2), with exact counts of all their 4 KiB frames."""
    slow = Tier(400, 100.0, 16.0)
    machine = replace(MACHINE, slow=slow, weights=(0, 1), interval_ns=10e6)
    trace = accesses(4000, pages=130)
    trace = replace(trace, gap_ns=np.full(len(trace), 18_000.0))
    watch = watched(trace, Nemo(fast="none"), machine, splits=True)
    watched_pages = [set((s.heat.base_page // s.span).tolist()) for s in watch.seen]
    assert watched_pages[0] == set() and [len(t) for t in watched_pages[1:]] == [112, 112]
    assert set().union(*watched_pages) == set(range(130))
    at = watch.seen[1]
    base = dict(zip((at.heat.base_page // 512).tolist(), at.heat.base.sum(axis=1), strict=True))
    units = dict(zip((at.units.frame // 512).tolist(), at.heat.units.tolist(), strict=True))
    # Frames are read later than pages in a harvest of 4 ms, so their counts are higher.
    pairs = np.array([[base[page], units[page]] for page in base])
    assert pairs[:, 0].sum() == pytest.approx(pairs[:, 1].sum(), rel=0.5)
    assert np.corrcoef(pairs.T)[0, 1] > 0.8


def test_a_policy_says_which_frames_are_watched_first() -> None:
    """Of these and of the others the ones watched longest ago; what fits is watched all the time
    and keeps its counts.
    """
    pages = 130
    machine = replace(MACHINE, slow=Tier(400, 100.0, 16.0), weights=(0, 1), interval_ns=10e6)
    trace = accesses(6000, pages=pages)
    trace = replace(trace, gap_ns=np.full(len(trace), 18_000.0))
    first, then = np.arange(120, pages), np.arange(110)
    moves = [Answer(watch=first * 512), Answer(watch=then * 512 + 5), Answer()]
    watch = watched(trace, Nemo(fast="none"), machine, splits=True, moves=moves)
    turns = [set((s.heat.base_page // s.span).tolist()) for s in watch.seen]
    assert turns[:2] == [set(), {*range(102), *first}]
    assert turns[2:4] == [{*then, 110, 111}, {*range(112, pages), *range(94)}]
    small = Nemo(fast="none", pipelines=2, states=512)
    watch = watched(accesses(5000, pages=1), small, replace(MACHINE, weights=(0, 1)), splits=True)
    costs = [s.heat.cpu_ns for s in watch.seen]
    assert costs[0] < costs[1] and set(costs[2:]) == {costs[0]}, "a table is written once"
    assert sum(s.heat.base.sum() for s in watch.seen) > 4000


@pytest.mark.parametrize(("quota", "minimum", "maximum"), [(0.5, 199, 199), (0.0063, 997, 2503)])
def test_the_period_adapts(quota: float, minimum: int, maximum: int) -> None:
    """It changes by a step per check while processing takes more or less than its share."""
    source = Pebs(period=293, sample_ns=0.0, quota=quota, adapt_ms=0.2)
    config = replace(MACHINE, interval_ns=20_000.0, scale=200)
    trace = accesses(20_000)
    watch = Watch()
    done = simulate(config, trace, watch, source, GEOMETRY)
    assert minimum <= done.extra["telemetry"]["period"] <= maximum
    # The heat is still in accesses.
    assert watch.heat().sum() == pytest.approx(len(trace), rel=0.3)


def test_pebs_is_blind_to_what_has_no_instruction() -> None:
    for kind in KINDS:
        heat = watched(accesses(2000, kind=kind), Pebs(period=10, sample_ns=0.0)).heat().sum()
        assert (heat > 1500) == (kind in ("load", "rfo"))


def test_pebs_samples_cost_their_threads() -> None:
    trace = accesses(2000)
    free = simulate(MACHINE, trace, None, Pebs(period=10, sample_ns=0.0), GEOMETRY)
    paid = simulate(MACHINE, trace, None, Pebs(period=10, sample_ns=500.0), GEOMETRY)
    # 1,000 accesses of a thread give 100 samples.
    assert paid.time_ns - free.time_ns == pytest.approx(100 * 500, rel=0.05)
    assert paid.extra["telemetry"]["program_ns"] == pytest.approx(200 * 500, rel=0.05)


def test_pebs_drops_what_its_buffer_does_not_hold() -> None:
    result = simulate(MACHINE, accesses(4000), None, Pebs(period=1, buffer=64), GEOMETRY)
    telemetry = result.extra["telemetry"]
    assert telemetry["dropped"] > 2000 and telemetry["samples"] % 64 == 0
    assert 3900 < telemetry["dropped"] + telemetry["samples"] <= 4000


def test_hint_faults_tell_how_soon() -> None:
    """A page of the slow tier faults once per scan, sooner if it is hot, and each fault costs
    time.
    """
    trace = accesses(6000, pages=8)
    watch = watched(trace, HintFaults(fault_ns=0.0), replace(MACHINE, weights=(0, 1)))
    heat = watch.heat()[:8]
    assert np.corrcoef(heat, np.arange(8))[0, 1] > 0.5
    free = simulate(MACHINE, trace, None, HintFaults(fault_ns=0.0), GEOMETRY)
    paid = simulate(MACHINE, trace, None, HintFaults(fault_ns=900.0), GEOMETRY)
    assert free.extra["telemetry"]["faults"] > 10 and paid.time_ns > free.time_ns


def test_regions_find_what_is_accessed() -> None:
    """Only two of 64 pages are used, and regions converge to them."""
    rng = np.random.default_rng(1)
    n = 100_000
    page = np.where(np.arange(n) < 64, np.arange(n), rng.choice([20, 21], n))
    trace = Trace((page * HUGE).astype(np.uint64), np.zeros(n, bool), gap_ns=np.full(n, 100.0))
    config = replace(MACHINE, fast=Tier(1, 10.0, 64.0), interval_ns=200_000.0)
    watch = Watch()
    source = Scan(sample_ms=0.01, least_regions=5, most_regions=40)
    simulate(config, trace, watch, source, GEOMETRY)
    heat = np.mean([s.heat.units for s in watch.seen[-10:]], axis=0)
    assert min(heat[20], heat[21]) > 8 and np.delete(heat, range(17, 25)).max() < 4, heat.round(1)
    assert watch.seen[-1].heat.cpu_ns > 0


@pytest.mark.parametrize("source", [NeoProf(threshold=5), HotnessUnit(threshold=5)])
def test_devices_that_list_what_is_hot(source: Source) -> None:
    """Only 4 KiB pages of the slow tier with at least five accesses are reported."""
    page = np.repeat(np.arange(40), np.arange(40) % 10)
    addr = np.random.default_rng(2).permutation(page) * 4096
    trace = Trace(addr.astype(np.uint64), np.zeros(len(addr), bool),
                  gap_ns=np.full(len(addr), 100.0))  # fmt: skip
    end = Trace(np.zeros(1, np.uint64), np.zeros(1, bool), gap_ns=np.full(1, 1e6))
    config = replace(MACHINE, page_bytes=4096, start="slow", interval_ns=100_000.0)
    watch = Watch()
    simulate(config, lambda: [trace, end], watch, source, GEOMETRY)
    first = watch.seen[0]
    hot = first.units.frame[first.heat.units > 0]
    assert hot.tolist() == np.flatnonzero(np.bincount(page, minlength=40) >= 5).tolist()


def test_few_counters_count_few_pages() -> None:
    trace = accesses(4000, pages=60)
    config = replace(MACHINE, slow=Tier(100, 100.0, 16.0), weights=(0, 1))
    watch = watched(trace, HotnessUnit(counters=7, threshold=1), config)
    assert max(np.count_nonzero(s.heat.units) for s in watch.seen) == 7


@pytest.mark.parametrize("name", SOURCES)
def test_same_seed_same_result(name: str) -> None:
    trace = accesses(3000, kind=None)
    runs = [
        simulate(MACHINE, trace, Watch([Answer(promote=np.array([3]))]), load(name, SOURCES)(),
                 GEOMETRY)
        for _ in range(2)
    ]  # fmt: skip
    assert runs[0].time_ns == runs[1].time_ns and runs[0].extra == runs[1].extra
    json.dumps(runs[0].report)
