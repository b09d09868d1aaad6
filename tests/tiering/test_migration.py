# SPDX-License-Identifier: Apache-2.0
"""Migration of pages: copies computed by hand, and invariants for any policy."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anemone.hardware.geometry import LINE_BYTES, Geometry
from anemone.tiering import Answer, Migration, Policy, Statistics, Tier, TierConfig, Tlb, simulate
from anemone.tiering.drams import drams
from anemone.tiering.run import Run
from anemone.tiering.sources.oracle import Oracle
from anemone.tiering.state import BASE, COPYING, I_JOB, I_JOB_TO, PLACE
from anemone.trace import Trace
from tests.tiering.strategies import PAGES, traces

GEOMETRY = Geometry(device_gib=1)
# A line is copied every 8 ns, 4 at a time; it takes 1 ns of fast memory and 4 ns of slow memory.
COPY = Migration(gb_per_s=8.0, lines=4)
MACHINE = TierConfig(
    4096, 2, Tier(4, 10.0, 64.0), Tier(40, 100.0, 16.0), start="slow", migration=COPY,
    interval_ns=1000.0,
)  # fmt: skip


@dataclass
class Once(Policy):
    """A policy that gives one answer, in the first interval."""

    answer: Answer

    def act(self, seen: Statistics) -> Answer:
        answer, self.answer = self.answer, Answer()
        return answer


def pages(*number: int) -> np.ndarray:
    return np.array(number, np.int64)


def steady(n: int, gap: float, page: int = 0, write: bool = False) -> Trace:
    """A thread that accesses the lines of a page, one every `gap` ns."""
    addr = page * 4096 + np.arange(n) % 64 * LINE_BYTES
    return Trace(addr.astype(np.uint64), np.full(n, write), gap_ns=np.full(n, gap))


def test_a_page_moves() -> None:
    """Four lines in flight: each is read (100 ns), then written; then the next one starts."""
    one = Run(MACHINE, lambda: [steady(40, 100.0)], Once(Answer(pages(0))), Oracle(), GEOMETRY,
              None, "")  # fmt: skip
    result = one.result()
    assert (result.promoted, result.demoted, result.migrated_bytes) == (1, 0, 4096)
    # From 1,000 ns on, 4 lines in little more than 100 ns: the page is fast before 2,700 ns.
    assert result.accesses == (14, 26)
    assert one.machine.free == (3, 40)


def test_lines_are_limited_by_bandwidth_too() -> None:
    narrow = replace(MACHINE, migration=Migration(gb_per_s=0.64, lines=100))
    result = simulate(narrow, steady(90, 100.0), Once(Answer(pages(0))), Oracle(), GEOMETRY)
    # A line every 100 ns: 64 of them from 1,000 ns on, then 110 ns for the last.
    assert result.accesses == (90 - 74, 74)


def test_a_write_starts_the_copy_over_until_it_is_given_up() -> None:
    config = replace(MACHINE, migration=replace(COPY, retries=3))
    trace = steady(40, 100.0, write=True)
    result = simulate(config, trace, Once(Answer(pages(0))), Oracle(), GEOMETRY)
    assert result.promoted == 0 and result.accesses == (0, 40)
    assert result.extra["migration"] == {
        "restarted": 3, "given_up": 1, "refused": 0, "split": 0,
    }  # fmt: skip


def test_a_write_waits_for_the_copy() -> None:
    config = replace(MACHINE, migration=replace(COPY, on_write="wait"))
    trace = steady(40, 100.0, write=True)
    result = simulate(config, trace, Once(Answer(pages(0))), Oracle(), GEOMETRY)
    # Ten accesses are before the copy; the next one waits for its end and finds the page fast.
    assert result.promoted == 1 and result.accesses == (30, 10)
    # The first of 64 lines is read at 1,004 ns, 4 every 100 ns; the last is written at 2,628 ns.
    assert result.time_ns == 2628 + 10 + 29 * 100 + 10


def test_what_unmapping_and_shootdowns_cost() -> None:
    def time_with(**costs: float) -> float:
        config = replace(MACHINE, migration=replace(COPY, **costs))
        return simulate(
            config, steady(40, 100.0), Once(Answer(pages(0))), Oracle(), GEOMETRY
        ).time_ns

    assert time_with(shootdown_ns=700.0) == time_with() + 700
    assert time_with(unmap_ns=5000.0) == 4100.0  # the trace ends before the page is fast


def test_promotions_wait_for_demotions() -> None:
    """With a full fast tier one page is demoted for each promoted page, and capacities hold."""
    config = replace(MACHINE, fast=Tier(2, 10.0, 64.0), start="first-touch", interval_ns=20_000.0)
    addr = np.repeat(np.arange(5), 2000) % 5 * 4096
    trace = Trace(addr.astype(np.uint64), np.zeros(10_000, bool), gap_ns=np.full(10_000, 10.0))
    warm = Trace(np.arange(5, dtype=np.uint64) * np.uint64(4096), np.zeros(5, bool),
                 gap_ns=np.zeros(5))  # fmt: skip
    answer = Once(Answer(promote=pages(2, 3, 4), demote=pages(0, 1)))
    one = Run(config, lambda: [warm, trace], answer, Oracle(), GEOMETRY, None, "")
    result = one.result()
    assert (result.promoted, result.demoted) == (2, 2)
    assert result.extra["migration"]["refused"] == 1
    table = one.machine.state.memory.table[:5] & PLACE
    assert table.tolist() == [2, 2, 1, 1, 2]


HUGE = replace(
    MACHINE,
    page_bytes=2 << 20,
    fast=Tier(2, 10.0, 64.0),
    slow=Tier(4, 100.0, 16.0),
    interval_ns=10_000.0,
    migration=Migration(gb_per_s=64.0, lines=64),
    tlb=Tlb(4, 50.0, 4),
)


@dataclass
class Splits(Once):
    splits = True


def test_split_pages_pay_for_their_translations() -> None:
    """Eight frames of a huge page need one translation, or eight if it is split; the TLB has
    four.
    """
    addr = np.arange(400) % 8 * 4096
    trace = Trace(addr.astype(np.uint64), np.zeros(400, bool), gap_ns=np.full(400, 100.0))
    whole = simulate(HUGE, trace, Splits(Answer()), Oracle(), GEOMETRY)
    parted = simulate(HUGE, trace, Splits(Answer(split=pages(0))), Oracle(), GEOMETRY)
    assert whole.extra["page_walks"] == 1 and parted.extra["migration"]["split"] == 1
    before = int(np.ceil((10_000 - 50) / 100)) - 1
    assert parted.extra["page_walks"] == 1 + 400 - before
    assert parted.time_ns == whole.time_ns + 50 * (400 - before)


def test_frames_of_a_split_page_move_and_join_again() -> None:
    @dataclass
    class Plan(Policy):
        step: int = 0
        splits = True

        def act(self, seen: Statistics) -> Answer:
            self.step += 1
            answers = {
                1: Answer(split=pages(0)),
                2: Answer(promote=pages(1, 7)),
                15: Answer(join=pages(0)),
            }
            if self.step == 14:
                assert seen.units.frame.tolist() == list(range(512)) and seen.units.split.all()
                assert np.flatnonzero(seen.units.tier == 0).tolist() == [1, 7]
                assert seen.free == (1024 - 2, 2048 - 510)
            return answers.get(self.step, Answer())

    one = Run(HUGE, lambda: [steady(6000, 100.0)], Plan(), Oracle(), GEOMETRY, None, "")
    result = one.result()
    assert (result.promoted, result.demoted) == (2, 1)
    assert result.migrated_bytes == (2 << 20) + 2 * 4096
    units = one.machine.units()
    assert units.frame.tolist() == [0] and units.tier.tolist() == [1] and not units.split.any()
    assert one.machine.free == (1024, 2048 - 512)


@dataclass
class Anything(Policy):
    """A policy with random requests, also invalid ones, that checks the invariants each time."""

    seed: int
    run: Run | None = None
    splits = True

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def act(self, seen: Statistics) -> Answer:
        check_places(self.run)
        frames = seen.units.frame

        def some() -> np.ndarray:
            return self.rng.choice(frames, self.rng.integers(0, min(9, len(frames)) + 1))

        whole = some() // seen.span * seen.span
        return Answer(some(), some(), split=whole[:2], join=whole[2:3],
                      cpu_ns=float(self.rng.choice([0, 0, 500])))  # fmt: skip


def check_places(run: Run) -> None:
    """Each touched page is in one tier, and the tiers' counts are correct and within capacity."""
    state = run.machine.state
    table, memory = state.memory.table, state.memory
    place = table & PLACE
    assert not (place == 3).any()
    coming = np.count_nonzero(table & COPYING)
    used = [np.count_nonzero(place == 1), np.count_nonzero(place == 2)]
    if state.whole[I_JOB] >= 0:
        used[state.whole[I_JOB_TO]] += coming
    else:
        assert coming == 0
    assert used == memory.used.tolist() and (memory.used <= memory.capacity).all()
    if run.machine.span > 1:
        split = table.reshape(-1, run.machine.span) & BASE
        assert (split == split[:, :1]).all()


