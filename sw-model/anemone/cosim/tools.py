# SPDX-License-Identifier: Apache-2.0
"""QEMU, a kernel and busybox, fetched if missing (mk/cosim-tools.sh)."""

from __future__ import annotations

import functools
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from anemone.backends.rtl.builder import ROOT


class CosimError(RuntimeError):
    """Co-simulation cannot start or failed; str() has the reason and the console's text."""


@dataclass(frozen=True)
class Tools:
    """qemu: QEMU's command. kernel: the kernel's image; release: its version; modules: folder of
    its modules; build: folder to build modules against; checked: whether it has KASAN, lockdep and
    other checkers (mk/kernel/kasan.config).
    """

    qemu: tuple[str, ...]
    kernel: Path
    release: str
    modules: Path
    build: Path
    busybox: Path
    checked: bool


@functools.cache
def find_tools() -> Tools:
    """The tools, which are fetched at first use. Raises CosimError.

    The kernel is Debian's 6.12. The environment variable ANEMONE_KERNEL selects another: `kasan`
    has checkers for the driver, `oldest` is the oldest that the driver supports.
    """
    found = _printed_by("cosim-tools.sh")
    found["build"] = f"/lib/modules/{found['release']}/build"
    kind = os.environ.get("ANEMONE_KERNEL") or "stock"
    others = {"kasan": "kasan-kernel.sh", "oldest": "oldest-kernel.sh"}
    if kind in others:
        found |= _printed_by(others[kind])
    elif kind != "stock":
        raise CosimError(f"ANEMONE_KERNEL is {kind}; allowed: stock, {', '.join(others)}")
    return Tools(
        tuple(found["qemu"].split()), Path(found["kernel"]), found["release"],
        Path(found["modules"]), Path(found["build"]), Path(found["busybox"]), kind == "kasan",
    )  # fmt: skip


def _printed_by(script: str) -> dict[str, str]:
    """The NAME=VALUE lines that a script of mk/ prints."""
    done = subprocess.run(["sh", ROOT / "mk" / script], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise CosimError(f"a tool of co-simulation is missing: run sh mk/{script} to see it")
    return dict(line.split("=", 1) for line in done.stdout.splitlines())
