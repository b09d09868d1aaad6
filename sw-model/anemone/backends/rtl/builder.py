# SPDX-License-Identifier: Apache-2.0
"""Builds Verilated hardware when needed: Chisel to SystemVerilog to C++ to a program.

Each configuration has a folder under build/simulator. After a change of comments in Scala it only
elaborates again, and after a change of flags it only compiles again (anemone.io.build_cache).
"""

from __future__ import annotations

import functools
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from anemone.backends.rtl.checkers import CHECKERS, bound
from anemone.io.build_cache import built

ROOT = Path(__file__).resolve().parents[4]
SIMULATORS = ROOT / "build" / "simulator"

THREADS = 1
# Chosen by measurement: docs/performance.md.
VERILATOR_FLAGS = (
    "-O3", "--x-assign", "fast", "--x-initial", "fast", "--assert", "--threads", str(THREADS),
)  # fmt: skip
# Codes and parities of memories are 900 parities of words a cycle. With an instruction that counts
# ones each is two instructions; every x86-64 processor since 2008 has it.
ONES = " -mpopcnt" if platform.machine() == "x86_64" else ""
# No vectors: a few neighbouring words cost more to pack than they save (docs/performance.md).
HOT = f"-O2 -fno-tree-vectorize{ONES}"  # for code that runs every cycle
COLD = "-O0"  # for code that runs once
PIECES = ("--output-split", "5000", "--output-split-cfuncs", "2500")
# Without optimisation one file compiles faster, because Verilator's headers are read only once.
ONE_PIECE = ("--output-split", "0")

# CHECKS=yes adds a protocol checker to each AXI port, for 20 % more run time (docs/performance.md).
CHECKED = os.environ.get("CHECKS") == "yes"

Log = Callable[[str], None]


class BackendError(RuntimeError):
    """A simulator could not be built, or its run failed a check; str() has the reason and place."""


