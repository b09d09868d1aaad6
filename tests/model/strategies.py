# SPDX-License-Identifier: Apache-2.0
"""Random geometries, rules and traces, small so that everything collides."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from anemone.hardware.features import Features
from anemone.hardware.geometry import Geometry
from anemone.telemetry.rules import (
    EFFECTS,
    HASH_BITS,
    OPERANDS,
    OPS,
    PREDICATES,
    TYPES,
    U64,
    WIDTHS,
    Rule,
)

SPACE = 1 << 16  # size of the address range of random events, bytes


def operands(width: int) -> st.SearchStrategy[int]:
    """Operands at and near the limits of a counter, and arbitrary ones."""
    edges = {0, 1, 2, width - 1, width, 63, 64, 65, U64, 1 << 63}
    edges |= {(1 << width) - 1, (1 << width) & U64, (1 << (width - 1))}
    return st.sampled_from(sorted(edges)) | st.integers(0, U64)


geometries = st.builds(
    Geometry,
    channels=st.sampled_from([1, 2, 4]),
    pipelines=st.just(4),
    states=st.sampled_from([16, 32]),
    table=st.sampled_from([2, 16, 64]),
    device_gib=st.just(1),
    features=st.just(Features(ops=OPS)),
)


def table_entries(geometry: Geometry, width: int) -> st.SearchStrategy[tuple[int, int]]:
    counters = geometry.counters(width)
    base = st.integers(0, counters - 1) | st.integers(max(0, counters - 4), counters - 1)
    return st.tuples(st.integers(0, geometry.table - 1), base)


@st.composite
def rules(draw: st.DrawFn, geometry: Geometry, name: str = "rule") -> Rule:
    """Most rules match most events; the others have arbitrary masks, shifts and ranges."""
    width = draw(st.sampled_from(WIDTHS))
    whole, page = st.just((0, SPACE)), st.integers(0, SPACE >> 12).map(lambda n: n << 12)
    ends = draw(whole | st.tuples(page, page) | st.tuples(*[st.integers(0, SPACE)] * 2))
    any_mask = st.integers(0, U64)
    hashes = geometry.features.hash and draw(st.booleans())
    odd = st.integers(0, (1 << HASH_BITS - 1) - 1).map(lambda n: 2 * n + 1)
    fits = 17 - geometry.table.bit_length()  # the shift that spreads SPACE over the whole table
    return Rule(
        name=name,
        type=draw(st.sampled_from(TYPES)),
        start=min(ends),
        end=max(*ends, min(ends) + 1),
        primary_mask=draw(st.sampled_from([U64, U64, 0xFFC0, 0xF000]) | any_mask),
        primary_shift=draw(st.integers(fits, 16) | st.integers(fits - 1, 16) | st.integers(0, 63)),
        sub_mask=draw(st.sampled_from([0, 0, 0x1C0, 0xFC0, U64]) | any_mask),
        sub_shift=draw(st.integers(6, 16) | st.integers(0, 63)),
        hash_multiplier=draw(odd) if hashes else 0,
        hash_size=draw(st.integers(1, geometry.counters(width))) if hashes else 0,
        op=draw(st.sampled_from(geometry.features.ops)),
        operand=draw(operands(width)),
        operand_kind=draw(st.sampled_from(OPERANDS)),
        width=width,
        notify_op=draw(st.sampled_from(PREDICATES)),
        notify_operand=draw(operands(width)),
        effect_op=draw(st.sampled_from(geometry.features.of_effects(EFFECTS))),
        effect_operand=draw(operands(width)),
        map=draw(tables(geometry, width)),
        read_every=draw(st.sampled_from([0, 1, 2, 7, 50])),
    )


@st.composite
def tables(draw: st.DrawFn, geometry: Geometry, width: int) -> list[tuple[int, int]]:
    """Translation tables: nearly full, with few repeated bases, or with few entries."""
    counters = geometry.counters(width)
    if draw(st.integers(0, 3)) == 0:
        entries = table_entries(geometry, width)
        return draw(st.lists(entries, max_size=4, unique_by=lambda entry: entry[0]))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    span = draw(st.sampled_from([1, 4, counters]))
    first = draw(st.integers(0, counters - span))
    keys = np.flatnonzero(rng.random(geometry.table) < 0.9)
    return [(int(key), int(first + rng.integers(span))) for key in keys]


@st.composite
def events(draw: st.DrawFn, maximum: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """addr and write columns, mostly with few repeated addresses."""
    n = draw(st.integers(maximum // 2, maximum) | st.integers(0, maximum))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    addr = rng.integers(0, SPACE, n, np.uint64)
    if draw(st.booleans()):  # the first or last bytes of pages, at the borders of ranges
        addr = addr & np.uint64(0xF000) | np.uint64(0xFFF) * (addr & np.uint64(1))
    few = draw(st.sampled_from([1, 2, 5, maximum]))
    return rng.choice(addr[:few], n) if n else addr, rng.random(n) < 0.5
