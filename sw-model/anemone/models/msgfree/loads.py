# SPDX-License-Identifier: Apache-2.0
"""Sampled loads of a recorded run, and the receive that each is of."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from anemone.io.errors import Bare, InputError
from anemone.io.tables import Table, parse_toml, read_text, toml_place
from anemone.models.msgfree.folder import NOT_RECEIVED, Rank
from anemone.models.msgfree.site import SOURCES, Metrics, read_metrics

COLUMNS = ("rank", "time_ns", "address", "latency_ns", "source")


@dataclass(frozen=True)
class Loads:
    """rate: loads that a sample stands for. of: by rank, (time_ns, address, latency_ns, source)."""

    rate: float
    metrics: Metrics
    of: dict[int, list[tuple[int, int, float, str]]]


def read_loads(folder: str | os.PathLike) -> Loads | None:
    """loads.toml and loads.csv of a folder; None: there are none. Raises InputError."""
    about, table = Path(folder) / "loads.toml", Path(folder) / "loads.csv"
    if not about.exists() and not table.exists():
        return None
    text = read_text(about)
    content = Table(about, "", parse_toml(text, about), lambda field: toml_place(text, field))
    content.only("rate", "metrics")
    return Loads(content.real("rate", least=0, above=True), read_metrics(content), _rows(table))


def _rows(path: Path) -> dict[int, list[tuple[int, int, float, str]]]:
    rows: dict[int, list[tuple[int, int, float, str]]] = {}
    lines = csv.reader(read_text(path).splitlines())
    header = next(lines, [])
    if tuple(header) != COLUMNS:
        raise InputError(path, "line 1", "columns", ",".join(header), ",".join(COLUMNS))
    for number, row in enumerate(lines, 2):
        try:
            rank, time, address, latency, source = row
            one = (int(time), int(address, 0), float(latency), source)
            if source not in SOURCES or not 0 <= one[2] < float("inf"):
                raise ValueError(source)
            rows.setdefault(int(rank), []).append(one)
        except ValueError as e:
            allowed = f"{', '.join(COLUMNS)}; source is one of {', '.join(SOURCES)}"
            raise InputError(path, f"line {number}", "row", Bare(",".join(row)), allowed) from e
    return rows


def attribute(rank: Rank, loads: Loads) -> Iterator[tuple[int, tuple[float, str]]]:
    """Call site and sample of each load of a received buffer: of the last receive into its place
    that was complete before. Other loads are left out.
    """
    rows = loads.of.get(int(rank.header["rank"]), [])
    times = np.array([row[0] for row in rows], np.int64)
    addresses = np.array([row[1] for row in rows], np.uint64)
    latest = np.full(len(rows), np.iinfo(np.int64).min)
    site = np.zeros(len(rows), np.uint64)
    received = rank.records[(rank.records["flags"] & NOT_RECEIVED) == 0]
    for buffer, span, address in np.unique(received[["buffer", "span", "site"]]).tolist():
        own = (received["buffer"] == buffer) & (received["span"] == span)
        done = np.sort(received["done_ns"][own & (received["site"] == address)])
        inside = np.flatnonzero((addresses >= buffer) & (addresses - np.uint64(buffer) < span))
        before = np.searchsorted(done, times[inside], side="right") - 1
        inside, before = inside[before >= 0], before[before >= 0]
        later = done[before] > latest[inside]
        latest[inside[later]] = done[before[later]]
        site[inside[later]] = address
    for i in np.flatnonzero(site).tolist():
        yield int(site[i]), rows[i][2:]
