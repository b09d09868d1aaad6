# SPDX-License-Identifier: Apache-2.0
"""anemonectl's reader of rule files against the software's: what both accept, refuse and say."""

from __future__ import annotations

import os
import random
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anemone.hardware.features import STANDARD_OPS, Features
from anemone.hardware.geometry import Geometry
from anemone.io.errors import InputError
from anemone.telemetry.rules import OPS, Rule, load_rules, truncated_operands
from tests.driver.conftest import ROOT, Result
from tests.model.strategies import rules as random_rules
from tests.model.test_rule_files import BAD, GEOMETRY, GOOD, LEAVES, MINIMAL, SCRAPS

SMALL = ["--pipelines", "2", "--states", "16", "--table", "8", "--device-gib", "1"]
ENVIRONMENT = {"PATH": os.environ["PATH"], "ASAN_OPTIONS": "detect_leaks=0:exitcode=99",
               "UBSAN_OPTIONS": "exitcode=99"}  # fmt: skip


@pytest.fixture(scope="module")
def check(build: Path):
    """Runs `anemonectl check --json` on a text."""

    def run(data: str | bytes, *options: str) -> Result:
        # The file is "-"; errors call it stdin.
        done = subprocess.run(
            [build / "anemonectl-fake", "check", "--json", "-f", "-", *options],
            input=data.encode() if isinstance(data, str) else data,
            capture_output=True, timeout=60, check=False, env=ENVIRONMENT,
        )  # fmt: skip
        out, err = done.stdout.decode(), done.stderr.decode()
        assert done.returncode in (0, 2), err
        if done.returncode:
            assert out == "" and err.count("\n") >= 1 and "; allowed: " in err
        return Result(done.returncode, out, err)

    return run


def expected(rule: Rule) -> dict:
    """What `check --json` must show of a rule, except its regions."""
    apart = ("map", "read_every")
    fields = {k: v for k, v in vars(rule).items() if k not in apart}
    if rule.notify_op == "none":
        fields["notify_operand"] = 0
    return fields


def compare(check, tmp_path: Path, data: str | bytes, geometry: Geometry, *options: str) -> bool:
    """Checks that both readers agree on a file; returns whether it is valid."""
    path = tmp_path / "rules.toml"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    result = check(data, *options)
    try:
        rules = load_rules(path, geometry)
    except InputError as e:
        assert result.code == 2, f"accepted, but: {e}"
        return False
    # The driver places regions, which restricts base indices; the software does not.
    if result.code and (
        "multiple of the region's" in result.err or "with a sub mask" in result.err
    ):
        return False
    assert result.code == 0, result.err
    notes = [f"anemonectl: {note}" for note in truncated_operands(rules)]
    assert [line for line in result.err.splitlines() if "read_every" not in line] == notes
    for rule, shown in zip(rules, result.json, strict=True):
        assert {k: shown[k] for k in expected(rule)} == expected(rule)
        if shown["map"] == "identity":
            continue
        counters = shown["region_counters"]
        assert [[k, r * counters] for k, r in shown["map"]] == rule.map.tolist()
        assert shown["regions"] == max([r for _, r in shown["map"]], default=0) + 1
    return True


