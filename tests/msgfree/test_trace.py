# SPDX-License-Identifier: Apache-2.0
"""The tracer on programs with known messages, under Open MPI's and MPICH's mpirun."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from anemone.io.errors import InputError
from anemone.models.msgfree.folder import (
    ANY_SOURCE,
    ANY_TAG,
    AS_POSTED,
    CANCELLED,
    FREED,
    KINDS,
    Rank,
)
from anemone.models.msgfree.places import places
from anemone.models.msgfree.tracer import library, record
from tests.msgfree.mpi import SOURCES, each_mpi, launcher, program, settings, traced  # noqa: F401

# receives.c: tag, kind, number, bytes of each.
EXPECTED = [
    (1, "Recv", 1, 100), (2, "Recv", 1, 200), (3, "Sendrecv", 1, 300),
    (4, "Sendrecv_replace", 1, 400), (5, "Mrecv", 1, 500), (6, "Imrecv", 1, 600),
    (8, "Irecv", 1, 1), (9, "Irecv", 1, 9), (10, "Irecv", 1, 10), (11, "Irecv", 40, 11),
    (12, "Irecv", 1, 12), (13, "Irecv", 1, 12), (14, "Irecv", 1, 12), (15, "Irecv", 40, 15),
    (16, "Recv_init", 3, 80), (17, "Irecv", 1, 0), (18, "Irecv", 1, 0),
]  # fmt: skip
# MPICH 4.0 does not give Isendrecv's received size, so the posted one is recorded.
MPI_4 = [(19, "Irecv", 1, 19), (20, "Isendrecv", 1, 1000), (23, "Precv_init", 1, 60)]
THREADS = [(21, "Irecv", 200, 0), (22, "Irecv", 200, 0)]


def whole(rank: Rank) -> np.ndarray:
    """The records, after checks of what holds for all of them."""
    found = rank.records
    assert np.all(found["posted_ns"] <= found["waited_ns"])
    assert np.all(found["waited_ns"] <= found["done_ns"])
    assert np.all(found["done_ns"] >= rank.header["begin_ns"])
    assert rank.header["posted"] == len(found)
    assert rank.header["lost"] == 0
    assert set(found["comm"].tolist()) <= set(rank.communicators)
    return found


def kinds(found: np.ndarray) -> list[tuple[int, str, int, int]]:
    rows = zip(found["tag"].tolist(), found["kind"].tolist(), found["bytes"].tolist(), strict=True)
    counted = Counter((tag, KINDS[kind], size) for tag, kind, size in rows)
    return sorted((tag, kind, count, size) for (tag, kind, size), count in counted.items())


@each_mpi
@pytest.mark.parametrize("ranks", [2, 4, 16])
def test_every_kind_of_receive_is_recorded(mpi: str, ranks: int, tmp_path: Path) -> None:
    source = SOURCES["receives"].read_text().splitlines()
    for rank in traced(mpi, ranks, ["receives", "all"], tmp_path / "run"):
        me = int(rank.header["rank"])
        found = whole(rank)
        assert rank.header["finalized"] == 1
        expected = EXPECTED + (MPI_4 if mpi == "mpich" else []) + THREADS
        assert kinds(found) == sorted(expected)
        own = np.isin(found["tag"], (21, 22))
        never = np.isin(found["tag"], (17, 18))
        assert set(found["source"][own].tolist()) == {me}
        assert set(found["source"][~own & ~never].tolist()) == {me ^ 1}
        by_tag = {int(one["tag"]): one for one in found}
        assert by_tag[2]["flags"] == ANY_SOURCE | ANY_TAG
        assert by_tag[17]["flags"] == CANCELLED
        assert by_tag[18]["flags"] == FREED
        assert by_tag.get(20, {"flags": AS_POSTED})["flags"] == AS_POSTED
        assert not np.any(found["flags"][~never & ~np.isin(found["tag"], (2, 20))])
        # The pair's communicator has ranks 0 and 1.
        _, members = rank.communicators[int(by_tag[9]["comm"])]
        assert (members, by_tag[9]["local_source"]) == ([me & ~1, me | 1], (me ^ 1) & 1)
        # Ten doubles, of which every fifth is received.
        assert by_tag[16]["span"] == (9 * 5 + 1) * 8
        assert by_tag[16]["elements"] == 10
        assert rank.layouts[int(by_tag[16]["type"])].starts == tuple(range(0, 400, 40))
        at = places(rank.sites.values())
        for one in found:
            called = at[rank.sites[int(one["site"])]]
            assert Path(called.file).name == "receives.c"
            text = " ".join(source[called.line - 1 : called.line + 1])
            assert f"MPI_{KINDS[one['kind']]}" in text, (one, called)
        assert rank.collectives.get("MPI_Barrier") == 2


def neighbours(sides: tuple[int, ...]) -> list[list[int]]:
    """The neighbours of each rank in a grid, row-major."""
    cells = list(product(*map(range, sides)))
    number = {cell: i for i, cell in enumerate(cells)}
    steps = [tuple(int(d == e) * s for e in range(len(sides))) for d in range(len(sides))
             for s in (-1, 1)]  # fmt: skip
    beside = [[tuple(a + b for a, b in zip(c, s, strict=True)) for s in steps] for c in cells]
    return [sorted(number[c] for c in all_of if c in number) for all_of in beside]


def check(ranks: list[Rank], sides: tuple[int, ...], times: int, size: int) -> None:
    """Check that each neighbour's message of `size` bytes, and no other, came so many times."""
    assert [int(rank.header["rank"]) for rank in ranks] == list(range(np.prod(sides)))
    for rank, beside in zip(ranks, neighbours(sides), strict=True):
        found = whole(rank)
        assert set(found["bytes"].tolist()) <= {size}
        assert Counter(found["source"].tolist()) == dict.fromkeys(beside, times)


