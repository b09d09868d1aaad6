# SPDX-License-Identifier: Apache-2.0
"""Runs each cocotb test of single units as a separate test."""

import pytest

from tests.bench.bench import Directed
from tests.units.bench.shards import BENCH

DIRECTED = Directed(BENCH, {"directed": ["x2", "tiered", "flat2"]})


@pytest.mark.parametrize(("module", "build", "test"), DIRECTED.cases)
def test_directed(module: str, build: str, test: str) -> None:
    """A cocotb test of `tests/units/bench`."""
    wrong = DIRECTED.outcome(module, build, test)
    assert not wrong, wrong
