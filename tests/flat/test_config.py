# SPDX-License-Identifier: Apache-2.0
"""FLAT.toml: valid ones are read correctly, invalid ones give a one-line error."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anemone.flat import FlatConfig, load_config, parse_config
from anemone.hardware.geometry import Geometry
from anemone.io.errors import InputError
from tests.commands import assert_names_field, one_line

GEOMETRY = Geometry(device_gib=1)
GOOD = """\
# a comment
near_lines = 1000
ratio = 4
dedicated = [0x1_0000, "0x2_0000"]
policy = "nth"
n = 3
"""


def parse(text: str) -> FlatConfig:
    return parse_config(text, "f.toml", GEOMETRY)


def test_every_field() -> None:
    config = parse(GOOD)
    assert config == FlatConfig(1000, 4, (0x10000, 0x20000), "nth", 3)
    assert (config.lines, config.dedicated_lines) == (5000, range(0x400, 0x800))


def test_defaults_and_extremes() -> None:
    assert parse("near_lines = 1") == FlatConfig(1, 1, (0, 0), "every", 1)
    assert parse("near_lines = 0x100_0000").near_lines == 1 << 24
    assert parse('near_lines = 5\npolicy = "never"') == FlatConfig(5, policy="never")
    assert parse('near_lines = 5\npolicy = "nth"\nn = 255').n == 255
    assert parse('near_lines = 5\npolicy = "one_in"\nn = 0xFFFF_FFFF').n == (1 << 32) - 1
    assert parse("near_lines = 5\ndedicated = [0, 0x4000_0000]").dedicated == (0, 1 << 30)


# (text in GOOD, its replacement, place, field, value, a part of the allowed values)
BAD = [
    ("near_lines = 1000\n", "", "top level", "near_lines", "missing", "must give near_lines"),
    ("1000", "0", "line 2", "near_lines", "0", "a whole number of 1 to 0x1000000"),
    ("1000", "0x100_0001", "line 2", "near_lines", "0x1000001", "1 to 0x1000000"),
    ("1000", "1.5", "line 2", "near_lines", "1.5", "a whole number"),
    ("1000", "true", "line 2", "near_lines", "true", "a whole number"),
    ("1000", "-1", "line 2", "near_lines", "-1", "a whole number"),
    ("ratio = 4", "ratio = 5", "line 3", "ratio", "5", "1 to 4"),
    ("ratio = 4", "ratio = 0", "line 3", "ratio", "0", "1 to 4"),
    ("ratio = 4", 'ratio = "1:4"', "line 3", "ratio", '"1:4"', "1 to 4"),
    ("ratio = 4", "ration = 4", "line 3", "ration", "4", "only the keys near_lines, ratio, ded"),
    ("0x1_0000", "0x1_0001", "line 4", "dedicated", '[65537, "0x2_0000"]', "multiples of 64"),
    ("0x1_0000", "0x2_0000", "line 4", "dedicated", '[131072, "0x2_0000"]', "start < end"),
    ("0x2_0000", "0x4000_0040", "line 4", "dedicated", '[65536, "0x4000_0040"]', "(1 GiB)"),
    ("0x1_0000", "-64", "line 4", "dedicated", '[-64, "0x2_0000"]', "0 <= start"),
    ('[0x1_0000, "0x2_0000"]', "[0]", "line 4", "dedicated", "[0]", "[start, end]"),
    ('[0x1_0000, "0x2_0000"]', "64", "line 4", "dedicated", "64", "[start, end]"),
    ('"nth"', '"lru"', "line 5", "policy", '"lru"', "every, nth, one_in, never"),
    ('"nth"', "1", "line 5", "policy", "1", "every, nth"),
    ('"nth"', '"every"', "line 6", "n", "3", 'no n with policy "every"'),
    ('"nth"', '"never"', "line 6", "n", "3", 'no n with policy "never"'),
    ("n = 3\n", "", "top level", "n", "missing", "a whole number of 1 to 255"),
    ("n = 3", "n = 0", "line 6", "n", "0", "1 to 255"),
    ("n = 3", "n = 256", "line 6", "n", "256", "1 to 255"),
    ('"nth"\nn = 3', '"one_in"\nn = 0x1_0000_0000', "line 6", "n", "0x100000000", "0xffffffff"),
    ('"nth"\nn = 3', '"one_in"', "top level", "n", "missing", "1 to 0xffffffff"),
    ("# a comment", "near_lines", "line 1, column 11", "TOML", "wrong: Expected", "valid TOML"),
    ("# a comment", 'x = """\nn = 1"""', "line 1", "x", '"n = 1"', "only the keys"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "place", "field", "value", "allowed"), BAD)
def test_bad_field(old: str, new: str, place: str, field: str, value: str, allowed: str) -> None:
    assert GOOD.count(old) >= 1
    start = f"f.toml: {place}: {field} is {value}"
    assert_names_field(parse, GOOD.replace(old, new, 1), start, allowed)


def test_lines_are_only_told_when_they_are_sure() -> None:
    """The text has two lines that look like the field; one is within a string."""
    with pytest.raises(InputError, match=r"^f.toml: top level: ratio is 9; "):
        parse('near_lines = 1\nratio = 9\nn = """\nratio = 1"""')


def value_or_error(text: str) -> None:
    try:
        config = parse(text)
    except InputError as e:
        one_line(e)
    else:
        assert config.near_lines >= 1


SCRAPS = st.sampled_from(
    ["", "{", "}", "[", "]", '"', "\n", "\0", "-", "0x", "1e400", "nan", "true", "[[n]]", "n",
     "0" * 30, "99999999999999999999", '"nth"', "'''", "é", "\u2028", "2020-01-01", "= 3"]
)  # fmt: skip


@settings(max_examples=300)
@given(st.lists(st.tuples(st.integers(0, len(GOOD)), st.integers(0, 12), SCRAPS), max_size=4))
def test_a_good_file_with_pieces_replaced(edits: list[tuple[int, int, str]]) -> None:
    text = GOOD
    for at, cut, scrap in edits:
        text = text[:at] + scrap + text[at + cut :]
    value_or_error(text)


@settings(max_examples=200)
@given(st.text() | st.text("[]{}=\"'.,\n #0x_19nearlies"))
def test_any_text(text: str) -> None:
    value_or_error(text)


def test_files_that_are_none(tmp_path: Path) -> None:
    for why, path in {"Is a directory": tmp_path, "No such file": tmp_path / "no"}.items():
        with pytest.raises(InputError, match=why):
            load_config(path, GEOMETRY)
    (tmp_path / "f.toml").write_text(GOOD)
    assert load_config(tmp_path / "f.toml", GEOMETRY) == parse(GOOD)


@pytest.mark.parametrize(
    ("config", "addr", "message"),
    [
        (FlatConfig(4), [0, 511], None),
        (FlatConfig(4), [0, 512], "row 2: addr is 512; allowed: below 0x200 (2 x 4 lines)"),
        (FlatConfig(4, 4), [1279], None),
        (FlatConfig(4, 4), [1280], "row 1: addr is 1280; allowed: below 0x500 (5 x 4 lines)"),
        (FlatConfig(4, 1, (1024, 1088)), [1024, 1087, 511], None),
        (FlatConfig(4, 1, (1024, 1088)), [1024, 1088],
         "row 2: addr is 1088; allowed: below 0x200 (2 x 4 lines), or 0x400 to 0x43f (dedicated)"),
        (FlatConfig(4, 1, (1024, 1088)), [600, 1088], "row 1: addr is 600"),
        (FlatConfig(1 << 58, 4), [(1 << 64) - 1], None),
    ],
)  # fmt: skip
def test_addresses_without_memory(config: FlatConfig, addr: list[int], message: str | None) -> None:
    addresses = np.array(addr, np.uint64)
    if message is None:
        config.check(addresses, "t.csv")
        return
    with pytest.raises(InputError, match="^t.csv: " + re.escape(message)):
        config.check(addresses, "t.csv")


def test_an_address_without_memory_far_behind() -> None:
    addresses = np.zeros(200_000, np.uint64)
    addresses[199_990] = 512
    with pytest.raises(InputError, match="row 1000199991: addr is 512"):
        FlatConfig(4).check(addresses, "t.csv", before=1_000_000_000)


def test_the_example_in_the_documentation() -> None:
    text = (Path(__file__).parents[2] / "docs" / "flat.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.S)
    config = parse_config(example, "flat.md", Geometry())
    assert config == FlatConfig(1 << 20, 1, (1 << 28, (1 << 28) + (1 << 20)), "nth", 2)
