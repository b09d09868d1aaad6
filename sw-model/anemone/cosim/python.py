# SPDX-License-Identifier: Apache-2.0
"""Packs Python programs for the guest: the interpreter, imported modules, and their libraries."""

from __future__ import annotations

import json
import os
import py_compile
import re
import subprocess
import sys
import tempfile
from importlib.util import cache_from_source
from pathlib import Path

from anemone.cosim.initramfs import Content
from anemone.cosim.tools import CosimError

# Runs a program with --help and prints the files of all loaded modules.
_LIST = """
import contextlib, io, json, runpy, sys
sys.argv = [sys.argv[1], "--help"]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    runpy.run_path(sys.argv[0], run_name="__main__")
print(json.dumps([f for f in (getattr(m, "__file__", None) for m in sys.modules.values()) if f]))
"""
# Matches ldd's lines of libraries and of the loader.
_LIBRARY = re.compile(r"^\s+(?:\S+ => )?(/\S+) \(0x", re.M)


def guest_python(program: Path) -> dict[str, Content]:
    """The files, by path, that a guest needs to run a program as /bin/STEM. Raises CosimError.

    The program must have --help, which is run to find its imports. Files have the same paths as
    here, so that they find each other. The guest has no other part of this machine's Python.
    """
    path = ":".join(folder for folder in sys.path if folder and Path(folder).is_dir())
    asked = subprocess.run(
        [sys.executable, "-S", "-c", _LIST, str(program)], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    if asked.returncode:
        raise CosimError(f"{program} cannot be imported: {asked.stderr.strip()}")
    interpreter = Path(sys.executable).resolve()
    found = [str(program), *json.loads(asked.stdout.splitlines()[-1])]
    files: dict[str, Content] = {name: Path(name) for name in (str(interpreter), *found)}
    for name in found:
        if name.endswith(".py"):
            files[cache_from_source(name)] = _compiled(name)
    binaries = [str(interpreter), *(name for name in found if not name.endswith(".py"))]
    files |= {name: Path(name) for name in _libraries(binaries)}
    files[f"/bin/{program.stem}"] = (
        f'#!/bin/sh\nPYTHONPATH={path} exec {interpreter} -S {program} "$@"\n'
    )
    return files


def _compiled(source: str) -> bytes:
    """The compiled module, because the guest would take minutes to compile. Its hash is unchecked,
    so that the guest does not compare it with the source.
    """
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "module.pyc"
        unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(source, str(made), source, doraise=True, invalidation_mode=unchecked)
        return made.read_bytes()


def _libraries(binaries: list[str]) -> set[str]:
    """All shared libraries that these binaries need."""
    output = subprocess.run(["ldd", *binaries], capture_output=True, text=True).stdout
    return {os.path.normpath(name) for name in _LIBRARY.findall(output)}
