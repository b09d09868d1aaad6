# SPDX-License-Identifier: Apache-2.0
"""Hardware with injected faults, which the harness must detect."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from anemone.backends import rtl
from anemone.backends.rtl.builder import COLD, SIMULATORS, Simulator, compile_simulator

# (emitted files, a pattern in them, its replacement); FAULT in it is the bit that selects the
# fault.
Fault = tuple[str, str, str]

CHOICE = Path(__file__).with_name("choice")  # C++ that selects the fault
PACKAGE = """\
package faults;
  import "DPI-C" function int chosen_fault();
  int chosen = chosen_fault();
endpackage
"""


def faulty(simulator: Simulator, faults: Mapping[str, Fault], folder: Path) -> Path:
    """The program of a simulator with faults: one build has all faults, and `choose` selects one.

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
    # The last folder of a harness is specific to it.
    *shared, own = simulator.harness
    with_choice = replace(simulator, harness=(*shared, CHOICE, own))
    return compile_simulator(with_choice, verilog, SIMULATORS / "faults" / simulator.key, hot=COLD)


def choose(faults: Mapping[str, Fault], fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Select the fault of later runs; None for no fault."""
    monkeypatch.setenv("ANEMONE_FAULT", str(1 + list(faults).index(fault)))
