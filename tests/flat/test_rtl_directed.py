# SPDX-License-Identifier: Apache-2.0
"""The directed cocotb tests of the swap controller, each as a separate test."""

import pytest

from tests.bench.bench import Directed
from tests.flat.bench.shards import BENCH

# Each on the smallest ratio and a larger one.
DIRECTED = Directed(
    BENCH,
    {
        "directed_latency": ["flat1", "flat2"],
        "directed_order": ["flat1", "flat2"],
        "directed_refusals": ["flat1", "flat2"],
        "directed_reset": ["flat1", "flat2"],
        "directed_marks": ["flat1", "flat2"],
        "directed_races": ["flat1", "flat2"],
        "directed_upsets": ["flat1", "flat2"],
        "directed_sweep": ["flat1", "flat2"],
        "directed_tags": ["flat1", "flat2"],
        "directed_flips": ["flat1", "flat2"],
        "directed_codes": ["flat2"],
        "directed_counts": ["flat1", "flat2"],
    },
)


@pytest.mark.parametrize(("module", "build", "test"), DIRECTED.cases)
def test_directed(module: str, build: str, test: str) -> None:
    """A cocotb test of `tests/flat/bench`."""
    wrong = DIRECTED.outcome(module, build, test)
    assert not wrong, wrong
