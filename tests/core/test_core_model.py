# SPDX-License-Identifier: Apache-2.0
"""The core model compared with cases computed by hand, and invariants of all runs."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anemone.flat.config import FlatConfig
from anemone.flat.result import HIT
from anemone.golden.flat_fast import FlatMemory
from anemone.models.core import OPERATION, Kernel, Memory, Tier, machine, simulate, tier
from anemone.models.core.model import CoreError
from tests.core.ops import BARE, MEMORY, Program, kernel

MISS = 200  # cycles: 100 ns at 2 GHz
SLOW = replace(MEMORY, fast_share=0.0)
_SMALL = BARE.with_(l1_kib=12, l2_kib=16, l3_kib=60)


@pytest.mark.parametrize(
    ("kib", "cycles"),
    [(16, 5), (512, 15), (16 << 10, 70), (1 << 20, MISS)],
    ids="L1 L2 L3 memory".split(),
)
def test_a_chase_costs_its_latency(kib: int, cycles: int) -> None:
    """Each load depends on the one before, so a load and a branch take the load's latency."""
    lines = kib * 16
    warm = 5 * lines if kib < 1 << 20 else 0
    run = simulate(BARE, MEMORY, [Kernel("chase", {"bytes": lines * 64, "work": 0})], 20_000, warm)
    assert run.counters["c"] / 10_000 == pytest.approx(cycles, rel=0.02)
    if cycles == MISS:
        assert run.counters["P3"] / run.counters["c"] == pytest.approx((MISS - 70) / MISS, rel=0.03)
        assert run.counters["P12"] == pytest.approx(10_000, rel=0.01)
        assert run.mean_ns("l3_miss") == pytest.approx(100, rel=0.01)
        assert run.mlp == pytest.approx(1, rel=0.02)


def test_the_window_holds_so_many_operations() -> None:
    """A miss, n operations, a miss: the second miss overlaps if it is within the window."""

    def cycles(between: int) -> float:
        program = Program()
        program.load(1 << 20, program.begin)
        for _ in range(between):
            program.compute()
        program.load(1 << 21)
        return program.cycles()

    assert cycles(510) == pytest.approx(MISS + 510 / 6, abs=6)  # these retire after it
    assert cycles(512) == pytest.approx(2 * MISS, abs=6)


def test_a_mispredicted_branch_waits_for_its_load() -> None:
    for wrong, cycles in ((False, MISS), (True, 2 * MISS + 17)):
        program = Program()
        program.branch(wrong, program.load(1 << 20, program.begin))
        program.load(1 << 21)
        assert program.cycles() == pytest.approx(cycles, abs=6)


def test_computing_takes_its_latency_and_the_width() -> None:
    chain, free = Program(), Program()
    last = chain.begin
    for _ in range(1000):
        last = chain.compute(last, latency=4)
    for _ in range(12000):
        free.compute()
    assert chain.cycles() == pytest.approx(4000, abs=10)
    assert free.cycles() == pytest.approx(12000 / 6, abs=10)
    assert free.run().counters["instructions"] == 12001


@pytest.mark.parametrize("chains", [1, 4, 16, 32])
def test_parallel_misses_stop_at_the_fill_buffers(chains: int) -> None:
    """There are 16 fill buffers; further chains wait for one."""
    run = kernel("chase", 40_000, chains=chains, work=0, bytes=1 << 30)
    loads = 40_000 * chains / (chains + 1)
    together = min(chains, 16)
    assert run.mlp == pytest.approx(together, rel=0.08)
    assert run.counters["c"] / loads == pytest.approx(MISS / together, rel=0.05)


def test_the_queue_behind_the_l2_is_a_limit_too() -> None:
    run = kernel("chase", 40_000, BARE.with_(superqueue=4), chains=16, work=0, bytes=1 << 30)
    # The queue holds a request from the L2's response on.
    assert run.counters["c"] / (40_000 * 16 / 17) == pytest.approx((MISS - 15) / 4, rel=0.05)


def test_a_stream_of_one_core_is_bound_by_its_buffers() -> None:
    run = kernel("stream", 60_000, step=64, work=1)
    assert run.gb_per_s == pytest.approx(16 * 64 / 100, rel=0.05)


