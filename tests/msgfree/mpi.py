# SPDX-License-Identifier: Apache-2.0
"""Runs the tests' MPI programs under the tracer, with either MPI."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from anemone.io.build_cache import built
from anemone.models.msgfree.folder import Rank, read_folder
from anemone.models.msgfree.tracer import Sampler, record
from anemone.studies.message_free_runs import OPEN_MPI
from tests.inputs import ROOT

SOURCES = {
    "heat": ROOT / "examples/mpi/heat.c",
    "cg": ROOT / "examples/mpi/cg.c",
    "receives": ROOT / "tests/msgfree/receives.c",
    "corners": ROOT / "tests/msgfree/corners.c",
    "hostile": ROOT / "tests/msgfree/hostile.c",
    "loads": ROOT / "tests/msgfree/loads.c",
    "pingpong": ROOT / "examples/mpi/pingpong.c",
}
# GCC takes MPICH's MPI_STATUSES_IGNORE for an empty array.
_FLAGS = "-std=gnu11 -O2 -g -Wall -Wextra -Werror -Wno-stringop-overflow -pthread".split()
# UCX 1.13.1 opens TCP connections between ranks of one host, too. One in about 800 runs of MPICH
# waits for ever for the end of such a connection, as the other rank is behind it in MPI_Finalize.
MPICH = {"UCX_TLS": "self,posix"}
each_mpi = pytest.mark.parametrize("mpi", ["openmpi", "mpich"])


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (OPEN_MPI | MPICH).items():
        monkeypatch.setenv(name, value)


def launcher(mpi: str) -> str:
    """Both launchers have these names on Debian and Ubuntu."""
    found = shutil.which(f"mpirun.{mpi}")
    if found is None:
        pytest.skip(f"no mpirun.{mpi}")
    return found


def program(mpi: str, name: str) -> str:
    """A program of SOURCES, compiled if it changed."""
    command = [f"mpicc.{mpi}", *_FLAGS, str(SOURCES[name])]
    out = ROOT / "build" / "mpi" / f"mpicc.{mpi}" / name
    return str(
        built(
            out,
            [SOURCES[name], *command],
            lambda made: subprocess.run([*command, "-o", str(made)], check=True),
        )
    )


def traced(
    mpi: str,
    ranks: int,
    words: list[str],
    out: Path,
    code: int | None = 0,
    sampler: Sampler | None = None,
) -> list[Rank]:
    """The traces of a run of a program of SOURCES. code: its exit status; None: any but 0."""
    command = [launcher(mpi), "-n", str(ranks), program(mpi, words[0]), *words[1:]]
    ended = record(command, out, None, sampler)
    assert ended == code or (code is None and ended), ended
    return read_folder(out)
