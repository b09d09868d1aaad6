# SPDX-License-Identifier: Apache-2.0
"""Listing 1 of Memstrata, by hand and by invariants of any round."""

from __future__ import annotations

import json
from collections import Counter
from functools import cmp_to_key
from math import floor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anemone.cli import main
from anemone.memstrata import Migration, Vm, plan
from anemone.memstrata.launch import balance


def moved(*vms: Vm, ratio: float = 0.1) -> list[tuple[str, str, int]]:
    return [(m.donor, m.borrower, m.pages) for m in plan(vms, ratio)]


def test_the_lowest_gives_to_the_highest() -> None:
    a, b, c = Vm("a", 100, False, 3.0), Vm("b", 200, False, 1.0), Vm("c", 150, True, 0.5)
    assert moved(a, b, c) == [("b", "c", 15)]


def test_a_borrower_takes_from_several_in_order() -> None:
    a, b, c = Vm("a", 39, False, 2.0), Vm("b", 50, False, 1.0), Vm("c", 100, True, 0.0)
    assert moved(a, b, c) == [("b", "c", 5), ("a", "c", 3)]


def test_an_outlier_gives_to_one_that_misses_more() -> None:
    a, b = Vm("a", 100, True, 9.0), Vm("b", 100, True, 1.0)
    assert moved(a, b) == [("b", "a", 10)]


def test_what_a_donor_has_left_goes_to_the_next_outlier() -> None:
    a, b, c = Vm("a", 500, False, 1.0), Vm("b", 100, True, 5.0), Vm("c", 200, True, 4.0)
    assert moved(a, b, c) == [("a", "b", 10), ("a", "c", 20)]


def test_equal_machines_keep_their_order() -> None:
    a, b, c = Vm("a", 10, False, 1.0), Vm("b", 10, False, 1.0), Vm("c", 10, True, 1.0)
    assert moved(a, b, c) == [("a", "c", 1)]
    assert moved(b, a, c) == [("b", "c", 1)]


def test_nobody_moves_without_an_outlier_or_alone() -> None:
    assert moved(Vm("a", 100, False, 1.0), Vm("b", 100, False, 2.0)) == []
    assert moved(Vm("a", 100, True, 1.0)) == [] == moved()


def test_parts_of_a_page_and_empty_machines_are_left_out() -> None:
    a, b, c = Vm("a", 9, False, 1.0), Vm("b", 0, False, 2.0), Vm("c", 25, False, 3.0)
    assert moved(a, b, c, Vm("d", 100, True, 0.0)) == [("c", "d", 2)]


def test_dedicated_pages_bound_both_sides() -> None:
    a, b = Vm("a", 100, False, 1.0, dedicated=4), Vm("b", 100, False, 2.0, dedicated=100)
    assert moved(a, b, Vm("c", 100, True, 1.0, dedicated=94)) == [("a", "c", 4), ("b", "c", 2)]
    assert moved(a, Vm("c", 100, True, 1.0, dedicated=100)) == []


@st.composite
def machines(draw: st.DrawFn) -> list[Vm]:
    known = draw(st.booleans())
    found = []
    for i in range(draw(st.integers(0, 8))):
        pages = draw(st.integers(0, 300))
        dedicated = draw(st.integers(0, pages)) if known else None
        misses = draw(st.sampled_from([0.0, 0.5, 1.0, 7.0]))
        found.append(Vm(f"vm{i}", pages, draw(st.booleans()), misses, dedicated))
    return found


def listing_1(vms: list[Vm], ratio: float) -> list[tuple[str, str, int]]:
    """The paper's listing line by line, with whole pages and known dedicated pages."""

    def comparator(one: Vm, other: Vm) -> bool:
        if one.is_outlier != other.is_outlier:
            return other.is_outlier
        return one.avg_miss_count < other.avg_miss_count

    ranked = sorted(vms, key=cmp_to_key(lambda a, b: comparator(b, a) - comparator(a, b)))
    donated, found, donor = Counter[str](), [], 0
    for borrower in range(len(ranked) - 1, 0, -1):
        if not ranked[borrower].is_outlier:
            break
        to_borrow = min(floor(ranked[borrower].pages * ratio), headroom(ranked[borrower]))
        while donor < borrower and to_borrow > 0:
            of = ranked[donor]
            has = of.pages if of.dedicated is None else of.dedicated
            to_donate = min(floor(of.pages * ratio), has) - donated[of.name]
            to_migrate = min(to_borrow, to_donate)
            found.append((of.name, ranked[borrower].name, to_migrate))
            to_borrow -= to_migrate
            donated[of.name] += to_migrate
            if to_donate == to_migrate:
                donor += 1
    return [each for each in found if each[2]]


@given(machines(), st.one_of(st.sampled_from([0.0, 0.05, 0.1, 0.29, 1.0]), st.floats(0, 1)))
def test_a_round_is_listing_1(vms: list[Vm], ratio: float) -> None:
    assert moved(*vms, ratio=ratio) == listing_1(vms, ratio)


def test_nobody_moves_more_pages_than_it_has() -> None:
    """This also holds where the product with the step's ratio is rounded up."""
    maximum = (1 << 64) - 1
    assert moved(Vm("a", maximum, False, 1.0), Vm("b", maximum, True, 1.0), ratio=1.0) == [
        ("a", "b", maximum)
    ]


