# SPDX-License-Identifier: Apache-2.0
"""MPI programs that are not ours, as the distribution has them: LAMMPS with its example `melt`, and
HPC Challenge.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from anemone.io.errors import MISSING, InputError

PROGRAMS = ("lammps", "hpcc")
_MELT = Path("/usr/share/lammps/examples/melt/in.melt")
_ORDER = 64  # of hpcc's matrix; the sizes of its other tests follow


def prepare(name: str, folder: Path, ranks: int, steps: int) -> list[str]:
    """The words that run a program in a folder, into which its input is put. steps: of LAMMPS.
    Raises InputError.
    """
    if name == "lammps":
        return [_found("lmp", name), "-log", "none", "-in", _melt(folder, steps)]
    (folder / "hpccinf.txt").write_text(_hpcc(ranks), encoding="utf-8")
    return [_found("hpcc", name)]


def _found(command: str, package: str) -> str:
    found = shutil.which(command)
    if found is None:
        raise InputError("study", "commands", command, MISSING, f"{package} (make setup)")
    return found


def _melt(folder: Path, steps: int) -> str:
    """LAMMPS's example, with fewer than its 250 steps."""
    try:
        text = _MELT.read_text(encoding="utf-8")
    except OSError as e:
        raise InputError(_MELT, "file", "content", MISSING, "lammps-examples (make setup)") from e
    path = folder / "in.melt"
    path.write_text(re.sub(r"(?m)^run\s+\d+", f"run {steps}", text), encoding="utf-8")
    return str(path)


def _hpcc(ranks: int) -> str:
    """hpccinf.txt, as §3 of HPCC's README has its lines: one matrix, blocks of 16, a row of
    ranks.
    """
    sizes = ["1", str(_ORDER), "1", "16"]
    grid = ["0", "1", "1", str(ranks)]
    solver = "16.0 1 2 1 4 1 2 1 1 1 1 1 1 2 64 0 0 1 8".split()
    more = ["ignored", "0", "0", "0", "0"]
    return "\n".join(["ignored"] * 4 + sizes + grid + solver + more) + "\n"
