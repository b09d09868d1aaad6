# SPDX-License-Identifier: Apache-2.0
"""The update ALU on 64-bit words: every op on counters of 8 bits, and but for shifts of 64 (Yosys,
ABC's bmc3).

hw/test/nemo/update/AluEquivalence.scala is the property: a counter's new value is the op's result,
for any updated counters of the word, and a forwarded update sees the result of the update before or
of the one before that.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from anemone.hardware.features import STANDARD_OPS
from anemone.telemetry.rules import OPS
from tests.formal.checker import broken, check, emitted, within

# Reset, three cycles for the operand, two updates (the second may be forwarded), and one more.
FRAMES = 8
ENGINE = within(FRAMES)
SHIFTS = [f"{op}-by-{amount}" for op in ("shr", "shl") for amount in (0, 3, 6, 9, 35)]
# Of a standard ALU, and of one with all ops. Shifts are the same in both.
NAMES = [
    *(op for op in (*STANDARD_OPS, "set") if op not in ("shr", "shl")),
    *SHIFTS,
    *(f"{op}-of-all" for op in (*OPS, "set") if op not in ("shr", "shl")),
]
# The narrowest counters, and of each op that is no shift the widest in one of the two; `make prove`
# checks the others (prove_alu.py).
WIDEST = [
    f"{op}{'' if op in (*STANDARD_OPS, 'set') else '-of-all'}-64"
    for op in (*OPS, "set")
    if op not in ("shr", "shl")
]
CASES = [*(f"{name}-8" for name in NAMES), *WIDEST]


@pytest.fixture(scope="session")
def proofs() -> Path:
    """The SystemVerilog of all cases, a folder each."""
    return emitted("alu", "anemone.nemo.EmitAlu", *CASES)


@pytest.mark.parametrize("case", CASES)
def test_a_counter_becomes_what_the_op_means(case: str, proofs: Path, tmp_path: Path) -> None:
    assert check(proofs / case / "AluEquivalence.sv", tmp_path, *ENGINE) is None


# (the case that refutes it, firtool's text, the faulty replacement)
MUTANTS = {
    "a carry goes on past its counter": ("add-8", r"io_operand_guardsA\[3\],", "1'h1,"),
    "a difference begins without a one": ("sub-8", r"io_operand_guardsB\[3\],", "1'h0,"),
    "a wide counter's carry is not asked for": ("max-64", r"~io_operand_useWordCarry_3\b", "1'h1"),
    "what two before made is lost": ("or-8", r"\{64\{io_forward2\}\}", "64'h0"),
    "what is not taken goes on": (
        "addsat-8",
        r"io_forward1 & io_operand_useByteCarry \?",
        "io_operand_useByteCarry ?",
    ),
    "a minimum is a maximum": ("min-of-all-8", r"\^ \{8\{invert\}\}", ""),
    "a wide minimum looks at no borrow": (
        "min-of-all-64",
        r"byteCarry \^ (?=\{word)",
        "byteCarry | ",
    ),
    "a countdown keeps its bits at the end": ("subsat-of-all-8", r"if \(zeroState\)", "if (1'h0)"),
    "a maximum keeps a difference": ("max-of-all-8", r"if \(zeroSum\)", "if (1'h0)"),
    "the last is none": (
        "last-of-all-64",
        r"io_operand_codeFlips_1 \? io_operand_b",
        "1'h0 ? io_operand_b",
    ),
    "an average rounds up": ("ewma8-of-all-8", r"average_remainder >= ", "average_remainder > "),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_broken_alu_is_refuted(mutant: str, proofs: Path, tmp_path: Path) -> None:
    case, pattern, replacement = MUTANTS[mutant]
    source = broken(proofs / case / "AluEquivalence.sv", pattern, replacement, tmp_path)
    assert check(source, tmp_path, *ENGINE) is not None
