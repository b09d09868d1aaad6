# SPDX-License-Identifier: Apache-2.0
"""Hardware with a fault, which the harness has to notice."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from anemone.backends import rtl
from anemone.backends.rtl.builder import COLD, SIMULATORS, Simulator, compile_simulator


def faulty(
    simulator: Simulator, fault: str, files: str, pattern: str, text: str, folder: Path
) -> Path:
    """The program of a simulator, `pattern` replaced by `text` in those of its emitted files.

    fault: its name. folder: for the changed SystemVerilog.
    """
    verilog = folder / "verilog"
    shutil.copytree(rtl.elaborate(simulator), verilog)
    changed = 0
    for path in verilog.glob(files):
        source, count = re.subn(pattern, text, path.read_text())
        path.write_text(source)
        changed += count
    assert changed, f"nothing to change in {files}: the fault has to be put elsewhere"
    return compile_simulator(
        simulator, verilog, SIMULATORS / "faults" / fault.replace(" ", "-"), hot=COLD
    )
