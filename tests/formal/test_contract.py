# SPDX-License-Identifier: Apache-2.0
"""The contract of a lane by bounded model checking (Yosys, ABC's bmc3).

hw/test/nemo/LaneContract.scala is the property, for any sequence of events, reads with effect,
snapshots, slots of acknowledgements and table writes, on any counter with any operand.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formal.checker import broken, check, emitted, within

# Reset and clearing take 9 cycles; the longest hazard is a serial RMW (2 words) and 4 slots behind
# it; a pipeline is 9 cycles deep, and three of them are to fit behind the hazard.
FRAMES = 9 + 2 + 4 + 3 * 9

CASES = ["add-set-4", "sub-set-2", "add-shr-4", "max-shl-4", "addsat-xor-2", "min-subsat-2"]

ENGINE = within(FRAMES)


@pytest.fixture(scope="session")
def proofs() -> Path:
    """The SystemVerilog of all cases, a folder each."""
    return emitted("lane", "anemone.nemo.EmitProofs")


@pytest.mark.parametrize("case", CASES)
def test_contract_holds(case: str, proofs: Path, tmp_path: Path) -> None:
    assert check(proofs / case / "LaneProof.sv", tmp_path, *ENGINE) is None


# (the case that refutes it, firtool's text, the faulty replacement)
MUTANTS = {
    "the slot right before is not forwarded": (
        "add-set-4",
        r"(\.io_forward1 +)\(.*\)",
        r"\g<1>(1'h0)",
    ),
    "parity is not kept": ("add-set-4", r"(\.io_value_parity +)\(.*\)", r"\g<1>(1'h0)"),
    "a word in flight is read all the same": (
        "add-set-4",
        r"\boneWord & \(hits_0 \| hits_1 \| hits_2 \| hits_3\)",
        r"1'h0",
    ),
    "a line misses the slot three before": (
        "add-set-4",
        r"(\bforward3Hit\[[01]\] \? )forward3_data\b",
        r"\g<1>4'h0",
    ),
    "a line keeps what was stored of a word in flight": (
        "add-set-4",
        r"\boverwritten\[[01]\](\s+\?)",
        r"1'h0\g<1>",
    ),
    "a line for an acknowledgement has all words": (
        "add-set-4",
        r"\bslots_later_r_2_acknowledge(\s+\?)",
        r"1'h0\g<1>",
    ),
    "an acknowledgement puts no operand": (
        "add-set-4",
        r"\bloadNext \| io_slot_read & io_slot_acknowledge & io_slot_serialRmw\b",
        r"loadNext",
    ),
    "an acknowledgement sets, whatever its op": (
        "add-set-4",
        r"\bio_slot_acknowledge \? io_slot_op\b",
        r"io_slot_acknowledge ? 4'hF",
    ),
    "the words of a serial RMW are not gathered": (
        "add-shr-4",
        r"(read_r_1 & \()~slots_later_r_1_serialRmw \| ~slots_later_r_1_word\)",
        r"\g<1>1'h1)",
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_broken_lane_is_refuted(mutant: str, proofs: Path, tmp_path: Path) -> None:
    case, pattern, replacement = MUTANTS[mutant]
    source = broken(proofs / case / "LaneProof.sv", pattern, replacement, tmp_path)
    assert check(source, tmp_path, *ENGINE) is not None
