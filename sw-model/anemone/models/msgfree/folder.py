# SPDX-License-Identifier: Apache-2.0
"""The files that the tracer leaves, two a rank (sim/mpi/trace.h, docs/message-free.md)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from anemone.io.errors import MISSING, Bare, InputError
from anemone.models.msgfree.layout import Layout, Runs, read_layout

KINDS = (
    "Recv", "Irecv", "Sendrecv", "Sendrecv_replace", "Recv_init", "Mrecv", "Imrecv", "Isendrecv",
    "Isendrecv_replace", "Precv_init",
)  # fmt: skip
CANCELLED, FREED, FAILED, ANY_SOURCE, ANY_TAG, AS_POSTED = (1 << bit for bit in range(6))
NOT_RECEIVED = CANCELLED | FREED | FAILED  # size and source are not known

HEADER_BYTES = 4096
RECORD = np.dtype(
    [(n, "<i8") for n in ("posted_ns", "waited_ns", "done_ns")]
    + [(n, "<u8") for n in ("site", "done_site", "buffer", "span", "bytes", "posted", "elements")]
    + [(n, "<i4") for n in ("source", "local_source", "tag")]
    + [("comm", "<u4"), ("type", "<u4"), ("kind", "<u2"), ("flags", "<u2")]
)
HEADER = np.dtype(
    [("magic", "S8"), ("header_bytes", "<u4"), ("record_bytes", "<u4"), ("rank", "<i4"),
     ("ranks", "<i4"), ("pid", "<u4"), ("finalized", "<u4"), ("records", "<u8"),
     ("posted", "<u8"), ("lost", "<u8"), ("begin_ns", "<i8"), ("end_ns", "<i8"),
     ("epoch_ns", "<i8"), ("host", "S64"), ("library", "S64"), ("world", "<u8"),
     ("collectives", [("name", "S24"), ("calls", "<u8")], 96)]
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Rank:
    """What one rank received.

    records: RECORD[n], in the order of completion. sites: by address, its module, offset in the
    module's file, and symbol. communicators: by id, name and the ranks of MPI_COMM_WORLD in it.
    layouts: by id, of datatypes that leave gaps.
    """

    header: Any
    records: np.ndarray
    sites: dict[int, tuple[str, int, str]]
    communicators: dict[int, tuple[str, list[int]]]
    layouts: dict[int, Layout]

    @property
    def name(self) -> str:
        """Its number, before which that of a spawned program has its world's."""
        return name_of(int(self.header["world"]), int(self.header["rank"]))

    @property
    def stem(self) -> str:
        """Of its files: the name, its number in six digits."""
        return name_of(int(self.header["world"]), int(self.header["rank"]), 6)

    @property
    def received(self) -> np.ndarray:
        """The records of messages that came."""
        return self.records[(self.records["flags"] & NOT_RECEIVED) == 0]

    def runs(self, buffer: int, posted: int, received: int, layout: int) -> Runs:
        """Where the data of such a record are."""
        if layout:
            begins, ends = self.layouts[layout].runs(posted, received)
            return begins + buffer, ends + buffer
        return np.array([buffer]), np.array([buffer + received])

    @property
    def collectives(self) -> dict[str, int]:
        """Calls of each."""
        called = self.header["collectives"]
        return {str(c["name"], "ascii"): int(c["calls"]) for c in called if c["calls"]}


def read_folder(folder: str | os.PathLike) -> list[Rank]:
    """All ranks that left a file, by world and rank. Raises InputError."""
    paths = sorted(Path(folder).glob("*.trace"))
    if not paths:
        raise InputError(folder, "folder", "*.trace", MISSING, "what `msgfree record` has made")
    found = [read_rank(path) for path in paths]
    for path, rank in zip(paths, found, strict=True):
        if path.stem != rank.stem:
            raise InputError(path, "header", "rank", rank.stem, f"{path.stem}, as the file's name")
    for world, sizes in worlds(found).items():
        if len(sizes) > 1:
            raise InputError(folder, "header", "ranks", sorted(sizes),
                             f"the same in all files of world {world}")  # fmt: skip
    return sorted(found, key=lambda rank: (int(rank.header["world"]), int(rank.header["rank"])))


def name_of(world: int, rank: int, digits: int = 0) -> str:
    """Of a rank."""
    return f"{world}-{rank:0{digits}d}" if world else f"{rank:0{digits}d}"


def worlds(ranks: Sequence[Rank]) -> dict[int, set[int]]:
    """Of each MPI_COMM_WORLD how many ranks its files say that it has: one number."""
    found: dict[int, set[int]] = {}
    for rank in ranks:
        found.setdefault(int(rank.header["world"]), set()).add(int(rank.header["ranks"]))
    return found


