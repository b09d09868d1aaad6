# SPDX-License-Identifier: Apache-2.0
"""The whole swap controller: a read returns the data last written (Yosys, ABC's bmc3).

hw/test/flat/FlatMemoryProof.scala is the property: any three requests to two lines that share a
set, with two ids and any policy, with memories that respond early or late in any order.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.formal.checker import broken, check, proof, within

# The sweep of near memory takes 11 cycles; three successive misses take about 30.
FRAMES = int(os.environ.get("FRAMES", "40"))


@pytest.fixture(scope="session")
def controller() -> Path:
    """The property's SystemVerilog."""
    return proof("FlatMemoryProof")


def test_a_read_returns_what_was_last_written(controller: Path, tmp_path: Path) -> None:
    assert check(controller, tmp_path, *within(FRAMES)) is None


MUTANTS = {
    "a request sees the tags before the swap": (
        r"(writesSet =\s*)decides & ~checked_fails",
        r"\g<1>1'h0",
    ),
    "an MSHR is free while a request waits for it": (r"io_idle & ~undecided", "io_idle"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_broken_controller_is_refuted(mutant: str, controller: Path, tmp_path: Path) -> None:
    source = broken(controller, *MUTANTS[mutant], tmp_path)
    assert check(source, tmp_path, *within(FRAMES)) is not None