@given(machines(), st.sampled_from([0.0, 0.05, 0.1, 0.5, 1.0]))
def test_any_round(vms: list[Vm], ratio: float) -> None:
    by_name = {vm.name: vm for vm in vms}
    given_, taken = Counter[str](), Counter[str]()
    for m in plan(vms, ratio):
        donor, borrower = by_name[m.donor], by_name[m.borrower]
        assert m.pages > 0 and borrower.is_outlier
        rank = (donor.is_outlier, donor.avg_miss_count)
        assert rank <= (borrower.is_outlier, borrower.avg_miss_count)
        given_[m.donor] += m.pages
        taken[m.borrower] += m.pages
    assert not given_.keys() & taken.keys()
    for counts, bound in (
        (given_, lambda vm: vm.pages if vm.dedicated is None else vm.dedicated),
        (taken, headroom),
    ):
        for name, pages in counts.items():
            assert pages <= min(floor(by_name[name].pages * ratio), bound(by_name[name]))


def headroom(vm: Vm) -> int:
    return vm.pages - (vm.dedicated or 0)


@given(machines())
def test_nothing_is_left_to_do(vms: list[Vm]) -> None:
    """The worst outlier got its whole step, or all machines below it gave theirs."""
    found = plan(vms, 0.1)
    ranked = sorted(vms, key=lambda vm: (vm.is_outlier, vm.avg_miss_count))
    if len(ranked) < 2 or not ranked[-1].is_outlier:
        assert found == []
        return
    maximum = sum(vm.donates(0.1) for vm in ranked[:-1])
    got = sum(m.pages for m in found if m.borrower == ranked[-1].name)
    assert got == min(ranked[-1].borrows(0.1), maximum)


def launched(*dedicated: int, new: int, share: float) -> list[tuple[str, str, int]]:
    others = [Vm(f"vm{i}", 100, False, 1.0, pages) for i, pages in enumerate(dedicated)]
    return [
        (m.donor, m.borrower, m.pages) for m in balance(others, Vm("n", 90, False, 0.0, new), share)
    ]


def test_a_new_machine_gets_the_systems_share() -> None:
    """It gets 30 of its 90 pages (§4.3: 33 %), equally from each; a machine with less gives all."""
    third = 1 / 3 + 1e-9
    assert launched(50, 50, 50, new=0, share=third) == [
        ("vm0", "n", 10), ("vm1", "n", 10), ("vm2", "n", 10),
    ]  # fmt: skip
    assert launched(50, 4, 50, new=0, share=third) == [
        ("vm0", "n", 13), ("vm1", "n", 4), ("vm2", "n", 13),
    ]  # fmt: skip
    assert launched(50, 50, new=33, share=third) == [("n", "vm0", 2), ("n", "vm1", 1)]
    assert launched(50, 50, new=30, share=third) == []
    assert launched(3, 0, new=0, share=third) == [("vm0", "n", 3)]
    assert launched(new=0, share=third) == []


@given(st.lists(st.integers(0, 100), max_size=6), st.integers(0, 90), st.floats(0, 1))
def test_balancing_takes_no_more_than_there_is(has: list[int], new: int, share: float) -> None:
    found = launched(*has, new=new, share=share)
    need = floor(share * 90) - new
    able = [pages if need > 0 else 100 - pages for pages in has]
    parts = {(d if b == "n" else b): pages for d, b, pages in found}
    assert all(0 < pages <= able[int(name[2:])] for name, pages in parts.items())
    assert sum(parts.values()) == min(abs(need), sum(able))
    free = [
        parts.get(f"vm{i}", 0) for i, maximum in enumerate(able) if parts.get(f"vm{i}", 0) < maximum
    ]
    assert not free or max(free) - min(free) <= 1


def written(folder: Path, content: object) -> Path:
    (path := folder / "vms.json").write_text(json.dumps(content))
    return path


def run(path: Path, *options: str) -> int | str | None:
    with pytest.raises(SystemExit) as stop:
        main(["memstrata", "plan", "--vms", str(path), *options])
    return stop.value.code


A = {"name": "a", "pages": 100, "is_outlier": False, "avg_miss_count": 1}
B = {"name": "b", "pages": 60, "is_outlier": True, "avg_miss_count": 2.5}


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(written(tmp_path, {"step_ratio": 0.5, "vms": [A, B]}), "--json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "migrations": [{"from": "a", "to": "b", "pages": 30}]
    }
    assert run(written(tmp_path, {"vms": [A, B]})) == 0
    assert "6" in capsys.readouterr().out
    assert plan([Vm("a", 100, False, 1.0), Vm("b", 60, True, 2.5)]) == [Migration("a", "b", 6)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"vms": 3}, "vms is 3"),
        ({"vms": [], "step_ratio": 1.5}, "step_ratio is 1.5"),
        ({"vms": [{**A, "pages": -1}]}, "vms[0]: pages is -1"),
        ({"vms": [A, {**A, "pages": 5}]}, "vms[1]: name"),
        ({"vms": [A, {**B, "is_outlier": 1}]}, "is_outlier is 1"),
        ({"vms": [{**A, "avg_miss_count": -2}]}, "avg_miss_count is -2"),
        ({"vms": [{**A, "dedicated": 4}, B]}, "vms[1]: dedicated is missing"),
        ({"vms": [{**A, "dedicated": 101}]}, "dedicated is 101"),
        ({"vms": [{"name": "a"}]}, "pages is missing"),
        ({"vms": ["a"]}, "vms[0]"),
        ({"vms": [{**A, "pages": None}]}, "vms[0]: pages is null"),
    ],
)
def test_what_is_wrong_is_named(
    content: object, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(written(tmp_path, content)) == 2
    shown = capsys.readouterr()
    assert message in shown.err and "vms.json" in shown.err and not shown.out
