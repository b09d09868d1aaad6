# SPDX-License-Identifier: Apache-2.0
"""After any launches, growth and exchanges no near line is shared and no page is lost."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from anemone.flat.config import FlatConfig
from anemone.memstrata.colouring import Layout, OutOfPagesError, PageAllocator

PAGE, HUGE = 4096, 2 << 20


class Allocation(RuleBasedStateMachine):
    """Machines start, grow, shrink, exchange and end, with a record of what each was promised."""

    running = Bundle("running")

    @initialize(
        near=st.integers(1, 12), ratio=st.integers(1, 4), dedicated=st.integers(0, 20),
        page=st.sampled_from([PAGE, HUGE]),
    )  # fmt: skip
    def start(self, near: int, ratio: int, dedicated: int, page: int) -> None:
        self.layout = Layout(near, ratio, dedicated, page)
        self.pages = PageAllocator(self.layout)
        self.sizes: dict[str, int] = {}
        self.launched = 0

    @rule(target=running, tiered=st.integers(0, 40), dedicated=st.integers(0, 12))
    def launch(self, tiered: int, dedicated: int) -> str:
        name = f"vm{self.launched}"
        self.launched += 1
        fits = -(-tiered // (self.layout.ratio + 1)) <= self.pages.free_colours
        try:
            self.pages.launch(name, tiered, dedicated)
        except OutOfPagesError:
            assert not fits or dedicated > self.before["dedicated"]
            return ""
        self.sizes[name] = tiered + dedicated
        return name

    @rule(name=consumes(running))
    def terminate(self, name: str) -> None:
        if name:
            self.pages.terminate(name)
            del self.sizes[name]

    @rule(name=running, more=st.integers(0, 20))
    def grow(self, name: str, more: int) -> None:
        if name not in self.sizes:
            return
        was = set(self.pages.tiered(name))
        try:
            found = self.pages.grow(name, more)
        except OutOfPagesError:
            assert set(self.pages.tiered(name)) == was
            return
        assert len(found) == more and not was & set(found)
        self.sizes[name] += more

    @rule(name=running, data=st.data())
    def shrink(self, name: str, data: st.DataObject) -> None:
        if name not in self.sizes or not (frames := self.pages.tiered(name)):
            return
        gone = data.draw(st.sets(st.sampled_from(frames)))
        self.pages.shrink(name, gone)
        assert set(self.pages.tiered(name)) == set(frames) - gone
        self.sizes[name] -= len(gone)

    @rule(name=running)
    def compact(self, name: str) -> None:
        if name not in self.sizes:
            return
        was, size = set(self.pages.tiered(name)), self.layout.ratio + 1
        moves = self.pages.compact(name)
        sources, targets = {a for a, _ in moves}, {b for _, b in moves}
        now = set(self.pages.tiered(name))
        assert len(now) == len(was) and sources <= was and targets <= now
        assert self.pages.fragmentation(name).unused < size or not now

    @rule(donor=running, borrower=running, pages=st.integers(0, 20))
    def exchange(self, donor: str, borrower: str, pages: int) -> None:
        if not {donor, borrower} <= self.sizes.keys() or donor == borrower:
            return
        had = len(self.pages.dedicated(donor)), len(self.pages.dedicated(borrower))
        done = self.pages.exchange(donor, borrower, pages)
        now = len(self.pages.dedicated(donor)), len(self.pages.dedicated(borrower))
        assert (
            done.pages <= min(pages, had[0])
            and done.bytes == 3 * done.pages * self.layout.page_bytes
        )
        assert now == (had[0] - done.pages, had[1] + done.pages)

    @invariant()
    def nothing_is_shared_or_lost(self) -> None:
        if not hasattr(self, "pages"):
            return
        owners = Counter[int]()
        dedicated = Counter[int]()
        for name in self.pages.machines:
            frames = self.pages.tiered(name)
            assert all(0 <= frame < self.layout.tiered_pages for frame in frames)
            owners.update({self.layout.colour(frame) for frame in frames})
            dedicated.update(self.pages.dedicated(name))
            assert len(set(frames)) + len(self.pages.dedicated(name)) == self.sizes[name]
        assert not owners or max(owners.values()) == 1, "two machines share a near line"
        assert not dedicated or max(dedicated.values()) == 1
        assert len(owners) + self.pages.free_colours == self.layout.near_pages
        assert len(dedicated) + self.pages.free_dedicated == self.layout.dedicated_pages
        found = self.pages.fragmentation()
        assert found.used + found.unused == len(owners) * (self.layout.ratio + 1)
        self.before = {"dedicated": self.pages.free_dedicated}


Allocation.TestCase.settings = settings(max_examples=60, stateful_step_count=30)
TestAllocation = Allocation.TestCase


@pytest.mark.parametrize("page", [PAGE, HUGE])
@pytest.mark.parametrize("ratio", [1, 2, 3, 4])
def test_pages_of_two_colours_share_no_near_line(page: int, ratio: int) -> None:
    """By the controller's mapping line p is in set p mod near_lines."""
    lines = page // 64
    config = FlatConfig(8 * lines, ratio, (8 * page, 12 * page))
    layout = Layout.of(config, page)
    assert (layout.near_pages, layout.dedicated_pages) == (8, 4)
    sets: dict[int, set[int]] = {}
    for frame in range(layout.tiered_pages):
        ends = (frame * lines, frame * lines + lines - 1)
        of = {line % config.near_lines for line in ends}
        sets.setdefault(layout.colour(frame), of)
        assert sets[layout.colour(frame)] == of
    assert len({min(of) for of in sets.values()}) == 8


def test_a_page_over_two_colours_is_refused() -> None:
    with pytest.raises(ValueError, match="near_lines: 96 lines"):
        Layout.of(FlatConfig(96), PAGE)


@pytest.mark.parametrize(("ratio", "unused"), [(1, 33), (2, 43), (3, 47), (4, 48)])
def test_a_random_half_freed_is_as_fragmented_as_said(ratio: int, unused: int) -> None:
    """docs/memstrata.md has the first and last value. Compaction leaves less than a colour."""
    tiered = 60_000  # a quadratic compaction would take minutes
    pages = PageAllocator(Layout(tiered // (ratio + 1), ratio, 0, HUGE))
    pages.launch("a", tiered)
    pages.shrink("a", random.Random(1).sample(pages.tiered("a"), tiered // 2))
    assert 100 * pages.fragmentation("a").share == pytest.approx(unused, abs=1)
    pages.compact("a")
    assert pages.fragmentation("a").unused <= ratio
    if ratio in (1, 4):
        page = Path(__file__).parents[2].joinpath("docs/memstrata.md").read_text(encoding="utf-8")
        assert f"{unused} % at R = {ratio}" in page


def test_half_of_a_machine_freed_page_by_page_is_compacted() -> None:
    pages = PageAllocator(Layout(8, 1, 0, HUGE))
    pages.launch("a", 16)
    pages.shrink("a", range(8))
    assert pages.free_colours == 0 and pages.fragmentation().share == 0.5
    with pytest.raises(OutOfPagesError, match="1 colours; 0 free"):
        pages.launch("b", 2)
    assert len(pages.compact("a")) == 4
    assert pages.free_colours == 4 and pages.fragmentation().share == 0.0
    pages.launch("b", 8)


def test_a_terabyte_of_small_pages_costs_nothing() -> None:
    pages = PageAllocator(Layout(1 << 28, 1, 1 << 26, PAGE))
    pages.launch("a", 1000, 10)
    assert len(pages.tiered("a")) == 1000 and pages.free_colours == (1 << 28) - 500
