# SPDX-License-Identifier: Apache-2.0
"""The three telemetries of NEMO (Listings 1 to 3) as rules for one trace.

Each listing is a function Trace -> rules. `paper_rules` returns all three as eight rules, one per
pipeline: Listings 2 and 3 take one each, Listing 1 takes the other six. Values that an OS would
know from its page tables (hot huge pages and their owners) come from the trace; everything else
follows the listing. `write_rules` writes rules as TOML, so that `anemone sim` uses the same loader
as users.

Units: addresses in bytes, huge page 2 MiB (shift 21), base page 4 KiB (shift 12), counters in
accesses of one 64 B line.
"""

from __future__ import annotations

import numpy as np

from anemone.hardware.geometry import Geometry
from anemone.telemetry.rules import Rule, identity_map
from anemone.trace import Trace
from anemone.trace.pages import HUGE_SHIFT, huge_pages_by_heat, page_owners, tenants

BASE_SHIFT = 12
BASE_PAGES = 1 << (HUGE_SHIFT - BASE_SHIFT)
ALL_MEMORY = (1 << 64) - 1
BASE_PAGE_MASK = (BASE_PAGES - 1) << BASE_SHIFT
INTERVALS = 48
# A tenant is a noisy neighbour with more than this multiple of its fair share of a poll; with two
# tenants, with more than this share of the poll.
CAP_OVER_FAIR = 2.0
CAP_OF_TWO = 0.75

HOTNESS = "hotness"
BANDWIDTH = "bandwidth"
SKEW = "skew"


def poll_period(events: int, intervals: int = INTERVALS) -> int:
    """Events between two reads, so that a trace has `intervals` reads and half an interval after
    them.

    The half interval's counts stay in the states, so that the final snapshot is not empty.
    """
    return max(1, 2 * events // (2 * intervals + 1))


def skew_width(period: int) -> int:
    """The least width of a base-page counter that `period` accesses cannot overflow.

    With narrow counters a pipeline can watch more huge pages: 8192 state words hold 16 huge pages
    at 64 bits (the paper's figure, §5.2) and 64 at 16 bits.
    """
    return next(width for width in (8, 16, 32, 64) if period < 1 << width)


def skew(
    trace: Trace, geometry: Geometry, pipelines: int = 6, intervals: int = INTERVALS
) -> list[Rule]:
    """Listing 1: accesses by base page of the hottest huge pages, divided over `pipelines`.

    Pages are assigned round robin, so that the pipelines have similar loads.
    """
    period = poll_period(len(trace.addr), intervals)
    hot = huge_pages_by_heat(trace)
    hot = hot[hot < geometry.table]
    # Use the paper's 64-bit counters, or narrower ones if pages would be left out.
    for width in (64, 32, 16, 8):
        slots = geometry.counters(width) // BASE_PAGES
        if slots * pipelines >= len(hot) or width == skew_width(period):
            break
    if slots == 0:
        raise ValueError(f"{geometry.states} states are too few for a page's {BASE_PAGES}")
    rules = []
    for pipeline in range(pipelines):
        pages = hot[pipeline::pipelines][:slots]
        bases = np.arange(len(pages), dtype=np.uint64) * np.uint64(BASE_PAGES)
        rules.append(
            _rule(
                geometry,
                name=f"{SKEW}-{pipeline}",
                sub_mask=BASE_PAGE_MASK,
                sub_shift=BASE_SHIFT,
                width=width,
                map=np.column_stack([pages, bases]).astype(np.uint64),
                read_every=period,
            )
        )
    return rules


def hotness(trace: Trace, geometry: Geometry, intervals: int = INTERVALS) -> list[Rule]:
    """Listing 2: one counter per huge page of the whole device, identity map."""
    period = poll_period(len(trace.addr), intervals)
    return [_rule(geometry, name=HOTNESS, map=identity_map(geometry, 64), read_every=period)]


def bandwidth(trace: Trace, geometry: Geometry, intervals: int = INTERVALS) -> list[Rule]:
    """Listing 3: one counter per tenant for all its huge pages; it notifies at a cap.

    The predicate sees one channel's part of a tenant's accesses (NEMO §3.1), so its operand is the
    cap divided by the channels. Polls are a fixed number of accesses apart, so the cap is a share
    of these: `CAP_OVER_FAIR` times a tenant's fair share. A single tenant cannot exceed it.
    """
    period = poll_period(len(trace.addr), intervals)
    pages, owners = page_owners(trace)
    inside = pages < geometry.table
    table = np.column_stack([pages[inside], owners[inside].astype(np.uint64)]).astype(np.uint64)
    count = len(tenants(trace))
    share = CAP_OF_TWO if count == 2 else CAP_OVER_FAIR / count
    cap = max(1, round(share * period / geometry.channels))
    return [
        _rule(
            geometry,
            name=BANDWIDTH,
            map=table,
            notify_op="ge",
            notify_operand=cap,
            read_every=period,
        )
    ]


def paper_rules(trace: Trace, geometry: Geometry, intervals: int = INTERVALS) -> list[Rule]:
    """All three listings, one rule per pipeline: hotness, bandwidth, and skew on the remaining
    ones.
    """
    left = geometry.pipelines - 2
    if left < 1:
        raise ValueError(f"the three listings need 3 pipelines, {geometry.pipelines} are there")
    return [
        *hotness(trace, geometry, intervals),
        *bandwidth(trace, geometry, intervals),
        *skew(trace, geometry, left, intervals),
    ]


def _rule(geometry: Geometry, **fields: object) -> Rule:
    """A rule with the listings' common fields: R|W, all memory, key = huge page, add 1, reset on
    read.
    """
    common: dict[str, object] = {
        "type": "RW",
        "start": 0,
        "end": geometry.device_bytes,
        "primary_mask": ALL_MEMORY,
        "primary_shift": HUGE_SHIFT,
        "sub_mask": 0,
        "sub_shift": 0,
        "op": "add",
        "operand": 1,
        "operand_kind": "imm",
        "width": 64,
        "notify_op": "none",
        "notify_operand": 0,
        "effect_op": "reset",
        "effect_operand": 0,
    }
    return Rule(**{**common, **fields})
