# SPDX-License-Identifier: Apache-2.0
"""Time without a policy: the reference model by hand, and the kernel bit-exactly equal to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anemone.golden import tier as plain
from anemone.hardware.geometry import Geometry
from anemone.io.errors import InputError
from anemone.tiering import Tier, TierConfig, TierResult, feed, machine, simulate
from anemone.tiering.run import Run
from anemone.tiering.state import PLACE
from anemone.trace import Trace, concatenate
from tests.tiering.strategies import PAGES, configs, traces

GEOMETRY = Geometry(device_gib=2)
# Fast: 1 ns per line, latency 10 ns; slow: 4 ns per line, latency 100 ns.
MACHINE = TierConfig(4096, 2, Tier(1, 10.0, 64.0), Tier(9, 100.0, 16.0))


def rows(*lines: tuple[int, int, float, int, int]) -> Trace:
    """A trace of (page, write, gap, dep, thread)."""
    page, write, gap, dep, thread = (np.array(column) for column in zip(*lines, strict=True))
    return Trace(
        addr=(page * 4096).astype(np.uint64),
        write=write.astype(bool),
        gap_ns=gap.astype(float),
        dep=dep.astype(bool),
        thread=thread.astype(np.uint16),
    )


def test_reads_in_flight() -> None:
    """Two reads are in flight; the third waits for the first. The slow tier serves a line every 4
    ns.
    """
    done = plain.run(MACHINE, rows((0, 0, 1, 0, 0), *[(1, 0, 0, 0, 0)] * 3))
    assert done.issue == [1, 1, 11, 101] and done.completion == [11, 101, 111, 201]


def test_a_line_takes_its_time() -> None:
    wide = replace(MACHINE, outstanding=9)
    done = plain.run(wide, rows(*[(1, 0, 1, 0, 0)] * 3, (0, 0, 1, 0, 0)))
    assert done.issue == [1, 2, 3, 4]
    # The page that is touched first is fast, the other one slow.
    assert done.completion == [11, 12, 13, 104] and done.tier_of == {1: 0, 0: 1}
    done = plain.run(replace(wide, start="slow"), rows(*[(1, 0, 1, 0, 0)] * 3))
    assert done.completion == [101, 105, 109]


def test_a_dependent_read_waits_for_the_read_before() -> None:
    trace = rows((0, 0, 0, 0, 0), (0, 1, 1, 1, 0), (0, 0, 2, 1, 0), (0, 0, 0, 0, 0))
    assert plain.run(MACHINE, trace).issue == [0, 1, 10, 10]


def test_posted_writes_wait_only_for_writes() -> None:
    trace = rows(*[(0, 1, 0, 0, 0)] * 3, (0, 0, 0, 0, 0))
    assert plain.run(MACHINE, trace).issue == [0, 0, 0, 0]
    assert plain.run(replace(MACHINE, posted=1), trace).issue == [0, 10, 20, 20]


def test_ties_go_to_the_lower_thread() -> None:
    done = plain.run(MACHINE, rows((1, 0, 5, 0, 9), (0, 0, 5, 0, 3), (0, 0, 0, 0, 3)))
    assert done.order == [1, 2, 0] and done.tier_of == {0: 0, 1: 1}


@pytest.mark.parametrize(
    ("start", "fast", "tiers"),
    [
        ("first-touch", 2, [0, 0, 1, 1, 1, 1, 1]),
        ("slow", 2, [1] * 7),
        ("fast", 7, [0] * 7),
        ("weighted", 7, [0, 0, 1, 0, 0, 1, 0]),
        ("weighted", 3, [0, 0, 1, 0, 1, 1, 1]),
    ],
)
def test_placements(start: str, fast: int, tiers: list[int]) -> None:
    config = replace(MACHINE, start=start, weights=(2, 1), fast=Tier(fast, 10.0, 64.0))
    done = plain.run(config, rows(*[(page, 0, 1, 0, 0) for page in range(7)]))
    assert list(done.tier_of.values()) == tiers


def test_the_optimum_is_of_all_the_trace() -> None:
    """The most accessed pages, with ties by address, independent of the order of first touches."""
    trace = rows(*[(page, 0, 1, 0, 0) for page in (0, 1, 2, 2, 3, 3, 3, 1)])
    config = replace(MACHINE, start="optimum", fast=Tier(2, 10.0, 64.0))
    assert plain.run(config, trace).tier_of == {0: 1, 1: 0, 2: 1, 3: 0}
    assert simulate(config, trace, geometry=GEOMETRY).accesses == (5, 3)


def run_small(config: TierConfig, trace: Trace, pool: int) -> tuple[Run, TierResult]:
    """A run with a pool so small that rows go to the file, in batches of 7 rows."""

    def batches() -> Iterator[Trace]:
        return iter([trace.part(at, at + 7) for at in range(0, len(trace), 7)])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(feed, "_BLOCKS", (2, 4))
        patch.setattr(machine, "pool_size", lambda threads: feed.pool_size(threads, pool))
        one = Run(config, batches, None, None, GEOMETRY, None, "trace")
        return one, one.result()


@settings(max_examples=100)
@given(st.data())
def test_the_kernel_is_the_plain_model(data: st.DataObject) -> None:
    """Equal issue and completion of each row, tier of each page, and counts in the result."""
    config = data.draw(configs())
    trace = data.draw(traces(config.page_bytes))
    golden = plain.run(config, trace)
    one, result = run_small(config, trace, data.draw(st.sampled_from([1, 4096])))
    state = one.machine.state
    there = np.flatnonzero(state.ops.number)
    row = state.ops.number[there].astype(np.int64) - 1
    assert sorted(row.tolist()) == list(range(len(trace)))
    assert state.ops.first[there].tolist() == [golden.issue[i] for i in row]
    assert state.ops.last[there].tolist() == [golden.completion[i] for i in row]
    pages = np.flatnonzero(state.memory.table)
    found = dict(
        zip(pages.tolist(), ((state.memory.table[pages] & PLACE) - 1).tolist(), strict=True)
    )
    assert found == golden.tier_of
    assert result.time_ns == max(golden.completion)
    assert golden.tiers == [golden.tier_of[a // config.page_bytes] for a in trace.addr.tolist()]
    assert result.accesses == (golden.tiers.count(0), golden.tiers.count(1))
    check_timeline(config, golden, golden.tiers, result)


def check_timeline(
    config: TierConfig, golden: plain.TierRun, tiers: list[int], result: TierResult
) -> None:
    """The timeline has the intervals in which something issued, in order."""
    interval = config.interval_ns or 0.0
    numbers = np.array([int(issue // interval) for issue in golden.issue])
    timeline = result.timeline
    assert all(len(column) == len(np.unique(numbers)) for column in timeline.values())
    latency = np.array(golden.completion) - np.array(golden.issue)
    for i, number in enumerate(np.unique(numbers)):
        mine = numbers == number
        assert timeline["fast_accesses"][i] == np.count_nonzero(mine & (np.array(tiers) == 0))
        assert timeline["slow_accesses"][i] == np.count_nonzero(mine & (np.array(tiers) == 1))
        assert timeline["requests"][i] == mine.sum()
        assert timeline["time_ns"][i] == min((number + 1) * interval, result.time_ns)
        ordered = np.sort(latency[mine])
        assert timeline["p50_ns"][i] == ordered[(len(ordered) + 1) // 2 - 1]
        assert timeline["p999_ns"][i] == ordered[-1]


def test_requests_of_many_rows() -> None:
    """A request's latency is its last completion minus its first issue; number 0 is no request."""
    trace = rows((0, 0, 0, 0, 0), (1, 0, 0, 0, 1), (0, 0, 7, 0, 0), (0, 1, 30, 0, 0))
    trace = replace(trace, op=np.array([5, 5, 0, 9], np.uint64))
    result = simulate(MACHINE, trace, geometry=GEOMETRY)
    assert result.latency == {"p50": 10.0, "p95": 100.0, "p99": 100.0, "p999": 100.0}
    assert result.timeline["requests"].tolist() == [2]


