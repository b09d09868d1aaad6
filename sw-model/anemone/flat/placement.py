# SPDX-License-Identifier: Apache-2.0
"""Where a program's pages lie in flat memory, and so which of them share places of near memory.

Two frames of 4 KiB whose lines are in the same sets have one colour: colour f has frames f, near
after reset, and f + colours, far. A program uses as many frames as it touches pages, so near memory
holds half of its footprint.
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
# Whose pages share a colour: a tenant's own, or those of different tenants (Memstrata §3.3).
PLACEMENTS = ("isolated", "conflicting")


@dataclass(frozen=True)
class Placed:
    """A trace whose pages were moved. frames: int64[n], those of the touched pages, by address."""

    trace: Trace
    colours: int
    frames: np.ndarray

    @property
    def config(self) -> FlatConfig:
        """Flat memory mode of this size, as Intel has it: a far line for each near, swap always."""
        return FlatConfig(self.colours * PAGE_LINES)


def place(trace: Trace, placement: str) -> Placed:
    """Give each touched page of a trace a frame; its lines keep their places in the page."""
    pages, page_of = np.unique(trace.addr >> np.uint64(PAGE_SHIFT), return_inverse=True)
    owners = main_tenants(trace, page_of, len(pages))
    frames, colours = {"isolated": _isolated, "conflicting": _conflicting}[placement](owners)
    within = trace.addr & np.uint64((1 << PAGE_SHIFT) - 1)
    addr = frames.astype(np.uint64)[page_of] << np.uint64(PAGE_SHIFT) | within
    return Placed(Trace(addr, trace.write, trace.time_ns, trace.tenant), colours, frames)


def _isolated(owners: np.ndarray) -> tuple[np.ndarray, int]:
    """(frame of each page, colours): a tenant's first half is near, the second has its colours."""
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
    """(frame of each page, colours): with the pages of the largest tenant first, and the others'
    behind, the two of a colour are half of all pages apart, so seldom one tenant's.
    """
    colours = (len(owners) + 1) // 2
    size = np.bincount(owners)
    order = np.lexsort((owners, -size[owners]))
    frames = np.empty(len(owners), np.int64)
    frames[order] = np.arange(len(owners))
    return frames, colours
