# SPDX-License-Identifier: Apache-2.0
"""Third-party MPI programs of the distribution: LAMMPS's example `melt`, and HPC Challenge."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from anemone.io.errors import MISSING, InputError

PROGRAMS = ("lammps", "hpcc")
_MELT = Path("/usr/share/lammps/examples/melt/in.melt")
_ORDER = 64  # order of hpcc's matrix, which sets the sizes of its other tests


def prepare(name: str, folder: Path, ranks: int, steps: int) -> list[str]:
    """Write a program's input to a folder; returns its command. steps: of LAMMPS. Raises
    InputError."""
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
    """LAMMPS's example with fewer than its 250 steps."""
    try:
        text = _MELT.read_text(encoding="utf-8")
    except OSError as e:
        raise InputError(_MELT, "file", "content", MISSING, "lammps-examples (make setup)") from e
    path = folder / "in.melt"
    path.write_text(re.sub(r"(?m)^run\s+\d+", f"run {steps}", text), encoding="utf-8")
    return str(path)


def _hpcc(ranks: int) -> str:
    """hpccinf.txt in the format of HPCC's README (§3): one matrix, blocks of 16, a row of ranks."""
    sizes = ["1", str(_ORDER), "1", "16"]
    grid = ["0", "1", "1", str(ranks)]
    solver = "16.0 1 2 1 4 1 2 1 1 1 1 1 1 2 64 0 0 1 8".split()
    more = ["ignored", "0", "0", "0", "0"]
    return "\n".join(["ignored"] * 4 + sizes + grid + solver + more) + "\n"