def test_the_projects_own_files(check, tmp_path: Path) -> None:
    text = (ROOT / "docs/rules.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.S)
    assert compare(check, tmp_path, example, Geometry())
    names = [rule["name"] for rule in check(example).json]
    assert names == ["hotness", "skew", "bandwidth"]
    assert check(example).json[1]["map"] == [[17, 0], [803, 1]]
    for good in (GOOD.replace("[7, 63]", "[7, 0]"), MINIMAL, GOOD.replace("\n", "\r\n")):
        compare(check, tmp_path, good, GEOMETRY, *SMALL)
    assert compare(check, tmp_path, MINIMAL, GEOMETRY, *SMALL)


@pytest.mark.parametrize(("old", "new", "place", "field", "value", "allowed"), BAD)
def test_says_the_same(check, old: str, new: str, place: str, field: str, value: str,
                       allowed: str) -> None:  # fmt: skip
    result = check(GOOD.replace(old, new, 1), *SMALL)
    assert result.code == 2
    (line,) = result.err.splitlines()
    if field == "TOML":  # each parser has its own message and its own position within the line
        at = re.match(r"line \d+", place)
        assert at and line.startswith(f"anemonectl: stdin: {at[0]}, column ")
        return
    # A value of an unsupported type is shown as it was written.
    value = {"1000.0": "1e3", "0x10000000000000000": "18446744073709551616"}.get(value, value)
    assert line.startswith(f"anemonectl: stdin: {place}: {field} is {value}"), line
    assert allowed in line.partition("; allowed: ")[2], line


def test_names_of_their_own(check) -> None:
    place = 'rule 2 "hot" (line 17): name is "hot"; allowed: a name of its own (rule 1'
    assert place in check(GOOD.replace("[7, 63]", "[7, 0]") * 2, *SMALL).err


def test_bases_that_are_no_region(check) -> None:
    text = MINIMAL.replace('"identity"', "[[0, 1]]") + "sub = { mask = 0x3, shift = 0 }\n"
    errors = check(text).err
    assert 'rule 1 "least" (line 7): map[0] is [0, 1]; allowed: a base index that is a' in errors
    assert "the region's 4 counters" in errors
    assert check(text.replace("[0, 1]", "[0, 8]")).json[0]["map"] == [[0, 2]]
    refused = check(text.replace("[[0, 1]]", '"identity"'))
    assert refused.code == 2 and "sub mask" in refused.err


def test_near_is_for_flat_memory_mode(check) -> None:
    text = GOOD.replace("[7, 63]", "[7, 0]").replace('type = "RW"', 'type = "RW"\nnear = "hit"')
    assert "flat memory mode" in check(text, *SMALL).err
    assert check(text.replace("sub =", "# "), "--flat").json[0]["near"] == "hit"


def test_a_hash(check, tmp_path: Path) -> None:
    """Refused where no hash stage is built in."""
    text = MINIMAL.replace('"identity"', "[[0, 0]]") + "hash = { multiplier = 3, size = 8 }\n"
    assert not compare(check, tmp_path, text, GEOMETRY, *SMALL)
    (line,) = check(text, *SMALL).err.splitlines()
    assert "hash" in line.partition("; allowed: ")[0], line
    built = replace(GEOMETRY, features=Features(hash=True))
    assert compare(check, tmp_path, text, built, *SMALL, "--hash")
    for bad in ("2, size = 8", "0x800_0001, size = 8", "3, size = 0", "3, size = 99999",
                "3", "3, size = 8, x = 1"):  # fmt: skip
        wrong = text.replace("3, size = 8", bad)
        assert not compare(check, tmp_path, wrong, built, *SMALL, "--hash"), bad


@pytest.mark.parametrize("op", sorted(set(OPS) - set(STANDARD_OPS)))
@pytest.mark.parametrize("part", ["update", "read_effect"])
def test_ops_that_are_not_standard(check, tmp_path: Path, op: str, part: str) -> None:
    """Refused, with what is allowed, unless they are built in."""
    text = MINIMAL.replace('op = "max"', f'op = "{op}"')
    if part == "read_effect":
        text = MINIMAL + f'read_effect = {{ op = "{op}", operand = 3 }}\n'
    assert text != MINIMAL and not compare(check, tmp_path, text, GEOMETRY, *SMALL)
    (line,) = check(text, *SMALL).err.splitlines()
    assert f'{part}.op is "{op}"; allowed: ' in line and line.endswith(", max, addsat"), line
    built = replace(GEOMETRY, features=Features(OPS))
    assert compare(check, tmp_path, text, built, *SMALL, "--all-ops")


# --- Files that are drawn -----------------------------------------------------------------------


def toml(rule: Rule, draw: random.Random) -> str:
    """A rule as a file could have it, in one of TOML's notations."""

    def n(value: int) -> str:
        ways = [f'"{value:#x}"', f'"{value:#X}"'.replace("0X", "0x"), hex(value), str(value)]
        ways += [f"0o{value:o}", f"0b{value:b}", f"{value:_}"]
        return draw.choice(ways)

    def table(name: str, **fields: str) -> str:
        inside = [f"{k} = {v}" for k, v in fields.items()]
        if draw.random() < 0.2:
            return "".join(f"{name}.{one}\n" for one in inside)
        return f"{name} = {{ {', '.join(inside)} }}\n"

    gap = draw.choice(["", " ", "\n  ", " # a comment\n"])
    pairs = ("," + gap).join(
        f"[{n(k)}, {n(b)}{draw.choice(['', ','])}]" for k, b in rule.map.tolist()
    )
    hashed = table("hash", multiplier=n(rule.hash_multiplier), size=n(rule.hash_size))
    hashed = hashed if rule.hash_size else ""
    operand = n(rule.operand) if rule.operand_kind == "imm" else f'"{rule.operand_kind}"'
    quote = draw.choice(["'", '"'])
    lines = [
        f"name = {quote}{rule.name}{quote}\n",
        f'"type" = "{rule.type}"\n',
        f"range = [{n(rule.start)},{gap}{n(rule.end)}{gap}]\n",
        table("primary", mask=n(rule.primary_mask), shift=n(rule.primary_shift)),
        table("sub", mask=n(rule.sub_mask), shift=n(rule.sub_shift)),
        hashed,
        table("update", op=f'"{rule.op}"', operand=operand),
        f"width = {rule.width} # bits\n",
        table("notify", op=f'"{rule.notify_op}"', operand=n(rule.notify_operand)),
        f"map = [{gap}{pairs}{gap}]\n",
        f"read_every = {rule.read_every}\n",
    ]
    if rule.effect_op != "none":
        key = "value" if rule.effect_op == "reset" else "operand"
        lines.append(
            table("read_effect", op=f"'{rule.effect_op}'", **{key: n(rule.effect_operand)})
        )
    draw.shuffle(lines)
    return "[[rule]]\n" + "".join(lines)


def at_regions(rule: Rule) -> Rule:
    """The rule with base indices at which the driver can begin a region."""
    last = min(rule.sub_mask >> rule.sub_shift, (DRAWN.device_bytes - 1) >> rule.sub_shift)
    if rule.hash_size:
        last = rule.hash_size - 1
    counters = 1 << last.bit_length()
    return replace(rule, map=[[k, b - b % counters] for k, b in rule.map.tolist()])


DRAWN = Geometry(2, 4, states=16, table=16, device_gib=1, features=Features(OPS, hash=True))
DRAWN_OPTIONS = [
    "--pipelines",
    "4",
    "--states",
    "16",
    "--table",
    "16",
    "--device-gib",
    "1",
    "--hash",
    "--all-ops",
]
SHARED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@settings(max_examples=150, suppress_health_check=SHARED)
@given(st.data(), st.randoms(use_true_random=False))
def test_drawn_rules(check, tmp_path: Path, data: st.DataObject, draw: random.Random) -> None:
    drawn = [data.draw(random_rules(DRAWN, name=f"rule {i}")) for i in range(draw.randint(1, 3))]
    text = "".join(toml(at_regions(rule), draw) for rule in drawn)
    assert compare(check, tmp_path, text, DRAWN, *DRAWN_OPTIONS)


NAMES = st.text(
    st.characters(exclude_categories=["Cn", "Cs"], exclude_characters='"\\'), max_size=101
)


@settings(max_examples=100, suppress_health_check=SHARED)
@given(NAMES)
def test_names(check, tmp_path: Path, name: str) -> None:
    compare(check, tmp_path, MINIMAL.replace("least", name), GEOMETRY, *SMALL)


@settings(max_examples=250, suppress_health_check=SHARED)
@given(st.lists(st.tuples(st.integers(0, len(GOOD)), st.integers(0, 12), SCRAPS), max_size=4))
def test_a_good_file_with_pieces_replaced(check, tmp_path: Path, edits: list) -> None:
    text = GOOD.replace("[7, 63]", "[7, 0]").replace("0x1FF000", "0")
    for at, cut, scrap in edits:
        text = text[:at] + scrap + text[at + cut :]
    compare(check, tmp_path, text, GEOMETRY, *SMALL)


KEYS = ["name", "type", "range", "primary", "sub", "hash", "update", "width", "notify",
        "read_effect", "map", "read_every", "x"]  # fmt: skip


@settings(max_examples=150, suppress_health_check=SHARED)
@given(st.dictionaries(st.sampled_from(KEYS), LEAVES, min_size=1))
def test_right_keys_with_wrong_values(check, tmp_path: Path, values: dict[str, str]) -> None:
    lines = dict(line.split(" = ", 1) for line in GOOD.replace(",\n", ",").splitlines()[2:])
    text = "[[rule]]\n" + "".join(f"{k} = {v}\n" for k, v in (lines | values).items())
    compare(check, tmp_path, text, GEOMETRY, *SMALL)


# TOML beyond the plain layout; each text is valid or invalid for both readers.
TOML_TEXTS = [
    'rule = [{ name = "a", type = "R", range = [0, 1], primary = { mask = 1, shift = 0 }, '
    'update = { op = "or", operand = 1 }, map = [] }]',
    MINIMAL + '[rule.read_effect]\nop = "shr"\noperand = 1\n[rule.notify]\nop = "none"\n',
    MINIMAL + '[rule.notify]\nop = "none"\n[rule.notify]\n',
    MINIMAL + '[rule.update]\noperand = 3\n',
    MINIMAL + 'update.x = 3\n',
    MINIMAL + 'notify.op = "none"\nnotify.operand = 1\n',
    MINIMAL + 'notify.op = "none"\n[rule.notify]\noperand = 1\n',
    MINIMAL.replace('"least"', '"""\\\n   le\\\n   ast"""'),
    MINIMAL.replace('"least"', "'''least'''"), MINIMAL.replace('"least"', '"""a""b"""""'),
    MINIMAL.replace('"least"', r'"l\u00e9\U0001F41a"'), MINIMAL.replace('"least"', r'"\ud800"'),
    MINIMAL.replace('"least"', r'"\x41"'), MINIMAL.replace('"least"', r'"\q"'),
    MINIMAL.replace("[64, 128]", "[64, 128,]"), MINIMAL.replace("[64, 128]", "[64, 128,,]"),
    MINIMAL.replace("[64, 128]", "[+64, 1_28]"), MINIMAL.replace("[64, 128]", "[064, 128]"),
    MINIMAL.replace("[64, 128]", "[-0, 128]"), MINIMAL.replace("[64, 128]", "[0x_4, 128]"),
    MINIMAL.replace("[64, 128]", "[\n\n64 # 3\n, 128]"),
    MINIMAL.replace("shift = 63", "shift = 63,"),
    MINIMAL.replace("shift = 63", "\nshift = 63"), MINIMAL.replace("[[rule]]", "[[ rule ]] # x"),
    MINIMAL.replace("[[rule]]", "[ [rule]]"), MINIMAL.replace("[[rule]]", "[rule]"),
    MINIMAL.replace("[[rule]]", '[["rule"]]'), MINIMAL + "[[rule.map]]\n", MINIMAL + "[rule]\n",
    MINIMAL + "[[rule.x.y]]\n", MINIMAL + "\rwidth = 8", "\ufeff" + MINIMAL, MINIMAL + "# \x01\n",
    MINIMAL + "# é \x7f\n", MINIMAL + "width = 8 width = 8\n", MINIMAL.replace(" = ", "=", 1),
    "", "\n\n", "rule = []", "rule = 3", "[rule]\n", "[[rule]]", "a.b.c = 1", "[[rule]]\n" * 3,
    MINIMAL + "width = inf\n", MINIMAL + "width = 8_\n", MINIMAL + "width = 0x8\n",
    MINIMAL + "width = 07\n",
    MINIMAL.replace("mask = 0,", "mask = 18446744073709551615,"),
    MINIMAL.replace("mask = 0,", "mask = 18446744073709551616,"),
    MINIMAL.replace("mask = 0,", 'mask = "0x00000000000000000000000000000001",'),
    MINIMAL + "read_every = 9223372036854775808\n", MINIMAL + "read_every = 9223372036854775807\n",
    # Texts on which toml++ 3.3 asserts or has undefined behaviour.
    MINIMAL.replace("[[rule]]", "[[[rule]]]"), MINIMAL + "é = 1\n", MINIMAL + "width = 8 é\n",
    MINIMAL.replace('"least"', '"""\\\n  é, 海 and \\"more\\" \\\n  🐚"""'),
    MINIMAL + "# é 海\n'é' = 1\n",
    MINIMAL.replace("mask = 0, shift", "mask = 0xFFFF_FFFF_FFFF_FFFF, shift") + "width = 64\n",
]  # fmt: skip


@pytest.mark.parametrize("text", TOML_TEXTS, ids=range(len(TOML_TEXTS)))
def test_toml(check, tmp_path: Path, text: str) -> None:
    compare(check, tmp_path, text, GEOMETRY, *SMALL)


# --- Bytes that are no rules --------------------------------------------------------------------


@settings(max_examples=200, suppress_health_check=SHARED)
@given(st.binary(max_size=300) | st.text("[]{}=\"'.,\n #0x_19rulenamp-\\").map(str.encode))
def test_any_bytes(check, tmp_path: Path, data: bytes) -> None:
    compare(check, tmp_path, data, GEOMETRY, *SMALL)


def test_mutated_bytes(check) -> None:
    """With the address sanitizer; the message of a failure has its seed."""
    for seed in range(400):
        draw = random.Random(seed)
        data = bytearray(draw.choice([GOOD, GOOD + MINIMAL, *TOML_TEXTS]).encode() or b"\n")
        for _ in range(draw.randint(1, 8)):
            at = draw.randrange(len(data))
            how = draw.randrange(4)
            if how == 0:
                data[at] = draw.randrange(256)
            elif how == 1:
                del data[at : at + draw.randint(1, 20)]
            elif how == 2:
                data[at:at] = data[at : at + draw.randint(1, 40)]
            else:
                data[at:at] = bytes([draw.choice(b"[]{}\"'\\=.,\n#")]) * draw.choice([1, 3, 200])
            data = data or bytearray(b"\n")
        try:
            check(bytes(data))
        except AssertionError as e:
            raise AssertionError(f"seed {seed}: {bytes(data)!r}") from e


def test_deep_and_long(check) -> None:
    for text in (
        "a = " + "[" * 100_000,
        "a = " + "{a=" * 100_000,
        "a." * 50_000 + "a = 1",
        "[" + "a." * 50_000 + "a]",
        "a = " + "9" * 100_000,
        '"' + "é" * 100_000 + '" = 1',
    ):
        assert check(text).code == 2
