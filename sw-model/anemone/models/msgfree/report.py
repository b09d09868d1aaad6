# SPDX-License-Identifier: Apache-2.0
"""A prediction as JSON and as the rows of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from anemone.models.msgfree.folder import Rank, name_of, size, unfinished, worlds
from anemone.models.msgfree.predict import CallSite


def as_object(ranks: Sequence[Rank], sites: Sequence[CallSite], capacity: int | None) -> dict:
    """What `predict --json` prints. All sums are over all ranks."""
    collectives: Counter[str] = Counter()
    for rank in ranks:
        collectives.update(rank.collectives)
    headers = [rank.header for rank in ranks]
    missing = {
        name_of(world, rank) for world, sizes in worlds(ranks).items() for rank in range(max(sizes))
    } - {rank.name for rank in ranks}
    return {
        "library": str(headers[0]["library"], "utf-8", "replace"),
        "ranks": size(ranks),
        "worlds": len(worlds(ranks)),
        "missing_ranks": sorted(missing),
        "not_finalized": [rank.name for rank in ranks if not rank.header["finalized"]],
        "receives": sum(len(rank.records) for rank in ranks),
        "unfinished": unfinished(ranks),
        "lost": sum(int(h["lost"]) for h in headers),
        "collectives": dict(sorted(collectives.items())),
        "capacity": capacity,
        "gain_ns": sum(site.gain_ns for site in sites if site.take),
        "sites": [_site(site) for site in sites],
    }


def _site(site: CallSite) -> dict[str, Any]:
    assert site.verdict is not None
    return {
        "place": str(site.place),
        "function": site.place.function,
        "file": site.place.file,
        "line": site.place.line,
        "module": site.place.module,
        "text": site.place.text,
        "kinds": dict(site.kinds),
        "ranks": len(site.ranks),
        "messages": len(site.messages),
        "bytes": sum(site.messages),
        "elements": site.elements,
        "buffer_bytes": site.buffer_bytes,
        "not_received": dict(site.not_received),
        "samples": len(site.samples),
        "sources": dict(Counter(source for _, source in site.samples)),
        "model": "transfer and access" if site.samples else "transfer only",
        "loads_per_element": site.loads_per_element if site.samples else None,
        "weights_first": site.verdict.first if site.samples else None,
        "weights_later": site.verdict.later if site.samples else None,
        "unpack": site.unpack,
        "transfer": vars(site.verdict.transfer),
        "access": vars(site.verdict.access) if site.samples else None,
        "gain_ns": site.gain_ns,
        "worth": site.gain_ns > 0,
        "take": site.take,
        "use": site.use,
    }


Rows = tuple[list[str], list[list[str]]]  # columns, and the texts of each row


def site_rows(sites: Sequence[CallSite], with_buffers: bool) -> Rows:
    """Transfer and gain of each call site, µs; last what to use: CXL, MPI, or CXL is full."""
    buffers = ["buffers"] if with_buffers else []
    columns = ["call site", "messages", "bytes", *buffers, "MPI", "CXL", "gain", "use"]
    rows = []
    for site in sites:
        assert site.verdict is not None
        moved = site.verdict.transfer
        counts = [len(site.messages), sum(site.messages), site.buffer_bytes]
        times = (moved.mpi_ns, moved.cxl_ns, site.gain_ns)
        shown = [f"{n:,}" for n in counts[: 3 if with_buffers else 2]]
        rows.append([str(site.place), *shown, *map(_us, times), site.use])
    return columns, rows


def access_rows(sites: Sequence[CallSite]) -> Rows:
    """Access to the data, µs, where there are samples of it."""
    rows = []
    for site in sites:
        assert site.verdict is not None
        access = site.verdict.access
        times = map(_us, (access.mpi_ns, access.cxl_ns)) if site.samples else ("", "")
        rows.append([str(site.place), f"{len(site.samples):,}", *times])
    return ["call site", "samples", "MPI", "CXL"], rows


def _us(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e3:,.0f}"
