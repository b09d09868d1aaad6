# SPDX-License-Identifier: Apache-2.0
"""QEMU, a kernel and a busybox, fetched where they are missing (mk/cosim-tools.sh)."""

from __future__ import annotations

import functools
import subprocess
from dataclasses import dataclass
from pathlib import Path

from anemone.rtl.builder import ROOT


class CosimError(RuntimeError):
    """Co-simulation cannot start or went wrong; str() says what, and what was on the console."""


@dataclass(frozen=True)
class Tools:
    """qemu: the command's words. kernel: its image; release: its version; modules: their folder."""

    qemu: tuple[str, ...]
    kernel: Path
    release: str
    modules: Path
    busybox: Path

    @property
    def headers(self) -> Path:
        """What modules for the kernel are built with."""
        return Path("/lib/modules") / self.release / "build"


@functools.cache
def find_tools() -> Tools:
    """The tools; the first time on a machine this fetches them. Raises CosimError."""
    done = subprocess.run(
        ["sh", ROOT / "mk" / "cosim-tools.sh"], stdout=subprocess.PIPE, stderr=None, text=True
    )
    if done.returncode:
        raise CosimError("a tool of co-simulation is missing: run sh mk/cosim-tools.sh to see it")
    found = dict(line.split("=", 1) for line in done.stdout.splitlines())
    return Tools(
        tuple(found["qemu"].split()), Path(found["kernel"]), found["release"],
        Path(found["modules"]), Path(found["busybox"]),
    )  # fmt: skip
