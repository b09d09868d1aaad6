# SPDX-License-Identifier: Apache-2.0
"""Runs an MPI program under the tracer of sim/mpi, which is built for the launcher's MPI."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from anemone.io.build_cache import built
from anemone.io.errors import MISSING, Bare, InputError
from anemone.io.outputs import unwritable
from anemone.models.msgfree.folder import Rank, read_folder
from anemone.models.msgfree.loads import Loads, write_loads

ROOT = Path(__file__).resolve().parents[4]
SOURCES = ROOT / "sim" / "mpi"
_FLAGS = "-std=gnu11 -O2 -g -Wall -Wextra -Werror -fPIC -shared -pthread".split()
FOLDER_VARIABLE = "ANEMONE_MPI_DIR"


def library(mpicc: str) -> Path:
    """The tracer for the MPI whose compiler this is, built if need be. Raises InputError."""
    shown = _run([mpicc, "-show"], "-show")
    sources = sorted(SOURCES.iterdir())
    command = [mpicc, *_FLAGS, f"-Wl,--version-script={SOURCES / 'exports.map'}"]
    command += [str(path) for path in sources if path.suffix == ".c"] + ["-ldl"]
    name = Path(mpicc).name
    return built(
        ROOT / "build" / "mpi" / name / "libanemone_mpi.so",
        [*sources, *command, shown],
        lambda made: _run_quietly([*command, "-o", str(made)]),
    )


def example(name: str, mpicc: str) -> str:
    """A program of examples/mpi, compiled if need be. Raises InputError."""
    source = ROOT / "examples" / "mpi" / f"{name}.c"
    # MPICH declares MPI_STATUSES_IGNORE in a way that GCC takes for an array of none.
    command = [mpicc, "-std=gnu11", "-O2", "-g", "-Wno-stringop-overflow", str(source)]
    out = ROOT / "build" / "mpi" / Path(mpicc).name / "examples" / name
    return str(
        built(out, [source, *command], lambda made: _run_quietly([*command, "-o", str(made)]))
    )


def with_variables(mpirun: str, words: Sequence[str], variables: dict[str, str]) -> list[str]:
    """The launcher's command, which sets variables for its ranks and not for itself."""
    version = _run([mpirun, "--version"], "--version")
    if "Open MPI" in version or "OpenRTE" in version:
        options = [w for name, value in variables.items() for w in ("-x", f"{name}={value}")]
        command = [mpirun, *options]
        for word in words:  # a program of several has its own options
            command += [word, *options] if word == ":" else [word]
        return command
    if "HYDRA" in version:
        options = [w for name, value in variables.items() for w in ("-genv", name, value)]
        return [mpirun, *options, *words]
    raise InputError(
        "command line", "launcher", "mpirun", mpirun, "mpirun or mpiexec of Open MPI or MPICH"
    )


def compiler_beside(mpirun: str) -> str:
    """The launcher's own mpicc: mpirun.openmpi has mpicc.openmpi in its folder."""
    found = shutil.which(mpirun)
    if found is None:
        raise InputError("command line", "launcher", "mpirun", mpirun, "a command that is there")
    launcher = Path(found)
    suffix = launcher.name.removeprefix("mpirun").removeprefix("mpiexec")
    compiler = shutil.which(str(launcher.with_name(f"mpicc{suffix}")))
    if compiler is None:
        raise InputError(launcher, "the tracer's build", f"mpicc{suffix}", MISSING,
                         "beside the launcher, or --mpicc says where")  # fmt: skip
    return compiler


class Sampler(Protocol):
    """What takes samples of the program's loads while it is recorded.

    preloads: it sees to it itself that the tracer is in the ranks.
    """

    preloads: bool

    def words(self, command: Sequence[str], out: Path, preload: str) -> list[str]:
        """What is run in place of the launcher's command. preload: the tracer, and others."""

    def loads(self, out: Path, ranks: Sequence[Rank]) -> Loads:
        """The samples, when the run has ended."""


def record(
    command: Sequence[str], out: Path, mpicc: str | None, sampler: Sampler | None = None
) -> int:
    """Run the command under the tracer; its files go into the new folder. Returns its exit code."""
    if not command:
        raise InputError("command line", "record", "command", MISSING, "-- mpirun ... PROGRAM")
    mpirun, *words = command
    preload = str(library(mpicc or compiler_beside(mpirun)))
    if others := os.environ.get("LD_PRELOAD"):
        preload = f"{preload}:{others}"
    variables = {FOLDER_VARIABLE: str(out.resolve())}
    if sampler is None or not sampler.preloads:
        variables["LD_PRELOAD"] = preload
    command = with_variables(mpirun, words, variables)
    try:
        out.mkdir(parents=True)
    except FileExistsError as e:
        raise InputError(out, "output folder", "--out", Bare("there"), "a new folder") from e
    except OSError as e:
        raise unwritable(out, e) from e
    try:
        if sampler is not None:
            command = sampler.words(command, out, preload)
        code = subprocess.run(command, check=False).returncode
    except BaseException:
        shutil.rmtree(out)
        raise
    if not any(out.glob("*.trace")):
        shutil.rmtree(out)
        raise InputError("command line", "record", "command", Bare("without a traced rank"),
                         "a program that is linked with the launcher's MPI as a shared library "
                         "and calls MPI_Init")  # fmt: skip
    if sampler is not None:
        ranks = read_folder(out)
        write_loads(out, sampler.loads(out, ranks), ranks)
    return code


def _run(command: list[str], what: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise InputError(command[0], what, "command", Bare(str(e)), "a command that runs") from e
    return done.stdout + done.stderr


def _run_quietly(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InputError(command[0], "compiling", "exit code", done.returncode,
                         done.stderr.strip()[-300:])  # fmt: skip


def main() -> None:
    """`make mpi`: the tracer for each MPI of the system."""
    for name in ("openmpi", "mpich"):
        compiler = shutil.which(f"mpicc.{name}")
        if compiler is None:
            raise SystemExit(f"mpicc.{name}: missing (make setup installs it)")
        print(library(compiler).relative_to(ROOT))


if __name__ == "__main__":
    main()