def test_streams_of_many_cores_get_the_bandwidth() -> None:
    memory = Memory(Tier(100, 20), Tier(250, 20))
    run = kernel("stream", 30_000, BARE, memory, 8, step=64)
    assert run.gb_per_s == pytest.approx(20, rel=0.03)
    # Little's law: requests in flight over the rate give the latency, which is mostly queueing.
    assert run.read_ns == pytest.approx(8 * 16 * 64 / 20, rel=0.15)
    assert run.queued_ns[0] == pytest.approx(8 * 16 * 64 / 20 - 100, rel=0.2)


def test_two_tiers_add_up() -> None:
    memory = Memory(Tier(100, 20), Tier(250, 10), fast_share=2 / 3)
    run = kernel("stream", 40_000, BARE.with_(page_bits=12), memory, 8, step=64)
    assert run.gb_per_s == pytest.approx(30, rel=0.08)  # the order of pages is irregular
    assert run.read_gb[0] / sum(run.read_gb) == pytest.approx(2 / 3, abs=0.01)


def test_stores_stop_at_the_buffer() -> None:
    """A burst that fits the buffer costs nothing; an endless burst runs at the rate of the
    fills.
    """
    burst = Program()
    for line in range(100):
        burst.store((1 << 20) + line, burst.begin)
    assert burst.run().counters["P6"] == 0 and burst.cycles() < 60
    endless = kernel("memset", 60_000, step=64)
    assert endless.counters["c"] / 20_000 == pytest.approx(MISS / 16, rel=0.05)
    assert endless.counters["P6"] / endless.counters["c"] > 0.8
    assert endless.counters["P3"] == endless.counters["P12"] == 0
    twice = kernel("memset", 60_000, memory=SLOW, step=64)
    assert twice.seconds / endless.seconds == pytest.approx(2.5, rel=0.03)


def test_each_core_may_have_its_own_share() -> None:
    """One core on the fast tier, one on the slow tier: each has its tier's latency."""
    chase = Kernel("chase", {"bytes": 1 << 30, "work": 0})
    run = simulate(BARE, replace(MEMORY, shares=(1.0, 0.0)), [chase] * 2, 10_000, 1000)
    fast, slow = (core["c"] / 5000 for core in run.cores)
    assert (fast, slow) == (pytest.approx(MISS, rel=0.03), pytest.approx(2.5 * MISS, rel=0.03))


def test_dirty_lines_are_written_back() -> None:
    run = kernel("memset", 3 * 300_000, BARE.with_(l3_kib=15 * 64, l2_kib=256), step=64)
    assert run.written_gb[0] == pytest.approx(run.read_gb[0], rel=0.02)


def test_a_prefetch_that_is_late_is_a_hit_in_the_buffer() -> None:
    """With one load per line, the prefetched next line is still in flight."""
    small = BARE.with_(rob=32)  # otherwise loads take all buffers before a prefetch does
    on = small.with_(next_line=1)
    without = kernel("stream", 60_000, small, step=64, work=8)
    late = kernel("stream", 60_000, on, step=64, work=8)
    assert without.counters["P5"] == 0
    assert late.counters["P5"] > 0.9 * (late.counters["P4"] + late.counters["P5"])
    assert late.counters["P7"] > 0 and late.counters["P8"] == 0
    # The stalls are L1 misses and hardly L2 misses: S_Cache in Skylake's counters.
    assert late.counters["P1"] - late.counters["P2"] > 5 * late.counters["P2"]
    # With enough work per line the prefetch is in time and there are no stalls.
    early = kernel("stream", 60_000, on, step=64, work=300)
    assert early.counters["P1"] < 0.1 * early.counters["c"]


def test_the_streamer_hides_the_l2_s_misses() -> None:
    """The streamer's requests appear in Sapphire Rapids' mesh counters."""
    run = kernel("stream", 60_000, BARE.with_(streamer=1), step=64, work=20)
    assert run.counters["P9"] == run.counters["P14"] == run.counters["P16"] + run.counters["P17"]
    assert run.counters["P9"] > 0.8 * run.counters["P15"]
    assert run.counters["c"] < 0.5 * kernel("stream", 60_000, step=64, work=20).counters["c"]
    late = kernel("stream", 60_000, BARE.with_(streamer=1), SLOW, step=64, work=2)
    assert late.counters["P2"] - late.counters["P3"] > late.counters["P3"]


