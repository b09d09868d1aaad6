# SPDX-License-Identifier: Apache-2.0
"""Builds the verilated expander of a geometry, once: Chisel to SystemVerilog to C++ to a program.

Each geometry has a folder under build/engine. What a step reads is hashed into a stamp when the
step is done, and a step whose stamp is right is not done again: so a change of comments in Scala
elaborates anew but compiles nothing, and a change of flags compiles without elaborating.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from anemone.geometry import Geometry

ROOT = Path(__file__).resolve().parents[3]
ENGINES = ROOT / "build" / "engine"
HARNESS = ROOT / "sim" / "harness"
REGISTERS = ROOT / "driver" / "include" / "anemone_regs.h"  # the harness is software, too
TOP = "MemoryExpander"

THREADS = 1
# Chosen by measurement: docs/performance.md.
VERILATOR_FLAGS = (
    "-O3", "--x-assign", "fast", "--x-initial", "fast", "--assert", "--threads", str(THREADS),
    "--output-split", "5000", "--output-split-cfuncs", "2500", "--no-timing", "-Wno-fatal",
)  # fmt: skip
HOT, COLD = "-O2", "-O0"  # code that runs every cycle; code that runs once

Say = Callable[[str], None]


class EngineError(RuntimeError):
    """The engine could not be built, or a run of it failed a check. str() says what and where."""


def tell(text: str) -> None:
    """What a build says while it goes on; a first one takes minutes."""
    print(f"engine: {text}", file=sys.stderr, flush=True)


def build(geometry: Geometry, say: Say = tell) -> Path:
    """The program that runs the engine of a geometry, built if it is not there or out of date.

    Safe to call from several processes at once. Raises EngineError.
    """
    return compile_engine(elaborate(geometry, say), ENGINES / geometry.key, say)


def compile_engine(verilog: Path, folder: Path, say: Say = tell) -> Path:
    """The program for the SystemVerilog in a folder, `folder`/engine; compiled if need be."""
    with _locked(folder):
        program = folder / "engine"
        inputs = _digest(
            [*verilog.iterdir(), *HARNESS.iterdir(), REGISTERS],
            VERILATOR_FLAGS, (HOT, COLD, version("verilator"), _compiler()),
        )  # fmt: skip
        if program.exists() and _stamped(folder / "engine.stamp", inputs):
            return program
        say(f"verilating and compiling {folder.name} (a minute or two; once)")
        objects = folder / "objects"
        shutil.rmtree(objects, ignore_errors=True)
        objects.mkdir()
        params = json.loads((verilog / "params.json").read_text())
        (objects / "configuration.h").write_text(configuration(params))
        _run(_verilator(verilog, objects), folder / "verilate.log", "Verilator")
        _run(_make(objects), folder / "compile.log", "the C++ compiler")
        # A run that goes on with the program of before keeps it: it only loses its name.
        (objects / "engine").replace(program)
        shutil.rmtree(objects)
        _stamp(folder / "engine.stamp", inputs)
    return program


def elaborate(geometry: Geometry, say: Say = tell) -> Path:
    """The folder with the SystemVerilog, filelist.f and params.json; emits if need be."""
    folder = ENGINES / geometry.key
    verilog = folder / "verilog"
    with _locked(folder):
        sources = list((ROOT / "hw" / "src").rglob("*.scala"))
        inputs = _digest([*sources, ROOT / "build.sc", ROOT / ".mill-version"], [geometry.key])
        if verilog.is_dir() and _stamped(folder / "verilog.stamp", inputs):
            return verilog
        say(f"elaborating {geometry.key} (half a minute, and a first build of the hardware's)")
        fresh = folder / "verilog.new"
        shutil.rmtree(fresh, ignore_errors=True)
        command = [
            "./mill", "hw.run", "--top", "expander",
            "--pipelines", geometry.pipelines, "--channels", geometry.channels,
            "--states", geometry.states, "--table", geometry.table,
            "--address-bits", geometry.address_bits, "--out", fresh,
        ]  # fmt: skip
        _run([str(word) for word in command], folder / "elaborate.log", "the elaboration")
        shutil.rmtree(verilog, ignore_errors=True)
        fresh.replace(verilog)
        _stamp(folder / "verilog.stamp", inputs)
    return verilog


def configuration(params: dict[str, int]) -> str:
    """configuration.h, from which the harness knows the sizes and names the pins."""
    constants = {
        "PIPELINES": params["pipelines"],
        "CHANNELS": params["channels"],
        "STATES": params["states"],
        "TABLE": params["table"],
        "ADDRESS_BITS": params["address_bits"],
        "ID_BITS": params["memory_id_bits"],
        "WINDOW_BYTES": params["window_bytes"],
        "THREADS": THREADS,
    }
    lines = ["// Generated from params.json by anemone.rtl.builder.", "#pragma once"]
    lines += [f"#define BUILT_{name} {value}" for name, value in constants.items()]
    each = " ".join(f"X({i})" for i in range(params["channels"]))
    lines.append(f"#define BUILT_EACH_CHANNEL(X) {each}")
    return "\n".join(lines) + "\n"


def _verilator(verilog: Path, objects: Path) -> list[str]:
    sources = [verilog / name for name in (verilog / "filelist.f").read_text().split()]
    harness = sorted(HARNESS.glob("*.vlt")) + sorted(HARNESS.glob("*.cpp"))
    return [
        _tool("verilator"), "--cc", "--exe", "--top-module", TOP, "--prefix", f"V{TOP}",
        "--Mdir", str(objects), "-o", "engine", *VERILATOR_FLAGS,
        "-CFLAGS", f"-std=c++17 -DVL_USER_FATAL -DVL_USER_STOP -I{HARNESS} -I{REGISTERS.parent}",
        *map(str, [*sources, *harness]),
    ]  # fmt: skip


def _make(objects: Path) -> list[str]:
    jobs = os.cpu_count() or 1
    optimise = (f"OPT_FAST={HOT}", f"OPT_GLOBAL={HOT}", f"OPT_SLOW={COLD}")
    return ["make", "-C", str(objects), "-f", f"V{TOP}.mk", f"-j{jobs}", *optimise, "engine"]


def _tool(name: str) -> str:
    """A program of the environment this Python is in, before any other of its name."""
    own = Path(sys.executable).parent / name
    found = str(own) if own.exists() else shutil.which(name)
    if not found:
        raise EngineError(f"{name} is not installed: run make setup")
    return found


@functools.cache
def _compiler() -> str:
    try:
        done = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as e:
        raise EngineError("g++ is not installed: run make setup") from e
    return done.stdout.splitlines()[0]


def _run(command: Sequence[str], log: Path, what: str) -> None:
    """Run a step in the checkout with its output in `log`; on failure say its last lines."""
    environment = {k: v for k, v in os.environ.items() if k not in ("VERILATOR_ROOT", "MAKEFLAGS")}
    try:
        with log.open("wb") as file:
            done = subprocess.run(
                command, cwd=ROOT, env=environment,
                stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
            )  # fmt: skip
    except OSError as e:
        raise EngineError(f"{what} cannot be run: {e}") from e
    if done.returncode:
        lines = log.read_text(errors="replace").splitlines()
        errors = [line for line in lines if "error" in line.lower()][:5] or lines[-5:]
        raise EngineError("\n  ".join([f"{what} failed, see {log}:", *errors]))


def _digest(files: Iterable[Path], *words: Iterable[str]) -> str:
    """A hash of files, by name and content, and of words."""
    digest = hashlib.sha256()
    for path in sorted(files, key=lambda p: p.as_posix()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.name} {content}\n".encode())
    digest.update(repr([list(w) for w in words]).encode())
    return digest.hexdigest()


def _stamped(stamp: Path, inputs: str) -> bool:
    return stamp.exists() and stamp.read_text() == inputs


def _stamp(stamp: Path, inputs: str) -> None:
    stamp.write_text(inputs)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Only one process at a time; a lock of one that died is gone with it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
