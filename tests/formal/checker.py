# SPDX-License-Identifier: Apache-2.0
"""Model checking: Yosys makes gates of SystemVerilog, ABC looks whether an output can be one."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

SYNTHESIS = """
read_verilog -sv -DSYNTHESIS {source}
setattr -mod -unset keep_hierarchy *
prep -flatten -top {top}
memory_map
opt -full
techmap
opt
dffunmap
abc -g AND -fast
opt_clean
write_aiger {aiger}
"""


def emitted(folder: Path, main: str, *words: str) -> Path:
    """The folder, in which an object of hw/test wrote its SystemVerilog, asked by these words."""
    command = [ROOT / "mill", "hw.test.runMain", main, str(folder), *words]
    subprocess.run(command, cwd=ROOT, check=True, stdin=subprocess.DEVNULL)
    return folder


def proof(folder: Path, name: str) -> Path:
    """The SystemVerilog of one of anemone.formal.EmitProof's."""
    return emitted(folder, "anemone.formal.EmitProof", name) / name / f"{name}.sv"


def check(source: Path, work: Path, engine: str, proved: str) -> int | None:
    """The frame in which an output of the module that the file is named for is one; None: never,
    which ABC's engine says as `proved`.
    """
    aiger, script = work / "proof.aig", work / "proof.ys"
    script.write_text(SYNTHESIS.format(source=source, top=source.stem, aiger=aiger))
    subprocess.run(["yosys", "-q", str(script)], check=True)
    commands = f"read_aiger {aiger}; zero; dc2; scorr; {engine}"
    done = subprocess.run(
        ["berkeley-abc", "-c", commands], check=True, capture_output=True, text=True
    )
    if found := re.search(r"asserted in frame (\d+)", done.stdout):
        return int(found[1])
    assert proved in done.stdout, done.stdout
    return None


def broken(sound: Path, pattern: str, replacement: str, work: Path) -> Path:
    """The same file with something else in it."""
    text, places = re.subn(pattern, replacement, sound.read_text())
    assert places, f"nothing to break: {pattern}"
    source = work / sound.name
    source.write_text(text)
    return source
