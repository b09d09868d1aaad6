# SPDX-License-Identifier: Apache-2.0
"""The loop over intervals: no page is lost, shares are as promised, copies are counted."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from anemone.memstrata.colouring import Exchange, Layout, OutOfPagesError, PageAllocator
from anemone.memstrata.launch import spread
from anemone.memstrata.loop import COPY_GB_PER_S, FREE, Host, Judged, Moved, Reading
from anemone.memstrata.plan import Vm

HUGE = 2 << 20


def reading(l3_ns: float = 100.0, requests: float = 1000.0, misses: float = 100.0) -> Reading:
    metrics = {"l3_ns": l3_ns, "l2_ns": 50.0, "tlb_ns": 20.0, "l2_mpki": 4.0, "requests": 5.0}
    return Reading(metrics, requests, misses)


def by_latency(readings: dict[str, Reading]) -> dict[str, Judged]:
    """A machine is slow above 150 ns."""
    return {n: Judged(r.metrics["l3_ns"] > 150, r.misses) for n, r in readings.items()}


class Rounds(RuleBasedStateMachine):
    """Machines start, end and become slow at random."""

    @initialize(
        near=st.integers(4, 40), dedicated=st.integers(0, 40), share=st.floats(0, 0.6),
        ratio=st.integers(1, 4), step=st.floats(0.05, 0.5),
    )  # fmt: skip
    def start(self, near: int, dedicated: int, share: float, ratio: int, step: float) -> None:
        self.layout = Layout(near, ratio, dedicated, HUGE)
        self.host = Host(self.layout, share, by_latency, step)
        self.step, self.sizes, self.count = step, dict[str, int](), 0

    @rule(pages=st.integers(1, 30))
    def launch(self, pages: int) -> None:
        name = f"vm{self.count}"
        self.count += 1
        free = self.host.pages.free_dedicated, self.host.pages.free_colours
        try:
            moved = self.host.launch(name, pages)
        except OutOfPagesError:
            now = self.host.pages.free_dedicated, self.host.pages.free_colours
            assert now == free and name not in self.host.pages.machines
            return
        self.sizes[name] = pages
        assert all(name in (m.donor, m.borrower) and m.donor != FREE for m in moved)

    @rule(at=st.integers(0, 9))
    def terminate(self, at: int) -> None:
        if self.sizes:
            name = list(self.sizes)[at % len(self.sizes)]
            self.host.terminate(name)
            del self.sizes[name]

    @rule(slow=st.lists(st.booleans(), min_size=20, max_size=20), misses=st.floats(0, 1e6))
    def round(self, slow: list[bool], misses: float) -> None:
        had = {name: len(self.host.pages.dedicated(name)) for name in self.sizes}
        asked = {
            name: reading(l3_ns=200.0 if slow[i % 20] else 100.0, misses=misses * i)
            for i, name in enumerate(self.sizes)
        }
        moved = self.host.round(asked)
        for m in moved:
            copies = 1 if m.donor == FREE else 3
            assert m.exchange.bytes == copies * m.exchange.pages * HUGE > 0
            if m.donor != FREE:
                assert self.host.judged[m.borrower].is_outlier
        for name, size in self.sizes.items():
            given = sum(m.exchange.pages for m in moved if m.donor == name)
            taken = sum(m.exchange.pages for m in moved if m.borrower == name)
            lent = sum(m.exchange.pages for m in moved if m.borrower == name and m.donor != FREE)
            assert max(given, lent) <= self.step * size
            assert len(self.host.pages.dedicated(name)) == had[name] + taken - given

    @invariant()
    def nothing_is_lost(self) -> None:
        if not hasattr(self, "host"):
            return
        pages, colours, dedicated = self.host.pages, set[int](), set[int]()
        for name, size in self.sizes.items():
            tiered, own = pages.tiered(name), pages.dedicated(name)
            assert len(tiered) + len(own) == size
            assert self.host.dedicated(name) == len(own) / size
            mine = {self.layout.colour(frame) for frame in tiered}
            assert not colours & mine and not dedicated & set(own)
            colours |= mine
            dedicated |= set(own)
        assert len(colours) + pages.free_colours == self.layout.near_pages
        assert len(dedicated) + pages.free_dedicated == self.layout.dedicated_pages


Rounds.TestCase.settings = settings(max_examples=40, stateful_step_count=20)
TestRounds = Rounds.TestCase


def test_an_outlier_gets_a_tenth_a_round_until_the_others_have_none() -> None:
    """A round moves one step of 10 pages between two machines of 100, a third of them dedicated."""
    host = Host(Layout(68, 1, 64, HUGE), 0.32, by_latency)
    host.launch("calm", 100)
    host.launch("slow", 100)
    readings = {"calm": reading(100.0), "slow": reading(200.0)}
    shares = []
    for _ in range(5):
        moved = host.round(readings)
        shares.append(host.dedicated("slow"))
        assert sum(m.exchange.bytes for m in moved) == 3 * HUGE * sum(
            m.exchange.pages for m in moved
        )
    assert shares == [0.42, 0.52, 0.62, 0.64, 0.64] and host.dedicated("calm") == 0
    assert host.round({n: reading(100.0) for n in readings}) == []


def test_without_a_judge_nothing_moves() -> None:
    host = Host(Layout(68, 1, 64, HUGE), 0.32)
    for name in ("a", "b"):
        assert host.launch(name, 100) == [] and host.dedicated(name) == 0.32
    assert host.round({"a": reading(500.0), "b": reading(100.0)}) == []
    assert host.dedicated("a") == 0.32


def test_a_new_machine_gets_its_share_of_the_others() -> None:
    """The next launch gets the pages that an ended machine had given away, equally from each."""
    host = Host(Layout(102, 1, 96, HUGE), 0.32, by_latency, step_ratio=0.32)
    for name in ("a", "b", "c"):
        host.launch(name, 100)
    slow = {name: reading(200.0 if name != "c" else 100.0) for name in "abc"}
    host.round(slow)
    assert host.dedicated("c") == 0
    host.terminate("c")
    moved = host.launch("d", 100)
    assert [(m.borrower, m.exchange.pages) for m in moved] == [("d", 16), ("d", 16)]
    assert host.dedicated("d") == 0.32


def test_what_an_ended_machine_leaves_is_given_away_behind_it() -> None:
    host = Host(Layout(102, 1, 96, HUGE), 0.32, by_latency, step_ratio=0.32)
    for name in ("a", "b", "c"):
        host.launch(name, 100)
    calm = {name: reading(100.0) for name in "ab"}
    host.round({**calm, "c": reading(200.0)})
    assert host.dedicated("c") == 0.64
    host.terminate("c")
    moved = host.round(calm)
    assert [(m.donor, m.borrower) for m in moved] == [(FREE, "a"), (FREE, "b")]
    assert sum(m.exchange.pages for m in moved) == 32 and host.pages.free_dedicated == 32
    assert all(m.exchange.bytes == m.exchange.pages * HUGE for m in moved)
    assert host.round(calm) == []


def test_spread_by_hand() -> None:
    vms = [Vm("a", 100, False, 0.0, 98), Vm("b", 100, False, 0.0, 10)]
    assert spread(vms, 40, 100, 0.33) == {"a": 2, "b": 5}
    assert spread(vms, 33, 100, 0.33) == {} == spread([], 40, 100, 0.33)


def test_free_pages_are_copied_once() -> None:
    pages = PageAllocator(Layout(8, 1, 6, HUGE))
    pages.launch("a", 8, 1)
    assert pages.dedicate("a", 3) == Exchange(2, 2 * HUGE)
    assert (pages.free_colours, pages.free_dedicated) == (5, 3)
    assert pages.dedicate("a", 100) == Exchange(2, 2 * HUGE)
    assert pages.dedicate("a", 100).pages == 0 and len(pages.tiered("a")) == 4


def test_copying_takes_time() -> None:
    moved = Moved("a", "b", Exchange(1000, 3000 * HUGE))
    assert moved.copy_s == pytest.approx(3000 * HUGE / (COPY_GB_PER_S * 1e9))


def test_metrics_are_smoothed() -> None:
    """A machine counts as slow only once its moving average is."""

    def rounds(ewma: float) -> int:
        host = Host(Layout(68, 1, 64, HUGE), 0.32, by_latency, ewma=ewma)
        host.launch("a", 100)
        host.round({"a": reading(100.0)})
        for n in range(1, 20):
            host.round({"a": reading(200.0)})
            if host.judged["a"].is_outlier:
                return n
        return 0

    assert (rounds(1.0), rounds(0.2)) == (1, 4)  # 100, 120, 136, 148.8, 159.04
