# SPDX-License-Identifier: Apache-2.0
"""Trace files: valid ones are read correctly, invalid ones give a one-line error."""

from __future__ import annotations

import functools
import io
import os
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
from anemone.trace import Trace, read_trace
from tests.commands import one_line

GEOMETRY = Geometry(device_gib=1)
LAST = (1 << 30) - 1


def read(tmp_path: Path, data: str | bytes, name: str = "t.csv") -> Trace:
    path = tmp_path / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return read_trace(path, GEOMETRY)


def parquet(**columns: pa.Array) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, row_group_size=3)
    return sink.getvalue()


def columns(trace: Trace) -> dict[str, list]:
    return {k: v.tolist() for k, v in vars(trace).items() if v is not None}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("addr,write\n64,1\n0x80,0\n", {"addr": [64, 128], "write": [True, False]}),
        ("addr,write\n0X3fffFFFF,true", {"addr": [LAST], "write": [True]}),
        ("addr,write\r\n 1 ,\tFalse\r\n\r\n2,TRUE\r\n", {"addr": [1, 2], "write": [False, True]}),
        ("\ufeffaddr,write,time_ns\n0,0,18446744073709551615\n",
         {"addr": [0], "write": [False], "time_ns": [(1 << 64) - 1]}),
        ('"tenant","write","addr"\n65535,"1","0x40"\n',
         {"addr": [64], "write": [True], "tenant": [65535]}),
        ("addr,write\n000000000000000000000000000001,00\n", {"addr": [1], "write": [False]}),
    ],
)  # fmt: skip
def test_csv(tmp_path: Path, text: str, expected: dict) -> None:
    trace = read(tmp_path, text)
    assert columns(trace) == expected
    assert (trace.addr.dtype, trace.write.dtype, len(trace)) == (
        np.uint64,
        bool,
        len(expected["addr"]),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "file: size is 0 bytes; allowed: a header line"),
        ("addr,write\n", "file: trace is empty; allowed: at least one row"),
        ("addr,write", "file: trace is empty; allowed: at least one row"),
        ("addr,write\n\n  \n", "file: trace is empty"),
        ("64,1\n", 'line 1: header is "64,1"; allowed: a header line addr,write'),
        ("hello\n", 'line 1: header is "hello"'),
        ("addr\n1\n", "line 1: column write is missing; allowed: the columns addr, write"),
        ("write\n1\n", "line 1: column addr is missing"),
        ("addr,write,pid\n1,0,3\n", 'line 1: column is "pid"; allowed: the columns addr, write'),
        ("addr,write,addr\n1,0,3\n", 'line 1: column is "addr"; allowed:'),
        ("addr,write\n1,0\n\n-5,0\n",
         'row 2 (line 4): addr is "-5"; allowed: 0 to 0x3fffffff (1 GiB), decimal or 0x'),
        ("addr,write\n0x40000000,0\n", 'row 1 (line 2): addr is "0x40000000"; allowed: 0 to'),
        ("addr,write\n18446744073709551616,0\n", 'addr is "18446744073709551616"'),
        ("addr,write\n0x10000000000000000,0\n", 'addr is "0x10000000000000000"'),
        ("addr,write\n36893488147419103233,0\n", 'addr is "36893488147419103233"'),  # 1 mod 2^64
        ("addr,write\n1.0,0\n", 'addr is "1.0"'),
        ("addr,write\n0x,0\n", 'addr is "0x"'),
        ("addr,write\n0xfg,0\n", 'addr is "0xfg"'),
        ("addr,write\n1_000,0\n", 'addr is "1_000"'),
        ("addr,write\n,0\n", 'row 1 (line 2): addr is ""'),
        ("addr,write\n1,2\n", 'row 1 (line 2): write is "2"; allowed: 0, 1, true or false'),
        ("addr,write\n1,yes\n", 'write is "yes"'),
        ("addr,write\n1,truf\n", 'write is "truf"'),
        ("addr,write\n1,\n", 'write is ""'),
        ("addr,write\n1\n", "row 1 (line 2): write is missing; allowed: 2 fields, addr,write"),
        ("addr,write\n1,0,5\n", 'row 1 (line 2): field 3 is "5"; allowed: 2 fields, addr,write'),
        ("addr,write,time_ns\n1,0,-1\n", 'time_ns is "-1"; allowed: a whole number of 0 to 2^64'),
        ("addr,write,time_ns\n1,0,18446744073709551616\n", 'time_ns is "18446744073709551616"'),
        ("addr,write,tenant\n1,0,65536\n", 'tenant is "65536"; allowed: a whole number of 0 to'),
        ("addr,write\n1,0\nPAR1,0\n", 'row 2 (line 3): addr is "PAR1"'),
        ("addr,write\n\u00e9\n", 'row 1 (line 2): addr is "\u00e9"'),
        ("addr,wr\u00eete\n1,1\n", "line 1: header is"),
        (b"\x1f\x8b\x08\x00\n\xff", "content is compressed by gzip"),
        (b"\x7fELF\n\xff", "line 1: header is"),
        ("addr,write\n1,0\n\0\0", "row 2 (line 3): addr is "),
    ],
)  # fmt: skip
def test_bad_csv(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert message in one_line(caught.value)


@pytest.mark.parametrize("kind", ["uint64", "int64", "uint32", "int32"])
def test_parquet(tmp_path: Path, kind: str) -> None:
    addr, flags = [64, 0, 192, 128], [1, 0, 0, 1]
    expected = {"addr": addr, "write": [bool(f) for f in flags]}
    data = parquet(write=pa.array(flags, pa.int8()), addr=pa.array(addr, kind))
    # The content selects the format, not the name.
    assert columns(read(tmp_path, data, "trace.csv")) == expected
    more = {"time_ns": [5, 6, 6, 7], "tenant": [1, 2, 65535, 0]}
    data = parquet(
        addr=pa.array(addr, kind), write=pa.array(flags).cast(pa.bool_()),
        time_ns=pa.array(more["time_ns"], pa.int64()), tenant=pa.array(more["tenant"], pa.uint32()),
    )  # fmt: skip
    trace = read(tmp_path, data, "t.parquet")
    assert columns(trace) == expected | more
    assert trace.tenant is not None and trace.tenant.dtype == np.uint16


ONE = pa.array([1], pa.uint64())
FLAG = pa.array([True])


@pytest.mark.parametrize(
    ("given_columns", "message"),
    [
        ({"addr": ONE}, "schema: column write is missing"),
        ({"addr": ONE, "write": FLAG, "pid": ONE}, 'schema: column is "pid"'),
        ({"addr": pa.array([1.0]), "write": FLAG},
         "schema: addr is of type double; allowed: an integer column"),
        ({"addr": pa.array(["1"]), "write": FLAG}, "schema: addr is of type string"),
        ({"addr": pa.array([True]), "write": FLAG}, "schema: addr is of type bool"),
        ({"addr": pa.array([[1]]), "write": FLAG}, "schema: addr is of type list"),
        ({"addr": ONE, "write": pa.array(["1"])},
         "schema: write is of type string; allowed: a boolean or integer column"),
        ({"addr": pa.array([1, 2, 3, 4, None], pa.uint64()), "write": pa.array([True] * 5)},
         "row 5: addr is null; allowed: 0 to 0x3fffffff"),
        ({"addr": pa.array([1] * 5), "write": pa.array([0, 1, 0, 2, 0])}, "row 4: write is 2"),
        ({"addr": pa.array([1, 1, 1, -5]), "write": pa.array([True] * 4)}, "row 4: addr is -5"),
        ({"addr": pa.array([1, 1 << 30]), "write": pa.array([True] * 2)},
         "row 2: addr is 0x40000000"),
        ({"addr": pa.array([(1 << 64) - 1], pa.uint64()), "write": FLAG},
         "row 1: addr is 0xffffffffffffffff"),
        ({"addr": ONE, "write": FLAG, "tenant": pa.array([65536])}, "row 1: tenant is 65536"),
        ({"addr": pa.array([], pa.uint64()), "write": pa.array([], pa.bool_())},
         "file: trace is empty"),
    ],
)  # fmt: skip
def test_bad_parquet(tmp_path: Path, given_columns: dict, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, parquet(**given_columns), "t.parquet")
    assert message in one_line(caught.value)


def test_parquet_with_a_column_twice(tmp_path: Path) -> None:
    pq.write_table(pa.table([ONE, FLAG, ONE], names=["addr", "write", "addr"]), tmp_path / "t")
    with pytest.raises(InputError, match='schema: column is "addr"'):
        read_trace(tmp_path / "t", GEOMETRY)


def test_rows_are_numbered_through_batches(tmp_path: Path) -> None:
    addr = np.zeros((1 << 20) + 10, np.int64)
    addr[(1 << 20) + 7] = -1
    pq.write_table(pa.table({"addr": addr, "write": addr == 1}), tmp_path / "t")
    with pytest.raises(InputError, match="row 1048584: addr is -1"):
        read_trace(tmp_path / "t", GEOMETRY)


def test_files_that_are_none(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no", "\0"):
        with pytest.raises(InputError) as caught:
            read_trace(path, GEOMETRY)
        assert "a trace that can be read" in one_line(caught.value)


@functools.cache
def good_parquet() -> bytes:
    rows = np.arange(40)
    return parquet(addr=pa.array(rows * 64), write=pa.array(rows % 3 == 0))


@pytest.mark.parametrize("keep", [4, 8, 100, -1, -8, -200])
def test_truncated_parquet(tmp_path: Path, keep: int) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, good_parquet()[:keep], "t.parquet")
    assert "file: Parquet is damaged" in one_line(caught.value)
    assert "a complete Parquet file" in str(caught.value)


def test_parquet_by_a_name_that_is_not_text(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/g\xff.parquet"))
    path.write_bytes(good_parquet())
    assert len(read_trace(path, GEOMETRY)) == 40


@pytest.mark.parametrize("is_parquet", [True, False])
def test_a_pipe(tmp_path: Path, is_parquet: bool) -> None:
    """CSV can be read from a pipe. Parquet, which is read from its end, is refused without
    waiting.
    """
    fifo = tmp_path / "t"
    os.mkfifo(fifo)
    data = good_parquet() if is_parquet else b"addr,write\n64,1\n"
    writer = threading.Thread(target=lambda: fifo.write_bytes(data))
    writer.start()
    try:
        if is_parquet:
            with pytest.raises(InputError, match="Parquet is a pipe; allowed: a file"):
                read_trace(fifo, GEOMETRY)
        else:
            assert len(read_trace(fifo, GEOMETRY)) == 1
    finally:
        writer.join(10)
    assert not writer.is_alive()


def value_or_error(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    try:
        trace = read_trace(path, GEOMETRY)
    except InputError as e:
        one_line(e)
    else:
        assert len(trace) and int(trace.addr.max()) <= LAST and len(trace.write) == len(trace)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("garbage") / "t"


@settings(max_examples=300)
@given(
    st.binary(max_size=80),
    st.sampled_from([b"", b"addr,write\n", b"PAR1", b"addr,write,time_ns\n"]),
)
@example(b"", b"PAR1")
@example(b"PAR1" * 9, b"PAR1")
def test_any_bytes(scratch: Path, data: bytes, before: bytes) -> None:
    value_or_error(scratch, before + data)


@settings(max_examples=300)
@given(st.text('0123456789abcdefxX,-+. \n\r\t"trueTRUEfals', max_size=60))
def test_any_csv(scratch: Path, text: str) -> None:
    value_or_error(scratch, b"addr,write\n" + text.encode())


@settings(max_examples=300)
@given(
    st.lists(
        st.tuples(st.integers(4, 10_000), st.integers(0, 3), st.binary(max_size=3)), max_size=5
    ),
    st.none() | st.integers(0, 10_000),
)
def test_parquet_with_bytes_replaced(scratch: Path, edits: list, keep: int | None) -> None:
    data = good_parquet()
    for at, cut, piece in edits:
        at %= len(data)
        data = data[:at] + piece + data[at + cut :]
    value_or_error(scratch, data if keep is None else data[:keep])


ADDRESS = st.integers(0, LAST)


@settings(max_examples=150)
@given(
    st.lists(st.tuples(ADDRESS, st.booleans(), st.integers(0, (1 << 64) - 1)), min_size=1),
    st.data(),
)
def test_csv_in_any_spelling(scratch: Path, rows: list, data: st.DataObject) -> None:
    spell = st.sampled_from(["{}", "{:#x}", "{:#X}", " {} ", '"{}"', "0{}"])
    truth = st.sampled_from([("0", "1"), ("false", "true"), ("FALSE", "True")])
    text = "time_ns,addr,write\n"
    for addr, write, time_ns in rows:
        address = data.draw(spell).format(addr)
        text += f"{time_ns:#x},{address},{data.draw(truth)[write]}" + data.draw(
            st.sampled_from(["\n", "\r\n", "\n\n"])
        )
    scratch.write_bytes(text.encode())
    trace = read_trace(scratch, GEOMETRY)
    assert trace.time_ns is not None and trace.tenant is None
    read_back = zip(trace.addr.tolist(), trace.write.tolist(), trace.time_ns.tolist(), strict=True)
    assert list(read_back) == rows
