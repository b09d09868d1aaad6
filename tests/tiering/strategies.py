# SPDX-License-Identifier: Apache-2.0
"""Random small machines and traces, so that pages, tiers and threads compete."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from anemone.tiering import Tier, TierConfig
from anemone.tiering.config import Flat
from anemone.tiering.drams import drams
from anemone.trace import KINDS, Trace

PAGES = 12  # most pages that a trace touches
# Exact in binary, so that ties between threads happen.
TIMES = st.sampled_from([0.0, 0.5, 1.0, 3.25, 64.0, 100.0, 114.1])


@st.composite
def tiers(draw: st.DrawFn, pages: int, timing: str) -> Tier:
    latency = draw(TIMES if timing == "queue" else st.sampled_from([64.0, 100.0, 380.3]))
    return Tier(
        pages,
        latency,
        draw(st.sampled_from([0.64, 17.6, 64.0, 123.4])),
        draw(st.sampled_from(sorted(drams()))),
        draw(st.integers(1, 3)),
    )


@st.composite
def configs(draw: st.DrawFn) -> TierConfig:
    """All placements, with space for all touched pages."""
    start = draw(st.sampled_from(["first-touch", "fast", "slow", "weighted", "optimum"]))
    capacity = draw(st.integers(0, PAGES)), draw(st.sampled_from([PAGES, PAGES + 5]))
    if start == "fast":
        capacity = PAGES, 0
    timing = draw(st.sampled_from(["queue", "dram"]))
    weights = draw(st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(any))
    return TierConfig(
        page_bytes=draw(st.sampled_from([4096, 2 << 20])),
        outstanding=draw(st.integers(1, 5)),
        posted=draw(st.none() | st.integers(1, 5)),
        fast=draw(tiers(capacity[0], timing)),
        slow=draw(tiers(capacity[1], timing)),
        start=start,
        weights=weights if start == "weighted" else (1, 1),
        interval_ns=draw(st.sampled_from([1e9, 500.0, 37.5])),
        timing=timing,
    )


@st.composite
def flat_configs(draw: st.DrawFn) -> TierConfig:
    """Flat memory mode with few sets, so that lines compete, with or without dedicated memory."""
    base = draw(configs())
    near = draw(st.integers(1, 4))
    ratio = draw(st.integers(1, 4))
    page = 4096
    first = (ratio + 1) * near * page
    flat = Flat(
        ratio,
        draw(st.sampled_from([(0, 0), (first, first + page), (0, page)])),
        draw(st.sampled_from(["every", "nth", "one_in", "never"])),
        draw(st.integers(1, 4)),
    )
    return replace(
        base,
        page_bytes=page,
        fast=replace(base.fast, pages=near),
        slow=replace(base.slow, pages=ratio * near),
        start="first-touch",
        weights=(1, 1),
        timing="queue",
        flat=flat,
    )


@st.composite
def flat_traces(draw: st.DrawFn, config: TierConfig) -> Trace:
    """Accesses to few lines of each set, and to dedicated memory."""
    trace = draw(traces(config.page_bytes))
    flat = config.flat_config
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    set_index = rng.integers(0, min(3, flat.near_lines), len(trace))
    line = rng.integers(0, flat.ratio + 1, len(trace)) * flat.near_lines + set_index
    if flat.dedicated_lines:
        line = np.where(rng.random(len(trace)) < 0.2, flat.dedicated_lines.start + set_index, line)
    return replace(trace, addr=(line * 64).astype(np.uint64))


@st.composite
def traces(draw: st.DrawFn, page_bytes: int, maximum: int = 120) -> Trace:
    """Any columns; threads are random or successive. A request is one row."""
    n = draw(st.integers(1, maximum))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    page = rng.permutation(512)[rng.integers(0, draw(st.integers(1, PAGES)), n)]
    thread = rng.choice([0, 1, 7, 40000, 65535], n) if draw(st.booleans()) else None
    if thread is not None and draw(st.booleans()):
        thread = np.sort(thread)[:: draw(st.sampled_from([1, -1]))]
    gaps = [0.0, 0.5, 2.0, 3.25, 100.0, 1 / 3, 9000.0]  # the last one spans a refresh
    return Trace(
        addr=(page * page_bytes + rng.integers(0, page_bytes, n)).astype(np.uint64),
        write=rng.random(n) < draw(st.sampled_from([0.0, 0.3, 1.0])),
        thread=None if thread is None else thread.astype(np.uint16),
        gap_ns=rng.choice(gaps, n) if draw(st.booleans()) else None,
        dep=rng.random(n) < 0.4 if draw(st.booleans()) else None,
        kind=rng.integers(0, len(KINDS), n).astype(np.uint8) if draw(st.booleans()) else None,
        op=np.arange(1, n + 1, dtype=np.uint64),
    )
