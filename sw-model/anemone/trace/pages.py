# SPDX-License-Identifier: Apache-2.0
"""The pages in a trace: touched pages, their heat, and their tenants."""

from __future__ import annotations

import numpy as np

from anemone.trace.columns import Trace

HUGE_SHIFT = 21  # log2 of a 2 MiB page


def touched_pages(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """(numbers of the touched huge pages, ascending; index of each access's page in these)."""
    page = (trace.addr >> np.uint64(HUGE_SHIFT)).astype(np.int64)
    if page.max() >> 24:  # above 32 TiB a table of all pages would be too large
        return np.unique(page, return_inverse=True)
    touched = np.bincount(page) > 0
    return np.flatnonzero(touched), (np.cumsum(touched) - 1)[page]


def huge_pages_by_heat(trace: Trace) -> np.ndarray:
    """Numbers of the touched huge pages, hottest first; ties by address."""
    pages, page_of = touched_pages(trace)
    return pages[np.argsort(-np.bincount(page_of), kind="stable")]


def tenants(trace: Trace) -> np.ndarray:
    """Tenant numbers in the trace, ascending; counter i of Listing 3 counts the i-th tenant."""
    if trace.tenant is None:
        return np.zeros(1, dtype=np.int64)
    return np.flatnonzero(np.bincount(trace.tenant))


def page_owners(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """(huge pages ascending, index into `tenants` of each page's owner).

    An OS gives a page to one tenant. If several tenants access a page in the trace, its owner is
    the one with the most accesses.
    """
    pages, page_of = touched_pages(trace)
    return pages, main_tenants(trace, page_of, len(pages))


def tenant_ranks(trace: Trace) -> np.ndarray:
    """The index into `tenants` of each access's tenant: int64[n]."""
    if trace.tenant is None:
        return np.zeros(len(trace), np.int64)
    return np.searchsorted(tenants(trace), trace.tenant)


def main_tenants(trace: Trace, page_of: np.ndarray, pages: int) -> np.ndarray:
    """The index into `tenants` of the tenant that uses a page most: int64[pages].

    page_of: int64[n], the page of each access, below `pages`; pages may have any size.
    """
    count = len(tenants(trace))
    joint, uses = np.unique(page_of * count + tenant_ranks(trace), return_counts=True)
    page, rank = np.divmod(joint, count)
    order = np.lexsort((-rank, uses))  # the most uses come last; of ties the lowest rank
    owner = np.zeros(pages, np.int64)
    owner[page[order]] = rank[order]
    return owner
