# SPDX-License-Identifier: Apache-2.0
"""Memory's answers and a telemetry line that could go: neither waits for ever (Yosys, ABC's pdr).

hw/test/expander/ReadResponseArbiterProof.scala is the property: so many of memory's beats pass a
line and no more, and where somebody can go exactly one goes, whatever the host takes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formal.checker import FOR_EVER, broken, check
from tests.formal.checker import proof as emitted_proof


@pytest.fixture(scope="session")
def proof() -> Path:
    """The property's SystemVerilog."""
    return emitted_proof("ReadResponseArbiterProof")


def test_a_line_goes_after_so_many_beats(proof: Path, tmp_path: Path) -> None:
    assert check(proof, tmp_path, *FOR_EVER) is None


MUTANTS = {
    "memory always goes first": (r"(io_lineFirst = )lineFirst", r"\g<1>1'h0"),
    "one beat more": (r"(beats == )3'h4", r"\g<1>3'h5"),
    "one beat less": (r"(beats == )3'h4", r"\g<1>3'h3"),
    "beats that the host did not take count": (r"(io_line & io_memory) & io_ready", r"\g<1>"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_broken_turn_is_refuted(mutant: str, proof: Path, tmp_path: Path) -> None:
    assert check(broken(proof, *MUTANTS[mutant], tmp_path), tmp_path, *FOR_EVER) is not None
