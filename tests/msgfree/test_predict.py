# SPDX-License-Identifier: Apache-2.0
"""Predictions by call site from trace folders: written by hand, and of a real run."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anemone.cli import main
from anemone.io.errors import InputError
from anemone.models.msgfree.folder import CANCELLED, HEADER, HEADER_BYTES, RECORD, read_folder
from anemone.models.msgfree.layout import lines, read_layout
from anemone.models.msgfree.loads import read_loads
from anemone.models.msgfree.model import Cost, Verdict
from anemone.models.msgfree.parameters import read_parameters
from anemone.models.msgfree.places import Place
from anemone.models.msgfree.predict import CallSite, covered, knapsack, model_site, predict
from anemone.models.msgfree.report import as_object
from tests.inputs import ROOT
from tests.msgfree.mpi import each_mpi, launcher, program, settings  # noqa: F401

MACHINE = read_parameters()
A, B = 0x1000, 0x2000  # call sites
HEADER_LINE = "rank,time_ns,address,latency_ns,source\n"  # of loads.csv
ROWS = (f"0,{2**63},3,4,L1", f"0,2,{2**64},4,L1", "0,2,-1,4,L1", "0,2,3,nan,L1", "0,2,3,-1,L1",
        "0,2," + 200_000 * "3" + ",4,L1", "\u0660,2,3,4,L1")  # no loads  # fmt: skip


def receive(
    site: int, done: int, size: int, buffer: int = 0x10000, flags: int = 0, type_: int = 0,
    span: int = 0, posted: int = 0,
) -> tuple:  # fmt: skip
    """A trace record of MPI_Recv with elements of 8 bytes."""
    return (done - 10, done - 10, done, site, site, buffer, span or size, size, posted or size,
            size // 8, 1, 1, 0, 1, type_, 0, flags)  # fmt: skip


def folder(path: Path, *ranks: list[tuple], world: int | None = None) -> Path:
    """A trace folder with these receives."""
    path.mkdir()
    for rank, rows in enumerate(ranks):
        header = np.zeros(HEADER_BYTES, np.uint8)
        header[:8] = np.frombuffer(b"ANEMPI1\n", np.uint8)
        sizes = [HEADER_BYTES, RECORD.itemsize, rank, world or len(ranks), 1, 1]
        header[8:32] = np.array(sizes, "<i4").view(np.uint8)
        header[32:48] = np.array([len(rows), len(rows)], "<u8").view(np.uint8)
        content = header.tobytes() + np.array(rows, RECORD).tobytes()
        (path / f"{rank:06d}.trace").write_bytes(content)
        (path / f"{rank:06d}.names").write_text(
            f"site\t{A:#x}\t{A:#x}\tfirst\t/none/program\n"
            f"site\t{B:#x}\t{B:#x}\tsecond\t/none/program\ncomm\t1\t2\tworld\t0 1\ncomm\t2\t"
        )
    return path


def by_function(sites: list[CallSite]) -> dict[str, CallSite]:
    return {site.place.function: site for site in sites}


def test_messages_of_all_ranks_are_summed_by_call_site(tmp_path: Path) -> None:
    at = folder(
        tmp_path / "run",
        [receive(A, 100, 4096), receive(A, 200, 4096), receive(B, 300, 8, 0x20000)],
        [receive(A, 100, 1 << 20), receive(A, 150, 7, flags=CANCELLED)],
    )
    found = by_function(predict(read_folder(at), MACHINE))
    first = found["first"]
    assert sorted(first.messages) == [4096, 4096, 1 << 20]
    assert first.not_received == {"cancelled": 1}
    assert first.buffer_bytes == 4096 + (1 << 20)
    assert first.ranks == {"0", "1"}
    assert first.verdict
    mpi = 3 * MACHINE.mpi_lat + (8192 + (1 << 20)) / MACHINE.mpi_bw
    assert first.verdict.transfer.mpi_ns == pytest.approx(mpi)
    assert first.verdict.transfer.cxl_ns == pytest.approx(6 * MACHINE.cxl_atomic_lat)
    assert first.verdict.access == Cost(0, 0)
    assert (first.take, found["second"].take) == (True, False)
    assert str(found["second"].place) == f"program+{B:#x}"


METRICS = (
    "metrics = { mem_gb_per_s = 0, l3_miss_share = 0.5, l1_gb_per_s = 0, l2_gb_per_s = 0, "
    "l2_load_share = 0 }\n"
)


def test_a_load_is_of_the_last_receive_into_its_place(tmp_path: Path) -> None:
    at = folder(
        tmp_path / "run",
        [receive(A, 100, 64), receive(B, 200, 32), receive(A, 300, 64), receive(B, 400, 8, 0x20)],
    )
    (at / "loads.toml").write_text("rate = 4\n" + METRICS)
    rows = [
        (99, 0x10000, 1, "L1"),  # before any receive
        (100, 0x1003F, 2, "L2"),  # A's last byte
        (150, 0x10040, 3, "L3"),  # past its end
        (200, 0x10000, 4, "LFB"),  # B has it now
        (250, 0x10020, 5, "MEM"),  # past B: still A's
        (350, 0x10000, 6, "MEM"),  # A again
        (500, 0x27, 7, "L1"),
    ]
    text = "".join(f"0,{t},{a:#x},{lat},{source}\n" for t, a, lat, source in rows)
    (at / "loads.csv").write_text(
        "rank,time_ns,address,latency_ns,source\n" + text + "1,500,0x27,7,L1\n"
    )
    found = by_function(predict(read_folder(at), MACHINE, loads=read_loads(at)))
    assert sorted(found["first"].samples) == [(2, "L2"), (5, "MEM"), (6, "MEM")]
    assert sorted(found["second"].samples) == [(4, "LFB"), (7, "L1")]
    verdict = found["first"].verdict
    # 3 samples of 4 loads of 128 bytes in elements of 8: less than one load per element, so all are
    # first loads.
    assert verdict
    weights = verdict.first
    hand = sum(
        weights[name] * 4 * 13 / (MACHINE.lpf_lat if name == "MLAT" else MACHINE.lpf_bw)
        for name in weights
    )
    assert verdict.access.mpi_ns == pytest.approx(hand)
    assert verdict.access.cxl_ns > verdict.access.mpi_ns
    # Half of the loads miss the L3, so the weight of memory's latency is 1.
    sites = {
        site["function"]: site
        for site in as_object(read_folder(at), [*found.values()], None)["sites"]
    }
    assert sites["first"]["weights_first"] == {"MBW": 0, "MLAT": 1, "Compute": 0}
    assert sites["first"]["weights_later"] == {
        "MBW": 0,
        "MLAT": 1,
        "CBW": 0,
        "CLAT": 0,
        "Compute": 0,
    }
    # 2 samples of 4 loads, 5 elements.
    assert (sites["first"]["loads_per_element"], sites["second"]["loads_per_element"]) == (1, 8 / 5)


def loads(at: Path, *addresses: int, source: str = "L1") -> None:
    """A sample of one load at each address."""
    (at / "loads.toml").write_text("rate = 1\n" + METRICS)
    rows = "".join(f"0,1000,{address:#x},2,{source}\n" for address in addresses)
    (at / "loads.csv").write_text("rank,time_ns,address,latency_ns,source\n" + rows)


# 8 doubles, one in 16: of every second cache line; then 64 doubles without gaps.
STRIDED = "type\t7\t64\t904\t0\t(8 128 8)\n"


def with_datatype(at: Path, line: str, rank: int = 0) -> Path:
    names = at / f"{rank:06d}.names"
    names.write_text(line + names.read_text())
    return at


def test_loads_in_the_gaps_of_a_datatype_are_not_of_it(tmp_path: Path) -> None:
    here = receive(A, 100, 64, type_=7, span=904)
    at = with_datatype(folder(tmp_path / "run", [receive(B, 50, 1024), here]), STRIDED)
    loads(at, *range(0x10000, 0x10400, 8))
    found = by_function(predict(read_folder(at), MACHINE, loads=read_loads(at)))
    assert len(found["first"].samples) == 8  # one per element
    assert len(found["second"].samples) == 120  # bytes in the gaps are of an earlier receive
    assert found["first"].buffer_bytes == 64
    assert found["first"].elements == 8
    # Each element has a line of its own: no load of it is a demand hit (footnote 20).
    assert model_site(found["first"], None).element_bytes == 64
    assert model_site(found["second"], None).element_bytes == 8


def test_only_what_came_is_loaded(tmp_path: Path) -> None:
    part = receive(A, 100, 24, type_=7, span=904, posted=64)
    more = receive(B, 90, 16, buffer=0x20000, span=4096, posted=4096)
    at = with_datatype(folder(tmp_path / "run", [part, more]), STRIDED)
    loads(at, 0x10000, 0x10080, 0x10100, 0x10180, 0x20000, 0x20008, 0x20010)
    found = by_function(predict(read_folder(at), MACHINE, loads=read_loads(at)))
    assert (len(found["first"].samples), len(found["second"].samples)) == (3, 2)
    assert (found["first"].buffer_bytes, found["second"].buffer_bytes) == (64, 4096)


def test_an_element_is_of_all_ranks(tmp_path: Path) -> None:
    chars = list(receive(A, 100, 64))
    chars[9] = 64
    at = folder(tmp_path / "run", [receive(A, 100, 64)], [tuple(chars)])
    (site,) = predict(read_folder(at), MACHINE)
    assert model_site(site, None).element_bytes == 128 / 72


def test_items_may_be_behind_each_other_or_overlap() -> None:
    # Items of 8 bytes, each 24 bytes before the previous one; and adjacent columns of 4 bytes.
    back = read_layout("8", "-24", "0", "8")
    assert [some.tolist() for some in back.runs(24, 24)] == [[0, 24, 48], [8, 32, 56]]
    assert [some.tolist() for some in back.runs(24, 12)] == [[24, 48], [28, 56]]
    columns = read_layout("12", "4", "0", "(3 16 4)")
    assert [some.tolist() for some in columns.runs(36, 36)] == [[0, 16, 32], [12, 28, 44]]
    assert lines(columns.runs(36, 36), 60) == 2


def test_costs_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    at = folder(tmp_path / "run", [receive(A, 100, 64)])
    with pytest.raises(InputError) as refused:
        predict(read_folder(at), replace(MACHINE, mpi_lat=1e308, cxl_atomic_lat=1e308))
    assert (refused.value.field, f"program+{A:#x}" in str(refused.value)) == ("gain_ns", True)


def test_what_was_under_way_at_the_end_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = folder(tmp_path / "run", [receive(A, 100, 64)])
    trace = at / "000000.trace"
    content = bytearray(trace.read_bytes())
    content[40:48] = (3).to_bytes(8, "little")  # posted
    trace.write_bytes(content)
    message = "2 receives were posted and not complete at the end"
    page = tmp_path / "page.html"
    assert command("msgfree", "predict", str(at), "--page", str(page)) == 0
    assert message in capsys.readouterr().out
    assert message in page.read_text()


def test_spawned_worlds_are_merged(tmp_path: Path) -> None:
    at = folder(tmp_path / "run", [receive(A, 100, 64)], [receive(A, 100, 64)])
    spawned = folder(tmp_path / "other", [receive(A, 100, 128)], world=2)
    for kind in ("trace", "names"):
        content = bytearray((spawned / f"000000.{kind}").read_bytes())
        if kind == "trace":
            start = HEADER.fields["world"][1]
            content[start : start + 8] = (1).to_bytes(8, "little")
        (at / f"1-000000.{kind}").write_bytes(content)
    loads(at, 0x10000)
    table = at / "loads.csv"
    table.write_text(table.read_text() + "1-0,1000,0x10008,2,L1\n" * 3)
    ranks = read_folder(at)
    (site,) = predict(ranks, MACHINE, loads=read_loads(at))
    assert (sorted(site.messages), len(site.samples)) == ([64, 64, 128], 4)
    report = as_object(ranks, [site], None)
    assert (report["ranks"], report["worlds"], report["missing_ranks"]) == (4, 2, ["1-1"])
    for kind in ("trace", "names"):
        (at / f"1-000000.{kind}").rename(at / f"2-000000.{kind}")
    with pytest.raises(InputError, match="1-000000"):
        read_folder(at)


@pytest.mark.parametrize(
    ("name", "text", "field"),
    [
        ("loads.csv", "rank,time\n", "columns"),
        ("loads.csv", HEADER_LINE + "0,1,2,3,RAM\n", "row"),
        ("loads.csv", HEADER_LINE + "0,1,2\n", "row"),
        ("loads.toml", "rate = 0\n" + METRICS, "rate"),
        ("loads.csv", HEADER_LINE + "x,1,2,3,L1\n", "row"),
        *(pytest.param("loads.csv", f"{HEADER_LINE}{row}\n", "row", id=row[:20]) for row in ROWS),
        ("000000.names", "site\tx\n", "line"),
        ("000000.names", "type\t7\t64\t904\t0\t(8 128 8\n", "line"),
        ("000000.names", "type\t7\t64\t904\t0\t(8 128 4)\n", "line"),
        ("000000.names", "", hex(A)),
        ("000000.trace", "ANEMPI1\n", "bytes"),
        ("000000.trace", "x" * HEADER_BYTES, "magic"),
    ],
)
def test_what_is_wrong_in_a_folder_is_named(
    name: str, text: str, field: str, tmp_path: Path
) -> None:
    at = folder(tmp_path / "run", [receive(A, 100, 64)])
    (at / "loads.toml").write_text("rate = 1\n" + METRICS)
    (at / "loads.csv").write_text(HEADER_LINE)
    (at / name).write_text(text)
    with pytest.raises(InputError) as refused:
        read_folder(at)
        read_loads(at)
    assert (refused.value.field, Path(refused.value.file).name) == (field, name)


def test_a_record_of_more_than_fits_is_refused(tmp_path: Path) -> None:
    at = folder(tmp_path / "run", [receive(A, 100, 64, posted=32)])
    with pytest.raises(InputError) as refused:
        read_folder(at)
    assert (refused.value.field, refused.value.value) == ("bytes", 64)


def test_a_trace_that_is_shorter_than_it_says_is_refused(tmp_path: Path) -> None:
    at = folder(tmp_path / "run", [receive(A, 100, 64), receive(A, 200, 64)])
    trace = at / "000000.trace"
    trace.write_bytes(trace.read_bytes()[:-1])
    with pytest.raises(InputError, match="records is 2; allowed: 1"):
        read_folder(at)


@pytest.mark.parametrize(
    ("field", "value"), [("rank", b"\2"), ("collectives", b"MPI_\xff"), ("posted", b"\0")]
)
def test_a_header_that_no_tracer_writes_is_refused(
    field: str, value: bytes, tmp_path: Path
) -> None:
    trace = folder(tmp_path / "run", [receive(A, 100, 64)]) / "000000.trace"
    content = bytearray(trace.read_bytes())
    start = HEADER.fields[field][1]
    content[start : start + len(value)] = value
    trace.write_bytes(content)
    with pytest.raises(InputError) as refused:
        read_folder(trace.parent)
    assert (refused.value.field, refused.value.place) == (field, "header")


def test_a_place_to_unpack_has_to_be_in_the_program(tmp_path: Path) -> None:
    at = folder(tmp_path / "run", [receive(A, 100, 64)])
    sites = predict(read_folder(at), MACHINE, [f"program+{A:#x}"])
    assert sites[0].unpack
    with pytest.raises(InputError, match="--unpack"):
        predict(read_folder(at), MACHINE, ["other.c:1"])


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=8))
def test_covered_counts_each_byte_once(ranges: list[tuple[int, int]]) -> None:
    bytes_of = {byte for start, length in ranges for byte in range(start, start + length)}
    starts, lengths = np.array(ranges, np.int64).reshape(-1, 2).T
    assert covered(starts, lengths) == len(bytes_of)


def valued(gain: int, size: int) -> CallSite:
    verdict = Verdict({}, {}, Cost(gain, 0), Cost(0, 0))
    return CallSite(Place("", 0, "", "", 0), buffer_bytes=size, verdict=verdict)


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 30)), max_size=7), st.integers(0, 100))
def test_no_other_choice_gains_more(sites: list[tuple[int, int]], capacity: int) -> None:
    chosen = knapsack([valued(*site) for site in sites], capacity)
    assert sum(site.buffer_bytes for site in chosen) <= capacity
    best = max(
        sum(gain for gain, _ in some)
        for n in range(len(sites) + 1)
        for some in combinations(sites, n)
        if sum(size for _, size in some) <= capacity
    )
    assert sum(site.gain_ns for site in chosen) == best


def test_the_guides_call_site_is_the_line_that_receives() -> None:
    lines = (ROOT / "examples/mpi/heat.c").read_text().splitlines()
    shown = re.findall(r"heat\.c:(\d+)", (ROOT / "docs/message-free.md").read_text())
    assert shown and all("MPI_Irecv(" in lines[int(line) - 1] for line in shown)


def command(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    return int(ended.value.code or 0)


@each_mpi
def test_from_mpirun_to_the_answer(
    mpi: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = str(tmp_path / "run")
    heat = [launcher(mpi), "-n", "4", program(mpi, "heat"), "1024", "3", "message"]
    assert command("msgfree", "record", "--loads", "none", "--out", run, "--", *heat) == 0
    assert "4 ranks, 24 receives, 196,608 bytes" in capfd.readouterr().out
    assert command("msgfree", "predict", run, "--json") == 0
    report: dict[str, Any] = json.loads(capfd.readouterr().out)
    (site,) = report["sites"]
    assert (site["messages"], site["bytes"], site["buffer_bytes"]) == (24, 196608, 65536)
    assert (site["function"], Path(site["file"]).name) == ("exchange", "heat.c")
    assert site["model"] == "transfer only"
    mpi_ns = 24 * MACHINE.mpi_lat + 196608 / MACHINE.mpi_bw
    assert site["gain_ns"] == pytest.approx(mpi_ns - 48 * MACHINE.cxl_atomic_lat)
    assert site["take"] and report["gain_ns"] == site["gain_ns"]
    assert command("msgfree", "predict", run, "--capacity", "65535") == 0
    shown = capfd.readouterr().out
    assert "transfer only" in shown
    assert re.search(r"heat\.c:\d+ .* full ", shown)
    assert command("msgfree", "record", "--out", run, "--", *heat) == 2
    assert "--out" in capfd.readouterr().err
