# SPDX-License-Identifier: Apache-2.0
"""The tracer on datatypes that leave gaps, many requests, calls that fail and spawned programs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from anemone.models.msgfree.folder import ANY_SOURCE, ANY_TAG, CANCELLED, KINDS, Rank, read_folder
from anemone.models.msgfree.parameters import read_parameters
from anemone.models.msgfree.predict import predict
from anemone.models.msgfree.tracer import record
from tests.msgfree.mpi import each_mpi, launcher, program, settings, traced  # noqa: F401

# corners.c: tag, mean bytes of an element, received elements.
TYPES = [(1, 8, 64), (2, 8, 20), (3, 4, 30), (4, 4, 12), (5, 2, 18), (6, 21 / 4, 8), (7, 4, 24),
         (8, 4, 24), (9, 4, 13), (10, 2, 6), (11, 8, 5), (12, 8, 5), (13, 1, 8)]  # fmt: skip


def places(rank: Rank, one: np.void) -> set[int]:
    """Offsets of a record's bytes from the program's buffer."""
    begins, ends = rank.runs(0, *(int(one[n]) for n in ("posted", "bytes", "type")))
    first = rank.layouts[int(one["type"])].first if one["type"] else 0
    return {first + b for begin, end in zip(begins, ends, strict=True) for b in range(begin, end)}


@each_mpi
def test_the_bytes_of_a_datatype_with_gaps_are_known(
    mpi: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (rank,) = traced(mpi, 1, ["corners", "types"], tmp_path / "run")
    digits_by_tag = dict(re.findall(r"(?m)^(\d+) ([01]+)$", capfd.readouterr().out))
    by_tag = {int(one["tag"]): one for one in rank.records}
    assert len(digits_by_tag) == 12 and len(by_tag) == len(TYPES)
    for tag, digits in digits_by_tag.items():
        came = {i for i, digit in enumerate(digits) if digit == "1"}
        assert places(rank, by_tag[int(tag)]) == came, tag
    for tag, element, count in TYPES[:-1]:
        one = by_tag[tag]
        assert (one["elements"], one["bytes"]) == (count, element * count), tag
    # A datatype that is created again has the same layout; one without gaps has none.
    alike = rank.records["type"][rank.records["tag"] == 12]
    assert len(set(alike.tolist())) == 1
    assert by_tag[1]["type"] == by_tag[13]["type"] == 0
    # Posted for 512 doubles, of which 8 were received.
    assert (by_tag[13]["bytes"], by_tag[13]["span"], by_tag[13]["elements"]) == (64, 4096, 8)


@each_mpi
def test_a_restart_that_is_cancelled_and_a_call_that_fails(mpi: str, tmp_path: Path) -> None:
    (rank,) = traced(mpi, 1, ["corners", "ends"], tmp_path / "run")
    first, cancelled, waited = rank.records
    any_of = ANY_SOURCE | ANY_TAG
    assert (first["tag"], first["local_source"], first["bytes"]) == (21, 0, 8)
    assert first["flags"] == any_of and cancelled["flags"] == any_of | CANCELLED
    assert (cancelled["source"], cancelled["bytes"], cancelled["elements"]) == (-1, 0, 0)
    assert cancelled["tag"] != 21 and cancelled["local_source"] != 0  # those of any
    # Waitall failed because of the invalid request; the receive itself completed later.
    assert (waited["tag"], waited["flags"], waited["bytes"]) == (22, 0, 8)
    assert rank.header["posted"] == 4  # one is incomplete at the end


@each_mpi
@pytest.mark.parametrize("count", [64, 1000, 4000])
def test_the_tracers_cost_of_a_call_does_not_grow_with_its_requests(
    mpi: str, count: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    calls = ["Testany", "Testall", "Testsome", "Waitany"]
    words = [launcher(mpi), "-n", "1", program(mpi, "corners"), str(count), *calls]
    bare, slow = dict.fromkeys(calls, 1e9), dict.fromkeys(calls, 1e9)
    # The shortest of alternating runs, because other work on the machine only adds time.
    for turn in range(3):
        alone = subprocess.run(words, capture_output=True, text=True, check=True, timeout=300)
        traced(mpi, 1, ["corners", str(count), *calls], tmp_path / f"run{turn}")
        for shortest, text in ((bare, alone.stdout), (slow, capfd.readouterr().out)):
            shortest.update({call: min(shortest[call], ns) for call, ns in _times(text).items()})
    more = {call: slow[call] - bare[call] for call in calls}
    print(mpi, count, more, bare)
    # Compared with the library's time in the same run: work for each request would be a multiple.
    # A turn of Waitany also has a send and a receive.
    assert all(more[call] <= (2 if call == "Waitany" else 1) * bare[call] for call in calls)


def _times(text: str) -> dict[str, float]:
    found = {name: float(ns) for name, ns in re.findall(r"(\w+(?:any|all|some)) (\d+)", text)}
    assert len(found) == 4
    return found


@each_mpi
def test_each_of_many_call_sites_is_told_once(mpi: str, tmp_path: Path) -> None:
    (rank,) = traced(mpi, 1, ["corners", "sites"], tmp_path / "run")
    assert len(rank.records) == 2 * 4096
    names = (tmp_path / "run" / "000000.names").read_text().splitlines()
    assert sum(name.startswith("site\t") for name in names) == len(rank.sites) == 4096


def test_spawned_programs_have_files_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only with Open MPI, because the distribution's MPICH (on UCX) cannot spawn programs.
    monkeypatch.setenv(
        "OMPI_MCA_btl", "self,vader,tcp"
    )  # vader does not connect different MPI_COMM_WORLDs
    words = [launcher("openmpi"), "-n", "1", program("openmpi", "corners"), "spawn"]
    assert record(words, tmp_path / "run", None) == 0
    ranks = read_folder(tmp_path / "run")
    assert [rank.name for rank in ranks] == ["0", "1-0", "1-1", "2-0", "2-1"]
    assert [int(rank.header["ranks"]) for rank in ranks] == [1, 2, 2, 2, 2]
    assert not len(ranks[0].records)
    for rank in ranks[1:]:
        me = int(rank.header["rank"])
        from_parent, from_other = rank.records
        parent = [int(from_parent[name]) for name in ("tag", "source", "local_source")]
        assert parent == [31, -1, 0]
        assert (from_other["tag"], from_other["source"]) == (32, 1 - me)
        assert KINDS[from_other["kind"]] == "Sendrecv"
    sites = predict(ranks, read_parameters())
    assert sorted(len(site.messages) for site in sites) == [4, 4]
    assert all(site.ranks == {"1-0", "1-1", "2-0", "2-1"} for site in sites)
