# SPDX-License-Identifier: Apache-2.0
"""Places a program's pages in flat memory, which determines the pages that share near lines.

Two frames of 4 KiB whose lines are in the same sets have the same colour: colour f has the frames f
(near after reset) and f + colours (far). A program uses as many frames as it touches pages, so near
memory holds half of its footprint.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anemone.flat.config import FlatConfig
from anemone.hardware.geometry import LINE_BYTES
from anemone.trace import Trace
from anemone.trace.pages import main_tenants

PAGE_SHIFT = 12
PAGE_LINES = (1 << PAGE_SHIFT) // LINE_BYTES
# Pages that share a colour are of the same tenant, or of different tenants (Memstrata §3.3).
PLACEMENTS = ("isolated", "conflicting")


@dataclass(frozen=True)
class Placed:
    """A trace with moved pages. frames: int64[n], of the touched pages, in order of addresses."""

    trace: Trace
    colours: int
    frames: np.ndarray

    @property
    def config(self) -> FlatConfig:
        """Flat memory mode of this size as in Intel's: one far line per near line, every miss
        swaps.
        """
        return FlatConfig(self.colours * PAGE_LINES)


def place(trace: Trace, placement: str) -> Placed:
    """Assign a frame to each touched page of a trace; offsets in the page are unchanged."""
    pages, page_of = np.unique(trace.addr >> np.uint64(PAGE_SHIFT), return_inverse=True)
    owners = main_tenants(trace, page_of, len(pages))
    frames, colours = {"isolated": _isolated, "conflicting": _conflicting}[placement](owners)
    within = trace.addr & np.uint64((1 << PAGE_SHIFT) - 1)
    addr = frames.astype(np.uint64)[page_of] << np.uint64(PAGE_SHIFT) | within
    return Placed(Trace(addr, trace.write, trace.time_ns, trace.tenant), colours, frames)


def _isolated(owners: np.ndarray) -> tuple[np.ndarray, int]:
    """(frame of each page, colours): the two halves of a tenant's pages share its colours; the
    first half is near.
    """
    halves = {t: (np.count_nonzero(owners == t) + 1) // 2 for t in np.unique(owners)}
    colours, first = sum(halves.values()), 0
    frames = np.empty(len(owners), np.int64)
    for tenant, half in halves.items():
        own = np.flatnonzero(owners == tenant)
        rank = np.arange(len(own))
        frames[own] = first + np.where(rank < half, rank, colours + rank - half)
        first += half
    return frames, colours


def _conflicting(owners: np.ndarray) -> tuple[np.ndarray, int]:
    """(frame of each page, colours): pages are sorted by tenant, the largest first. The two pages
    of a colour are half of all pages apart, so they are rarely of the same tenant.
    """
    colours = (len(owners) + 1) // 2
    size = np.bincount(owners)
    order = np.lexsort((owners, -size[owners]))
    frames = np.empty(len(owners), np.int64)
    frames[order] = np.arange(len(owners))
    return frames, colours
