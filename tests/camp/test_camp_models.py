# SPDX-License-Identifier: Apache-2.0
"""CAMP's models compared with a second implementation, brute force, and results by hand."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from anemone.io.errors import InputError
from anemone.models.camp import Calibration, Slowdown, check_counters, predict, weights
from anemone.models.camp.colocate import RULES, Workload, place
from anemone.models.camp.counters import NEEDED
from anemone.models.camp.events import ALWAYS, GROUPS, by_name
from anemone.models.camp.interleave import Endpoints, commands, endpoints_of
from tests.camp import plain
from tests.camp.strategies import PLATFORMS, calibrations, counters, endpoints
from tests.commands import one_line

COMPONENTS = ("drd", "cache", "store")


def close(found: Slowdown, expected: list) -> None:
    for name, value in zip(COMPONENTS, expected, strict=True):
        assert getattr(found, name) == pytest.approx(float(value), rel=1e-12, abs=1e-12)
    assert found.total == pytest.approx(float(sum(expected)), rel=1e-12, abs=1e-12)


# c, P1 ... P17; all products below are computed by hand.
BY_HAND = dict(
    zip(
        ["c", *(f"P{i}" for i in range(1, 18))],
        [1000, 800, 500, 300, 30, 10, 40, 200, 50, 0, 0, 0, 20, 100, 60, 240, 90, 30],
        strict=True,
    )
)
CONSTANTS = Calibration(k_drd=2.0, p=1.5, q=0.2, k_cache=4.0, k_store=0.5)


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        # 2 * 0.3 / (1.5 * 0.2 + 0.2) = 1.2; 4 * (0.8 - 0.5) * 10/40 * 150/200; 0.5 * 0.04
        ("skx", [1.2, 0.225, 0.02]),
        # 4 * (0.5 - 0.3) * 10/40 * 60/240 * 90/120
        ("spr", [1.2, 0.0375, 0.02]),
        ("emr", [1.2, 0.0375, 0.02]),
    ],
)
def test_slowdown_by_hand(platform: str, expected: list[float]) -> None:
    close(predict(check_counters(BY_HAND, platform), CONSTANTS, platform), expected)


@pytest.mark.parametrize(
    ("platform", "zero"),
    [("skx", ["P7", "P8"]), ("skx", ["P4", "P5"]), ("spr", ["P16", "P17"]), ("emr", ["P4", "P5"])],
)
def test_no_prefetches_or_misses_is_no_cache_slowdown(platform: str, zero: list[str]) -> None:
    found = predict(
        check_counters({**BY_HAND, **dict.fromkeys(zero, 0)}, platform), CONSTANTS, platform
    )
    close(found, [1.2, 0.0, 0.02])


@given(counters(), calibrations, PLATFORMS)
def test_slowdown_is_the_plain_one(n: dict, k: dict, platform: str) -> None:
    close(
        predict(check_counters(n, platform), Calibration(**k), platform),
        plain.slowdown(n, k, platform),
    )


@given(counters(), calibrations, PLATFORMS, st.integers(2, 1000))
def test_a_longer_run_of_the_same_is_as_much_slower(n, k, platform, times: int) -> None:
    once = predict(check_counters(n, platform), Calibration(**k), platform)
    more = predict(
        check_counters({a: b * times for a, b in n.items()}, platform), Calibration(**k), platform
    )
    assert more.total == pytest.approx(once.total, rel=1e-9)


@pytest.mark.parametrize("platform", NEEDED)
def test_each_needed_counter_is_missed(platform: str) -> None:
    for name in NEEDED[platform]:
        with pytest.raises(InputError, match=f"{name} is missing"):
            check_counters({k: v for k, v in BY_HAND.items() if k != name}, platform)
    check_counters({k: v for k, v in BY_HAND.items() if k in NEEDED[platform]}, platform)


@pytest.mark.parametrize(
    ("platform", "change", "message"),
    [
        ("skx", {"c": 0}, "c is 0"),
        ("spr", {"P13": 0}, "P13 is 0"),
        ("emr", {"P15": 0}, "P15 is 0"),
        ("skx", {"P15": 0}, "P15 is 0"),
        ("skx", {"P1": 499}, "P2 is 500; allowed: no more than P1, which is 499"),
        ("spr", {"P2": 299}, "P3 is 300; allowed: no more than P2, which is 299"),
        ("skx", {"P8": 201}, "P8 is 201; allowed: no more than P7, which is 200"),
        ("spr", {"P6": -1}, "P6 is -1"),
        ("spr", {"P6": float("nan")}, "P6 is nan"),
        ("spr", {"P6": 1e300}, "P6 is 1e+300"),
        ("spr", {"P6": 10**400}, "P6 is 0x"),
        ("spr", {"P6": "1"}, 'P6 is "1"'),
        ("spr", {"P6": True}, "P6 is true"),
        ("spr", {"P18": 1}, "P18 is 1"),
    ],
)
def test_counters_that_cannot_be(platform: str, change: dict, message: str) -> None:
    with pytest.raises(InputError) as refused:
        check_counters({**BY_HAND, **change}, platform)
    assert message in one_line(refused.value)


def test_zeros_that_can_be() -> None:
    zeros = dict.fromkeys(["P1", "P2", "P3", "P6", "P7", "P8", "P12", "P14", "P16", "P17"], 0)
    for platform in NEEDED:
        found = predict(check_counters({**BY_HAND, **zeros}, platform), CONSTANTS, platform)
        assert found == Slowdown(0, 0, 0)


def test_constants_without_a_factor_are_refused() -> None:
    with pytest.raises(InputError, match=r"p \* P12 / P13 \+ q is 0"):
        predict(check_counters(BY_HAND, "skx"), Calibration(1, -1, 0.2, 1, 1, "cal.toml"), "skx")


# -- interleaving ----------------------------------------------------------------------------------

E = {
    "c": 1000.0, "tau": 0.05,
    "dram": {"s_llc": 400.0, "s_cache": 60.0, "s_sb": 20.0, "l_idle": 100.0, "l_full": 200.0},
    "cxl": {"s_llc": 800.0, "s_cache": 90.0, "s_sb": 10.0, "l_idle": 250.0, "l_full": 500.0},
}  # fmt: skip


def stalled(e: dict) -> float:
    """All stalls over c, the scale for rounding errors."""
    return sum(e[t][s] for t in ("dram", "cxl") for s in ("s_llc", "s_cache", "s_sb")) / e["c"]


def of(e: dict) -> Endpoints:
    return endpoints_of(copy.deepcopy(e), "E.json", Path())


def test_interleaving_by_hand() -> None:
    """At a share of one half, M is 0.5 * (100 + 100 / 4) / 200 = 0.3125 on both tiers."""
    close(of(E).at(0.5), [(0.3125 * 1200 - 400) / 1000, (0.3125 * 150 - 60) / 1000,
                          (0.3125 * 30 - 20) / 1000])  # fmt: skip
    close(of(E).at(1.0), [0, 0, 0])
    close(of(E).at(0.0), [0.4, 0.03, -0.01])


def test_the_best_ratio_by_hand() -> None:
    """Equal tiers share evenly; a tier with 3/2 of the stalls gets less."""
    even = {**E, "cxl": E["dram"]}
    assert of(even).best() == pytest.approx(0.5, abs=1e-9) and weights(0.5) == (1, 1)
    # 2 + 6 x² = 3 + 9 (1 - x)² : 3 x² - 18 x + 10 = 0 : x = 3 - sqrt(17 / 3)
    uneven = {**even, "cxl": {**E["dram"], "s_llc": 600.0, "s_cache": 90.0, "s_sb": 30.0}}
    assert of(uneven).best() == pytest.approx(3 - (17 / 3) ** 0.5, abs=1e-9)


def test_latency_bound_is_linear() -> None:
    """If l_full is within 5 % of l_idle on DRAM, independent of CXL, the cheaper tier takes all."""
    flat = {**E, "dram": {**E["dram"], "l_full": 105.0}}
    assert not of(flat).bandwidth_bound
    close(of(flat).at(0.25), [0.75 * 0.4, 0.75 * 0.03, 0.75 * -0.01])
    assert of(flat).best() == 1.0
    assert of({**flat, "cxl": {**E["dram"], "s_llc": 0.0}}).best() == 0.0
    assert of({**flat, "dram": {**E["dram"], "l_full": 105.1}}).bandwidth_bound
    assert of({**flat, "dram": {**E["dram"], "l_full": 50.0}}).at(0.5) == of(flat).at(0.5)


def test_without_stalls_all_is_on_dram() -> None:
    none = dict.fromkeys(["s_llc", "s_cache", "s_sb"], 0.0)
    idle = {**E, "dram": {**E["dram"], **none}, "cxl": {**E["cxl"], **none}}
    assert of(idle).best() == 1.0 and of(idle).at(0.3) == Slowdown(0, 0, 0)


@given(endpoints, st.floats(0, 1))
def test_interleaving_is_the_plain_one(e: dict, x: float) -> None:
    found, expected = of(e).at(x), plain.interleaved(e, x)
    for name, value in zip(COMPONENTS, expected, strict=True):
        assert getattr(found, name) == pytest.approx(float(value), rel=1e-9, abs=1e-12 * stalled(e))


@given(endpoints)
@example(E)
def test_nothing_is_better_than_the_best(e: dict) -> None:
    """Brute force over a grid, then over a finer one around its minimum."""
    ends = of(e)
    x = ends.best()
    assert 0 <= x <= 1

    def total(x: np.ndarray) -> np.ndarray:
        def load(tier: str, share: np.ndarray) -> np.ndarray:
            idle, full = e[tier]["l_idle"], max(e[tier]["l_full"], e[tier]["l_idle"])
            steep = (full - idle) * ends.bandwidth_bound
            return share * (full - steep + steep * share**2) / full

        ends_of = {t: sum(e[t][s] for s in ("s_llc", "s_cache", "s_sb")) for t in ("dram", "cxl")}
        return load("dram", x) * ends_of["dram"] + load("cxl", 1 - x) * ends_of["cxl"]

    low, high = 0.0, 1.0
    for _ in range(4):
        grid = np.linspace(low, high, 201)
        values = total(grid)
        at = int(np.argmin(values))
        low, high = grid[max(at - 1, 0)], grid[min(at + 1, 200)]
    minimum = values[at]
    assert total(np.array([x]))[0] <= minimum * (1 + 1e-12)
    # The minimum is at this x, unless the curve is too flat to distinguish points 1e-6 apart.
    for beside in (x - 1e-6, x + 1e-6):
        if 0 <= beside <= 1 and total(np.array([beside]))[0] > minimum * (1 + 1e-11):
            assert abs(grid[at] - x) < 2e-6


@given(endpoints)
def test_the_curve_is_never_bent_down(e: dict) -> None:
    values = np.array([s.total for _, s in of(e).curve()])
    assert (np.diff(values, 2) >= -1e-12 * stalled(e)).all()


@given(st.floats(0, 1, exclude_min=True, exclude_max=True))
@example(1e-9)
@example(1 - 1e-9)
@example(1 / 3)
@example(np.nextafter(0.5, 1))
def test_weights_are_the_nearest_ratio(x: float) -> None:
    dram, cxl = weights(x)
    every = np.arange(1, 256)
    shares = every[:, None] / (every[:, None] + every)
    assert abs(dram / (dram + cxl) - x) <= np.abs(shares - x).min() + 1e-15
    assert np.gcd(dram, cxl) == 1


def test_the_commands() -> None:
    assert commands(0.75, 0, 2) == [
        "echo 3 > /sys/kernel/mm/mempolicy/weighted_interleave/node0",
        "echo 1 > /sys/kernel/mm/mempolicy/weighted_interleave/node2",
        "numactl --weighted-interleave=0,2 PROGRAM",
    ]
    assert commands(1.0, 0, 2) == ["numactl --membind=0 PROGRAM"]
    assert commands(0.0, 0, 2) == ["numactl --membind=2 PROGRAM"]
    assert weights(0.0) is None and weights(1.0) is None


def one_run(**change) -> dict:
    """Endpoints of a latency-bound workload from one run, with CXL predicted from its counters."""
    dram = {"s_llc": 300.0, "s_cache": 300.0, "s_sb": 40.0, "l_idle": 90.0, "l_full": 90.0}
    constants = {"k_drd": 2.0, "p": 1.5, "q": 0.2, "k_cache": 4.0, "k_store": 0.5}
    predicted = {"platform": "skx", "counters": BY_HAND, "calibration": constants}
    return {"c": 1000, "tau": 0.05, "dram": dram, **predicted, **change}


@pytest.mark.parametrize("cxl", [{}, {"cxl": {}}, {"cxl": {"l_idle": 200.0, "l_full": 300.0}}])
def test_one_run_is_enough_for_latency(cxl: dict) -> None:
    ends = of(one_run(**cxl))
    close(ends.at(0.0), [1.2, 0.225, 0.02])
    close(ends.at(0.9), [0.12, 0.0225, 0.002])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"platform": "amd"}, 'platform is "amd"'),
        ({"counters": {**BY_HAND, "P13": 0}}, "P13 is 0"),
        ({"calibration": None}, "calibration is null"),
        ({"c": 0}, "c is 0"),
        ({"tau": -1}, "tau is -1"),
        ({"cxl": {"s_llc": 1}}, "s_cache is missing"),
        ({"dram": {"s_llc": 1, "s_cache": 1, "s_sb": 1, "l_idle": 0, "l_full": 1}}, "l_idle is 0"),
        ({"dram": {**E["dram"]}}, "cxl is missing; allowed: of a run on CXL"),
        ({"cxl": {"latency": 1}}, "latency is 1"),
        ({"cxl": {"l_idle": "x"}}, 'l_idle is "x"'),
        ({"cxl": {"l_full": 0}}, "l_full is 0"),
        ({"x": 1}, "x is 1"),
    ],
)
def test_endpoints_that_cannot_be(change: dict, message: str) -> None:
    with pytest.raises(InputError) as refused:
        of(one_run(**change))
    assert message in one_line(refused.value)


def test_endpoints_without_a_second_run_need_counters() -> None:
    for name in ("platform", "counters", "calibration"):
        with pytest.raises(InputError, match=f"{name} is missing"):
            of({k: v for k, v in one_run().items() if k != name})


# -- colocation ------------------------------------------------------------------------------------


def workload(name: str, gb: float, mpki: float, e: dict) -> Workload:
    return Workload(name, gb, mpki, of(e))


def linear(slowdown: float) -> dict:
    """A latency-bound workload with this slowdown on CXL."""
    tier = {"s_llc": 100.0, "s_cache": 0.0, "s_sb": 0.0, "l_idle": 90.0, "l_full": 90.0}
    return {"c": 1000, "tau": 0.05, "dram": tier, "cxl": {**tier, "s_llc": 100 + 1000 * slowdown}}


def test_who_suffers_most_gets_dram() -> None:
    """§6.3: misses are misleading. A gigabyte of DRAM saves 0.05 for `chase` and 0.01 for
    `stream`.
    """
    two = [workload("stream", 10, 9.0, linear(0.1)), workload("chase", 10, 2.0, linear(0.5))]
    shares = {name: place(two, 10, rule).shares for name, rule in RULES.items()}
    assert shares["camp"] == pytest.approx((0, 1))
    assert shares["mpki"] == shares["first_touch"] == (1, 0)
    assert place(two, 10, RULES["camp"]).mean == pytest.approx(0.05)
    assert place(two, 12, RULES["camp"]).shares == pytest.approx((0.2, 1))
    assert place(two, 20, RULES["camp"]).shares == (1, 1)
    assert place(two, 0, RULES["camp"]).shares == (0, 0)


def test_a_bandwidth_bound_neighbour_leaves_dram() -> None:
    """Best-shot takes its best share, and the other workload gets the rest (§6.3, Figure 16c)."""
    even = {**E, "cxl": E["dram"]}
    two = [workload("roms", 10, 9.0, even), workload("xz", 5, 1.0, linear(0.5))]
    assert place(two, 20, RULES["camp"]).shares == pytest.approx((0.5, 1), abs=1e-6)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(endpoints, st.floats(1, 100), st.floats(0, 50)), min_size=1, max_size=5),
    st.floats(0, 1),
    st.data(),
)
def test_no_placement_is_better(described: list, part: float, data: st.DataObject) -> None:
    some = [workload(f"w{i}", gb, mpki, e) for i, (e, gb, mpki) in enumerate(described)]
    fast = part * sum(w.gb for w in some)
    done = {name: place(some, fast, rule) for name, rule in RULES.items()}
    for placement in done.values():
        assert all(0 <= x <= 1 + 1e-12 for x in placement.shares)
        assert (
            sum(x * w.gb for x, w in zip(placement.shares, some, strict=True))
            <= fast * (1 + 1e-9) + 1e-9
        )
    scale = max(abs(w.endpoints.at(x).total) for w in some for x in (0.0, 1.0)) + 1
    assert all(done["camp"].mean <= p.mean + 1e-6 * scale for p in done.values())
    # Random placements are not better either.
    shares = [data.draw(st.floats(0, 1)) for _ in some]
    assume(sum(x * w.gb for x, w in zip(shares, some, strict=True)) <= fast)
    other = sum(w.endpoints.at(x).total for w, x in zip(some, shares, strict=True)) / len(some)
    assert done["camp"].mean <= other + 1e-6 * scale


def test_the_groups_have_what_the_models_need() -> None:
    """Each event is in one group, and no group has more events than a core can count at once."""
    for platform, groups in GROUPS.items():
        events = [event for group in groups for event in group]
        assert {e.counter for e in (*ALWAYS, *events)} >= {*NEEDED[platform], "P11"}
        assert all(len(group) <= 4 for group in groups)
        assert all(len({e.uncore for e in group}) == 1 for group in groups)
        assert len({e.name for e in events}) == len({e.counter for e in events}) == len(events)
        assert by_name(platform)["cpu-cycles"].counter == "c"
