# SPDX-License-Identifier: Apache-2.0
"""Sampled loads of a recorded run, and the receive that each is of."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from anemone.io.errors import Bare, InputError
from anemone.io.outputs import write_files
from anemone.io.tables import Table, parse_toml, read_text, toml_place
from anemone.models.msgfree.folder import Rank
from anemone.models.msgfree.layout import Runs
from anemone.models.msgfree.site import SOURCES, Metrics, read_metrics

COLUMNS = ("rank", "time_ns", "address", "latency_ns", "source")
_NAME = re.compile(r"([0-9]+-)?[0-9]+")  # of a rank
ABOUT, TABLE = "loads.toml", "loads.csv"


@dataclass(frozen=True, eq=False)
class Samples:
    """A rank's: time_ns int64[n] of CLOCK_MONOTONIC, address uint64[n], latency_ns float64[n],
    source str[n], one of SOURCES.
    """

    time_ns: np.ndarray
    address: np.ndarray
    latency_ns: np.ndarray
    source: np.ndarray

    def __getitem__(self, which: np.ndarray) -> Samples:
        return Samples(
            self.time_ns[which], self.address[which], self.latency_ns[which], self.source[which]
        )


@dataclass(frozen=True)
class Loads:
    """rate: loads that a sample stands for. of: by the rank's name. how: where they come from, for
    people.

    compute_ns: what the model says of a rank's time outside of MPI from its first receive to its
    last, the mean of all; 0: not known.
    """

    rate: float
    metrics: Metrics
    of: dict[str, Samples]
    how: str = ""
    compute_ns: float = 0.0


def read_loads(folder: str | os.PathLike) -> Loads | None:
    """loads.toml and loads.csv of a folder; None: there are none. Raises InputError."""
    about, table = Path(folder) / ABOUT, Path(folder) / TABLE
    if not about.exists() and not table.exists():
        return None
    text = read_text(about)
    content = Table(about, "", parse_toml(text, about), lambda field: toml_place(text, field))
    content.only("rate", "metrics", optional=("how", "compute_ns"))
    how = content.content.get("how", "")
    if not isinstance(how, str):
        raise content.wrong("how", "a text")
    rate = content.real("rate", minimum=0, above=True)
    compute = content.real("compute_ns", minimum=0) if "compute_ns" in content.content else 0.0
    return Loads(rate, read_metrics(content), _rows(table), how, compute)


def _rows(path: Path) -> dict[str, Samples]:
    rows: dict[str, list[tuple[int, int, float, str]]] = {}
    lines = _split(path)
    header = next(lines, [])
    if tuple(header) != COLUMNS:
        raise InputError(path, "line 1", "columns", ",".join(header), ",".join(COLUMNS))
    for number, row in enumerate(lines, 2):
        try:
            rank, time, address, latency, source = row
            one = (int(time), int(address, 0), float(latency), source)
            if source not in SOURCES or not 0 <= one[2] < float("inf") or not _NAME.fullmatch(rank):
                raise ValueError(source)
            if not -(1 << 63) <= one[0] < 1 << 63 or not 0 <= one[1] < 1 << 64:
                raise ValueError(row)
            rows.setdefault(rank, []).append(one)
        except ValueError as e:
            allowed = f"{', '.join(COLUMNS)}; source is one of {', '.join(SOURCES)}"
            raise InputError(path, f"line {number}", "row", Bare(",".join(row)), allowed) from e
    return {rank: samples_of(some) for rank, some in rows.items()}


def _split(path: Path) -> Iterator[list[str]]:
    lines = csv.reader(read_text(path, "CSV").splitlines())
    try:
        yield from lines
    except csv.Error as e:
        place = f"line {lines.line_num}"
        raise InputError(path, place, "row", Bare(f"wrong: {e}"), ", ".join(COLUMNS)) from e


def samples_of(rows: Sequence[tuple[int, int, float, str]]) -> Samples:
    """Of one rank, a tuple each."""
    time, address, latency, source = zip(*rows, strict=True)
    return Samples(
        np.array(time, np.int64), np.array(address, np.uint64),
        np.array(latency, np.float64), np.array(source),
    )  # fmt: skip


def write_loads(folder: Path, loads: Loads, ranks: Sequence[Rank]) -> int:
    """loads.toml and loads.csv, without what is in no buffer; how many are left."""
    kept = {}
    for rank in ranks:
        if own := loads.of.get(rank.name):
            kept[rank.name] = own[np.flatnonzero(_sites(rank, own))]

    def about(path: Path) -> None:
        lines = [f'how = "{loads.how}"', f"rate = {loads.rate!r}"]
        lines += [f"compute_ns = {loads.compute_ns!r}", "[metrics]"]
        lines += [f"{name} = {value!r}" for name, value in vars(loads.metrics).items()]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def table(path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            _write_rows(file, kept)

    write_files(folder, {ABOUT: about, TABLE: table})
    return sum(len(one.time_ns) for one in kept.values())


def _write_rows(file: TextIO, of: dict[str, Samples]) -> None:
    file.write(",".join(COLUMNS) + "\n")
    for rank, one in of.items():
        columns = (one.time_ns, one.address, one.latency_ns, one.source)
        for time, address, latency, source in zip(*(c.tolist() for c in columns), strict=True):
            file.write(f"{rank},{time},{address:#x},{latency:g},{source}\n")


def attribute(rank: Rank, loads: Loads) -> Iterator[tuple[int, tuple[float, str]]]:
    """Call site and sample of each load of a received buffer. Other loads are left out."""
    samples = loads.of.get(rank.name)
    if samples is None:
        return
    sites = _sites(rank, samples)
    for i in np.flatnonzero(sites).tolist():
        yield int(sites[i]), (float(samples.latency_ns[i]), str(samples.source[i]))


def _sites(rank: Rank, samples: Samples) -> np.ndarray:
    """Of each sample the call site of the last receive into its place that was complete before;
    0: none. A receive's place is where its bytes are: not what it had room for, nor gaps.
    """
    order = np.argsort(samples.address.astype(np.int64), kind="stable")
    times = samples.time_ns[order]
    addresses = samples.address[order].astype(np.int64)
    latest = np.full(len(times), np.iinfo(np.int64).min)
    site = np.zeros(len(times), np.uint64)
    received = rank.received
    fields = ["buffer", "posted", "bytes", "type", "site"]
    alike, which = np.unique(received[fields], return_inverse=True)
    ends = np.cumsum(np.bincount(which, minlength=len(alike))).tolist()
    done_ns = received["done_ns"][np.argsort(which, kind="stable")]
    first = 0
    for (buffer, posted, size, layout, address), end in zip(alike.tolist(), ends, strict=True):
        inside = _inside(addresses, rank.runs(buffer, posted, size, layout))
        done, first = np.sort(done_ns[first:end]), end
        before = np.searchsorted(done, times[inside], side="right") - 1
        inside, before = inside[before >= 0], before[before >= 0]
        later = done[before] > latest[inside]
        latest[inside[later]] = done[before[later]]
        site[inside[later]] = address
    found = np.empty_like(site)
    found[order] = site
    return found


def _inside(addresses: np.ndarray, runs: Runs) -> np.ndarray:
    """Which of the addresses, which are in order, are within a run."""
    begins, ends = runs
    if not len(begins):
        return np.empty(0, np.intp)
    low, high = np.searchsorted(addresses, (begins[0], ends[-1]))
    run = np.searchsorted(begins, addresses[low:high], side="right") - 1
    return low + np.flatnonzero(addresses[low:high] < ends[run])