@settings(max_examples=40)
@given(st.data())
def test_whatever_a_policy_asks_for(data: st.DataObject) -> None:
    """Pages are in one tier, accesses are conserved, and times are within bounds."""
    page_bytes = data.draw(st.sampled_from([4096, 2 << 20]))
    few = page_bytes == 4096  # few lines per page
    fast = data.draw(st.integers(1, PAGES))
    timing = data.draw(st.sampled_from(["queue", "dram"]))
    # With open rows the DRAM timing is below the latency, but not below this bound.
    latency_ns, idle = 10.0, drams()["ddr4-3200"].idle if timing == "dram" else 0.0
    config = TierConfig(
        page_bytes, data.draw(st.integers(1, 4)), Tier(fast, latency_ns + idle, 64.0, "ddr4-3200"),
        Tier(PAGES + data.draw(st.integers(0, 3)), 100.0, 16.0, "ddr5-4800"),
        timing=timing,
        posted=data.draw(st.none() | st.integers(1, 4)),
        interval_ns=data.draw(st.sampled_from([100.0, 1000.0])) if few else 3000.0,
        migration=Migration(
            gb_per_s=data.draw(st.sampled_from([0.64, 64.0])) if few else 64.0,
            lines=data.draw(st.integers(1, 9)) if few else 64,
            on_write=data.draw(st.sampled_from(["restart", "wait"])),
            retries=data.draw(st.integers(0, 3)),
            unmap_ns=data.draw(st.sampled_from([0.0, 30.0])),
            shootdown_ns=data.draw(st.sampled_from([0.0, 30.0])),
        ),
        tlb=data.draw(st.sampled_from([None, Tlb(8, 20.0, 2)])),
    )  # fmt: skip
    trace = data.draw(traces(page_bytes))
    policy = Anything(data.draw(st.integers(0, 1 << 32)))
    one = Run(config, lambda: [trace], policy, Oracle(), GEOMETRY, None, "trace")
    policy.run = one
    result = one.result()
    check_places(one)
    assert sum(result.accesses) == len(trace)
    table = one.machine.state.memory.table
    touched = np.unique(trace.addr // np.uint64(page_bytes))
    assert np.count_nonzero(table & PLACE) == len(touched) * one.machine.span
    threads = np.zeros(len(trace)) if trace.thread is None else trace.thread
    gap = np.zeros(len(trace)) if trace.gap_ns is None else trace.gap_ns
    computing = max(gap[threads == t].sum() for t in np.unique(threads))
    busy = [n * LINE_BYTES / t.gb_per_s for n, t in zip(result.accesses, (config.fast, config.slow),
                                                        strict=True)]  # fmt: skip
    assert result.time_ns >= computing + latency_ns - 1e-6
    assert result.time_ns >= max(busy) - 1e-6
    again = Run(config, lambda: [trace], Anything(policy.seed), Oracle(), GEOMETRY, None, "trace")
    again.policy.run = again
    assert again.result().time_ns == result.time_ns


def test_copies_take_the_programs_bandwidth() -> None:
    """A copy at memory's full speed delays the program's accesses."""
    wide = replace(MACHINE, migration=Migration(gb_per_s=64.0, lines=64), outstanding=64)
    alone = simulate(wide, steady(400, 4.0), Once(Answer()), Oracle(), GEOMETRY)
    others = Trace(
        np.append(steady(400, 4.0).addr, np.arange(1, 9, dtype=np.uint64) * np.uint64(4096)),
        np.zeros(408, bool),
        gap_ns=np.append(np.full(400, 4.0), np.zeros(8)),
        thread=np.append(np.zeros(400), np.ones(8)).astype(np.uint16),
    )
    busy = simulate(wide, others, Once(Answer(promote=pages(1, 2, 3))), Oracle(), GEOMETRY)
    assert busy.migrated_bytes > 0 and busy.time_ns > alone.time_ns


def test_an_answer_counts_after_its_cpu_time() -> None:
    late = Answer(pages(0), cpu_ns=2500.0)
    result = simulate(MACHINE, steady(60, 100.0), Once(late), Oracle(), GEOMETRY)
    soon = simulate(MACHINE, steady(60, 100.0), Once(Answer(pages(0))), Oracle(), GEOMETRY)
    assert result.accesses[1] == soon.accesses[1] + 25 and result.policy_cpu_ns == 2500.0


def test_a_policy_must_have_act() -> None:
    with pytest.raises(NotImplementedError):
        simulate(MACHINE, steady(40, 100.0), Policy(), Oracle(), GEOMETRY)
