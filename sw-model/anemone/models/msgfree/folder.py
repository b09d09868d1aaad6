# SPDX-License-Identifier: Apache-2.0
"""The files that the tracer leaves, two a rank (sim/mpi/trace.h, docs/message-free.md)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from anemone.io.errors import MISSING, Bare, InputError

KINDS = (
    "Recv", "Irecv", "Sendrecv", "Sendrecv_replace", "Recv_init", "Mrecv", "Imrecv", "Isendrecv",
    "Isendrecv_replace", "Precv_init",
)  # fmt: skip
CANCELLED, FREED, FAILED, ANY_SOURCE, ANY_TAG, AS_POSTED = (1 << bit for bit in range(6))
NOT_RECEIVED = CANCELLED | FREED | FAILED  # size and source are not known

HEADER_BYTES = 4096
RECORD = np.dtype(
    [(n, "<i8") for n in ("posted_ns", "waited_ns", "done_ns")]
    + [(n, "<u8") for n in ("site", "done_site", "buffer", "span", "bytes", "posted")]
    + [(n, "<i4") for n in ("source", "local_source", "tag")]
    + [("comm", "<u4"), ("type_bytes", "<u4"), ("kind", "<u2"), ("flags", "<u2")]
)
_HEADER = np.dtype(
    [("magic", "S8"), ("header_bytes", "<u4"), ("record_bytes", "<u4"), ("rank", "<i4"),
     ("ranks", "<i4"), ("pid", "<u4"), ("finalized", "<u4"), ("records", "<u8"),
     ("posted", "<u8"), ("lost", "<u8"), ("begin_ns", "<i8"), ("end_ns", "<i8"),
     ("epoch_ns", "<i8"), ("host", "S64"), ("library", "S64"),
     ("collectives", [("name", "S24"), ("calls", "<u8")], 96)]
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Rank:
    """What one rank received.

    records: RECORD[n], in the order of completion. sites: by address, its module, offset in the
    module's file, and symbol. communicators: by id, name and the ranks of MPI_COMM_WORLD in it.
    """

    header: Any
    records: np.ndarray
    sites: dict[int, tuple[str, int, str]]
    communicators: dict[int, tuple[str, list[int]]]

    @property
    def collectives(self) -> dict[str, int]:
        """Calls of each."""
        called = self.header["collectives"]
        return {str(c["name"], "ascii"): int(c["calls"]) for c in called if c["calls"]}


def read_folder(folder: str | os.PathLike) -> list[Rank]:
    """All ranks that left a file, by rank. Raises InputError."""
    paths = sorted(Path(folder).glob("*.trace"))
    if not paths:
        raise InputError(folder, "folder", "*.trace", MISSING, "what `msgfree record` has made")
    found = [read_rank(path) for path in paths]
    worlds = {int(rank.header["ranks"]) for rank in found}
    if len(worlds) > 1:
        raise InputError(folder, "header", "ranks", sorted(worlds), "the same in all files")
    return found


def read_rank(path: Path) -> Rank:
    """One rank, whether it came to its end or not."""
    try:
        content = path.read_bytes()
    except OSError as e:
        raise InputError(path, "file", "content", Bare(str(e.strerror)), "a trace") from e
    if len(content) < HEADER_BYTES:
        raise InputError(path, "header", "bytes", len(content), f"at least {HEADER_BYTES}")
    header = np.frombuffer(content, _HEADER, 1)[0]
    for name, wanted in (
        ("magic", b"ANEMPI1\n"), ("header_bytes", HEADER_BYTES), ("record_bytes", RECORD.itemsize)
    ):  # fmt: skip
        if header[name] != wanted:
            raise InputError(path, "header", name, str(header[name]), f"{wanted!r}")
    room = (len(content) - HEADER_BYTES) // RECORD.itemsize
    if header["records"] > room:
        raise InputError(path, "header", "records", int(header["records"]), f"{room}, by its size")
    records = np.frombuffer(content, RECORD, int(header["records"]), HEADER_BYTES)
    wrong = np.flatnonzero(records["kind"] >= len(KINDS))
    if len(wrong):
        kind = int(records["kind"][wrong[0]])
        raise InputError(path, f"record {wrong[0]}", "kind", kind, f"0 to {len(KINDS) - 1}")
    sites, communicators = _names(path.with_suffix(".names"))
    unknown = set(records["site"].tolist()) - set(sites)
    if unknown:
        raise InputError(path.with_suffix(".names"), "sites", hex(min(unknown)), MISSING,
                         "a line for each call site of the trace")  # fmt: skip
    return Rank(header, records, sites, communicators)


def _names(path: Path) -> tuple[dict[int, tuple[str, int, str]], dict[int, tuple[str, list[int]]]]:
    sites: dict[int, tuple[str, int, str]] = {}
    communicators: dict[int, tuple[str, list[int]]] = {}
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
                case _:
                    raise ValueError(line)
        except ValueError as e:
            raise InputError(path, f"line {number}", "line", line, "a site or a comm") from e
    return sites, communicators
