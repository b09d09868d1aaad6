# SPDX-License-Identifier: Apache-2.0
"""QEMU, a kernel and a busybox, fetched where they are missing (mk/cosim-tools.sh)."""

from __future__ import annotations

import functools
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from anemone.rtl.builder import ROOT


class CosimError(RuntimeError):
    """Co-simulation cannot start or went wrong; str() says what, and what was on the console."""


@dataclass(frozen=True)
class Tools:
    """qemu: the command's words. kernel: its image; release: its version; modules: their folder, of
    Debian's. build: what modules for it are built against. watchful: it has KASAN, lockdep and more
    (mk/kernel/kasan.config)."""

    qemu: tuple[str, ...]
    kernel: Path
    release: str
    modules: Path
    build: Path
    busybox: Path
    watchful: bool


@functools.cache
def find_tools() -> Tools:
    """The tools; the first time on a machine this fetches them. Raises CosimError.

    The kernel is Debian's, or with ANEMONE_KERNEL=kasan in the environment one that is built to
    watch the driver.
    """
    found = _said_by("cosim-tools.sh")
    found["build"] = f"/lib/modules/{found['release']}/build"
    kind = os.environ.get("ANEMONE_KERNEL") or "stock"
    if kind not in ("stock", "kasan"):
        raise CosimError(f"ANEMONE_KERNEL is {kind}; allowed: stock, kasan")
    if kind == "kasan":
        found |= _said_by("kasan-kernel.sh")
    return Tools(
        tuple(found["qemu"].split()), Path(found["kernel"]), found["release"],
        Path(found["modules"]), Path(found["build"]), Path(found["busybox"]), kind == "kasan",
    )  # fmt: skip


def _said_by(script: str) -> dict[str, str]:
    """The NAME=VALUE lines of a script of mk/."""
    done = subprocess.run(["sh", ROOT / "mk" / script], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise CosimError(f"a tool of co-simulation is missing: run sh mk/{script} to see it")
    return dict(line.split("=", 1) for line in done.stdout.splitlines())