def test_a_prefetch_that_becomes_demand_is_outstanding_from_then_on() -> None:
    """Intel, OFFCORE_REQUESTS_OUTSTANDING.DEMAND_DATA_RD: "counted from the promotion point". The
    adjacent line of a pair is requested when the first reaches the L2, and becomes a demand read
    after the L2's lookup. It also counts as a request, because the two events together give a
    latency.
    """
    program = Program()
    program.load(1 << 20, program.begin)
    program.load((1 << 20) + 1, program.begin)
    on = BARE.with_(adjacent=1)
    alone, both = Program().run(on), program.run(on)
    more = {name: both.counters[name] - alone.counters[name] for name in ("P11", "P12", "P13")}
    assert more["P12"] == 2 and more["P13"] == pytest.approx(MISS - 15, abs=2)
    assert more["P11"] == pytest.approx((MISS - 15) + (MISS - 15 - 15), abs=4)


def test_tlb() -> None:
    """128 pages exceed the first TLB but fit the second: 7 more cycles per load."""
    on = BARE.with_(page_bits=12)
    program = Program()
    last = program.begin
    for _ in range(20):
        for page in range(128):
            last = program.load(page * 64 + page % 64, last)
    run = program.run(on)
    warm = 19 * 128
    assert (run.counters["tlb_miss"], run.counters["stlb_hits"]) == (1 + 128, warm)
    # The first round has memory accesses and page walks; a line has eight page table entries.
    first = 128 * (MISS + 7 + 10 + 15) + 16 * (MISS - 15)
    assert program.cycles(on) == pytest.approx(first + warm * (5 + 7), rel=0.01)


def test_a_store_is_forwarded_to_a_load() -> None:
    program = Program()
    program.store(1 << 20, program.begin)
    program.compute(program.load(1 << 20, program.begin))
    assert program.cycles() == pytest.approx(1 + 5 + 1, abs=3)
    assert program.run().counters["P4"] == 1


def test_flat_memory() -> None:
    """Frames are assigned in order of first touch: `begin`, its page table, then the program."""
    lines = 1 << 14
    flat = Memory(Tier(100, 1000), Tier(250, 1000), near_lines=lines, ratio=1)
    fits, twice = Program(), Program()
    for _ in range(3):
        for line in range(0, lines - 128, 4):
            fits.load(line)
        for line in range(0, 2 * lines - 128, 4):
            twice.load(line)
    run = fits.run(_SMALL, flat)
    assert run.near_misses == 0 and run.near_hits == 3 * (lines - 128) / 4 + 2
    run = twice.run(_SMALL, flat)
    # The first half hits once; after that the pages that share near lines evict each other.
    assert run.near_misses == pytest.approx(5 * lines / 4, rel=0.02)
    # A miss reads both tiers and writes both.
    assert run.written_gb[0] == run.written_gb[1] == run.read_gb[1]
    assert run.read_gb[1] == run.near_misses * 64 / 1e9
    touched = Program()
    last = touched.begin
    for page in range(510):
        last = touched.load(page * 64, last)
    chain = Program()
    chain.rows = list(touched.rows)
    for page in range(100):
        for line in (page * 64 + 5, (page + 256) * 64 + 5):  # a near hit, then a miss
            last = chain.load(line, last)
    more = chain.cycles(_SMALL, flat) - touched.cycles(_SMALL, flat)
    assert more == pytest.approx(100 * (200 + 500), rel=0.01)


