# SPDX-License-Identifier: Apache-2.0
"""The directed cocotb tests of the expander, each as a test of its own."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from tests.cocotb.bench.once import cocotb_tests, verdicts
from tests.expander.bench.build import WORK
from tests.expander.bench.shards import directed
from tests.expander.bench.sizes import BUILDS

MODULES = {
    "directed_path": "x2",
    "directed_order": "x2",
    "directed_region": "x2",
    "directed_region_one": "x1",
    "directed_programming": "x2",
    "directed_interrupts": "x2",
    "directed_parity": "x2",
    "directed_controller": "board",
    "directed_bare": "x2",
    "directed_tiered": "tiered",
}


def names(module: str) -> list[str]:
    """The cocotb tests in a module."""
    return cocotb_tests(Path(__file__).parent / "bench" / f"{module}.py")


@cache
def outcomes(module: str) -> dict[str, str]:
    """By test: nothing, or what went wrong."""
    folder = WORK / "directed" / f"{module}-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
    return verdicts(
        folder,
        names(module),
        lambda: directed(BUILDS[MODULES[module]], module, folder),
    )


@pytest.mark.parametrize(
    ("module", "test"),
    [pytest.param(module, test, id=test) for module in MODULES for test in names(module)],
)
def test_directed(module: str, test: str) -> None:
    """A cocotb test of `tests/expander/bench`."""
    wrong = outcomes(module)[test]
    assert not wrong, wrong