def size(ranks: Sequence[Rank]) -> int:
    """How many ranks there were, with or without a file."""
    return sum(max(sizes) for sizes in worlds(ranks).values())


def unfinished(ranks: Sequence[Rank]) -> int:
    """Receives that were posted and neither complete nor lost at the end."""
    return sum(int(rank.header["posted"]) - int(rank.header["records"]) - int(rank.header["lost"])
               for rank in ranks)  # fmt: skip


def read_rank(path: Path) -> Rank:
    """One rank, whether it came to its end or not."""
    try:
        content = path.read_bytes()
    except OSError as e:
        raise InputError(path, "file", "content", Bare(str(e.strerror)), "a trace") from e
    if len(content) < HEADER_BYTES:
        raise InputError(path, "header", "bytes", len(content), f"at least {HEADER_BYTES}")
    header = np.frombuffer(content, HEADER, 1)[0]
    for name, wanted in (
        ("magic", b"ANEMPI1\n"), ("header_bytes", HEADER_BYTES), ("record_bytes", RECORD.itemsize)
    ):  # fmt: skip
        if header[name] != wanted:
            raise InputError(path, "header", name, str(header[name]), f"{wanted!r}")
    if not 0 <= header["rank"] < header["ranks"]:
        allowed = f"0 to {int(header['ranks']) - 1}, of {int(header['ranks'])} ranks"
        raise InputError(path, "header", "rank", int(header["rank"]), allowed)
    for one in header["collectives"]:
        if not one["name"].isascii():
            raise InputError(path, "header", "collectives", str(one["name"]), "names of MPI calls")
    capacity = (len(content) - HEADER_BYTES) // RECORD.itemsize
    if header["records"] > capacity:
        raise InputError(
            path, "header", "records", int(header["records"]), f"{capacity}, by its size"
        )
    ended = int(header["records"]) + int(header["lost"])
    if header["posted"] < ended:
        allowed = f"at least {ended}, of records and lost"
        raise InputError(path, "header", "posted", int(header["posted"]), allowed)
    records = np.frombuffer(content, RECORD, int(header["records"]), HEADER_BYTES)
    wrong = np.flatnonzero(records["kind"] >= len(KINDS))
    if len(wrong):
        kind = int(records["kind"][wrong[0]])
        raise InputError(path, f"record {wrong[0]}", "kind", kind, f"0 to {len(KINDS) - 1}")
    wrong = np.flatnonzero(records["bytes"] > records["posted"])
    if len(wrong):
        size, capacity = (int(records[name][wrong[0]]) for name in ("bytes", "posted"))
        raise InputError(
            path, f"record {wrong[0]}", "bytes", size, f"at most {capacity}, which fit"
        )
    names = path.with_suffix(".names")
    sites, communicators, layouts = _names(names)
    unknown = set(records["site"].tolist()) - set(sites)
    if unknown:
        raise InputError(names, "sites", hex(min(unknown)), MISSING,
                         "a line for each call site of the trace")  # fmt: skip
    unknown = set(records["type"].tolist()) - set(layouts) - {0}
    if unknown:
        raise InputError(names, "types", str(min(unknown)), MISSING,
                         "a line for each datatype of the trace")  # fmt: skip
    return Rank(header, records, sites, communicators, layouts)


_Named = tuple[dict[int, tuple[str, int, str]], dict[int, tuple[str, list[int]]], dict[int, Layout]]


def _names(path: Path) -> _Named:
    sites: dict[int, tuple[str, int, str]] = {}
    communicators: dict[int, tuple[str, list[int]]] = {}
    layouts: dict[int, Layout] = {}
    try:
        lines = path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    except OSError as e:
        raise InputError(path, "file", "content", Bare(str(e.strerror)), "a list of names") from e
    for number, line in enumerate(lines[:-1], 1):  # the last one is empty, or half written
        try:
            match line.split("\t"):
                case ["site", address, offset, symbol, module]:
                    sites[int(address, 16)] = (module, int(offset, 16), symbol)
                case ["comm", known_as, _, name, ranks]:
                    communicators[int(known_as)] = (name, [int(rank) for rank in ranks.split()])
                case ["type", known_as, item, extent, first, layout]:
                    layouts[int(known_as)] = read_layout(item, extent, first, layout)
                case _:
                    raise ValueError(line)
        except (ValueError, IndexError) as e:
            allowed = "a site, a comm or a type"
            raise InputError(path, f"line {number}", "line", line, allowed) from e
    return sites, communicators, layouts
