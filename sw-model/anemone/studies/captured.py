# SPDX-License-Identifier: Apache-2.0
"""Captured third-party programs, for studies of scaled machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from anemone.hardware.geometry import Geometry
from anemone.trace import Trace, read_trace

ROOT = Path(__file__).resolve().parents[3]


def program(name: str, k: int, page_bytes: int) -> tuple[Callable[[], Iterator[Trace]], int]:
    """(the trace of sim/traces, repeated without end; the number of pages that it touches).

    Pages are renumbered from 0 in the order of their addresses, and gaps are multiplied by k.
    """
    whole = read_trace(ROOT / "sim" / "traces" / f"{name}.parquet", Geometry())
    size = np.uint64(page_bytes)
    page, at = np.unique(whole.addr // size, return_inverse=True)
    addr = at.astype(np.uint64) * size + whole.addr % size
    one = Trace(
        addr, whole.write, thread=np.zeros(len(addr), np.uint16), gap_ns=whole.gap_ns * k,
        dep=whole.dep, kind=whole.kind,
    )  # fmt: skip
    return partial(_again, one), len(page)


def _again(one: Trace) -> Iterator[Trace]:
    while True:
        yield one
