# SPDX-License-Identifier: Apache-2.0
"""Model checking: Yosys synthesises SystemVerilog, and ABC checks whether an output can become
1.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from pathlib import Path

from anemone.backends.rtl import builder
from tests.bench.result_cache import cached

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "formal"

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

# ABC's engines, with their message for an output that is never 1: unbounded, or within a bound.
UNBOUNDED = ("pdr", "Property proved.")


def within(frames: int) -> tuple[str, str]:
    return f"bmc3 -F {frames}", f"No output asserted in {frames} frames"


def emitted(name: str, main: str, *words: str) -> Path:
    """The folder with the SystemVerilog that an object of hw/test emits for these arguments."""
    tests = sorted((ROOT / "hw" / "test").rglob("*.scala"))
    command = ["hw.test", main]
    return builder.emit(WORK / name, lambda out: [*command, str(out), *words], tests)


def proof(name: str) -> Path:
    """The SystemVerilog of a proof of anemone.formal.EmitProof."""
    return emitted(name, "anemone.formal.EmitProof", name) / name / f"{name}.sv"


@functools.cache
def tools() -> tuple[Path, ...]:
    """The programs that a verdict depends on."""
    names = ("yosys", "yosys-abc", "berkeley-abc")
    return tuple(Path(shutil.which(name) or name) for name in names)


def check(source: Path, work: Path, engine: str, proved: str) -> int | None:
    """The frame in which an output of the module named like the file becomes 1; None if it never
    does.

    proved: the engine's message for None.
    """
    inputs = (source, source.stem, engine, proved, Path(__file__), *tools())
    return cached(inputs, lambda: _checked(source, work, engine, proved))


def _checked(source: Path, work: Path, engine: str, proved: str) -> int | None:
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
    """A copy of the file with a change."""
    text, places = re.subn(pattern, replacement, sound.read_text())
    assert places, f"nothing to break: {pattern}"
    source = work / sound.name
    source.write_text(text)
    return source
