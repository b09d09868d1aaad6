# SPDX-License-Identifier: Apache-2.0
"""Two programs of the distribution, LAMMPS and HPC Challenge: their traces equal the counts of Open
MPI's monitoring, and they can be predicted.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from anemone.io.errors import InputError
from anemone.models.msgfree.folder import NOT_RECEIVED, Rank, read_folder
from anemone.models.msgfree.parameters import read_parameters
from anemone.models.msgfree.predict import predict
from anemone.models.msgfree.tracer import record
from anemone.studies.message_free_others import PROGRAMS, prepare
from tests.msgfree.mpi import launcher, settings  # noqa: F401

_SENT = re.compile(r"^E\t(\d+)\t(\d+)\t(\d+) bytes\t(\d+) msgs", re.MULTILINE)


def monitored(folder: Path) -> Counter[tuple[int, int, str]]:
    """The program's messages and bytes from rank to rank, without those of collectives."""
    found: Counter[tuple[int, int, str]] = Counter()
    for path in folder.glob("sent.*.prof"):
        for source, target, size, messages in _SENT.findall(path.read_text()):
            found[int(source), int(target), "messages"] += int(messages)
            found[int(source), int(target), "bytes"] += int(size)
    return +found


def received(ranks: list[Rank]) -> Counter[tuple[int, int, str]]:
    found: Counter[tuple[int, int, str]] = Counter()
    for rank in ranks:
        me = int(rank.header["rank"])
        for one in rank.records[(rank.records["flags"] & NOT_RECEIVED) == 0]:
            found[int(one["source"]), me, "messages"] += 1
            found[int(one["source"]), me, "bytes"] += int(one["bytes"])
    return +found


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_recorded_is_what_was_sent(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mpirun = launcher("openmpi")  # Debian builds both programs with Open MPI
    try:
        words = prepare(name, tmp_path, ranks=2, steps=5)
    except InputError as e:
        pytest.skip(str(e))
    for variable, value in (("enable", "2"), ("enable_output", "3"),
                            ("filename", str(tmp_path / "sent"))):  # fmt: skip
        monkeypatch.setenv(f"OMPI_MCA_pml_monitoring_{variable}", value)
    monkeypatch.chdir(tmp_path)
    assert record([mpirun, "-n", "2", *words], tmp_path / "run", None) == 0
    ranks = read_folder(tmp_path / "run")
    assert all(rank.header["finalized"] == 1 and rank.header["lost"] == 0 for rank in ranks)
    found = received(ranks)
    assert sum(found.values()) > 0
    assert found == monitored(tmp_path)
    sites = predict(ranks, read_parameters())
    assert sum(len(site.messages) for site in sites) == sum(
        count for (_, _, what), count in found.items() if what == "messages"
    )
