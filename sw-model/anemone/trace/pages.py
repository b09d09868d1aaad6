# SPDX-License-Identifier: Apache-2.0
"""Whose pages are in a trace: those touched, how hot, and by which tenant."""

from __future__ import annotations

import numpy as np

from anemone.trace.columns import Trace

HUGE_SHIFT = 21  # of a 2 MiB page


def touched_pages(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """(numbers of the touched huge pages, ascending; position of each access's page among them)."""
    page = (trace.addr >> np.uint64(HUGE_SHIFT)).astype(np.int64)
    if page.max() >> 24:  # past 32 TiB a table of all pages is larger than it is worth
        return np.unique(page, return_inverse=True)
    touched = np.bincount(page) > 0
    return np.flatnonzero(touched), (np.cumsum(touched) - 1)[page]


def huge_pages_by_heat(trace: Trace) -> np.ndarray:
    """Numbers of the touched huge pages, hottest first; of equal ones the lower address first."""
    pages, page_of = touched_pages(trace)
    return pages[np.argsort(-np.bincount(page_of), kind="stable")]


def tenants(trace: Trace) -> np.ndarray:
    """Tenant numbers in the trace, ascending; counter i of Listing 3 is for the i-th of them."""
    if trace.tenant is None:
        return np.zeros(1, dtype=np.int64)
    return np.flatnonzero(np.bincount(trace.tenant))


def page_owners(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """(huge pages ascending, index into `tenants` of each one's owner).

    An OS gives a page to one tenant. Where a trace has several on one page, the owner is the one
    that accesses it most.
    """
    pages, page_of = touched_pages(trace)
    return pages, main_tenants(trace, page_of, len(pages))


def tenant_ranks(trace: Trace) -> np.ndarray:
    """The index into `tenants` of each access's, int64[n]."""
    if trace.tenant is None:
        return np.zeros(len(trace), np.int64)
    return np.searchsorted(tenants(trace), trace.tenant)


def main_tenants(trace: Trace, page_of: np.ndarray, pages: int) -> np.ndarray:
    """The index into `tenants` of the one that uses a page most, int64[pages].

    page_of: int64[n], the page of each access, below `pages`, of whatever size.
    """
    count = len(tenants(trace))
    joint, uses = np.unique(page_of * count + tenant_ranks(trace), return_counts=True)
    page, rank = np.divmod(joint, count)
    order = np.lexsort((-rank, uses))  # the most uses of a page last, of equal ones the lowest rank
    owner = np.zeros(pages, np.int64)
    owner[page[order]] = rank[order]
    return owner