@each_mpi
@pytest.mark.parametrize(("ranks", "sides"), [(2, (1, 2)), (4, (2, 2)), (16, (4, 4))])
def test_the_heat_programs_messages(
    mpi: str, ranks: int, sides: tuple[int, int], tmp_path: Path
) -> None:
    rows = ["1"] if ranks == 2 else []
    words = ["heat", "24", "5", "message", *rows]
    check(traced(mpi, ranks, words, tmp_path / "run"), sides, 5, 24 * 8)


@each_mpi
@pytest.mark.parametrize(("ranks", "sides"), [(4, (2, 2, 1)), (16, (4, 2, 2))])
def test_the_conjugate_gradients_messages(
    mpi: str, ranks: int, sides: tuple[int, int, int], tmp_path: Path
) -> None:
    found = traced(mpi, ranks, ["cg", "6", "5"], tmp_path / "run")
    check(found, sides, 5, 6 * 6 * 8)
    assert all(rank.collectives == {"MPI_Allreduce": 11} for rank in found)


@each_mpi
def test_shared_memory_gives_the_same_heat_with_fewer_messages(
    mpi: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    sums = set()
    for mode, messages in (("message", 8), ("ns", 4), ("we", 4)):
        found = traced(mpi, 4, ["heat", "24", "6", mode], tmp_path / mode)
        assert sum(len(whole(rank)) for rank in found) == messages * 6
        total = re.search(r"sum (\S+)", capfd.readouterr().out)
        assert total
        sums.add(total[1])
    assert len(sums) == 1


@each_mpi
def test_shared_memory_gives_the_same_residual_without_a_message(
    mpi: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    residuals = set()
    for mode, messages in (("message", 8), ("shared", 0)):
        found = traced(mpi, 4, ["cg", "5", "4", mode], tmp_path / mode)
        assert sum(len(whole(rank)) for rank in found) == messages * 4
        residual = re.search(r"residual (\S+) seconds \S+ shortest \S+", capfd.readouterr().out)
        assert residual
        residuals.add(residual[1])
    assert len(residuals) == 1


@each_mpi
@pytest.mark.parametrize("end", ["abort", "kill"])
def test_nothing_is_lost_where_a_program_does_not_end(mpi: str, end: str, tmp_path: Path) -> None:
    expected = sum(count for _, _, count, _ in EXPECTED + THREADS)
    found = traced(mpi, 2, ["receives", end], tmp_path / "run", None)
    assert len(found) == 2
    for rank in found:
        assert rank.header["finalized"] == 0
        assert len(whole(rank)) == expected + (len(MPI_4) if mpi == "mpich" else 0)


@each_mpi
def test_a_call_costs_at_most_two_microseconds_more(
    mpi: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = [launcher(mpi), "-n", "1", program(mpi, "receives"), "overhead"]
    bare = subprocess.run(words, capture_output=True, text=True, check=True, timeout=300)
    (rank,) = traced(mpi, 1, ["receives", "overhead"], tmp_path / "run")
    assert len(whole(rank)) == 300 * 1000
    more = float(capfd.readouterr().out.split()[0]) - float(bare.stdout.split()[0])
    print(f"{mpi}: {more:.0f} ns")
    assert more <= 2000


@each_mpi
def test_the_library_shows_mpi_and_nothing_else(mpi: str) -> None:
    launcher(mpi)
    shown = subprocess.run(
        ["nm", "-D", "--defined-only", str(library(f"mpicc.{mpi}"))],
        capture_output=True, text=True, check=True,
    ).stdout.split()[2::3]  # fmt: skip
    assert {"MPI_Recv", "MPI_Irecv", "MPI_Mrecv", "MPI_Testsome"} <= set(shown)
    assert {"PMPI_Recv", "mpi_recv_"} <= set(shown)
    assert all(re.match("P?MPI_|mpi_", name) for name in shown)


@each_mpi
def test_what_cannot_be_recorded_is_refused(mpi: str, tmp_path: Path) -> None:
    mpirun = launcher(mpi)
    (tmp_path / "old").mkdir()
    for command, out, field in (
        ([], "new", "command"),
        (["no-such-mpirun"], "new", "mpirun"),
        ([mpirun, "-n", "1", "true"], "new", "command"),
        ([mpirun, "-n", "1", "true"], "old", "--out"),
    ):
        with pytest.raises(InputError) as refused:
            record(command, tmp_path / out, None)
        assert refused.value.field == field
        assert not (tmp_path / "new").exists()
