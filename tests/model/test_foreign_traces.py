# SPDX-License-Identifier: Apache-2.0
"""Traces of other simulators: all their spellings, and errors of invalid lines."""

from __future__ import annotations

import gzip
import os
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from anemone.hardware.geometry import Geometry
from anemone.io.errors import InputError
from anemone.trace import batches, concatenate, csvfile, read_trace
from tests.commands import one_line

GEOMETRY = Geometry(device_gib=1)
GEM5 = "r,64,64,0,1000\nw,128,32,0,3500\n"
WHOLE = {"addr": [64, 128], "write": [False, True]}


def read(tmp_path: Path, text: str, clock_ns: float | None = None) -> dict[str, list]:
    (tmp_path / "t").write_text(text)
    trace = concatenate(batches(tmp_path / "t", GEOMETRY, clock_ns=clock_ns))
    return {name: column.tolist() for name, column in trace.columns.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0x40 READ 0\n0x80 WRITE 10\n", WHOLE),
        ("40 read 7\n\n80   P_MEM_WR\t7", WHOLE),
        ("LD 0x40\nST 128\n", WHOLE),
        ("12 64\n0 64 128\n", {"addr": [64, 64, 128], "write": [False, False, True]}),
        (GEM5, WHOLE),
        ("r,64,64,1000\nw,128,64,3500\n", WHOLE),
        ("7,r,64,64,0,1000\n8,w,128,64,0,3500\n", WHOLE),
        ("7,r,64,64,0,1000,4096\r\n8,w,128,64,0,3500,4100\r\n", WHOLE),
        # A packet of 100 bytes from the middle of a line touches two more lines.
        ("r,96,100,0,5\nw,192,0,0,5\n",
         {"addr": [96, 128, 192, 192], "write": [False, False, False, True]}),
    ],
)  # fmt: skip
def test_spellings(tmp_path: Path, text: str, expected: dict) -> None:
    assert read(tmp_path, text) == expected


@pytest.mark.parametrize(
    ("text", "clock", "gaps"),
    [
        ("40 READ 100\n80 WRITE 104\nc0 READ 104\n", 0.625, [0.0, 2.5, 0.0]),
        ("3 64\n8 64 128\n1 64\n", 0.25, [0.75, 2.0, 0.0, 0.25]),
        ("r,64,128,0,1000\nw,128,32,0,3500\n", 0.001, [0.0, 0.0, 2.5]),
    ],
)
@pytest.mark.parametrize("block", [8, 1 << 20])
def test_gaps(
    tmp_path: Path,
    text: str,
    clock: float,
    gaps: list[float],
    block: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Gaps are computed from the clock's period, also across blocks; without it there is no
    column.
    """
    monkeypatch.setattr(csvfile, "_BLOCK", block)
    assert read(tmp_path, text, clock)["gap_ns"] == gaps
    assert "gap_ns" not in read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "clock", "message"),
    [
        ("40 READ 0\n80 FETCH 1\n", None, 'line 2: op is "FETCH"; allowed: of DRAMsim3 READ'),
        ("40 READ 0\n8g READ 1\n", None, 'line 2: addr is "8g"'),
        ("40 READ 0\n80 READ\n", None, "line 2: cycle is missing"),
        ("40 READ 0\n80 READ 1 2\n", None, 'line 2: field 4 is "2"'),
        ("40 READ 0\n40000000 READ 1\n", None, 'line 2: addr is "0x40000000"'),
        ("40 READ 5\n40 READ 4\n", 1.0, "line 2: cycle is 4; allowed: at least 5"),
        ("LD 0x40\nLDX 0x40\n", None, 'line 2: op is "LDX"'),
        ("LD 0x40\n", 1.0, "--clock-ns is 1.0; allowed: a trace whose lines have a time"),
        ("R 0,0,0,0,1,2\n", None, "format is Ramulator 2, ReadWriteTrace"),
        ("1 64\n1 64 0x40000040\n", None, 'line 2: addr is "0x40000040"'),
        ("r,64,64,0,9\nu,64,64,0,9\n", None, 'line 2: op is "u"'),
        ("r,64,64,0,9\nr,1073741800,64,0,9\n", None, "line 2: addr is"),
        ("addr,write\n64,1\n", 1.0, "--clock-ns is 1.0; allowed: a trace of another simulator"),
    ],
)
def test_bad_lines(tmp_path: Path, text: str, clock: float | None, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text, clock)
    assert message in one_line(caught.value)


def test_lines_are_numbered_through_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csvfile, "_BLOCK", 20)
    with pytest.raises(InputError, match="line 9: op is"):
        read(tmp_path, "40 READ 0\n" * 8 + "40 NONE 0\n")


@pytest.mark.parametrize(
    ("packed", "message"), [(gzip.compress(b"addr,write\n0,0\n"), "compressed by gzip; .* gunzip"),
                         (b"\x28\xb5\x2f\xfd\x04\x00", "compressed by zstd; .* unzstd")],
    ids=["gzip", "zstd"],  # gzip's header contains the time, which differs between workers
)  # fmt: skip
def test_what_was_packed(tmp_path: Path, packed: bytes, message: str) -> None:
    (tmp_path / "t").write_bytes(packed)
    with pytest.raises(InputError, match=message):
        read_trace(tmp_path / "t", GEOMETRY)


def test_a_pipe_in_batches(tmp_path: Path) -> None:
    n = 100_000
    addr = np.random.default_rng(1).integers(0, 1 << 30, n) & ~63
    text = "".join(f"{a:x} {'WRITE' if a & 64 else 'READ'} {i}\n" for i, a in enumerate(addr))
    os.mkfifo(tmp_path / "pipe")
    feed = threading.Thread(target=partial((tmp_path / "pipe").write_text, text))
    feed.start()
    some = list(batches(tmp_path / "pipe", GEOMETRY, 999))
    feed.join()
    assert [len(batch) for batch in some[:-1]] == [999] * (len(some) - 1)
    whole = concatenate(some)
    assert (whole.addr == addr).all() and (whole.write == (addr & 64 != 0)).all()
