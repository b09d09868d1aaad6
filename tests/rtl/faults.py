# SPDX-License-Identifier: Apache-2.0
"""Hardware with faults, which the harness has to notice."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from anemone.backends import rtl
from anemone.backends.rtl.builder import COLD, SIMULATORS, Simulator, compile_simulator

# Emitted files, a pattern in them, and what takes its place, in which FAULT is the bit that is set
# when the fault is chosen.
Fault = tuple[str, str, str]

CHOICE = Path(__file__).with_name("choice")  # the C++ beside the harness
PACKAGE = """\
package faults;
  import "DPI-C" function int chosen_fault();
  int chosen = chosen_fault();
endpackage
"""


def faulty(simulator: Simulator, faults: Mapping[str, Fault], folder: Path) -> Path:
    """The program of a simulator with faults: one build has them all, and `choose` says which.

    folder: for the changed SystemVerilog.
    """
    verilog = folder / "verilog"
    shutil.copytree(rtl.elaborate(simulator), verilog)
    for number, (fault, (files, pattern, text)) in enumerate(faults.items(), 1):
        changed = 0
        text = text.replace("FAULT", f"(faults::chosen == {number})")
        for path in verilog.glob(files):
            source, count = re.subn(pattern, text, path.read_text())
            path.write_text(source)
            changed += count
        assert changed, f"{fault}: nothing to change in {files}: it has to be put elsewhere"
    (verilog / "faults.sv").write_text(PACKAGE)
    files = verilog / "filelist.f"
    files.write_text("faults.sv\n" + files.read_text())
    # The last folder of a harness is its own.
    *shared, own = simulator.harness
    with_choice = replace(simulator, harness=(*shared, CHOICE, own))
    return compile_simulator(with_choice, verilog, SIMULATORS / "faults" / simulator.key, hot=COLD)


def choose(faults: Mapping[str, Fault], fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of these faults have this one from now on; without, they have none."""
    monkeypatch.setenv("ANEMONE_FAULT", str(1 + list(faults).index(fault)))
