# SPDX-License-Identifier: Apache-2.0
"""Memory's responses and telemetry lines: neither starves (Yosys, ABC's pdr).

hw/test/expander/ReadResponseArbiterProof.scala is the property: a bounded number of memory beats
pass a ready line, and exactly one of the two sides advances if either can, for any ready signal of
the host.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formal.checker import UNBOUNDED, broken, check
from tests.formal.checker import proof as emitted_proof


@pytest.fixture(scope="session")
def proof() -> Path:
    """The property's SystemVerilog."""
    return emitted_proof("ReadResponseArbiterProof")


def test_a_line_goes_after_so_many_beats(proof: Path, tmp_path: Path) -> None:
    assert check(proof, tmp_path, *UNBOUNDED) is None


MUTANTS = {
    "memory always goes first": (r"(io_lineFirst = )lineFirst", r"\g<1>1'h0"),
    "one beat more": (r"(beats == )3'h4", r"\g<1>3'h5"),
    "one beat less": (r"(beats == )3'h4", r"\g<1>3'h3"),
    "beats that the host did not take count": (r"(io_line & io_memory) & io_ready", r"\g<1>"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_broken_turn_is_refuted(mutant: str, proof: Path, tmp_path: Path) -> None:
    assert check(broken(proof, *MUTANTS[mutant], tmp_path), tmp_path, *UNBOUNDED) is not None
