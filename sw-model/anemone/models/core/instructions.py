# SPDX-License-Identifier: Apache-2.0
"""Captured instructions (docs/traces.md, --instructions) as operations of the core model.

An instruction becomes its loads, then what it computes, then its stores. Operations wait for the
last writers of the registers they read, the two latest of them. What an instruction computes takes
one cycle: its kind is not in the capture. A branch has gone elsewhere where the next row is not the
next instruction; the model's own predictor says whether that was foreseen.
"""

from __future__ import annotations

import os

import numba
import numpy as np

from anemone.io.errors import Bare, InputError
from anemone.models.core.model import OPERATION

_REGISTERS = 34
_COMPUTE, _LOAD, _STORE, _BRANCH = 0, 1, 2, 3
_NOT_TAKEN, _TAKEN = 2, 3
_COLUMNS = ("thread", "pc", "bytes", "branch", "address_registers", "reads", "writes")


def operations_of(path: str | os.PathLike, thread: int = 0) -> np.ndarray:
    """The operations of one thread of DIR/instructions/NAME.parquet, an array of OPERATION.

    Raises InputError for a file that is none, or has no such thread.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path, columns=[*_COLUMNS, "address", "store"])
    except (OSError, pa.ArrowException) as e:
        allowed = "instructions as `anemone capture --instructions N` writes them"
        raise InputError(path, "file", "content", Bare(str(e).splitlines()[0]), allowed) from e
    rows = table.filter(pa.compute.equal(table["thread"], thread)).combine_chunks()
    if not len(rows):
        seen = sorted(set(table["thread"].to_pylist()))[:8]
        raise InputError(path, "file", "thread", thread, f"one of {seen}")
    address = rows["address"].chunk(0)
    first = np.asarray(address.offsets, np.int64)
    plain = {name: rows[name].to_numpy().astype(np.uint64) for name in _COLUMNS[1:]}
    operations = np.zeros(3 * len(rows) + len(address.values), OPERATION)
    used = _fill(
        plain["pc"],
        plain["bytes"],
        plain["branch"].astype(np.bool_),
        plain["address_registers"],
        plain["reads"],
        plain["writes"],
        first - first[0],
        address.flatten().to_numpy().astype(np.uint64),
        rows["store"].chunk(0).flatten().to_numpy(zero_copy_only=False),
        operations,
    )
    return operations[:used]


@numba.njit(cache=True)
def _latest(registers, writer, also, found):
    """The two largest numbers of operations among the writers of some registers and `also`."""
    found[0], found[1] = also, -1
    for r in range(_REGISTERS):
        if registers >> np.uint64(r) & np.uint64(1):
            w = writer[r]
            if w > found[0]:
                found[0], found[1] = w, found[0]
            elif w != found[0] and w > found[1]:
                found[1] = w


@numba.njit(cache=True)
def _put(out, n, kind, pc, address, latency, inputs, continues):
    out[n]["kind"] = kind
    out[n]["pc"] = np.uint32(pc & np.uint64(0xFFFFFFFF))
    out[n]["address"] = address
    out[n]["latency"] = latency
    out[n]["continues"] = continues
    for i in range(2):
        back = n - inputs[i] if inputs[i] >= 0 else 0
        out[n]["from"][i] = back if back <= 0xFFFF else 0


@numba.njit(cache=True)
def _fill(pc, size, branch, address_registers, reads, writes, first, address, store, out):
    writer = np.full(_REGISTERS, -1, np.int64)
    inputs = np.zeros(2, np.int64)
    n = 0
    for i in range(len(pc)):
        began, loaded = n, -1
        for k in range(first[i], first[i + 1]):
            if not store[k]:
                _latest(address_registers[i], writer, -1, inputs)
                _put(out, n, _LOAD, pc[i], address[k], 0, inputs, n > began)
                loaded = n
                n += 1
        stores = False
        for k in range(first[i], first[i + 1]):
            stores = stores or store[k]
        result = loaded
        # A load alone moves what it loaded; anything else computes.
        moves = loaded >= 0 and reads[i] == 0 and not stores
        if branch[i]:
            _latest(reads[i], writer, loaded, inputs)
            went = i + 1 < len(pc) and pc[i + 1] != pc[i] + size[i]
            _put(out, n, _BRANCH, pc[i], 0, _TAKEN if went else _NOT_TAKEN, inputs, n > began)
            result = n
            n += 1
        elif (writes[i] != 0 and not moves) or (loaded < 0 and not stores):
            _latest(reads[i], writer, loaded, inputs)
            _put(out, n, _COMPUTE, pc[i], 0, 1, inputs, n > began)
            result = n
            n += 1
        for k in range(first[i], first[i + 1]):
            if store[k]:
                _latest(reads[i] | address_registers[i], writer, result, inputs)
                _put(out, n, _STORE, pc[i], address[k], 0, inputs, n > began)
                n += 1
        if result >= 0:
            for r in range(_REGISTERS):
                if writes[i] >> np.uint64(r) & np.uint64(1):
                    writer[r] = result
    return n
