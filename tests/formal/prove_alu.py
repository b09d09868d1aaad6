# SPDX-License-Identifier: Apache-2.0
"""The update ALU on the counters that test_alu.py leaves out, of 16 and 32 bits: `make prove`."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.formal.checker import check, emitted
from tests.formal.test_alu import ENGINE, NAMES


@pytest.fixture(scope="session")
def proofs() -> Path:
    """The SystemVerilog of all cases, a folder each."""
    return emitted("alu", "anemone.nemo.EmitAlu")


@pytest.mark.parametrize("case", [f"{n}-{w}" for n, w in product(NAMES, (16, 32))])
def test_a_counter_becomes_what_the_op_means(case: str, proofs: Path, tmp_path: Path) -> None:
    assert check(proofs / case / "AluEquivalence.sv", tmp_path, *ENGINE) is None
