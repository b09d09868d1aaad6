# SPDX-License-Identifier: Apache-2.0
"""TIER.toml: valid ones are read correctly, invalid ones give a one-line error."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anemone.io.errors import InputError
from anemone.policies.hemem import HeMem
from anemone.tiering import Migration, Tier, TierConfig, Tlb, load_config, parse_config
from anemone.tiering.config import MAX_PAGES, made
from anemone.tiering.devices import with_device
from anemone.tiering.parameters import POLICIES, SOURCES, constants, load
from anemone.tiering.scaling import scaled, stretched
from anemone.tiering.sources.nemo import Nemo
from anemone.trace import Trace
from tests.commands import assert_names_field, one_line

GOOD = """\
page = "2MiB"
outstanding = 10
posted = 48
interval_ms = 500
seed = 7
[fast]
pages = 1024
latency_ns = 114.1
gb_per_s = 123.4
[slow]
pages = 2048
latency_ns = 380.3
gb_per_s = 17.6
[placement]
start = "weighted"
weights = [2, 1]
[migration]
gb_per_s = 5
on_write = "wait"
shootdown_ns = 4000
[tlb]
entries = 1536
ways = 12
walk_ns = 40
[policy]
name = "hemem"
cooling = 20
[telemetry]
source = "nemo"
fast = "none"
"""
MINIMAL = GOOD[: GOOD.index("[placement]")]


def parse(text: str) -> TierConfig:
    return parse_config(text, "t.toml")


def test_every_field() -> None:
    config = parse(GOOD)
    assert config == TierConfig(
        page_bytes=2 << 20,
        outstanding=10,
        posted=48,
        interval_ns=5e8,
        seed=7,
        fast=Tier(1024, 114.1, 123.4),
        slow=Tier(2048, 380.3, 17.6),
        start="weighted",
        weights=(2, 1),
        migration=Migration(gb_per_s=5.0, on_write="wait", shootdown_ns=4000.0),
        tlb=Tlb(1536, 40.0, 12),
        policy="hemem",
        policy_with={"cooling": 20},
        telemetry="nemo",
        telemetry_with={"fast": "none"},
    )
    policy, source = made(config)
    assert isinstance(policy, HeMem) and policy.cooling == 20
    assert isinstance(source, Nemo) and source.needs == ()


def test_defaults() -> None:
    config = parse('page = "4KiB"\noutstanding = 1\n' + MINIMAL[MINIMAL.index("[fast]") :])
    assert (config.posted, config.start, config.policy, config.tlb) == (
        None,
        "first-touch",
        "none",
        None,
    )
    assert made(config) == (None, None)


def test_scale() -> None:
    """The file describes the unscaled machine; a device's values are scaled, too."""
    text = GOOD.replace("seed = 7", "seed = 7\nscale = 2")
    half = parse_config(text, "t.toml")
    assert half == scaled(parse_config(GOOD, "t.toml"), 2) and half.fast.pages == 512
    other = with_device(half, "nemo")
    assert (other.fast.pages, other.slow.latency_ns) == (512, 2 * 380.3)
    trace = Trace(np.zeros(2, np.uint64), np.zeros(2, bool), gap_ns=np.array([1.0, 3.0]))
    assert next(stretched([trace], 2)).gap_ns.tolist() == [2.0, 6.0]


def test_a_slow_tier_without_pages_is_unlimited() -> None:
    config = parse(MINIMAL.replace("pages = 2048\n", ""))
    assert config.slow == Tier(MAX_PAGES, 380.3, 17.6)


@pytest.mark.parametrize("names", [POLICIES, SOURCES])
def test_all_that_is_named_is_there(names: dict[str, str]) -> None:
    for name in names:
        load(name, names)()


def test_constants_have_their_sources() -> None:
    text = (Path(load.__code__.co_filename).parent / "costs.toml").read_text()
    for table in re.findall(r"^\[(\w+)\]", text, re.M):
        assert constants(table)
    entries = re.findall(r"^\w+ = \{.*$", text, re.M)
    assert entries and all('unit = "' in e and 'source = "' in e for e in entries)


