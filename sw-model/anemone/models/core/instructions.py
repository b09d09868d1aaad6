# SPDX-License-Identifier: Apache-2.0
"""Converts captured instructions (docs/traces.md, --instructions) to operations of the core model.

sim/core/instructions.hpp defines the conversion. A branch was taken if the next row is not the next
instruction in memory; the model's branch predictor decides whether it was predicted.
"""

from __future__ import annotations

import os

import numpy as np

from anemone.io.errors import Bare, InputError
from anemone.models.core.build import library
from anemone.models.core.model import OPERATION

# The layouts are those of sim/core/capi.cpp.
_ROW = np.dtype(
    [(name, "<u8") for name in ("pc", "address_registers", "reads", "writes", "first", "end",
                                "bytes", "branch")]
)  # fmt: skip
_TOUCHED = np.dtype([("address", "<u8"), ("store", "<u8")])
_COLUMNS = ("thread", "pc", "bytes", "branch", "address_registers", "reads", "writes")


def operations_of(path: str | os.PathLike, thread: int = 0) -> np.ndarray:
    """The operations of one thread of DIR/instructions/NAME.parquet, as an array of OPERATION.

    Raises InputError if the file is not such a file or does not have the thread.
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
    columns = {name: rows[name].to_numpy() for name in _COLUMNS[1:]}
    columns |= {"first": first[:-1] - first[0], "end": first[1:] - first[0]}
    plain = np.zeros(len(rows), _ROW)
    for name in _ROW.names:
        plain[name] = columns[name]
    touched = np.zeros(len(address.flatten()), _TOUCHED)
    touched["address"] = address.flatten().to_numpy()
    touched["store"] = rows["store"].chunk(0).flatten().to_numpy(zero_copy_only=False)
    operations = np.zeros(len(rows) + len(touched), OPERATION)
    used = library().anemone_core_operations(
        plain.ctypes.data, len(plain), touched.ctypes.data, operations.ctypes.data
    )
    return operations[:used]
