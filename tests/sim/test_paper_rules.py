# SPDX-License-Identifier: Apache-2.0
"""The paper's listings as rules: the loader accepts them, and they match the listing."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from anemone.hardware.geometry import Geometry
from anemone.telemetry import paper_rules, rules_toml
from anemone.telemetry.rules import Rule, load_rules, parse_rules
from anemone.trace import Trace
from anemone.trace import pages as trace_pages
from tests.sim import synthetic

GEOMETRY = Geometry()
TRACES = {
    "moving": synthetic.moving(20_000),
    "skewed": synthetic.skewed(20_000),
    "neighbours": synthetic.neighbours(20_000),
    "bare": Trace(np.arange(10, dtype=np.uint64) * 64, np.zeros(10, bool)),
}


def same(one: Rule, two: Rule) -> bool:
    return all(np.array_equal(getattr(one, f.name), getattr(two, f.name)) for f in fields(Rule))


@pytest.mark.parametrize("name", TRACES)
@pytest.mark.parametrize("geometry", [GEOMETRY, Geometry(4, 3, 1024, 256, 1)])
def test_written_rules_load_as_they_were(name: str, geometry: Geometry, tmp_path: Path) -> None:
    rules = paper_rules.paper_rules(TRACES[name], geometry)
    assert len(rules) == geometry.pipelines
    path = tmp_path / "rules.toml"
    rules_toml.write_rules(rules, path, geometry, "a title")
    loaded = load_rules(path, geometry)
    assert [r.name for r in loaded] == [r.name for r in rules]
    assert all(same(one, two) for one, two in zip(rules, loaded, strict=True))


def test_any_rule_can_be_written(tmp_path: Path) -> None:
    rule = Rule(
        name='odd "name" \\ é', type="W", start=64, end=1 << 30, primary_mask=0xFFF000,
        primary_shift=12, sub_mask=0xFC0, sub_shift=6, op="max", operand_kind="line", operand=0,
        width=16, notify_op="lt", notify_operand=(1 << 64) - 1, effect_op="xor",
        effect_operand=1 << 63, map=np.array([[5, 9], [1, 0]]), read_every=0,
    )  # fmt: skip
    plain = Rule(name="plain", end=1 << 34, operand=(1 << 64) - 1)
    text = "\n".join(rules_toml.rule_toml(r, GEOMETRY) for r in (rule, plain))
    loaded = parse_rules(text, "text", GEOMETRY)
    assert same(loaded[0], rule)
    assert same(loaded[1], plain)


def test_listing_1_follows_the_hottest_pages_base_page_by_base_page() -> None:
    trace = TRACES["moving"]
    rules = paper_rules.skew(trace, GEOMETRY)
    assert len(rules) == 6
    pages, counts = np.unique(trace.addr >> np.uint64(21), return_counts=True)
    tracked = np.concatenate([r.map[:, 0] for r in rules])
    assert sorted(tracked) == sorted(pages), "50 pages fit six pipelines, so all are tracked"
    assert len(set(rules[0].map[:, 0]) & set(pages[np.argsort(-counts)][:6])) == 1, "dealt out"
    for rule in rules:
        assert (rule.primary_shift, rule.sub_mask, rule.sub_shift) == (21, 0x1FF000, 12)
        assert (rule.op, rule.operand) == ("add", 1)
        assert (rule.effect_op, rule.effect_operand) == ("reset", 0)
        assert rule.width == 64
        bases = np.sort(rule.map[:, 1])
        assert np.all(np.diff(bases) >= 512), "ranges of 512 counters do not overlap"
        assert bases[-1] + 512 <= GEOMETRY.counters(rule.width)


def test_listing_1_takes_the_hottest_when_not_all_fit() -> None:
    pages = np.repeat(np.arange(1000), np.arange(1000) // 100 + 1)
    trace = synthetic.trace(pages * synthetic.HUGE, np.zeros(len(pages), bool), 10)
    rules = paper_rules.skew(trace, GEOMETRY, pipelines=2)
    # 5,500 accesses in 48 polls: 8 bits hold a poll, so a pipeline holds 8192 * 8 / 512 pages.
    assert {rule.width for rule in rules} == {8}
    tracked = np.concatenate([r.map[:, 0] for r in rules])
    assert len(tracked) == 256
    assert tracked.min() >= 700


@pytest.mark.parametrize(("period", "width"), [(255, 8), (256, 16), (65535, 16), (65536, 32)])
def test_a_narrow_counter_cannot_overflow_in_a_poll(period: int, width: int) -> None:
    assert paper_rules.skew_width(period) == width


def test_listing_2_has_a_counter_for_every_huge_page_of_the_device() -> None:
    (rule,) = paper_rules.hotness(TRACES["moving"], GEOMETRY)
    assert (rule.primary_shift, rule.sub_mask) == (21, 0)
    assert (rule.notify_op, rule.effect_op) == ("none", "reset")
    assert np.array_equal(rule.map, np.repeat(np.arange(8192), 2).reshape(-1, 2))
    assert (rule.start, rule.end) == (0, 16 << 30)


def test_listing_3_maps_all_pages_of_a_tenant_to_one_counter() -> None:
    trace = TRACES["neighbours"]
    (rule,) = paper_rules.bandwidth(trace, GEOMETRY)
    assert rule.notify_op == "ge"
    owner = dict(rule.map.tolist())
    assert set(owner.values()) == {0, 1, 2}
    # The synthetic trace's tenants own pages 0-7, 8-15 and 16 on.
    assert all(owner[page] == min(page // 8, 2) for page in owner)
    assert len(owner) == len(np.unique(trace.addr >> np.uint64(21)))


def test_a_shared_page_belongs_to_who_uses_it_most() -> None:
    addr = np.array([0, 64, 128, 1 << 21], np.uint64)
    trace = Trace(addr, np.zeros(4, bool), None, np.array([9, 7, 7, 9], np.uint16))
    pages, owners = trace_pages.page_owners(trace)
    assert pages.tolist() == [0, 1]
    assert trace_pages.tenants(trace)[owners].tolist() == [7, 9]


@pytest.mark.parametrize("events", [1, 2, 31, 64, 10_000, 1_234_567])
def test_there_are_about_48_polls_and_something_is_left_for_the_states(events: int) -> None:
    period = paper_rules.poll_period(events)
    assert period >= 1
    if events >= 1000:
        assert 48 <= events // period <= 50
        assert events % period > 0


def test_too_few_pipelines_is_said() -> None:
    with pytest.raises(ValueError, match="3 pipelines"):
        paper_rules.paper_rules(TRACES["bare"], Geometry(pipelines=2))
