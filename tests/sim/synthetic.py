# SPDX-License-Identifier: Apache-2.0
"""Small synthetic traces with known results, similar to the real samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from anemone.trace import Trace

HUGE = 1 << 21
BASE = 1 << 12


def moving(events: int = 60_000, pages: int = 50, seed: int = 1) -> Trace:
    """A store whose hot fifth of the huge pages moves after half of the events; one tenant."""
    rng = np.random.default_rng(seed)
    hot = pages // 5
    place = rng.integers(0, pages, events)
    in_hot = rng.random(events) < 0.9
    place[in_hot] = rng.integers(0, hot, in_hot.sum())
    place[events // 2 :] = (place[events // 2 :] + pages // 2) % pages
    frames = np.sort(rng.choice(4000, pages, replace=False))
    offset = rng.integers(0, HUGE // 64, events) * 64
    return trace(frames[place] * HUGE + offset, rng.random(events) < 0.3, 40)


def skewed(events: int = 60_000, seed: int = 2) -> Trace:
    """Ten huge pages: in the first all accesses are to one base page, the others are uniform."""
    rng = np.random.default_rng(seed)
    page = rng.integers(0, 10, events)
    offset = rng.integers(0, HUGE // 64, events) * 64
    offset[page == 0] = 7 * BASE + offset[page == 0] % BASE
    return trace((page + 100) * HUGE + offset, rng.random(events) < 0.5, 25)


def neighbours(events: int = 60_000, seed: int = 3) -> Trace:
    """Three tenants; the third streams in bursts and then has most of the traffic."""
    rng = np.random.default_rng(seed)
    burst = (np.arange(events) // (events // 6)) % 2 == 1
    who = rng.integers(0, 2, events)
    who[burst & (rng.random(events) < 0.8)] = 2
    page = rng.integers(0, 8, events) + who * 8
    page[who == 2] = 16 + (np.cumsum(who == 2)[who == 2] * 64 * 16 // HUGE) % 24
    offset = rng.integers(0, HUGE // 64, events) * 64
    made = trace(page * HUGE + offset, who == 2, 30)
    time = np.cumsum(np.where(burst, 12, 40)).astype(np.uint64)
    return Trace(made.addr, made.write, time, who.astype(np.uint16))


def trace(addr: np.ndarray, write: np.ndarray, step_ns: int) -> Trace:
    """Accesses at equal intervals, all of tenant 0."""
    count = len(addr)
    time = np.arange(count, dtype=np.uint64) * np.uint64(step_ns)
    return Trace(addr.astype(np.uint64), write, time, np.zeros(count, np.uint16))


def save(made: Trace, path: Path) -> Path:
    """Write a trace as Parquet."""
    columns = {"addr": made.addr, "write": made.write}
    if made.time_ns is not None:
        columns["time_ns"] = made.time_ns
    if made.tenant is not None:
        columns["tenant"] = made.tenant
    pq.write_table(pa.table(columns), path)
    return path
