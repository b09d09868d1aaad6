# SPDX-License-Identifier: Apache-2.0
"""Samples of unmodified Debian programs in QEMU (program.py)."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anemone.capture.build import BUILT, compiler
from anemone.capture.debian import fetch_sqlite
from anemone.capture.program import Command, Guest, RunSettings
from anemone.io.errors import Bare, InputError

# A fixed environment, because the caller's size would move the program's stack.
_ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C"}
_PATIENCE = 60  # seconds within which a server has to answer
_LOOK = 0.05  # seconds between two polls
# Makes a sample's command from the program's root, a folder for its files, and the seed.
Make = Callable[[Path, Path, int], Command]


@dataclass(frozen=True)
class ProgramSample:
    """A sample that is a Debian program. package: its name in mk/capture-tools.sh. tenant: its
    number in the trace. settings: the sample's defaults that differ from Settings'.
    """

    name: str
    about: str
    package: str
    tenant: int
    command: Make
    run: RunSettings
    settings: dict[str, Any] = field(default_factory=dict)


def _native(root: Path, program: str) -> list[str]:
    """The command that runs a program of a root natively, with the root's libraries."""
    libraries = ":".join(str(root / folder / "x86_64-linux-gnu") for folder in ("usr/lib", "lib"))
    loader = root / "lib64" / "ld-linux-x86-64.so.2"
    return [str(loader), "--library-path", libraries, str(root / program)]


# --- redis-server, driven by redis-benchmark ----------------------------------------------------

_KEYS, _VALUE = 60_000, 400
_LOADED = 150_000  # requests that load all but a twelfth of the keys


def _redis(root: Path, folder: Path, seed: int) -> Command:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    client = [*_native(root, "usr/bin/redis-benchmark"), "-p", port, "-r", str(_KEYS)]
    client += ["-d", str(_VALUE), "-P", "8", "-q"]
    server = [str(root / "usr/bin/redis-server"), "--port", port, "--bind", "127.0.0.1"]
    server += ["--save", "", "--appendonly", "no", "--dir", str(folder)]

    def drive(guest: Guest) -> None:
        _wait_for(int(port), guest)
        _run([*client, "-n", str(_LOADED), "-t", "set"])
        guest.record()
        # Nine of ten clients read. Both groups run until they are killed.
        with (
            _beside([*client, "-l", "-c", "45", "-t", "get"]),
            _beside([*client, "-l", "-c", "5", "-t", "set"]),
        ):
            while not guest.over():
                time.sleep(_LOOK)

    return Command(server, "redis", _ENVIRONMENT, root, drive)


def _wait_for(port: int, guest: Guest) -> None:
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError as e:
            if guest.over() or time.monotonic() > end:
                why = Bare("not answering")
                raise InputError("capture redis", "starting", "server", why, "a server") from e
            time.sleep(_LOOK)


def _run(words: list[str]) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = Bare((done.stderr.splitlines() or [f"status {done.returncode}"])[-1])
        raise InputError("capture", "running", Path(words[3]).name, reason, "a run that ends well")


@contextmanager
def _beside(words: list[str]) -> Iterator[None]:
    quiet = subprocess.DEVNULL
    with subprocess.Popen(words, stdout=quiet, stderr=quiet) as process:
        try:
            yield
        finally:
            process.kill()


# --- RocksDB's db_bench -------------------------------------------------------------------------


def _rocksdb(root: Path, folder: Path, seed: int) -> Command:
    words = [str(root / "usr/bin/db_bench"), "--benchmarks=fillrandom,readwhilewriting"]
    words += ["--num=30000", "--value_size=400", "--threads=2", f"--seed={seed}"]
    words += ["--compression_type=none", "--disable_wal=1", f"--db={folder}"]
    return Command(words, "rocksdb", _ENVIRONMENT, root)


# --- GCC's compiler proper ----------------------------------------------------------------------


def _gcc(root: Path, folder: Path, seed: int) -> Command:
    """-frandom-seed makes names in the object reproducible."""
    source = BUILT / "sqlite-source"
    fetch_sqlite(source)
    given = source / "sqlite3.i"
    if not given.exists():
        temporary = folder / "sqlite3.i"
        _run([*compiler(), "-x", "c", "-E", "-P", "-o", str(temporary), str(source / "sqlite3.c")])
        temporary.replace(given)
    words = [str(root / "usr/lib/gcc/x86_64-linux-gnu/12/cc1"), "-quiet", "-O2", "-w"]
    words += ["-fpreprocessed", "-frandom-seed=1", str(given), "-o", "/dev/null"]
    return Command(words, "gcc", _ENVIRONMENT, root)


PROGRAMS = {
    sample.name: sample
    for sample in (
        ProgramSample(
            "redis",
            "redis-server under redis-benchmark: 90 % GET, 10 % SET, 60,000 keys, values of 400 B",
            "redis",
            4,
            _redis,
            RunSettings(warm=20_000_000),
            {"events": 760_000},
        ),
        ProgramSample(
            "gcc",
            "the C compiler of GCC 12 at -O2, on SQLite's amalgamation",
            "gcc",
            5,
            _gcc,
            RunSettings(skip=3_000_000_000, warm=20_000_000),
            {"events": 500_000},
        ),
        ProgramSample(
            "rocksdb",
            "RocksDB's db_bench: two threads read while one writes, values of 400 B",
            "rocksdb",
            6,
            _rocksdb,
            RunSettings(skip=1_900_000_000, warm=20_000_000),
        ),
    )
}