@pytest.mark.parametrize("ratio", [1, 2, 3, 4])
def test_flat_memory_hits_and_misses_as_the_golden_model(ratio: int) -> None:
    """The counts after any number of loads that all caches miss, one after the other."""
    near_lines, count = 1 << 12, 12_000
    random = np.random.default_rng(ratio)
    recent, lines, program = deque[int](maxlen=3000), list[int](), Program()
    frames: dict[int, int] = {}  # by page, in order of first touch: 0 is `begin`, 1 its page table
    last = program.begin
    while len(lines) < count:
        line = int(random.integers(near_lines * (ratio + 1) - 128))
        if line in recent:
            continue
        recent.append(line)
        frame = frames.setdefault(line >> 6, len(frames) + 2)
        lines.append(frame << 6 | line & 63)
        last = program.load(line, last)
    golden = FlatMemory(FlatConfig(near_lines, ratio))
    outcomes = golden.accesses(np.array(lines, np.uint64) * 64, np.zeros(count, np.bool_))
    assert count / 10 < np.sum(outcomes == HIT) < count * 9 / 10
    memory = Memory(Tier(100, 1000), Tier(250, 1000), near_lines=near_lines, ratio=ratio)
    rows = program.rows
    for n in (500, 2000, 2001, 2002, 7000, count):
        program.rows = rows[: n + 1]
        run = program.run(_SMALL, memory)
        hits = int(np.sum(outcomes[:n] == HIT))
        assert (run.near_hits - 2, run.near_misses) == (hits, n - hits)


_RAN = {
    "any": ("hash", {"depth": 1, "work": 0}, 0.5),
    "dirty": ("scatter", {"work": 0}, None),
    "hot": ("hash", {"hot": 0.5, "depth": 2, "work": 4}, None),
    "walk": ("stream", {"work": 0, "step": 64}, 1.0),
    "two": ("sort", {"work": 1, "step": 64}, None),
    "circle": ("chase", {"work": 0}, 1.0),
    "walk and any": ("gather", {"work": 1}, None),
    "both": ("mixed", {"work": 1, "step": 64}, None),
}


def _missed(name: str, filled: float, warm: int, dedicated: float = 0.0, **more: float):
    lines = max(64, int((1 << 13) * (1 - dedicated)))
    memory = Memory(
        Tier(100, 1000), Tier(250, 1000), near_lines=lines, dedicated=dedicated, filled=filled
    )
    on = _SMALL.with_(page_bits=12) if dedicated else _SMALL
    run = simulate(on, memory, [Kernel(name, more)], 30_000, warm)
    return run.near_misses / (run.near_hits + run.near_misses + run.dedicated), run