def log_progress(text: str) -> None:
    """Print a build's progress, because a first build takes minutes."""
    print(f"simulator: {text}", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Simulator:
    """Hardware and the harness that drives it.

    key: its folder's name. top: the top module. options: of the elaborator, the top first. harness:
    folders of C++ sources; the last one is specific to this simulator. configuration: maps the
    elaboration's params.json to the constants of configuration.h, from which the harness takes
    sizes and pin names.
    """

    key: str
    top: str
    options: tuple[str, ...]
    harness: tuple[Path, ...]
    configuration: Callable[[dict], dict[str, object]]

    @property
    def folder(self) -> Path:
        return SIMULATORS / self.key


def build(simulator: Simulator, log: Log = log_progress) -> Path:
    """The program of a simulator, built if it is absent or out of date.

    It is safe to call this from several processes at once. Raises BackendError.
    """
    return compile_simulator(simulator, elaborate(simulator, log), simulator.folder, log)


def compile_simulator(
    simulator: Simulator,
    verilog: Path,
    folder: Path,
    log: Log = log_progress,
    hot: str | None = None,
) -> Path:
    """The program `folder`/simulator for the SystemVerilog in a folder, compiled if necessary.

    hot: the compiler's optimisation flag, default HOT; a run of a few cycles needs little
    optimisation. CHECKED selects a separate program with checkers on its AXI ports.
    """
    hot = hot or HOT
    sources = [p for part in simulator.harness for p in part.iterdir() if p.is_file()]
    checks = bound(verilog) if CHECKED else ""
    kind = "-checked" if checks else ""
    sources += CHECKERS if checks else []
    split = ONE_PIECE if hot == COLD else PIECES
    flags = (*VERILATOR_FLAGS, *split, "--no-timing", "-Wno-fatal")
    tools = (*flags, hot, COLD, version("verilator"), _compiler(), checks)

    def make(program: Path) -> None:
        log(f"verilating and compiling {folder.name} (a minute or two; once)")
        objects = folder / f"objects{kind}"
        shutil.rmtree(objects, ignore_errors=True)
        objects.mkdir()
        if checks:
            (objects / "checks.sv").write_text(checks)
        params = json.loads((verilog / "params.json").read_text())
        (objects / "configuration.h").write_text(configuration(simulator, params))
        verilate = _verilator(simulator, verilog, objects, flags)
        _run(verilate, folder / f"verilate{kind}.log", "Verilator")
        _run(_make(simulator, objects, hot), folder / f"compile{kind}.log", "the C++ compiler")
        (objects / "simulator").replace(program)
        shutil.rmtree(objects)

    made_of = [*_by_name([*verilog.iterdir(), *sources]), *tools]
    return built(folder / f"simulator{kind}", made_of, make, shared=True)


def elaborate(simulator: Simulator, log: Log = log_progress) -> Path:
    """The folder with the SystemVerilog, filelist.f and params.json, emitted if necessary."""
    first = f"elaborating {simulator.key} (half a minute, and a first build of the hardware's)"
    return emit(
        simulator.folder / "verilog", run_with(simulator.options), before_run=lambda: log(first)
    )


def run_with(options: Sequence[str]) -> Callable[[Path], list[str]]:
    """The command that elaborates with these options, for `emit`."""
    return lambda out: ["hw", "anemone.Elaborate", *options, "--out", str(out)]


def emit(
    out: Path,
    command: Callable[[Path], Sequence[str]],
    sources: Sequence[Path] = (),
    before_run: Callable[[], None] = lambda: None,
) -> Path:
    """`out` with the output of mk/scala.sh's `command(folder)`, which runs again if the command or
    a source changed.

    sources: further sources besides hw/src. before_run: called before a run. Raises BackendError.
    """
    made_of = [*(ROOT / "hw" / "src").rglob("*.scala"), *sources]
    made_of += [ROOT / "build.sc", ROOT / ".mill-version"]

    def make(fresh: Path) -> None:
        before_run()
        log = out.parent / f"{out.name}.log"
        _run(["mk/scala.sh", *command(fresh)], log, "the elaboration")

    return built(out, [*_by_name(made_of), *command(Path(out.name))], make, shared=True)


def configuration(simulator: Simulator, params: dict) -> str:
    """The content of configuration.h."""
    constants = {**simulator.configuration(params), "THREADS": THREADS}
    lines = ["// Generated from params.json by anemone.backends.rtl.builder.", "#pragma once"]
    lines += [f"#define BUILT_{name} {value}" for name, value in constants.items()]
    return "\n".join(lines) + "\n"


def _verilator(
    simulator: Simulator, verilog: Path, objects: Path, flags: Sequence[str]
) -> list[str]:
    sources = [verilog / name for name in (verilog / "filelist.f").read_text().split()]
    for kind in ("*.vlt", "*.cpp"):
        sources += [path for folder in simulator.harness for path in sorted(folder.glob(kind))]
    if (checks := objects / "checks.sv").exists():
        sources += [*CHECKERS, checks]
    include = " ".join(f"-I{folder}" for folder in simulator.harness)
    return [
        _tool("verilator"), "--cc", "--exe", "--top-module", simulator.top,
        "--prefix", f"V{simulator.top}", "--Mdir", str(objects), "-o", "simulator",
        *flags,
        "-CFLAGS", f"-std=c++17 -DVL_USER_FATAL -DVL_USER_STOP {include}",
        *map(str, sources),
    ]  # fmt: skip


def _make(simulator: Simulator, objects: Path, hot: str) -> list[str]:
    jobs = os.cpu_count() or 1
    optimise = (f"OPT_FAST={hot}", f"OPT_GLOBAL={hot}", f"OPT_SLOW={COLD}")
    return [
        "make",
        "-C",
        str(objects),
        "-f",
        f"V{simulator.top}.mk",
        f"-j{jobs}",
        *optimise,
        "simulator",
    ]


def _tool(name: str) -> str:
    """The path of a program; this Python's environment takes precedence over PATH."""
    own = Path(sys.executable).parent / name
    found = str(own) if own.exists() else shutil.which(name)
    if not found:
        raise BackendError(f"{name} is not installed: run make setup")
    return found


@functools.cache
def _compiler() -> str:
    try:
        done = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as e:
        raise BackendError("g++ is not installed: run make setup") from e
    return done.stdout.splitlines()[0]


def _run(command: Sequence[str], log: Path, what: str) -> None:
    """Run a step in the checkout with its output in `log`. On failure the error has its last
    lines.
    """
    environment = {k: v for k, v in os.environ.items() if k not in ("VERILATOR_ROOT", "MAKEFLAGS")}
    try:
        with log.open("wb") as file:
            done = subprocess.run(
                command, cwd=ROOT, env=environment,
                stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
            )  # fmt: skip
    except OSError as e:
        raise BackendError(f"{what} cannot be run: {e}") from e
    if done.returncode:
        lines = log.read_text(errors="replace").splitlines()
        errors = [line for line in lines if "error" in line.lower()][:5] or lines[-5:]
        raise BackendError("\n  ".join([f"{what} failed, see {log}:", *errors]))


def _by_name(files: Iterable[Path]) -> list[Path]:
    return sorted(files, key=lambda p: p.as_posix())
