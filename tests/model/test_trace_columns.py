# SPDX-License-Identifier: Apache-2.0
"""The optional columns of a trace, in both formats, and the table that declares them all."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anemone.hardware.geometry import Geometry
from anemone.io.errors import InputError
from anemone.trace import COLUMNS, KINDS, Trace, read_trace
from tests.commands import one_line

GEOMETRY = Geometry(device_gib=1)
ALL = (
    "op,kind,dep,gap_ns,thread,tenant,time_ns,write,addr\n"
    "0,load,0,0,0,0,0,0,0\n"
    "0xffffffffffffffff,rfo,1,1.5,65535,7,9,1,64\n"
    "2, nt ,true,1e3,0x10,7,9,1,128\n"
    '2,"writeback",FALSE,"2.5E-1",3,7,9,1,128\n'
    "2,prefetch,0,.25,3,7,9,1,128\n"
)
VALUES = {
    "addr": [0, 64, 128, 128, 128],
    "write": [False, True, True, True, True],
    "time_ns": [0, 9, 9, 9, 9],
    "tenant": [0, 7, 7, 7, 7],
    "thread": [0, 65535, 16, 3, 3],
    "gap_ns": [0.0, 1.5, 1000.0, 0.25, 0.25],
    "dep": [False, True, True, False, False],
    "kind": [0, 1, 4, 3, 2],
    "op": [0, (1 << 64) - 1, 2, 2, 2],
}


def test_the_table_is_the_traces() -> None:
    assert [f.name for f in fields(Trace)] == list(COLUMNS)
    for name, column in COLUMNS.items():
        assert f"{name}: {np.dtype(column.dtype)}[n]" in (Trace.__doc__ or "")


def assert_all(trace: Trace) -> None:
    assert {name: column.tolist() for name, column in trace.columns.items()} == VALUES
    for name, column in trace.columns.items():
        assert column.dtype == COLUMNS[name].dtype and column.flags.writeable


def test_all_columns_in_csv(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(ALL)
    assert_all(read_trace(tmp_path / "t", GEOMETRY))


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]
)
def test_all_columns_in_parquet(tmp_path: Path, kind: pa.DataType) -> None:
    arrays = {name: np.array(values, COLUMNS[name].dtype) for name, values in VALUES.items()}
    words = pa.array([KINDS[code] for code in VALUES["kind"]]).cast(kind)
    pq.write_table(pa.table(arrays | {"kind": words}), tmp_path / "t", row_group_size=2)
    assert_all(read_trace(tmp_path / "t", GEOMETRY))


@pytest.mark.parametrize("kind", ["float", "double", "halffloat", "int8", "uint64"])
def test_types_of_gap(tmp_path: Path, kind: str) -> None:
    gaps = pa.array(np.array([0, 12], pa.type_for_alias(kind).to_pandas_dtype()))
    pq.write_table(pa.table({"addr": [0, 0], "write": [0, 0], "gap_ns": gaps}), tmp_path / "t")
    gap_ns = read_trace(tmp_path / "t", GEOMETRY).gap_ns
    assert gap_ns is not None and (gap_ns.dtype, gap_ns.tolist()) == (np.float64, [0.0, 12.0])


def test_gaps_are_read_to_the_last_bit(tmp_path: Path) -> None:
    """Read by pyarrow, and with a blank by our scanner."""
    rng = np.random.default_rng(20261122)
    gaps = np.abs(rng.integers(0, 0x7FF0 << 48, 5000).view(np.float64))
    for blank in ("", " "):
        lines = "".join(f"0{'0' * len(blank)},0x0{blank},{gap!r}\n" for gap in gaps.tolist())
        (tmp_path / "t").write_text("addr,write,gap_ns\n" + lines)
        assert (read_trace(tmp_path / "t", GEOMETRY).gap_ns == gaps).all()


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("thread", "65536", "a whole number of 0 to 65535"),
        ("thread", "-1", "a whole number of 0 to 65535"),
        ("gap_ns", "-1", "a finite number of 0 or more"),
        ("gap_ns", "-0", "a finite number of 0 or more"),
        ("gap_ns", "+1", "a finite number of 0 or more"),
        ("gap_ns", "nan", "a finite number of 0 or more"),
        ("gap_ns", "inf", "a finite number of 0 or more"),
        ("gap_ns", "Infinity", "a finite number of 0 or more"),
        ("gap_ns", "1e400", "a finite number of 0 or more"),
        ("gap_ns", "1e", "a finite number of 0 or more"),
        ("gap_ns", ".", "a finite number of 0 or more"),
        ("gap_ns", "1.5.2", "a finite number of 0 or more"),
        ("gap_ns", "0x10", "a finite number of 0 or more"),
        ("gap_ns", "1_0", "a finite number of 0 or more"),
        ("gap_ns", "", "a finite number of 0 or more"),
        ("dep", "2", "0, 1, true or false"),
        ("kind", "store", "load, rfo, prefetch, writeback or nt"),
        ("kind", "Load", "load, rfo, prefetch, writeback or nt"),
        ("kind", "0", "load, rfo, prefetch, writeback or nt"),
        ("kind", "", "load, rfo, prefetch, writeback or nt"),
        ("op", "18446744073709551616", "a whole number of 0 to 2^64 - 1"),
        ("op", "1.0", "a whole number of 0 to 2^64 - 1"),
    ],
)
def test_bad_values_in_csv(tmp_path: Path, name: str, value: str, allowed: str) -> None:
    good = {"kind": "nt"}.get(name, "1")
    (tmp_path / "t").write_text(f"addr,{name},write\n0,{good},0\n\n0,{value},0\n0,?,0\n")
    with pytest.raises(InputError) as caught:
        read_trace(tmp_path / "t", GEOMETRY)
    message = f'row 2 (line 4): {name} is "{value}"; allowed: {allowed}'
    assert one_line(caught.value).endswith(message)


def test_a_number_too_large_comes_before_what_is_wrong_behind_it(tmp_path: Path) -> None:
    for rest in ("1e400,5\n", "1e400\n", "1e400,0,0\n", "1e400,0\n1,x\n"):
        (tmp_path / "t").write_text("addr,gap_ns,write\n0,1,0\n0," + rest)
        with pytest.raises(InputError, match=r'row 2 \(line 3\): gap_ns is "1e400"'):
            read_trace(tmp_path / "t", GEOMETRY)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"gap_ns": [1.0, -1.5]}, "row 2: gap_ns is -1.5; allowed: a finite number of 0 or more"),
        ({"gap_ns": [1.0, float("nan")]}, "row 2: gap_ns is nan; allowed: a finite"),
        ({"gap_ns": [float("inf"), 1.0]}, "row 1: gap_ns is inf; allowed: a finite"),
        ({"gap_ns": [1, -5]}, "row 2: gap_ns is -5; allowed: a finite"),
        ({"gap_ns": [1.0, None]}, "row 2: gap_ns is null; allowed: a finite"),
        ({"gap_ns": ["1", "2"]},
         "schema: gap_ns is of type string; allowed: a floating-point or integer column"),
        ({"thread": [0, 65536]}, "row 2: thread is 65536; allowed: a whole number of 0 to 65535"),
        ({"dep": [0, 2]}, "row 2: dep is 2; allowed: 0, 1, true or false"),
        ({"dep": [0.0, 1.0]}, "schema: dep is of type double; allowed: a boolean or integer"),
        ({"op": [0, -1]}, "row 2: op is -1; allowed: a whole number of 0 to 2^64 - 1"),
        ({"kind": ["nt", "no"]}, 'row 2: kind is "no"; allowed: load, rfo, prefetch, writeback or'),
        ({"kind": ["nt", None]}, "row 2: kind is null; allowed: load"),
        ({"kind": [0, 1]},
         "schema: kind is of type int64; allowed: a column of strings, or a dictionary of them"),
        ({"kind": pa.array(["nt", "no"]).dictionary_encode()}, 'row 2: kind is "no"'),
    ],
)  # fmt: skip
def test_bad_values_in_parquet(tmp_path: Path, column: dict, message: str) -> None:
    pq.write_table(pa.table({"addr": [0, 0], "write": [0, 0], **column}), tmp_path / "t")
    with pytest.raises(InputError) as caught:
        read_trace(tmp_path / "t", GEOMETRY)
    assert message in one_line(caught.value)
