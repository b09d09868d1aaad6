# SPDX-License-Identifier: Apache-2.0
"""Conversion of captured instructions to operations and their dependences."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anemone.io.errors import InputError
from anemone.models.core import operations_of, simulate
from tests.commands import one_line
from tests.core.ops import BARE, MEMORY

RAX, RBX, RCX, FLAGS = 1 << 0, 1 << 3, 1 << 1, 1 << 32
COMPUTE, LOAD, STORE, BRANCH = range(4)
# pc, bytes, branch, address registers, reads, writes, [(address, store)]
CHASE = (0x10, 3, False, RAX, 0, RAX, [(0x1000, False)])  # mov rax, [rax]
ADD = (0x13, 3, False, 0, RBX | RAX, RBX | FLAGS, [])  # add rbx, rax
BUMP = (0x16, 4, False, RCX, RBX, FLAGS, [(0x2000, False), (0x2000, True)])  # add [rcx], rbx
LOOP = (0x1A, 2, True, 0, FLAGS, 0, [])  # jnz 0x10
PUSH = (0x1C, 1, False, RCX, RBX | RCX, RCX, [(0x3000, True)])


def written(path: Path, rows: list[tuple], thread: int = 0) -> Path:
    columns = list(zip(*[row[:6] for row in rows], strict=True))
    names = ("pc", "bytes", "branch", "address_registers", "reads", "writes")
    table = {name: pa.array(c) for name, c in zip(names, columns, strict=True)}
    table["thread"] = pa.array([thread] * len(rows), pa.uint16())
    table["address"] = pa.array([[a for a, _ in row[6]] for row in rows], pa.list_(pa.uint64()))
    table["size"] = pa.array([[8] * len(row[6]) for row in rows], pa.list_(pa.uint8()))
    table["store"] = pa.array([[s for _, s in row[6]] for row in rows], pa.list_(pa.bool_()))
    pq.write_table(pa.table(table), path)
    return path


def test_operations_and_what_they_wait_for(tmp_path: Path) -> None:
    rows = [CHASE, CHASE, ADD, BUMP, LOOP, CHASE, LOOP]
    ops = operations_of(written(tmp_path / "p.parquet", rows))
    assert ops["kind"].tolist() == [LOAD, LOAD, COMPUTE, LOAD, COMPUTE, STORE, BRANCH, LOAD, BRANCH]
    back = [sorted(b for b in each if b) for each in ops["from"].tolist()]
    assert back == [
        [],
        [1],  # its address is the result of the load before
        [1],  # rax; rbx was not written
        [],  # rcx was not written
        [1, 2],  # the loaded value, and rbx
        [1, 3],  # the sum; rbx is older
        [2],  # the flags of the sum
        [6],  # rax
        [4],
    ]
    assert ops["address"].tolist() == [0x1000, 0x1000, 0, 0x2000, 0, 0x2000, 0, 0x1000, 0]
    assert ops["continues"].tolist() == [0, 0, 0, 0, 1, 1, 0, 0, 0]
    assert ops["latency"][[6, 8]].tolist() == [3, 2]  # back to 0x10; the last one falls through
    run = simulate(BARE, MEMORY, [ops], 100)
    assert run.counters["instructions"] == len(rows) and run.counters["operations"] == len(ops)


def test_a_store_alone(tmp_path: Path) -> None:
    ops = operations_of(written(tmp_path / "p.parquet", [ADD, PUSH, PUSH]))
    # The pointer's update is a separate operation, and the next push waits for it.
    assert ops["kind"].tolist() == [COMPUTE, COMPUTE, STORE, COMPUTE, STORE]
    assert sorted(ops["from"][3].tolist()) == [2, 3]


def test_what_is_no_capture(tmp_path: Path) -> None:
    path = written(tmp_path / "p.parquet", [ADD], thread=3)
    assert len(operations_of(path, thread=3)) == 1
    with pytest.raises(InputError) as refused:
        operations_of(path)
    assert "thread is 0; allowed: one of [3]" in one_line(refused.value)
    (tmp_path / "x").write_text("x")
    with pytest.raises(InputError) as refused:
        operations_of(tmp_path / "x")
    assert "--instructions" in one_line(refused.value)
