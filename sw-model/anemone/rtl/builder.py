# SPDX-License-Identifier: Apache-2.0
"""Builds verilated hardware, once: Chisel to SystemVerilog to C++ to a program.

Each configuration has a folder under build/engine. What a step reads is hashed into a stamp when
the step is done, and a step whose stamp is right is not done again: so a change of comments in
Scala elaborates anew but compiles nothing, and a change of flags compiles without elaborating.
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
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ENGINES = ROOT / "build" / "engine"

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


@dataclass(frozen=True)
class Engine:
    """Hardware and the harness that drives it.

    key: its folder's name. top: the module. options: those of the elaborator, the top first.
    harness: folders of C++, of which the last is its own. configuration: what configuration.h says,
    from which the harness knows the sizes and names the pins, by the elaboration's params.json.
    """

    key: str
    top: str
    options: tuple[str, ...]
    harness: tuple[Path, ...]
    configuration: Callable[[dict], dict[str, object]]

    @property
    def folder(self) -> Path:
        return ENGINES / self.key


def build(engine: Engine, say: Say = tell) -> Path:
    """The program that runs an engine, built if it is not there or out of date.

    Safe to call from several processes at once. Raises EngineError.
    """
    return compile_engine(engine, elaborate(engine, say), engine.folder, say)


def compile_engine(
    engine: Engine, verilog: Path, folder: Path, say: Say = tell, hot: str | None = None
) -> Path:
    """The program for the SystemVerilog in a folder, `folder`/engine; compiled if need be.

    hot: how much the compiler is to optimise, instead of HOT: little, for a run of a few cycles.
    """
    hot = hot or HOT
    with _locked(folder):
        program = folder / "engine"
        sources = [p for part in engine.harness for p in part.iterdir() if p.is_file()]
        inputs = _digest(
            [*verilog.iterdir(), *sources],
            VERILATOR_FLAGS, (hot, COLD, version("verilator"), _compiler()),
        )  # fmt: skip
        if program.exists() and _stamped(folder / "engine.stamp", inputs):
            return program
        say(f"verilating and compiling {folder.name} (a minute or two; once)")
        objects = folder / "objects"
        shutil.rmtree(objects, ignore_errors=True)
        objects.mkdir()
        params = json.loads((verilog / "params.json").read_text())
        (objects / "configuration.h").write_text(configuration(engine, params))
        _run(_verilator(engine, verilog, objects), folder / "verilate.log", "Verilator")
        _run(_make(engine, objects, hot), folder / "compile.log", "the C++ compiler")
        # A run that goes on with the program of before keeps it: it only loses its name.
        (objects / "engine").replace(program)
        shutil.rmtree(objects)
        _stamp(folder / "engine.stamp", inputs)
    return program


def elaborate(engine: Engine, say: Say = tell) -> Path:
    """The folder with the SystemVerilog, filelist.f and params.json; emits if need be."""
    first = f"elaborating {engine.key} (half a minute, and a first build of the hardware's)"
    return emit(engine.folder / "verilog", run_with(engine.options), say=lambda: say(first))


def run_with(options: Sequence[str]) -> Callable[[Path], list[str]]:
    """The command that elaborates with these options, for `emit`."""
    return lambda out: ["hw", "anemone.Elaborate", *options, "--out", str(out)]


def emit(
    out: Path,
    command: Callable[[Path], Sequence[str]],
    sources: Sequence[Path] = (),
    say: Callable[[], None] = lambda: None,
) -> Path:
    """`out`, with what mk/scala.sh's `command(folder)` writes there; anew if one of both changed.

    sources: others than hw/src that it is made of. say: called before it is. Raises EngineError.
    """
    folder = out.parent
    log, stamp = folder / f"{out.name}.log", folder / f"{out.name}.stamp"
    with _locked(folder):
        made_of = [*(ROOT / "hw" / "src").rglob("*.scala"), *sources]
        made_of += [ROOT / "build.sc", ROOT / ".mill-version"]
        inputs = _digest(made_of, command(Path(out.name)))
        if out.is_dir() and _stamped(stamp, inputs):
            return out
        say()
        fresh = folder / f"{out.name}.new"
        shutil.rmtree(fresh, ignore_errors=True)
        _run(["mk/scala.sh", *command(fresh)], log, "the elaboration")
        shutil.rmtree(out, ignore_errors=True)
        fresh.replace(out)
        _stamp(stamp, inputs)
    return out


def configuration(engine: Engine, params: dict) -> str:
    """configuration.h."""
    constants = {**engine.configuration(params), "THREADS": THREADS}
    lines = ["// Generated from params.json by anemone.rtl.builder.", "#pragma once"]
    lines += [f"#define BUILT_{name} {value}" for name, value in constants.items()]
    return "\n".join(lines) + "\n"


def _verilator(engine: Engine, verilog: Path, objects: Path) -> list[str]:
    sources = [verilog / name for name in (verilog / "filelist.f").read_text().split()]
    for kind in ("*.vlt", "*.cpp"):
        sources += [path for folder in engine.harness for path in sorted(folder.glob(kind))]
    include = " ".join(f"-I{folder}" for folder in engine.harness)
    return [
        _tool("verilator"), "--cc", "--exe", "--top-module", engine.top,
        "--prefix", f"V{engine.top}", "--Mdir", str(objects), "-o", "engine", *VERILATOR_FLAGS,
        "-CFLAGS", f"-std=c++17 -DVL_USER_FATAL -DVL_USER_STOP {include}",
        *map(str, sources),
    ]  # fmt: skip


def _make(engine: Engine, objects: Path, hot: str) -> list[str]:
    jobs = os.cpu_count() or 1
    optimise = (f"OPT_FAST={hot}", f"OPT_GLOBAL={hot}", f"OPT_SLOW={COLD}")
    return ["make", "-C", str(objects), "-f", f"V{engine.top}.mk", f"-j{jobs}", *optimise, "engine"]


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
