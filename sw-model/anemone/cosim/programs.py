# SPDX-License-Identifier: Apache-2.0
"""Programs for the guest: C of one file, linked statically, since the guest has no libraries."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from anemone.cosim.tools import CosimError
from anemone.rtl.builder import ROOT

BUILT = ROOT / "build" / "cosim"
_HEADERS = (ROOT / "driver" / "include", ROOT / "driver" / "include" / "uapi")
_FLAGS = ("-std=gnu11", "-O2", "-static", "-pthread", "-Wall", "-Wextra", "-Werror")


def build_program(source: Path) -> Path:
    """The program of a C file, which may include what is beside it and the driver's headers."""
    BUILT.mkdir(parents=True, exist_ok=True)
    program = BUILT / source.stem
    include = [f"-I{folder}" for folder in (source.parent, *_HEADERS)]
    # Compiled anew each time, under another name first: two workers of the tests may do it at once.
    fresh = BUILT / f"{source.stem}.{os.getpid()}"
    done = subprocess.run(
        ["gcc", *_FLAGS, *include, "-o", fresh, source], capture_output=True, text=True
    )
    if done.returncode:
        raise CosimError(f"{source} does not compile:\n{done.stderr}")
    fresh.replace(program)
    return program
