# SPDX-License-Identifier: Apache-2.0
"""Runs each directed cocotb test of the expander as a separate test."""

import pytest

from tests.bench.bench import Directed
from tests.expander.bench.shards import BENCH

DIRECTED = Directed(
    BENCH,
    {
        "directed_path": ["x2"],
        "directed_order": ["x2"],
        "directed_quiesce": ["x2"],
        "directed_quiesce_tiered": ["tiered"],
        "directed_quiesce_board": ["board", "agilex", "flatboard"],
        "directed_acknowledge": ["x2"],
        "directed_backlog": ["x2"],
        "directed_clocks": ["x2"],
        "directed_region": ["x2"],
        "directed_region_one": ["x1"],
        "directed_programming": ["x2"],
        "directed_interrupts": ["x2"],
        "directed_parity": ["x2"],
        "directed_faults": ["x2"],
        "directed_upsets": ["x2", "board", "tiered"],
        "directed_lines": ["x2"],
        "directed_telemetry_reads": ["x2"],
        "directed_controller": ["board"],
        "directed_bare": ["x2"],
        "directed_tiered": ["tiered"],
        "directed_undecided": ["tiered"],
        "directed_policy": ["tiered"],
        "directed_taken": ["tiered", "flatboard"],
        "directed_warm": ["tiered"],
        "directed_untrusted": ["tiered", "flatboard"],
        "directed_power_up": ["agilex"],
        "directed_rate": ["tiered", "flatboard"],
        "directed_flat_board": ["flatboard"],
    },
)


@pytest.mark.parametrize(("module", "build", "test"), DIRECTED.cases)
def test_directed(module: str, build: str, test: str) -> None:
    """A cocotb test of `tests/expander/bench`."""
    wrong = DIRECTED.outcome(module, build, test)
    assert not wrong, wrong
