# SPDX-License-Identifier: Apache-2.0
"""Rule files: valid ones are read correctly, invalid ones give a one-line error."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anemone.hardware.features import Features
from anemone.hardware.geometry import Geometry
from anemone.io.errors import InputError
from anemone.telemetry.rules import U64, Rule, load_rules, parse_rules, truncated_operands
from anemone.telemetry.rules_toml import rule_toml
from tests.commands import assert_names_field, one_line

GEOMETRY = Geometry(channels=2, pipelines=2, states=16, table=8, device_gib=1)
GOOD = """\
# a comment
[[rule]]
name = "hot"
type = "RW"
range = [0x0, 0x4000_0000]
primary = { mask = "0xFFFF_FFFF_FFFF_FFFF", shift = 21 }
sub = { mask = 0x1FF000, shift = 12 }
update = { op = "add", operand = 1 }
width = 16
notify = { op = "ge", operand = "0xFFFFFFFFFFFFFFFF" }
read_effect = { op = "reset", value = 3 }
map = [[0, 0],
       [7, 63]]
read_every = 100
"""
MINIMAL = """\
[[rule]]
name = "least"
type = "R"
range = [64, 128]
update = { op = "max", operand = "line" }
primary = { mask = 0, shift = 63 }
map = "identity"
"""


def parse(text: str) -> list[Rule]:
    return parse_rules(text, "r.toml", GEOMETRY)


def fields(rule: Rule) -> dict:
    return {k: v for k, v in vars(rule).items() if k != "map"}


def test_every_field() -> None:
    (rule,) = parse(GOOD)
    assert fields(rule) == {
        "name": "hot", "type": "RW", "start": 0, "end": 1 << 30, "near": "any",
        "primary_mask": U64, "primary_shift": 21, "sub_mask": 0x1FF000, "sub_shift": 12,
        "op": "add", "operand": 1, "operand_kind": "imm", "width": 16,
        "notify_op": "ge", "notify_operand": U64, "effect_op": "reset", "effect_operand": 3,
        "read_every": 100, "hash_multiplier": 0, "hash_size": 0,
    }  # fmt: skip
    assert rule.map.tolist() == [[0, 0], [7, 63]] and rule.map.dtype == np.uint64


def test_optional_fields_and_two_rules() -> None:
    first, rule = parse(GOOD + MINIMAL)
    assert first.name == "hot"
    assert fields(rule) == {
        "name": "least", "type": "R", "start": 64, "end": 128, "near": "any",
        "primary_mask": 0, "primary_shift": 63, "sub_mask": 0, "sub_shift": 0,
        "op": "max", "operand": 0, "operand_kind": "line", "width": 64,
        "notify_op": "none", "notify_operand": 0, "effect_op": "none", "effect_operand": 0,
        "read_every": 0, "hash_multiplier": 0, "hash_size": 0,
    }  # fmt: skip
    assert rule.map.tolist() == [[k, k] for k in range(8)]


def test_near_is_for_flat_memory_mode() -> None:
    for near in ("any", "hit", "miss"):
        text = GOOD.replace('type = "RW"', f'type = "RW"\nnear = "{near}"')
        (rule,) = parse_rules(text, "r.toml", GEOMETRY, flat=True)
        assert rule.near == near
        if near == "any":
            assert parse(text)[0].near == near
            continue
        with pytest.raises(InputError) as error:
            parse(text)
        one_line(error.value)
        assert str(error.value) == (
            f'r.toml: rule 1 "hot" (line 5): near is "{near}"; allowed: "any" '
            "(only an expander with flat memory mode tells hits from misses)"
        )


def test_a_hash() -> None:
    """Hashes of offsets, if they are built in."""

    def hashed(value: str, geometry: Geometry = GEOMETRY) -> Rule:
        (rule,) = parse_rules(GOOD + f"hash = {value}\n", "r.toml", geometry)
        return rule

    built = replace(GEOMETRY, features=Features(hash=True))
    good = "{ multiplier = 0x123_4567, size = 7 }"
    rule = hashed(good, built)
    assert (rule.hash_multiplier, rule.hash_size) == (0x1234567, 7)
    assert fields(parse_rules(rule_toml(rule, built), "r", built)[0]) == fields(rule)
    for value, geometry, message in (
        (good, GEOMETRY, "allowed: no hash, as none is built in"),
        ("{ multiplier = 2, size = 7 }", built, "multiplier is 2; allowed: an odd number"),
        (
            "{ multiplier = 0x800_0001, size = 7 }",
            built,
            "allowed: a whole number of 0 to 0x7ffffff",
        ),
        ("{ multiplier = 1, size = 0 }", built, "size is 0; allowed: 1 or more"),
        ("{ multiplier = 1, size = 99999999 }", built, "allowed: a whole number of 0 to"),
        ("{ multiplier = 1 }", built, "size is missing"),
    ):
        with pytest.raises(InputError) as error:
            hashed(value, geometry)
        one_line(error.value)
        assert message in str(error.value), str(error.value)


def test_identity_stops_at_the_counters_too() -> None:
    (rule,) = parse_rules(MINIMAL, "r", Geometry(states=16, table=64))
    assert len(rule.map) == 16


def test_read_effect_ops_and_tables_by_header() -> None:
    text = MINIMAL + '[rule.read_effect]\nop = "shr"\noperand = 1\n[rule.notify]\nop = "none"\n'
    (rule,) = parse(text)
    assert (rule.effect_op, rule.effect_operand, rule.notify_op) == ("shr", 1, "none")


def test_operands_that_do_not_fit_are_told_not_refused() -> None:
    (warning,) = truncated_operands(parse(GOOD))
    assert "notify.operand 0xffffffffffffffff" in warning and "0xffff is used" in warning
    assert truncated_operands(parse(MINIMAL)) == []


# (text in GOOD, its replacement, place, field, value, a part of the allowed values)
BAD = [
    ('name = "hot"', "", 'rule 1 (line 2)', "name", "missing", "name, type"),
    ('name = "hot"', 'name = ""', 'rule 1 "" (line 3)', "name", '""', "100 printable"),
    ('name = "hot"', "name = 3", "rule 1 (line 3)", "name", "3", "printable"),
    ('name = "hot"', r'name = "a\nb"', r'rule 1 "a\nb" (line 3)', "name", r'"a\nb"', "printable"),
    ('type = "RW"', "", 'rule 1 "hot" (line 2)', "type", "missing", "name, type"),
    ('type = "RW"', 'type = "WR"', 'rule 1 "hot" (line 4)', "type", '"WR"', "R, W, RW"),
    ('type = "RW"', 'type = "RW"\nnear = "far"', 'rule 1 "hot" (line 5)', "near", '"far"',
     "any, hit, miss"),
    ('type = "RW"', "type = true", 'rule 1 "hot" (line 4)', "type", "true", "R, W, RW"),
    ("width = 16", "width = 12", 'rule 1 "hot" (line 9)', "width", "12", "8, 16, 32 or 64"),
    ("width = 16", "width = 16.0", 'rule 1 "hot" (line 9)', "width", "16.0", "8, 16, 32 or 64"),
    ("width = 16", "widht = 16", 'rule 1 "hot" (line 9)', "widht", "16", "only the keys name"),
    ("0x0, 0x4000_0000", "5, 5", 'rule 1 "hot" (line 5)', "range", "[5, 5]", "start < end"),
    ("0x0, 0x4000_0000", "9, 5", 'rule 1 "hot" (line 5)', "range", "[9, 5]", "start < end"),
    ("0x0, 0x4000_0000", "0, 0x40000001", 'rule 1 "hot" (line 5)', "range", "[0, 0x40000001]",
     "<= 0x40000000 (1 GiB)"),
    ("0x0, 0x4000_0000", "-1, 5", 'rule 1 "hot" (line 5)', "range", "[-1, 5]", "0 <= start"),
    ("0x0, 0x4000_0000", "1", 'rule 1 "hot" (line 5)', "range", "[1]", "[start, end]"),
    ("0x0, 0x4000_0000", "0, 1, 2", 'rule 1 "hot" (line 5)', "range", "[0, 1, 2]", "[start, end]"),
    ("0x0, 0x4000_0000", "false, true", 'rule 1 "hot" (line 5)', "range", "[false, true]", "start"),
    ("shift = 21", "shift = 64", 'rule 1 "hot" (line 6)', "primary.shift", "64", "0 to 63"),
    ("shift = 21", "shift = -1", 'rule 1 "hot" (line 6)', "primary.shift", "-1", "0 to 63"),
    ("shift = 21", "shift = true", 'rule 1 "hot" (line 6)', "primary.shift", "true", "0 to 63"),
    (", shift = 21", "", 'rule 1 "hot" (line 6)', "primary.shift", "missing", "mask, shift"),
    ("shift = 21", "shift = 21, x = 1", 'rule 1 "hot" (line 6)', "primary.x", "1", "mask, shift"),
    ("0x1FF000", "18446744073709551616", 'rule 1 "hot" (line 7)', "sub.mask",
     "0x10000000000000000", "0xffffffffffffffff"),
    ("0x1FF000", '"0x1_0000_0000_0000_0000"', 'rule 1 "hot" (line 7)', "sub.mask",
     '"0x1_0000_0000_0000_0000"', "0 to 0xffffffffffffffff"),
    ("0x1FF000", '"12"', 'rule 1 "hot" (line 7)', "sub.mask", '"12"', "string of hex"),
    ("0x1FF000", '"0x_1"', 'rule 1 "hot" (line 7)', "sub.mask", '"0x_1"', "string of hex"),
    ("0x1FF000", "1.5", 'rule 1 "hot" (line 7)', "sub.mask", "1.5", "a whole number"),
    ("sub = { mask = 0x1FF000, shift = 12 }", "sub = 3", 'rule 1 "hot" (line 7)', "sub", "3",
     "a table"),
    ('op = "add"', 'op = "none"', 'rule 1 "hot" (line 8)', "update.op", '"none"', "add, sub, shr"),
    ('op = "add"', 'op = ["add"]', 'rule 1 "hot" (line 8)', "update.op", '["add"]', "add, sub"),
    ('op = "add", ', "", 'rule 1 "hot" (line 8)', "update.op", "missing", "op, operand"),
    (", operand = 1", "", 'rule 1 "hot" (line 8)', "update.operand", "missing", "op, operand"),
    ("operand = 1", 'operand = "write"', 'rule 1 "hot" (line 8)', "update.operand", '"write"',
     '"line" or "is_write"'),
    ("operand = 1", "operand = -1", 'rule 1 "hot" (line 8)', "update.operand", "-1", "0 to"),
    ('"ge"', '"ne"', 'rule 1 "hot" (line 10)', "notify.op", '"ne"', "none, eq, ge"),
    ('"0xFFFFFFFFFFFFFFFF" }', '"line" }', 'rule 1 "hot" (line 10)', "notify.operand", '"line"',
     "a whole number"),
    (', operand = "0xFFFFFFFFFFFFFFFF"', "", 'rule 1 "hot" (line 10)', "notify.operand", "missing",
     "a whole number"),
    (", value = 3", "", 'rule 1 "hot" (line 11)', "read_effect.value", "missing", "whole number"),
    ("value = 3", "operand = 3", 'rule 1 "hot" (line 11)', "read_effect.operand", "3", "value"),
    ('"reset", value', '"xor", value', 'rule 1 "hot" (line 11)', "read_effect.value", "3",
     "operand"),
    ('"reset", value = 3', '"add", operand = "line"', 'rule 1 "hot" (line 11)',
     "read_effect.operand", '"line"', "a whole number"),
    ('"reset"', '"clear"', 'rule 1 "hot" (line 11)', "read_effect.op", '"clear"', "none, reset"),
    ("[7, 63]", "[8, 63]", 'rule 1 "hot" (line 12)', "map[1]", "[8, 63]", "0 to 7 (--table)"),
    ("[7, 63]", "[-1, 63]", 'rule 1 "hot" (line 12)', "map[1]", "[-1, 63]", "0 to 7 (--table)"),
    ("[7, 63]", "[7, 64]", 'rule 1 "hot" (line 12)', "map[1]", "[7, 64]", "0 to 63 (--states"),
    ("[7, 63]", "[0, 1]", 'rule 1 "hot" (line 12)', "map[1]", "[0, 1]", "each key once (map[0]"),
    ("[7, 63]", "[7]", 'rule 1 "hot" (line 12)', "map[1]", "[7]", "[key, base index]"),
    ("[7, 63]", "[7, 6.0]", 'rule 1 "hot" (line 12)', "map[1]", "[7, 6.0]", "whole numbers"),
    ("[7, 63]", "7", 'rule 1 "hot" (line 12)', "map[1]", "7", "[key, base index]"),
    ("[[0, 0],\n       [7, 63]]", '"linear"', 'rule 1 "hot" (line 12)', "map", '"linear"',
     '"identity"'),
    ("read_every = 100", "read_every = -1", 'rule 1 "hot" (line 14)', "read_every", "-1", "0 to"),
    ("read_every = 100", "read_every = 1e3", 'rule 1 "hot" (line 14)', "read_every", "1000.0",
     "a whole number"),
    ("# a comment", "rules = 3", "top level", "rules", "3", "only the keys rule"),
    ("# a comment", "# a\n[[rule]]", "rule 1 (line 2)", "name", "missing", "name, type"),
    ("[[rule]]", "[[rule]", "line 2, column 7", "TOML", "wrong: Expected", "valid TOML"),
    ('type = "RW"', 'type = "RW"\ntype = "R"', "line 5, column 11", "TOML", "wrong: Cannot",
     "valid TOML"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "place", "field", "value", "allowed"), BAD)
def test_bad_field(old: str, new: str, place: str, field: str, value: str, allowed: str) -> None:
    assert GOOD.count(old) >= 1
    start = f"r.toml: {place}: {field} is {value}"
    assert_names_field(parse, GOOD.replace(old, new, 1), start, allowed)


def test_names_and_numbers_of_rules() -> None:
    message = r'r.toml: rule 2 "hot" (line 17): name is "hot"; allowed: a name of its own (rule 1'
    with pytest.raises(InputError, match="^" + re.escape(message)):
        parse(GOOD + GOOD)
    third = GOOD + MINIMAL + MINIMAL.replace("least", "third")
    with pytest.raises(InputError, match=r'^r.toml: rule 3 "third" \(line 22\): rule is number 3'):
        parse(third)
    for text in ("", "rule = []", "rule = 3", "[rule]\n", "rule = [3]"):
        with pytest.raises(InputError, match=r"^r.toml: (top level|rule 1): rule is "):
            parse(text)


def test_lines_are_only_told_when_they_are_sure() -> None:
    text = GOOD.replace("# a comment", 'x = """\n[[rule]]\n"""')
    with pytest.raises(InputError, match=r"^r.toml: top level: x is "):
        parse(text)
    inline = 'rule = [{ name = "a" }]'
    with pytest.raises(InputError, match=r'^r.toml: rule 1 "a": type is missing'):
        parse(inline)


def test_files_that_are_none(tmp_path: Path) -> None:
    paths = {"Is a directory": tmp_path, "No such file": tmp_path / "no", "null byte": "\0"}
    for why, path in paths.items():
        with pytest.raises(InputError, match=why):
            load_rules(path, GEOMETRY)
    bad = tmp_path / "latin1.toml"
    bad.write_bytes(b'# caf\xc3\xa9\n\nname = "\xe9"\n')
    with pytest.raises(InputError, match="line 3: text is byte 0xe9; allowed: UTF-8 text"):
        load_rules(bad, GEOMETRY)


def test_geometry() -> None:
    for name, value in [("channels", 3), ("pipelines", 0), ("states", 12), ("states", 8),
                        ("table", 1), ("device_gib", 0), ("channels", True)]:  # fmt: skip
        with pytest.raises(InputError, match=f"command line: --{name.replace('_', '-')}: {name}"):
            Geometry(**{name: value})


def test_what_is_not_built_in() -> None:
    """A rule with a feature that is not built in is refused; the error names it and the
    alternatives.
    """
    features = Features(("add", "max"), (64,), False, ("none", "op"), ("imm", "line"))
    geometry = Geometry(
        channels=2, pipelines=2, states=16, table=8, device_gib=1, features=features
    )
    for bad, allowed in (
        ('update = { op = "xor", operand = 1 }', "add, max"),
        ('update = { op = "add", operand = "is_write" }', '"line"'),
        ("width = 32", "64"),
        ('notify = { op = "eq", operand = 1 }', "none"),
        ('read_effect = { op = "reset", value = 0 }', "none, add, max"),
    ):
        field = bad.split(" ")[0]
        kept = [line for line in MINIMAL.splitlines() if not line.startswith(field)]
        text = "\n".join([*kept, bad])
        parse_rules(text, "r", GEOMETRY)
        with pytest.raises(InputError, match=field) as error:
            parse_rules(text, "r", geometry)
        assert str(error.value).endswith(allowed), str(error.value)
    assert geometry.key != GEOMETRY.key


def value_or_error(text: str) -> None:
    try:
        rules = parse(text)
    except InputError as e:
        one_line(e)
    else:
        assert 1 <= len(rules) <= GEOMETRY.pipelines


@settings(max_examples=300)
@given(st.text() | st.text("[]{}=\"'.,\n #0x_19rulenamp-"))
@example("a = " + "[" * 2000)
@example("a = " + "9" * 5000)
@example("[[rule]]\nname = 0x" + "f" * 9999)
@example("a = 2020-13-45")
def test_any_text(text: str) -> None:
    value_or_error(text)


@settings(max_examples=200)
@given(st.binary(max_size=200))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(data)
    try:
        load_rules(path, GEOMETRY)
    except InputError as e:
        one_line(e)


SCRAPS = st.sampled_from(
    ["", "{", "}", "[", "]", '"', "\n", "\0", "-", "0x", "1e400", "nan", "true", "[[rule]]",
     "0" * 30, "99999999999999999999", '"line"', "'''", "é", "\u2028", "2020-01-01", "none", "rule"]
)  # fmt: skip


@settings(max_examples=500)
@given(st.lists(st.tuples(st.integers(0, len(GOOD)), st.integers(0, 12), SCRAPS), max_size=4))
def test_a_good_file_with_pieces_replaced(edits: list[tuple[int, int, str]]) -> None:
    text = GOOD
    for at, cut, scrap in edits:
        text = text[:at] + scrap + text[at + cut :]
    value_or_error(text)


LEAVES = st.sampled_from(
    ["0", "-1", "1.5", "true", '""', '"add"', '"line"', '"0xF"', "1979-05-27", "[]", "{}", "nan",
     "[[0, 0]]", "[1, 2]", '{ op = "add", operand = 1 }', "{ mask = 1, shift = 2 }", '"identity"',
     "18446744073709551616", "[[[[]]]]"]
)  # fmt: skip


@settings(max_examples=300)
@given(
    st.dictionaries(
        st.sampled_from(["name", "type", "range", "primary", "sub", "update", "width", "notify",
                         "read_effect", "map", "read_every", "x"]),
        LEAVES, min_size=1,
    )
)  # fmt: skip
def test_right_keys_with_wrong_values(values: dict[str, str]) -> None:
    lines = dict(line.split(" = ", 1) for line in GOOD.replace(",\n", ",").splitlines()[2:])
    value_or_error("[[rule]]\n" + "".join(f"{k} = {v}\n" for k, v in (lines | values).items()))


def test_the_example_in_the_documentation() -> None:
    text = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")
    (example_file,) = re.findall(r"```toml\n(.*?)```", text, re.S)
    parsed = parse_rules(example_file, "rules.md", Geometry())
    assert [rule.name for rule in parsed] == ["hotness", "skew", "bandwidth"]
    assert truncated_operands(parsed) == []
    bad = example_file.replace("shift = 21 }\nsub", "shift = 99 }\nsub")
    with pytest.raises(InputError) as caught:
        parse_rules(bad, "rules.toml", Geometry())
    assert f"anemone: {caught.value}" in text
