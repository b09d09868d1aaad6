# SPDX-License-Identifier: Apache-2.0
"""Traces in batches: rows and errors equal those of a whole read, with bounded memory."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anemone.hardware.geometry import Geometry
from anemone.io.errors import InputError
from anemone.trace import Trace, batches, concatenate, csvfile, parquetfile, read_trace, rebatch
from tests.commands import one_line

GEOMETRY = Geometry(device_gib=1)
ROWS = 1000


@pytest.fixture(params=["csv", "parquet"])
def path(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trace of ROWS rows; its readers use small blocks."""
    monkeypatch.setattr(csvfile, "_BLOCK", 100)
    monkeypatch.setattr(parquetfile, "_ROWS", 7)
    addr = np.arange(ROWS) * 64
    if request.param == "csv":
        lines = "".join(f"{a:#x},{a // 64 % 2}\n\n" for a in addr.tolist())
        (tmp_path / "t").write_text("addr,write\n" + lines)
    else:
        pq.write_table(pa.table({"addr": addr, "write": addr // 64 % 2}), tmp_path / "t")
    return tmp_path / "t"


@pytest.mark.parametrize("rows", [1, 7, 99, ROWS - 1, ROWS, ROWS + 1])
def test_batches_are_the_trace(path: Path, rows: int) -> None:
    whole = read_trace(path, GEOMETRY)
    assert whole.addr.tolist() == [row * 64 for row in range(ROWS)]
    assert whole.write.tolist() == [row % 2 == 1 for row in range(ROWS)]
    for some in (list(batches(path, GEOMETRY, rows)), list(rebatch(whole, rows))):
        assert [len(batch) for batch in some[:-1]] == [rows] * (len(some) - 1)
        assert 0 < len(some[-1]) <= rows
        again = concatenate(some)
        assert (again.addr == whole.addr).all() and (again.write == whole.write).all()


def test_the_batches_of_a_trace_are_views() -> None:
    trace = Trace(np.arange(10, dtype=np.uint64), np.zeros(10, bool))
    assert all(np.shares_memory(batch.addr, trace.addr) for batch in rebatch(trace, 4))
    assert list(rebatch(trace.part(0, 0), 4)) == []


def test_traces_that_do_not_fit() -> None:
    addr, flags = np.zeros(2, np.uint64), np.zeros(2, bool)
    plain, timed = Trace(addr, flags), Trace(addr, flags, time_ns=addr)
    with pytest.raises(ValueError, match="some without columns of others"):
        concatenate([plain, timed])
    with pytest.raises(ValueError, match="none, or"):
        concatenate([])
    for rows in (0, -1):
        with pytest.raises(ValueError, match=f"batches of {rows} rows: at least 1"):
            rebatch(plain, rows)
        with pytest.raises(ValueError, match="at least 1"):
            batches("t", GEOMETRY, rows)


@pytest.mark.parametrize(
    ("last", "message"),
    [
        ("-5,0", f'row {ROWS + 1} (line {2 * ROWS + 2}): addr is "-5"'),
        ("0x40000000,0", f'row {ROWS + 1} (line {2 * ROWS + 2}): addr is "0x40000000"'),
        ("1", f"row {ROWS + 1} (line {2 * ROWS + 2}): write is missing"),
        ("\n1,0,7", f'row {ROWS + 1} (line {2 * ROWS + 3}): field 3 is "7"'),
        ("1,1\n\ufeff2,0", f'row {ROWS + 2} (line {2 * ROWS + 3}): addr is "\\ufeff2"'),
        ("1,0\r2,0", f'row {ROWS + 1} (line {2 * ROWS + 2}): write is "0\\r2"'),
        ("1,0\n" + "0" * 300 + "x,0", f"row {ROWS + 2} (line {2 * ROWS + 3}): addr is"),
    ],
)
def test_rows_and_lines_are_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: str, message: str
) -> None:
    """For all block sizes: few rows, less than a row, the whole file."""
    lines = "addr,write\n" + "64,1\n\n" * ROWS
    (tmp_path / "t").write_text(f"{lines}{last}\n?,?\n", encoding="utf-8", newline="")
    for block in (3, 100, 1 << 20):
        monkeypatch.setattr(csvfile, "_BLOCK", block)
        seen = 0
        with pytest.raises(InputError) as caught:
            for batch in batches(tmp_path / "t", GEOMETRY, 10):
                seen += len(batch)
        assert message in one_line(caught.value)
        assert seen <= ROWS and (block > 100 or seen > ROWS - 100)


def test_what_is_wrong_with_a_file_is_said_by_its_first_batch(tmp_path: Path) -> None:
    for text, message in (
        ("", "size is 0 bytes"),
        ("addr,write\n", "trace is empty"),
        ("?", "header"),
    ):
        (tmp_path / "t").write_text(text)
        with pytest.raises(InputError, match=message):
            next(batches(tmp_path / "t", GEOMETRY))
    with pytest.raises(InputError, match="content is No such file"):
        next(batches(tmp_path / "no", GEOMETRY))


def test_a_pipe_is_read_as_it_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first batch arrives before the writer has finished."""
    monkeypatch.setattr(csvfile, "_BLOCK", 60)
    fifo = tmp_path / "t"
    os.mkfifo(fifo)
    first_seen = threading.Event()
    waited: list[bool] = []

    def write() -> None:
        with fifo.open("w") as file:
            file.write("addr,write\n" + "64,1\n" * ROWS)
            file.flush()
            waited.append(first_seen.wait(20))
            file.write("128,0\n")

    writer = threading.Thread(target=write)
    writer.start()
    rows = 0
    for batch in batches(fifo, GEOMETRY, 10):
        rows += len(batch)
        first_seen.set()
    writer.join(20)
    assert (rows, waited) == (ROWS + 1, [True])


# --- pyarrow and our scanner ----------------------------------------------------------------------

HEADERS = ["addr,write", "write,addr,time_ns,tenant", "gap_ns,kind,write,addr,dep,op,thread"]
_PLAIN = (
    "0 1 2 64 007 0x40 0X4f 0x 0x10000000000000000 18446744073709551615 18446744073709551616 "
    "1073741823 1073741824 65535 65536 true TRUE tRue false FALSE falsE yes load nt Nt rfo "
    "1.5 1e3 1E-3 .5 5. . 1e 1e400 -0 -1 +1 nan inf NaN NULL null N/A 1_0 0x0001 0x00001"
).split()
_ODD = ['"1"', '"load"', '"', '""', '"1', '1"', '""1', '"1"2', " 1", "1 ", "\t0\t", "", " ", "0\r",
        "\r0", "\x00", "\u00e9", "1\r\r", '"1,0"', "\ufeff1", "1\x0b"]  # fmt: skip
FIELDS = st.sampled_from(_PLAIN + _ODD)
GOOD = {
    "write": "1", "addr": "64", "time_ns": "7", "tenant": "1", "gap_ns": "1.5", "kind": "load",
    "dep": "0", "op": "3", "thread": "2",
}  # fmt: skip


@st.composite
def blocks(draw: st.DrawFn) -> tuple[list[str], str]:
    """A header's names, and lines whose fields are mostly valid."""
    names = draw(st.sampled_from(HEADERS)).split(",")
    lines = []
    for _ in range(draw(st.integers(0, 4))):
        fields = [GOOD[name] for name in names]
        for _ in range(draw(st.integers(0, 2))):
            fields[draw(st.integers(0, len(fields) - 1))] = draw(FIELDS)
        if draw(st.integers(0, 9)) == 0:
            fields = fields[:-1] if draw(st.booleans()) else [*fields, draw(FIELDS)]
        lines.append(",".join(fields) + draw(st.sampled_from(["\n", "\n", "\r\n", "\n \n", "\r"])))
    text = "".join(lines)
    return names, text.removesuffix("\n") if draw(st.booleans()) else text


@settings(max_examples=800)
@given(blocks())
@example((["addr", "write"], "1,0\r2,0\n"))
@example((["addr", "write"], "\ufeff1,0\n"))
@example((["addr", "write"], "NULL,0\n"))
@example((["addr", "write"], '"1"2,0\n'))
@example((["addr", "write", "gap_ns"], "1,0,-0\n"))
def test_what_pyarrow_takes_our_scanner_takes_for_the_same(block: tuple[list[str], str]) -> None:
    names, text = block
    data = text.encode()
    quick = csvfile._Reader("t", names, GEOMETRY)._quick(data)
    try:
        exact = csvfile._Reader("t", names, GEOMETRY)._exact(data)
    except InputError as e:
        one_line(e)
        assert quick is None
        return
    assert quick is None or {n: c.tolist() for n, c in quick.items()} == {
        n: c.tolist() for n, c in exact.items()
    }


def test_pyarrow_takes_what_is_written_as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scanner, which is slow, is only used for errors and unusual spellings."""
    for header in HEADERS:
        names = header.split(",")
        line = ",".join(GOOD[name] for name in names)
        for end in ("\n", "\r\n", "\n\n"):
            reader = csvfile._Reader("t", names, GEOMETRY)
            monkeypatch.setattr(reader, "_exact", None)
            assert len(reader.read((line + end).encode() * 5)["addr"]) == 5
            assert (reader.rows, reader.lines) == (5, 1 + 5 * end.count("\n"))
    reader = csvfile._Reader("t", ["addr", "write"], GEOMETRY)
    for text in ("64,1\n", "0x40,true\n", "0X3fffFFFF,FALSE\n", " 5 ,0\n", "007,False"):
        assert reader._quick(text.encode()) is not None


# --- Memory ---------------------------------------------------------------------------------------

READ = """
import sys
from pathlib import Path
from anemone.hardware.geometry import Geometry
from anemone.trace import batches

def most():  # MiB; getrusage would include the parent's peak
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) >> 10

parts = batches(sys.argv[1], Geometry(device_gib=1), 1 << 16)
rows = sum(len(next(parts)) for _ in range(20))
before = most()
rows += sum(map(len, parts))
print(rows, most() - before)
"""


MAX_GROWTH = 90  # MiB; threads and allocators make it 0 to 50


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_memory_does_not_grow_with_the_trace(tmp_path: Path, kind: str) -> None:
    """24 M rows, 206 MiB as arrays; the last 22.7 M need little additional memory."""
    rows = 24_000_000
    path = tmp_path / "t"
    if kind == "csv":
        with path.open("wb") as file:
            file.write(b"addr,write\n")
            for _ in range(rows // 1_000_000):
                file.write(b"64,1\n" * 1_000_000)
    else:
        # Incompressible data, so that memory that a reader keeps is visible.
        addr = np.random.default_rng(1).integers(0, 1 << 30, 1_000_000, np.uint64)
        table = pa.table({"addr": addr, "write": addr % 2 == 1})
        with pq.ParquetWriter(path, table.schema) as writer:
            for _ in range(rows // 1_000_000):
                writer.write_table(table)
    output = subprocess.run(
        [sys.executable, "-c", READ, path], capture_output=True, text=True, check=True
    )
    read, grown = map(int, output.stdout.split())
    assert read == rows
    assert grown < MAX_GROWTH
