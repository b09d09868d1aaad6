# SPDX-License-Identifier: Apache-2.0
"""The cache filter equals the reference model and satisfies a cache's invariants."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anemone.capture.settings import RANGES, Placement, Settings
from anemone.io.errors import InputError

from .filter_library import RECORD, Filter, Refused
from .plain import PlainFilter

SMALL = Settings(llc_kib=4, ways=4, slow_down=1)  # 16 sets
REACH = 1 << 16  # bytes that a random program touches, much more than the cache


def shapes() -> st.SearchStrategy[Settings]:
    """Small caches of all shapes, with and without a prefetcher."""
    return st.builds(
        lambda sets, ways, prefetch, degree, table, buffers, slow: Settings(
            llc_kib=sets * ways // 16,
            ways=ways,
            prefetch=prefetch,
            prefetch_degree=degree,
            prefetch_table=table,
            combine_buffers=buffers,
            slow_down=slow,
        ),
        st.sampled_from([16, 64]),
        st.sampled_from([1, 2, 3, 8]),
        st.booleans(),
        st.integers(1, 16),
        st.sampled_from([1, 2, 256]),
        st.integers(1, 4),
        st.sampled_from([1, 1000]),
    )


def programs() -> st.SearchStrategy[list[tuple]]:
    """Single accesses, runs with a stride, non-temporal stores, fences, sleeps."""
    address, pc = st.integers(0, REACH - 1), st.sampled_from([64, 65, 321, 4000])
    access = st.tuples(st.just("access"), pc, address, st.integers(1, 200), st.booleans())
    run = st.builds(
        lambda pc, start, step, n, write: [
            ("access", pc, (start + i * step) % REACH, 8, write) for i in range(n)
        ],
        pc,
        address,
        st.sampled_from([8, 64, -64, 128, 192, -4096]),
        st.integers(3, 40),
        st.booleans(),
    )
    stream = st.tuples(st.just("stream"), address, st.integers(1, 200))
    copy = st.builds(
        lambda start, n: [("stream", (start // 16 * 16 + i * 16) % REACH, 16) for i in range(n)],
        address,
        st.integers(1, 24),
    )
    rare = st.sampled_from([("fence",), ("idle", 1234)])
    one = st.one_of(access, stream, rare).map(lambda op: [op])
    return st.lists(st.one_of(one, run, copy), max_size=60).map(lambda xs: list(chain(*xs)))


def apply(model, op: tuple) -> list[tuple[str, int]]:
    getattr(model, op[0])(*op[1:])
    return model.take()


@given(shapes(), programs())
@settings(max_examples=150)
def test_same_traffic_as_the_plain_model_line_by_line(shape: Settings, program: list) -> None:
    fast, plain = Filter(shape), PlainFilter(shape)
    for op in [*program, ("flush",)]:
        assert apply(fast, op) == apply(plain, op), op
    assert fast.times == plain.times


@given(shapes(), programs())
@settings(max_examples=100)
def test_no_store_is_ever_lost(shape: Settings, program: list) -> None:
    """Replaying the events, memory has every store before it is read again."""
    model = Filter(shape)
    stored: Counter[int] = Counter()  # stores of the program so far, by line
    memory: Counter[int] = Counter()  # stores that have reached memory
    for op in [*program, ("flush",)]:
        events = apply(model, op)
        before = stored.copy()
        if op[0] == "stream" or (op[0] == "access" and op[4]):
            start, size = op[-2:] if op[0] == "stream" else op[2:4]
            stored.update(range(start // 64, (start + size - 1) // 64 + 1))
        for what, line in events:
            if what in ("fill", "prefetch"):
                assert memory[line] == before[line], f"{what} of line {line} misses a store"
            elif what == "back":
                # Streaming over a dirty line first writes the old content back.
                memory[line] = before[line] if op[0] == "stream" else stored[line]
            else:
                memory[line] = before[line] if op[0] == "access" else stored[line]
    assert memory == stored


@given(shapes(), programs())
@settings(max_examples=50)
def test_totals_are_the_events_by_cause(shape: Settings, program: list) -> None:
    model = Filter(shape)
    seen: Counter[str] = Counter()
    for op in [*program, ("flush",)]:
        seen.update(what for what, _ in apply(model, op))
    totals = model.totals()
    for cause, name in [
        ("fill", "fills"),
        ("prefetch", "prefetches"),
        ("back", "writebacks"),
        ("stream", "streamed"),
    ]:
        assert totals[name] == seen[cause]
    assert totals["events"] == seen.total()
    assert totals["dirty_left"] == 0
    assert totals["prefetches_used"] + totals["prefetches_unused"] <= totals["prefetches"]


def test_a_sequential_read_is_prefetched_after_three_equal_steps() -> None:
    off, on = Filter(replace(SMALL, prefetch=False)), Filter(SMALL)
    for model in (off, on):
        for line in range(64):  # one 4 KiB page
            model.access(1, line * 64, 8, 0)
    assert off.take() == [("fill", line) for line in range(64)]
    events = on.take()
    assert events[:8] == [("fill", i) for i in range(4)] + [("prefetch", i) for i in range(4, 8)]
    # The same lines are fetched, almost all of them before their access, none beyond the page.
    assert sorted(line for _, line in events) == list(range(64))
    assert Counter(what for what, _ in events)["prefetch"] == 60
    assert on.totals()["prefetches_used"] == 60
    assert on.times[-1] < off.times[-1]


def test_non_temporal_stores_go_round_the_cache_one_write_a_line() -> None:
    model = Filter(SMALL)
    for at in range(0, 1 << 20, 16):
        model.stream(at, 16)
    assert model.take() == [("stream", line) for line in range((1 << 20) // 64)]
    totals = model.totals()
    assert totals["streamed_partial"] == 0 and totals["fills"] == 0
    model.access(1, 0, 8, 0)  # the line is not cached
    assert model.take() == [("fill", 0)]


def test_a_partly_filled_combining_buffer_leaves_when_it_must() -> None:
    shape = replace(SMALL, combine_buffers=2)
    model = Filter(shape)
    for line in (0, 1, 2):  # the third needs a buffer, so the oldest is written
        model.stream(line * 64, 16)
    assert model.take() == [("stream", 0)]
    model.access(1, 64 + 32, 8, 0)  # a load must see the store
    assert model.take() == [("stream", 1), ("fill", 1)]
    model.fence()
    assert model.take() == [("stream", 2)]
    assert model.totals()["streamed_partial"] == 3


def test_phases_load_touches_pages_only_and_warm_fills_the_cache_unrecorded() -> None:
    model = Filter(replace(SMALL, prefetch=False), phase=0)
    model.access(1, 5 << 21, 8, 1)
    model.access(1, 9 << 21, 8, 1)
    assert model.translate(9 << 21) == 1 << 21
    model.phase(1)
    model.access(1, 9 << 21, 8, 1)
    model.phase(RECORD)
    assert model.take() == []
    model.access(1, 9 << 21, 8, 0)  # cached in the warm phase
    assert model.take() == []
    model.access(1, 5 << 21, 8, 0)  # only touched in the load phase, so not cached
    assert model.take() == [("fill", 0)]


def test_recording_stops_at_the_asked_for_number_of_events() -> None:
    model = Filter(replace(SMALL, prefetch=False, events=10))
    for line in range(100):
        model.access(1, line * 64, 8, 0)
    assert model.take() == [("fill", line) for line in range(10)]


@pytest.mark.parametrize("pages", ["huge", "base"])
@pytest.mark.parametrize("placement", list(Placement))
def test_placement_is_one_to_one_and_in_the_device(pages: str, placement: Placement) -> None:
    shift = 21 if pages == "huge" else 12
    frames: dict[int, tuple[int, int]] = {}
    tenants = 3
    for tenant in range(tenants):
        shape = Settings(
            pages=pages,
            placement=placement,
            device_gib=3,
            base_gib=1,
            tenants=tenants,
            tenant=tenant,
            seed=7,
        )
        model = Filter(shape, phase=0)
        # All huge pages of the device, or a few thousand base pages.
        count = (2 << 30 >> shift) // tenants if pages == "huge" else 3000
        for page in range(count):
            physical = model.translate((page << shift) + 12345 % (1 << shift))
            assert physical & ((1 << shift) - 1) == 12345 % (1 << shift)
            assert 1 << 30 <= physical < 3 << 30
            assert frames.setdefault(physical >> shift, (tenant, page)) == (tenant, page)
        if pages == "huge":  # a full device is reported
            extra = [model.access(1, (count + i) << shift, 8, 0) for i in range(2)]
            assert extra[-1] == 1
    order = sorted(frames)
    if placement is Placement.first_touch:
        assert order[-1] - order[0] == len(order) - 1  # no gaps, tenants alternate
    else:
        assert (order[-1] - order[0]) << shift > 1 << 30


def test_scattered_placement_depends_on_the_seed() -> None:
    def frame(seed: int) -> int:
        return Filter(Settings(placement=Placement.scattered, seed=seed), 0).translate(0)

    assert frame(1) == frame(1)
    assert len({frame(seed) for seed in range(20)}) > 10


def near_the_limits(name: str) -> st.SearchStrategy[tuple[str, int]]:
    low, high = RANGES[name]
    edges = [low, max(low - 1, 0), high, high + 1]
    value = st.sampled_from([*edges, *(1 << i for i in range(14))]) | st.integers(0, 100)
    return st.tuples(st.just(name), value)


@given(st.sampled_from(sorted(RANGES)).flatmap(near_the_limits))
@settings(max_examples=200)
def test_both_sides_allow_the_same_settings(change: tuple[str, int]) -> None:
    name, value = change
    text = {word.split("=")[0]: word for word in Settings().text().split()}
    text[name] = f"{name}={value}"
    try:
        Settings(**{name: value})
        allowed = True
    except InputError:
        allowed = False
    try:
        Filter(" ".join(text.values()))
        assert allowed
    except Refused as e:
        assert not allowed, str(e)


@pytest.mark.parametrize(
    "change",
    [
        lambda words: words[1:],
        lambda words: [*words, "colour=1"],
        lambda words: [*words, words[0]],
        lambda words: [*words[:-1], "events=-1"],
        lambda words: [*words[:-1], "events"],
        lambda words: ["pages=tiny" if w.startswith("pages") else w for w in words],
        lambda words: ["prefetch=2" if w.startswith("prefetch=") else w for w in words],
    ],
)
def test_settings_that_make_no_sense_are_refused_in_one_line(change) -> None:
    with pytest.raises(Refused) as e:
        Filter(" ".join(change(Settings().text().split())))
    assert "allowed: " in str(e.value) and "\n" not in str(e.value)
