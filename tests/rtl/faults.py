# SPDX-License-Identifier: Apache-2.0
"""Hardware with a fault, which the harness has to notice."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from anemone import rtl
from anemone.rtl.builder import COLD, ENGINES, Engine, compile_engine


def faulty(engine: Engine, fault: str, files: str, pattern: str, text: str, folder: Path) -> Path:
    """The program of an engine, `pattern` replaced by `text` in those of its emitted files.

    fault: its name. folder: for the changed SystemVerilog.
    """
    verilog = folder / "verilog"
    shutil.copytree(rtl.elaborate(engine), verilog)
    changed = 0
    for path in verilog.glob(files):
        source, count = re.subn(pattern, text, path.read_text())
        path.write_text(source)
        changed += count
    assert changed, f"nothing to change in {files}: the fault has to be put elsewhere"
    return compile_engine(engine, verilog, ENGINES / "faults" / fault.replace(" ", "-"), hot=COLD)
