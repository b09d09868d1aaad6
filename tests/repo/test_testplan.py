# SPDX-License-Identifier: Apache-2.0
"""The testplan names tests and coverage that exist, and leaves no coverage out."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.cocotb.bench.coverage import required

PLAN = Path(__file__).resolve().parents[2] / "docs" / "testplan.md"
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PLAN.read_text().splitlines()
    if line.startswith("|") and not re.match(r"\|( point | ---)", line)
]


def exists(path: Path, name: str) -> bool:
    """A test is in a file: a function in Python, a part of what it says of itself in Scala."""
    text = path.read_text()
    if path.suffix != ".py":
        return name in text
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = ast.walk(ast.parse(text))
    return any(isinstance(node, functions) and node.name == name for node in nodes)


@pytest.mark.parametrize("row", ROWS, ids=[row[0][:60] for row in ROWS])
def test_every_point_names_tests_that_exist(row: list[str]) -> None:
    point, _, tests = row
    missing, count = [], 0
    for target, names in re.findall(r"\]\(([^)]+)\)([^\[]*)", tests):
        for name in re.findall(r"`([^`]+)`", names):
            count += 1
            if not exists(PLAN.parent / target, name):
                missing.append(f"{target}: {name}")
    assert count, f"no test for: {point}"
    assert not missing


def test_every_coverage_group_has_a_point() -> None:
    named = {name for row in ROWS for name in re.findall(r"`([^`]+)`", row[1])}
    assert named == {name.partition("/")[0] for name in required()}


def test_every_directed_test_has_a_point() -> None:
    named = PLAN.read_text()
    modules = ("directed", "directed_control", "parity", "selftest", "absent")
    for module in modules:
        tree = ast.parse((PLAN.parent.parent / f"tests/cocotb/bench/{module}.py").read_text())
        tests = [n.name for n in tree.body if isinstance(n, ast.AsyncFunctionDef)]
        unnamed = [name for name in tests if f"`{name}`" not in named]
        assert not [name for name in unnamed if name not in ("play", "flip")]
