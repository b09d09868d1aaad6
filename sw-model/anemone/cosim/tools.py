# SPDX-License-Identifier: Apache-2.0
"""QEMU, a kernel and a busybox, fetched where they are missing (mk/cosim-tools.sh)."""

from __future__ import annotations

import functools
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from anemone.backends.rtl.builder import ROOT


class CosimError(RuntimeError):
    """Co-simulation cannot start or went wrong; str() says what, and what was on the console."""


@dataclass(frozen=True)
class Tools:
    """qemu: the command's words. kernel: its image; release: its version; modules: its own ones,
    somewhere below. build: what modules for it are built against. checked: it has KASAN, lockdep
    and more (mk/kernel/kasan.config)."""

    qemu: tuple[str, ...]
    kernel: Path
    release: str
    modules: Path
    build: Path
    busybox: Path
    checked: bool


@functools.cache
def find_tools() -> Tools:
    """The tools; the first time on a machine this fetches them. Raises CosimError.

    The kernel is Debian's 6.12. ANEMONE_KERNEL in the environment selects another: `kasan`, built
    with checkers for the driver, or `oldest`, the oldest that the driver supports.
    """
    found = _said_by("cosim-tools.sh")
    found["build"] = f"/lib/modules/{found['release']}/build"
    kind = os.environ.get("ANEMONE_KERNEL") or "stock"
    others = {"kasan": "kasan-kernel.sh", "oldest": "oldest-kernel.sh"}
    if kind in others:
        found |= _said_by(others[kind])
    elif kind != "stock":
        raise CosimError(f"ANEMONE_KERNEL is {kind}; allowed: stock, {', '.join(others)}")
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