def test_many_requests() -> None:
    """The table of requests grows."""
    n = 100_000
    op = np.random.default_rng(1).permutation(n).astype(np.uint64) + np.uint64(1 << 40)
    trace = Trace(np.zeros(n, np.uint64), np.zeros(n, bool), gap_ns=np.full(n, 20.0), op=op)
    result = simulate(MACHINE, trace, geometry=GEOMETRY)
    assert result.timeline["requests"].tolist() == [n]
    assert result.latency == dict.fromkeys(["p50", "p95", "p99", "p999"], 10.0)


def test_memory_stays_while_threads_drift_apart() -> None:
    """If threads follow one another in the trace, their rows wait in a temporary file."""
    n = 200_000
    part = Trace(np.zeros(n, np.uint64), np.zeros(n, bool), gap_ns=np.full(n, 1.0))
    threads = [replace(part, thread=np.full(n, t, np.uint16)) for t in range(3)]
    whole = concatenate(threads)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "pool_size", lambda threads: feed.pool_size(threads, 1 << 14))
        one = Run(MACHINE, lambda: iter(threads), None, None, GEOMETRY, None, "trace")
        few = one.result()
        assert len(one.machine.state.rows.flags) == 1 << 14
        assert one.feed._file is not None
    many = simulate(MACHINE, whole, geometry=GEOMETRY)
    assert few.time_ns == many.time_ns and few.accesses == many.accesses == (3 * n, 0)


def test_no_room_for_a_page() -> None:
    trace = rows(*[(page, 0, 1, 0, 0) for page in range(PAGES)])
    with pytest.raises(InputError, match=r"page is at 0xa000, for which .* fit 1 fast and 9 slow"):
        simulate(MACHINE, trace, geometry=GEOMETRY)
    with pytest.raises(InputError):
        plain.run(MACHINE, trace)
