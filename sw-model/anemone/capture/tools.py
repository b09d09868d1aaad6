# SPDX-License-Identifier: Apache-2.0
"""QEMU's user mode and Debian programs, fetched if missing (mk/capture-tools.sh)."""

from __future__ import annotations

import functools
import subprocess
from dataclasses import dataclass
from pathlib import Path

from anemone.capture.build import ROOT, build_loads_plugin, build_plugin
from anemone.io.errors import Bare, InputError


@dataclass(frozen=True)
class Tools:
    """qemu: QEMU's command. plugin: our plugin for -plugin. roots: folders of the requested
    programs with all their libraries, by name.
    """

    qemu: tuple[str, ...]
    plugin: Path
    roots: dict[str, Path]


@functools.cache
def find_tools(*names: str) -> Tools:
    """QEMU, our plugin, and the programs with these names. Raises InputError (one line)."""
    found = _fetched(*names)
    roots = {name: Path(found[name]) for name in names}
    return Tools(tuple(found["qemu"].split()), build_plugin(Path(found["zydis"])), roots)


@functools.cache
def find_loads_tools() -> Tools:
    """QEMU and the plugin of sampled loads. Raises InputError (one line)."""
    found = _fetched()
    return Tools(tuple(found["qemu"].split()), build_loads_plugin(Path(found["zydis"])), {})


@functools.cache
def _fetched(*names: str) -> dict[str, str]:
    script = ROOT / "mk" / "capture-tools.sh"
    done = subprocess.run(["sh", script, *names], capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.splitlines() or [f"status {done.returncode}"])[-1]
        allowed = "a Debian with its package server within reach"
        raise InputError("capture", "fetching", "QEMU or a program", Bare(reason), allowed)
    return dict(line.split("=", 1) for line in done.stdout.splitlines())
