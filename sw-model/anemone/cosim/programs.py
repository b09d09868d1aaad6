# SPDX-License-Identifier: Apache-2.0
"""Builds programs for the guest: static C programs, because it has no libraries, and the driver."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from anemone.backends.rtl.builder import ROOT
from anemone.cosim.tools import CosimError, Tools
from anemone.io.build_cache import built, locked

BUILT = ROOT / "build" / "cosim"
DRIVER = ROOT / "driver"
VFIO = ROOT / "sim" / "vfio"
# uapi comes first, because the other folder has a kernel header of the same name.
_HEADERS = (DRIVER / "include" / "uapi", DRIVER / "include")
# 32-bit programs use the kernel headers of the 64-bit ones.
_NARROW = (
    "-m32", "-nostdlib", "-ffreestanding", "-fno-stack-protector", "-no-pie", "-fno-pie",
    "-idirafter", "/usr/include/x86_64-linux-gnu",
)  # fmt: skip
_FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror")


def build_program(source: Path, narrow: bool = False) -> Path:
    """The program of a C file, which may include headers in its folder and the driver's.

    narrow: build for 32 bits, without a C library.
    """
    include = [f"-I{folder}" for folder in (source.parent, *_HEADERS)]
    kind = _NARROW if narrow else ("-pthread",)
    return _compile(source, BUILT / source.stem, ["-static", *kind, *include])


def build_plugin(name: str) -> Path:
    """The library of sim/plugin/NAME.c, for QEMU's -plugin."""
    ring = f"-I{VFIO}"  # has ring.h, which is shared with the server
    source = ROOT / "sim" / "plugin" / f"{name}.c"
    return _compile(source, BUILT / f"{name}.so", ["-shared", "-fPIC", ring])


def _compile(source: Path, made: Path, flags: list[str]) -> Path:
    command = ["gcc", *_FLAGS, *flags]
    headers = [*source.parent.glob("*.h"), *DRIVER.glob("include/**/*.h"), *VFIO.glob("*.h")]
    inputs = [source, *sorted(headers), *command]
    return built(made, inputs, lambda fresh: _run([*command, "-o", fresh, source], source))


def build_anemonectl() -> Path:
    """anemonectl for the guest."""
    folder, tool = BUILT / "anemonectl", DRIVER / "tools"
    with locked(folder):  # make decides what to rebuild
        folder.mkdir(exist_ok=True)
        _run(["make", "-C", tool, f"BUILD={folder}", "LDFLAGS=-static -s"], tool)
    return folder / "anemonectl"


def build_module(tools: Tools) -> Path:
    """anemone.ko for the guest's kernel; built in a copy, so that the checkout is unchanged."""
    sources = [p for p in sorted(DRIVER.rglob("*")) if p.is_file() and p.suffix in _SOURCES]

    def make(fresh: Path) -> None:
        for path in sources:
            copy = fresh / path.relative_to(DRIVER)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        _run(["make", "-C", fresh, f"KDIR={tools.build}", "CONFIG_ANEMONE_LISTINGS=m"], DRIVER)

    return (
        built(BUILT / f"module-{tools.release}", [str(tools.build), *sources], make) / "anemone.ko"
    )


_SOURCES = {"", ".c", ".h"}  # Kbuild and Makefile have no suffix


def _run(command: list[object], what: Path) -> None:
    done = subprocess.run([str(w) for w in command], capture_output=True, text=True)
    if done.returncode:
        raise CosimError(f"{what} does not compile:\n{done.stdout}{done.stderr}")
