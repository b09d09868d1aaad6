# SPDX-License-Identifier: Apache-2.0
"""The tracer on programs that it may break or whose receives it may lose, and on Fortran."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from anemone.models.msgfree.folder import ANY_SOURCE, ANY_TAG, FAILED, KINDS, Rank, read_folder
from anemone.models.msgfree.parameters import read_parameters
from anemone.models.msgfree.places import places
from anemone.models.msgfree.predict import predict
from anemone.models.msgfree.tracer import FOLDER_VARIABLE, library, record, with_variables
from tests.inputs import ROOT
from tests.msgfree.mpi import each_mpi, launcher, program, settings, traced  # noqa: F401

FORTRAN = ROOT / "tests/msgfree/fortran.f90"


def same(mpi: str, what: str, out: Path, capfd: pytest.CaptureFixture[str]) -> Rank:
    """The trace of a program that sees the same with and without the tracer."""
    words = [launcher(mpi), "-n", "1", program(mpi, "hostile"), what]
    bare = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
    capfd.readouterr()
    (rank,) = traced(mpi, 1, ["hostile", what], out)
    assert capfd.readouterr().out == bare.stdout
    assert rank.header["finalized"] == 1
    assert rank.header["lost"] == 0
    return rank


def by_tag(rank: Rank) -> dict[int, np.void]:
    assert rank.header["posted"] == len(rank.records)
    return {int(one["tag"]): one for one in rank.records}


@each_mpi
def test_a_program_is_not_harmed_where_nothing_can_be_written(mpi: str, tmp_path: Path) -> None:
    """Waitall of 2,000 requests with ignored statuses, under a tracer that cannot write."""
    tracer = str(library(f"mpicc.{mpi}"))
    variables = {FOLDER_VARIABLE: str(tmp_path / "none"), "LD_PRELOAD": tracer}
    words = ["-n", "1", program(mpi, "hostile"), "many"]
    words = with_variables(launcher(mpi), words, variables)
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (0, "came 2000\n")
    assert "libanemone_mpi: " in done.stderr


@each_mpi
def test_all_programs_of_one_launch_are_traced(mpi: str, tmp_path: Path) -> None:
    words = ["-n", "1", program(mpi, "hostile"), "truncated", ":", "-n", "2",
             program(mpi, "hostile"), "many"]  # fmt: skip
    assert record([launcher(mpi), *words], tmp_path / "run", None) == 0
    assert [len(rank.records) for rank in read_folder(tmp_path / "run")] == [2, 2000, 2000]


@each_mpi
def test_many_requests_without_statuses(
    mpi: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rank = same(mpi, "many", tmp_path / "run", capfd)
    assert sorted(rank.records["tag"].tolist()) == sorted([*range(1000)] * 2)


@each_mpi
def test_calls_that_mpi_refuses(
    mpi: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rank = same(mpi, "refused", tmp_path / "run", capfd)
    came = rank.records[rank.records["flags"] & FAILED == 0]
    assert (came["tag"].tolist(), came["bytes"].tolist()) == ([1], [8])
    assert not rank.layouts
    assert [site.messages for site in predict([rank], read_parameters()) if site.messages] == [[8]]


@each_mpi
def test_request_get_status_completes_a_receive(
    mpi: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = same(mpi, "status", tmp_path / "run", capfd).records
    assert found["tag"].tolist() == [1, 2, 3, 3]
    assert found["bytes"].tolist() == [11, 12, 13, 13]
    assert found["flags"].tolist() == [ANY_SOURCE | ANY_TAG] * 2 + [0, 0]


@each_mpi
def test_what_finalize_receives_is_not_lost(
    mpi: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (one,) = same(mpi, "late", tmp_path / "run", capfd).records
    assert (one["tag"], one["bytes"]) == (1, 8)


@each_mpi
def test_gaps_that_are_not_known_count_as_data(
    mpi: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rank = same(mpi, "gaps", tmp_path / "run", capfd)
    # Tag, received bytes, and the range of addresses where they may be.
    expected = [(1, 18, 0, 24), (2, 6, 0, 8), (3, 64, 0, 112), (4, 0, 0, 0)]
    if mpi == "mpich":
        expected.append((5, 16, 0, 100))
    found = by_tag(rank)
    assert len(found) == len(expected)
    for tag, size, begin, end in expected:
        one = found[tag]
        assert one["bytes"] == size
        begins, ends = rank.runs(0, *(int(one[n]) for n in ("posted", "bytes", "type")))
        assert (int(begins.min()), int(ends.max())) == (begin, end), tag
    predict([rank], read_parameters())


@each_mpi
def test_three_gibibytes_in_one_message(
    mpi: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rank = same(mpi, "huge", tmp_path / "run", capfd)
    (one,) = rank.records
    assert (one["bytes"], one["posted"], one["span"]) == (3 << 30, 3 << 30, 1 << 20)
    (site,) = predict([rank], read_parameters())
    assert (site.messages, site.buffer_bytes) == ([3 << 30], 1 << 20)


@each_mpi
def test_a_message_that_is_too_long(
    mpi: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = by_tag(same(mpi, "truncated", tmp_path / "run", capfd))
    assert (found[1]["flags"], found[1]["bytes"]) == (FAILED, 0)
    assert (found[2]["flags"], found[2]["bytes"], found[2]["posted"]) == (0, 10, 100)


@each_mpi
def test_children_leave_the_trace_alone(
    mpi: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert list(by_tag(same(mpi, "forked", tmp_path / "run", capfd))) == [1, 2]


@each_mpi
def test_threads_that_receive_from_any(
    mpi: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = same(mpi, "threads", tmp_path / "run", capfd).records
    assert np.bincount(found["tag"]).tolist() == [800] * 8
    assert set(found["flags"].tolist()) == {ANY_SOURCE}
    for tag in range(8):  # each buffer as often as it was posted
        buffers = found["buffer"][found["tag"] == tag]
        assert np.unique(buffers, return_counts=True)[1].tolist() == [100] * 8


@each_mpi
def test_a_file_system_that_allocates_nothing_in_advance(
    mpi: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert list(by_tag(same(mpi, "bare", tmp_path / "run", capfd))) == [1]


@each_mpi
@pytest.mark.parametrize(("module", "kind"), [("mpi", "integer"), ("mpi_f08", "type(x)")])
def test_fortrans_receives_are_where_the_program_calls_them(
    mpi: str, module: str, kind: str, tmp_path: Path
) -> None:
    mpirun, compiler = launcher(mpi), f"mpifort.{mpi}"
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    out = str(tmp_path / "receives")
    defined = [f"-DMODULE={module}", f"-DKIND_OF(x)={kind}"]
    subprocess.run([compiler, "-cpp", *defined, "-g", "-O1", str(FORTRAN), "-o", out], check=True)
    assert record([mpirun, "-n", "1", out], tmp_path / "run", None) == 0
    (rank,) = read_folder(tmp_path / "run")
    assert rank.header["posted"] == len(rank.records)
    found = [(KINDS[one["kind"]], int(one["tag"]), int(one["bytes"])) for one in rank.records]
    assert found == [
        ("Recv", 1, 8), ("Irecv", 2, 16), ("Sendrecv", 3, 24), ("Sendrecv_replace", 4, 32),
        ("Recv_init", 5, 40), ("Recv_init", 5, 40), ("Irecv", 11, 8), ("Irecv", 12, 8),
        ("Irecv", 13, 8), ("Mrecv", 6, 48),
    ]  # fmt: skip
    assert rank.collectives == {"MPI_Allreduce": 1}
    source = FORTRAN.read_text().splitlines()
    at = places(rank.sites.values())
    for one in rank.records:
        called = at[rank.sites[int(one["site"])]]
        assert Path(called.file).name == "fortran.f90"
        # The line of a continued call is its last one.
        text = " ".join(source[called.line - 2 : called.line])
        assert f"MPI_{KINDS[one['kind']]}(" in text, (one, called)
