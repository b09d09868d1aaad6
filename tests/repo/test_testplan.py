# SPDX-License-Identifier: Apache-2.0
"""The testplans name only existing tests, and all coverage bins."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.engine.bench import coverage as engine
from tests.engine.test_directed import DIRECTED as ENGINE_TESTS
from tests.expander.bench import coverage as expander
from tests.expander.test_directed import DIRECTED as EXPANDER_TESTS
from tests.flat.bench import coverage as flat
from tests.flat.test_rtl_directed import DIRECTED as FLAT_TESTS

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Plan:
    """A page, with the coverage bins and the modules of directed tests that it must name."""

    page: Path
    bins: frozenset[str]
    modules: tuple[Path, ...]

    def __str__(self) -> str:
        return self.page.stem

    def rows(self) -> list[list[str]]:
        """The cells of the page's table rows."""
        return [
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in self.page.read_text().splitlines()
            if line.startswith("|") and not re.match(r"\|( point | ---)", line)
        ]


def plan(page: str, bench: str, bins: set[str], modules: Iterable[str]) -> Plan:
    """The plan of a page in docs/ for a bench in tests/."""
    files = tuple(ROOT / "tests" / bench / "bench" / f"{module}.py" for module in modules)
    return Plan(ROOT / "docs" / page, frozenset(bins), files)


PLANS = [
    plan("testplan.md", "engine", engine.required(), ENGINE_TESTS.modules),
    plan("testplan-expander.md", "expander", expander.required(), EXPANDER_TESTS.modules),
    plan("testplan-flat.md", "flat", flat.required(), FLAT_TESTS.modules),
    plan("testplan-driver.md", "cosim", set(), ()),
    plan("testplan-msgfree.md", "msgfree", set(), ()),
    plan("testplan-camp.md", "camp", set(), ()),
    plan("testplan-tools.md", "caption", set(), ()),
    plan("testplan-memstrata.md", "memstrata", set(), ()),
]
each_plan = pytest.mark.parametrize("plan", PLANS, ids=str)


def exists(path: Path, name: str) -> bool:
    """Whether a file has a test: a function in Python, part of a test's description in Scala."""
    text = path.read_text()
    if path.suffix != ".py":
        return name in text
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = ast.walk(ast.parse(text))
    return any(isinstance(node, functions) and node.name == name for node in nodes)


@pytest.mark.parametrize(
    ("plan", "row"),
    [pytest.param(plan, row, id=row[0][:60]) for plan in PLANS for row in plan.rows()],
)
def test_every_point_names_tests_that_exist(plan: Plan, row: list[str]) -> None:
    point, _, tests = row
    missing, count = [], 0
    for target, names in re.findall(r"\]\(([^)]+)\)([^\[]*)", tests):
        for name in re.findall(r"`([^`]+)`", names):
            count += 1
            if not exists(plan.page.parent / target, name):
                missing.append(f"{target}: {name}")
    assert count, f"no test for: {point}"
    assert not missing


@each_plan
def test_every_coverage_group_has_a_point(plan: Plan) -> None:
    named = {name for row in plan.rows() for name in re.findall(r"`([^`]+)`", row[1])}
    assert named == {name.partition("/")[0] for name in plan.bins}


@each_plan
def test_every_directed_test_has_a_point(plan: Plan) -> None:
    text = plan.page.read_text()
    for module in plan.modules:
        tree = ast.parse(module.read_text())
        tests = [n for n in tree.body if isinstance(n, ast.AsyncFunctionDef) and n.decorator_list]
        assert not [test.name for test in tests if f"`{test.name}`" not in text]
