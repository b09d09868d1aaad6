# SPDX-License-Identifier: Apache-2.0
"""The directed cocotb tests, each as a test of its own; a module's share one simulation."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from tests.cocotb.bench.build import WORK, built
from tests.cocotb.bench.once import cocotb_tests, verdicts
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
    return cocotb_tests(Path(__file__).parent / "bench" / f"{module}.py")


@cache
def outcomes(module: str) -> dict[str, str]:
    """By test: nothing, or what went wrong."""
    size = MODULES[module]
    simulator = built(SIZES[size], waves="WAVES" in os.environ)
    folder = WORK / "directed" / f"{module}-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
    return verdicts(
        folder,
        names(module),
        lambda: simulate(simulator, module, folder, BENCH_SIZE=size),
    )


@pytest.mark.parametrize(
    ("module", "test"),
    [pytest.param(module, test, id=test) for module in MODULES for test in names(module)],
)
def test_directed(module: str, test: str) -> None:
    """A cocotb test of `tests/cocotb/bench`."""
    wrong = outcomes(module)[test]
    assert not wrong, wrong
