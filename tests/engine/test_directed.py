# SPDX-License-Identifier: Apache-2.0
"""Runs each directed cocotb test of the engine as a separate test."""

import pytest

from tests.bench.bench import Directed
from tests.engine.bench.shards import BENCH

DIRECTED = Directed(
    BENCH,
    {
        "directed": ["p2c2"],
        "directed_clocks": ["p2c2"],
        "directed_control": ["p2c2"],
        "directed_takes": ["p2c2"],
        "parity": ["p2c2"],
        "selftest": ["p2c2"],
        "absent": ["p3c4"],
    },
)


@pytest.mark.parametrize(("module", "build", "test"), DIRECTED.cases)
def test_directed(module: str, build: str, test: str) -> None:
    """A cocotb test of `tests/engine/bench`."""
    wrong = DIRECTED.outcome(module, build, test)
    assert not wrong, wrong
