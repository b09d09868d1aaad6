# SPDX-License-Identifier: Apache-2.0
"""What the guest is to run: static C programs, since it has no libraries, and the driver."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from anemone.cosim.tools import CosimError, Tools
from anemone.rtl.builder import ROOT

BUILT = ROOT / "build" / "cosim"
DRIVER = ROOT / "driver"
# The uapi first: the other folder has the kernel's own header of the same name.
_HEADERS = (DRIVER / "include" / "uapi", DRIVER / "include")
# The kernel's headers are where those of 64 bits are.
_NARROW = (
    "-m32", "-nostdlib", "-ffreestanding", "-fno-stack-protector", "-no-pie", "-fno-pie",
    "-idirafter", "/usr/include/x86_64-linux-gnu",
)  # fmt: skip
_FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror")


def build_program(source: Path, narrow: bool = False) -> Path:
    """The program of a C file, which may include what is beside it and the driver's headers.

    narrow: of 32 bits, and without a C library.
    """
    include = [f"-I{folder}" for folder in (source.parent, *_HEADERS)]
    kind = _NARROW if narrow else ("-pthread",)
    return _compile(source, BUILT / source.stem, ["-static", *kind, *include])


def build_plugin(name: str) -> Path:
    """sim/plugin/NAME.c, for QEMU's -plugin."""
    ring = f"-I{ROOT / 'sim' / 'vfio'}"  # that is shared with the server
    source = ROOT / "sim" / "plugin" / f"{name}.c"
    return _compile(source, BUILT / f"{name}.so", ["-shared", "-fPIC", ring])


def _compile(source: Path, made: Path, flags: list[str]) -> Path:
    """Under another name first: two workers of the tests may do it at once."""
    BUILT.mkdir(parents=True, exist_ok=True)
    fresh = made.with_name(f"{made.name}.{os.getpid()}")
    _run(["gcc", *_FLAGS, *flags, "-o", fresh, source], source)
    fresh.replace(made)
    return made


def build_anemonectl() -> Path:
    """The driver's tool for the guest."""
    folder = BUILT / "anemonectl"
    folder.mkdir(parents=True, exist_ok=True)
    with (BUILT / ".anemonectl.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        tool = DRIVER / "tools"
        _run(["make", "-C", tool, f"BUILD={folder}", "LDFLAGS=-static"], tool)
    return folder / "anemonectl"


def build_module(tools: Tools) -> Path:
    """anemone.ko for the guest's kernel; built in a copy, so that the checkout stays as it is."""
    folder = BUILT / f"module-{tools.release}"
    module, stamp = folder / "anemone.ko", folder / "stamp"
    sources = [p for p in sorted(DRIVER.rglob("*")) if p.is_file() and p.suffix in _SOURCES]
    digest = hashlib.sha256(str(tools.build).encode())
    for path in sources:
        digest.update(f"{path}\0".encode() + path.read_bytes())
    folder.mkdir(parents=True, exist_ok=True)
    with (BUILT / ".module.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_text() == digest.hexdigest():
            return module
        shutil.rmtree(folder)
        for path in sources:
            copy = folder / path.relative_to(DRIVER)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        kernel = f"KDIR={tools.build}"
        _run(["make", "-C", folder, kernel, "CONFIG_ANEMONE_LISTINGS=m"], DRIVER)
        stamp.write_text(digest.hexdigest())
    return module


_SOURCES = {"", ".c", ".h"}  # Kbuild and Makefile have no suffix


def _run(command: list[object], what: Path) -> None:
    done = subprocess.run([str(w) for w in command], capture_output=True, text=True)
    if done.returncode:
        raise CosimError(f"{what} does not compile:\n{done.stdout}{done.stderr}")