@pytest.mark.parametrize("what", _RAN)
def test_flat_memory_begins_as_it_goes_on(what: str) -> None:
    """The steady state equals the state after a run that is long enough to fill the memory."""
    name, more, expected = _RAN[what]
    data = 1 << 19 if name == "chase" else 1_000_000
    arrays = 2 if name in ("sort", "gather", "mixed") else 1
    more = {"bytes": data // arrays // 64 * 64, **more}
    filled = data / (1 << 20)
    begins, _ = _missed(name, filled, 0, **more)
    goes_on, _ = _missed(name, filled, 300_000, **more)
    assert begins == pytest.approx(goes_on, abs=0.06)
    if expected:
        assert begins == pytest.approx(expected * filled, abs=0.04)


def test_dedicated_pages_of_flat_memory() -> None:
    """Dedicated pages are always near; other lines still share near lines with as many pages."""
    ratio, run = _missed("hash", 0.9, 0, 0.25, bytes=900_000, depth=1)
    assert run.dedicated / (run.dedicated + run.near_hits + run.near_misses) == pytest.approx(
        0.25, abs=0.03
    )
    assert ratio == pytest.approx(0.75 * 0.45, abs=0.03)
    every, _ = _missed("hash", 0.9, 0, 1.0, bytes=900_000, depth=1)
    assert every == 0


def test_sixteen_cores_on_one_slow_card() -> None:
    """Queues have thousands of cycles; reads and write-backs together reach the card's
    bandwidth.
    """
    memory = Memory(tier("spr"), tier("cxl-b"), fast_share=0.0)
    on = machine("spr").with_(l3_kib=15 * 64, l2_kib=256)
    run = kernel("memset", 30_000, on, memory, 16, step=64)
    assert run.gb_per_s == pytest.approx(22, rel=0.03)
    assert run.written_gb[1] > 0.3 * run.read_gb[1]


def test_cores_share_the_memory_fairly() -> None:
    memory = Memory(Tier(100, 10), Tier(250, 10))
    run = kernel("stream", 30_000, BARE, memory, 4, step=64)
    cycles = [core["c"] for core in run.cores]
    assert max(cycles) < 1.05 * min(cycles)


KERNELS = [
    "chase",
    "stream",
    "stride",
    "memset",
    "scatter",
    "gather",
    "hash",
    "tree",
    "stencil",
    "sort",
    "mixed",
]


@settings(max_examples=25)
@given(
    st.sampled_from(KERNELS),
    st.sampled_from(["skx", "spr", "emr"]),
    st.integers(0, 20),
    st.integers(1, 8),
    st.sampled_from([8, 64, 256]),
    st.floats(0, 1),
    st.floats(0, 0.5),
    st.integers(1, 3),
    st.floats(0, 1),
)
def test_what_holds_for_every_run(
    name, of, work, chains, step, stores, wrong, cores, share
) -> None:
    memory = Memory(tier(of), tier("cxl-a"), fast_share=share)
    program = Kernel(name, {"work": work, "chains": chains, "step": step, "stores": stores,
                            "mispredict": wrong, "bytes": 1 << 26})  # fmt: skip
    run = simulate(machine(of), memory, [program] * cores, 6000)
    for p in run.cores:
        assert p["operations"] == 6000 and p["c"] >= 6000 / machine(of).sizes["width"]
        assert p["c"] >= p["P1"] >= p["P2"] >= p["P3"] >= 0 and p["c"] >= p["P1"] + p["P6"]
        assert p["P7"] >= p["P8"] and p["P9"] >= p["P10"] and p["P11"] >= p["P13"]
        assert p["P14"] == p["P7"] + p["P9"] == p["P16"] + p["P17"] and p["P15"] >= p["P14"]
        assert (
            p["P4"] + p["P5"] <= p["loads"] and p["P12"] <= p["P4"] and p["l3_miss"] <= p["l2_miss"]
        )
    again = simulate(machine(of), memory, [program] * cores, 6000)
    assert again == run


def test_more_memory_latency_is_never_faster() -> None:
    for name in KERNELS:
        seconds = [
            kernel(name, 8000, machine("spr"), Memory(Tier(ns, 50), Tier(ns, 50))).seconds
            for ns in (90, 150, 300)
        ]
        assert seconds == sorted(seconds), name


@pytest.mark.parametrize(
    ("on", "memory", "program", "message"),
    [
        (BARE.with_(rob=0), MEMORY, Kernel("chase"), "rob is 0"),
        (BARE.with_(l1_ways=7), MEMORY, Kernel("chase"), "no multiple of its ways"),
        (BARE, Memory(Tier(10, 1), Tier(90, 1)), Kernel("chase"), "below the latency of the L3"),
        (BARE, replace(MEMORY, fast_share=1.5), Kernel("chase"), "fast_share is 1.5"),
        (BARE, MEMORY, Kernel("chess"), "no such kernel"),
        (BARE, MEMORY, Kernel("chase", {"bytes": 1}), "bytes is 1"),
        (BARE, MEMORY, Kernel("chase", {"byte": 1}), "byte is not known"),
        (BARE, Memory(Tier(100, 1), Tier(250, 1), near_lines=64), Kernel("chase"), "no page left"),
    ],
)
def test_what_the_model_does_not_take(on, memory, program, message: str) -> None:
    with pytest.raises(CoreError, match=message):
        simulate(on, memory, [program], 1000)


def test_limits_of_the_model() -> None:
    with pytest.raises(ValueError, match="no such size"):
        BARE.with_(robs=1)
    slow = Memory(Tier(1e4, 0.01), Tier(1e4, 0.01))
    with pytest.raises(CoreError, match="memory is so slow"):
        simulate(BARE, slow, [Kernel("gather")] * 32, 2000)


def test_a_program_ends_with_its_operations() -> None:
    program = Program()
    for line in range(9):
        program.load(line)
    operations = np.array(program.rows, OPERATION)
    run = simulate(BARE, MEMORY, [operations, Kernel("memset")], 5000)
    assert [core["operations"] for core in run.cores] == [10, 5000]
