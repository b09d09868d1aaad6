# SPDX-License-Identifier: Apache-2.0
"""The directed cocotb tests, each as a test of its own; a module's share one simulation."""

from __future__ import annotations

import ast
import os
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import pytest

from tests.cocotb.bench.build import WORK, built
from tests.cocotb.bench.simulate import simulate
from tests.cocotb.bench.sizes import SIZES

MODULES = {
    "directed": "p2c2",
    "directed_control": "p2c2",
    "parity": "p2c2",
    "selftest": "p2c2",
    "absent": "p3c4",
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
    size = MODULES[module]
    simulator = built(SIZES[size], waves="WAVES" in os.environ)
    wrong = ""
    try:
        simulate(simulator, module, folder, BENCH_SIZE=size)
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
    """A cocotb test of `tests/cocotb/bench`."""
    wrong = outcomes(module)[test]
    assert not wrong, wrong
