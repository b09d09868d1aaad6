# SPDX-License-Identifier: Apache-2.0
"""The directed cocotb tests of the swap controller, each as a test of its own."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from tests.cocotb.bench.once import cocotb_tests, verdicts
from tests.flat.bench.build import BUILDS, WORK
from tests.flat.bench.shards import run

# Each on the smallest ratio and a larger one.
MODULES = {
    "directed_latency": ("flat1", "flat2"),
    "directed_refusals": ("flat1", "flat2"),
    "directed_reset": ("flat1", "flat2"),
}


def names(module: str) -> list[str]:
    """The cocotb tests in a module."""
    return cocotb_tests(Path(__file__).parent / "bench" / f"{module}.py")


@cache
def outcomes(module: str, build: str) -> dict[str, str]:
    """By test: nothing, or what went wrong."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    folder = WORK / "directed" / f"{module}-{build}-{worker}"
    return verdicts(folder, names(module), lambda: run(BUILDS[build], module, folder))


@pytest.mark.parametrize(
    ("module", "build", "test"),
    [
        pytest.param(module, build, test, id=f"{build}-{test}")
        for module, builds in MODULES.items()
        for build in builds
        for test in names(module)
    ],
)
def test_directed(module: str, build: str, test: str) -> None:
    """A cocotb test of `tests/flat/bench`."""
    wrong = outcomes(module, build)[test]
    assert not wrong, wrong
