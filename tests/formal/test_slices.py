# SPDX-License-Identifier: Apache-2.0
"""Register slices keep every item and their order, a cycle later, bounded (Yosys, ABC's bmc3).

hw/test/bus/SliceOrder.scala and hw/test/expander/ReadResponseOrder.scala are the properties, for
any timing of both sides; a read response leaves with the data of its own source.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formal.checker import broken, check, proof, within

# A reset, both places filled and emptied twice, at any time.
BOUNDED = within(12)
SLICES = ("RegisterSliceOrder", "ReadResponseOrder")


@pytest.mark.parametrize("slice", SLICES)
def test_every_item_leaves_once_and_in_order(slice: str, tmp_path: Path) -> None:
    assert check(proof(slice), tmp_path, *BOUNDED) is None


# (the slice that refutes it, firtool's text, the faulty replacement)
MUTANTS = {
    "what waits is passed": ("RegisterSliceOrder", r"skidValid \? skid : io_in_bits", "io_in_bits"),
    "what waits is written over": (
        "RegisterSliceOrder",
        r"~skidValid & io_in_valid",
        "io_in_valid",
    ),
    "there is room when both places are full": (
        "ReadResponseOrder",
        r"full <= ~[^;]*",
        "full <= 1'h0",
    ),
    "an offered response is changed": ("ReadResponseOrder", r"valid & ~skidValid", "valid"),
    "the data are the other source's": (
        "ReadResponseOrder",
        r"(response_isLine \? )response_lineData : response_memoryData",
        r"\1response_memoryData : response_lineData",
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_broken_slice_is_refuted(mutant: str, tmp_path: Path) -> None:
    slice, pattern, replacement = MUTANTS[mutant]
    source = broken(proof(slice), pattern, replacement, tmp_path)
    assert check(source, tmp_path, *BOUNDED) is not None
