# SPDX-License-Identifier: Apache-2.0
"""Generates all files with register names from the SystemRDL register map.

docs/registers-source.md describes the process.
"""

from __future__ import annotations

from pathlib import Path

from mk.regs import chisel, names
from mk.regs.model import load

ROOT = Path(__file__).resolve().parents[2]
RDL = ROOT / "hw" / "regs" / "anemone.rdl"


def generated(rdl: Path = RDL) -> dict[str, str]:
    """The text of every generated file by its path from the root. Raises MapError."""
    regs = load(rdl)
    return chisel.outputs(regs) | names.outputs(regs)