# (text in GOOD, its replacement, place, field, value, a part of the allowed values)
BAD = [
    ("seed = 7", "scale = 0", "line 5", "scale", "0", "1 to"),
    ("seed = 7", "scale = 4096", "line 5", "scale", "4096", "too small"),
    ('page = "2MiB"\n', "", "top level", "page", "missing", "must give page"),
    ('"2MiB"', '"1GiB"', "line 1", "page", '"1GiB"', "4KiB, 2MiB"),
    ("outstanding = 10", "outstanding = 0", "line 2", "outstanding", "0", "1 to 4096"),
    ("posted = 48", "posted = 1.5", "line 3", "posted", "1.5", "a whole number"),
    ("interval_ms = 500", "interval_ms = 0", "line 4", "interval_ms", "0", "above 0"),
    ("pages = 1024", "pages = -1", "line 7", "fast.pages", "-1", "a whole number of 0"),
    ("latency_ns = 380.3", "latency_ns = -1", "line 12", "slow.latency_ns", "-1", "at least 0"),
    ("gb_per_s = 17.6", "gb_per_s = 0", "line 13", "slow.gb_per_s", "0", "at least 1e-06"),
    ("gb_per_s = 17.6", "gb_per_s = inf", "line 13", "slow.gb_per_s", "inf", "finite"),
    ("gb_per_s = 17.6\n", "", "line 10", "slow.gb_per_s", "missing", "must give"),
    ("weights = [2, 1]", "weights = [0, 0]", "line 16", "placement.weights", "[0, 0]", "not both"),
    ("weights = [2, 1]\n", "", "line 14", "placement.weights", "missing", "[fast, slow]"),
    ('"weighted"', '"fast"', "line 16", "placement.weights", "[2, 1]", "no weights but"),
    ('"wait"', '"retry"', "line 19", "migration.on_write", '"retry"', "restart, wait"),
    ("shootdown_ns", "shootdown", "line 20", "migration.shootdown", "4000", "only the keys"),
    ("ways = 12", "ways = 7", "line 22", "tlb.entries", "1536", "a multiple of the ways, 7"),
    ('"hemem"', '"himem"', "line 26", "policy.name", '"himem"', "none, hemem, memtis"),
    ('"hemem"', '"/none.py:X"', "line 26", "policy.name", '"/none.py:X"', "can be loaded"),
    ("cooling = 20", "cooling = 0", "line 27", "policy.cooling", "0", "1 to"),
    ("cooling = 20", "warming = 20", "line 27", "policy.warming", "20", "only the keys name, read"),
    ('fast = "none"', 'fast = "scan"', "line 30", "telemetry.fast", '"scan"', "pebs, nemo, none"),
    ('fast = "none"', "width = 12", "line 30", "telemetry.width", "12", "8, 16, 32, 64"),
    ('"nemo"\nfast = "none"', '"none"', "line 29", "telemetry.source", '"none"', "a source"),
    (
        '"nemo"\nfast = "none"',
        '"/none.py:X"',
        "line 29",
        "telemetry.source",
        '"/none.py:X"',
        "can be loaded",
    ),
    (
        '[telemetry]\nsource = "nemo"\nfast = "none"',
        "",
        "top level",
        "telemetry",
        "missing",
        'a source for policy "hemem": nemo, pebs',
    ),
    (
        '"hemem"\ncooling = 20',
        '"bandwidth-cap"',
        "line 28",
        "telemetry.source",
        '"nemo"',
        'a source for policy "bandwidth-cap": mbm, or one of your own with by_thread = True',
    ),
]


@pytest.mark.parametrize(("old", "new", "place", "field", "value", "allowed"), BAD)
def test_bad(old: str, new: str, place: str, field: str, value: str, allowed: str) -> None:
    assert old in GOOD
    start = f"t.toml: {place}: {field} is {value}; allowed: "
    assert_names_field(parse, GOOD.replace(old, new), start, allowed)


def test_a_policy_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from dataclasses import dataclass\n"
        "from anemone.tiering import Answer, Policy\n"
        "@dataclass\n"
        "class Own(Policy):\n"
        "    n: int = 3\n"
        "    def act(self, seen):\n"
        "        return Answer()\n"
    )
    text = GOOD.replace('"hemem"', f'"{tmp_path}/own.py:Own"').replace("cooling = 20", "n = 5")
    policy, _ = made(parse(text))
    assert type(policy).__name__ == "Own" and policy.n == 5


def test_what_is_no_policy(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from dataclasses import dataclass\n"
        "from anemone.tiering import Source\n"
        "@dataclass\n"
        "class Own(Source): ...\n"
        "class Plain: ...\n"
        "thing = 3\n"
    )
    for name in ("Own", "Plain", "thing"):
        text = GOOD.replace('"hemem"', f'"{tmp_path}/own.py:{name}"').replace("cooling = 20", "")
        with pytest.raises(InputError, match="not a dataclass that derives from Policy"):
            parse(text)


@settings(max_examples=100)
@given(st.data())
def test_garbage(data: st.DataObject) -> None:
    """Any change of the file gives a configuration or a one-line error."""
    at = data.draw(st.integers(0, len(GOOD)))
    size = data.draw(st.integers(0, 6))
    text = GOOD[:at] + data.draw(st.text(max_size=6)) + GOOD[at + size :]
    try:
        parse(text)
    except InputError as e:
        one_line(e)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a TOML file that can be read"):
        load_config(tmp_path / "absent.toml")
