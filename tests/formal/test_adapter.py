# SPDX-License-Identifier: Apache-2.0
"""Responses of the board's controller through its adapter, unbounded (Yosys, ABC's pdr).

hw/test/expander/AdapterOrder.scala is the property: for any timing of requests, responses and
handshakes, upstream gets each of the controller's responses once and in order.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formal.checker import UNBOUNDED, broken, check
from tests.formal.checker import proof as emitted_proof


@pytest.fixture(scope="session")
def proof() -> Path:
    """The property's SystemVerilog."""
    return emitted_proof("AdapterOrder")


def test_answers_keep_their_order(proof: Path, tmp_path: Path) -> None:
    assert check(proof, tmp_path, *UNBOUNDED) is None


MUTANTS = {
    "a read is issued without a credit": (r"(io_upstream_ar_valid & )\(\|credits\)", r"\g<1>1'h1"),
    "a credit is back before its answer": (r"io_upstream_b_ready & (_queue_1_io_deq)", r"\g<1>"),
    "an answer passes those that wait": (r"(\.R0_addr \()deq_ptr_value", r"\g<1>enq_ptr_value"),
    "an answer is not kept while others wait": (r"(do_enq = )(io_enq_ready_0)", r"\1empty & \2"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_broken_adapter_is_refuted(mutant: str, proof: Path, tmp_path: Path) -> None:
    assert check(broken(proof, *MUTANTS[mutant], tmp_path), tmp_path, *UNBOUNDED) is not None
