# SPDX-License-Identifier: Apache-2.0
"""The directed cocotb tests of the expander, each as a test of its own."""

from __future__ import annotations

import ast
import os
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import pytest

from tests.expander.bench.build import WORK
from tests.expander.bench.shards import directed
from tests.expander.bench.sizes import BUILDS

MODULES = {
    "directed_path": "x2",
    "directed_region": "x2",
    "directed_region_one": "x1",
    "directed_programming": "x2",
    "directed_interrupts": "x2",
    "directed_parity": "x2",
    "directed_controller": "board",
    "directed_bare": "x2",
}


def names(module: str) -> list[str]:
    """The cocotb tests in a module."""
    tree = ast.parse((Path(__file__).parent / "bench" / f"{module}.py").read_text())
    tests = [node for node in tree.body if isinstance(node, ast.AsyncFunctionDef)]
    return [node.name for node in tests if node.decorator_list]


@cache
def outcomes(module: str) -> dict[str, str]:
    """By test: nothing, or what went wrong."""
    folder = WORK / "directed" / f"{module}-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
    wrong = ""
    try:
        directed(BUILDS[MODULES[module]], module, folder)
    except AssertionError as error:
        wrong = str(error)
    found = {}
    if (folder / "results.xml").is_file():
        for case in ET.parse(folder / "results.xml").iter("testcase"):
            failed = case.find("failure") is not None or case.find("error") is not None
            found[case.get("name", "").rpartition(".")[2]] = wrong if failed else ""
    return {
        name: found.get(name, wrong or "the simulation did not run it") for name in names(module)
    }


@pytest.mark.parametrize(
    ("module", "test"),
    [pytest.param(module, test, id=test) for module in MODULES for test in names(module)],
)
def test_directed(module: str, test: str) -> None:
    """A cocotb test of `tests/expander/bench`."""
    wrong = outcomes(module)[test]
    assert not wrong, wrong
