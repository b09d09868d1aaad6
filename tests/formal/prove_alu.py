# SPDX-License-Identifier: Apache-2.0
"""The update ALU on the counters that test_alu.py leaves out: `make prove`."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.formal.checker import check, emitted
from tests.formal.test_alu import CASES, ENGINE, NAMES

LEFT = sorted({f"{n}-{w}" for n, w in product(NAMES, (8, 16, 32, 64))} - set(CASES))


@pytest.fixture(scope="session")
def proofs() -> Path:
    """The SystemVerilog of all cases, in one folder each."""
    return emitted("alu-left", "anemone.nemo.EmitAlu", *LEFT)


@pytest.mark.parametrize("case", LEFT)
def test_a_counter_becomes_what_the_op_means(case: str, proofs: Path, tmp_path: Path) -> None:
    assert check(proofs / case / "AluEquivalence.sv", tmp_path, *ENGINE) is None
