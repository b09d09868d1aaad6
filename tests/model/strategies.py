# SPDX-License-Identifier: Apache-2.0
"""Random geometries, rules and traces, small and crowded so that everything collides."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from anemone.geometry import Geometry
from anemone.rules import EFFECTS, OPERANDS, OPS, PREDICATES, TYPES, U64, WIDTHS, Rule

SPACE = 1 << 16  # bytes of address that random events touch


def operands(width: int) -> st.SearchStrategy[int]:
    """Operands at and about the edges of a counter, and any other."""
    edges = {0, 1, 2, width - 1, width, 63, 64, 65, U64, 1 << 63}
    edges |= {(1 << width) - 1, (1 << width) & U64, (1 << (width - 1))}
    return st.sampled_from(sorted(edges)) | st.integers(0, U64)


geometries = st.builds(
    Geometry,
    channels=st.sampled_from([1, 2, 4]),
    pipelines=st.just(4),
    states=st.sampled_from([8, 16, 32]),
    table=st.sampled_from([2, 16, 64]),
    device_gib=st.just(1),
)


def table_entries(geometry: Geometry, width: int) -> st.SearchStrategy[tuple[int, int]]:
    counters = geometry.counters(width)
    base = st.integers(0, counters - 1) | st.integers(max(0, counters - 4), counters - 1)
    return st.tuples(st.integers(0, geometry.table - 1), base)


@st.composite
def rules(draw: st.DrawFn, geometry: Geometry, name: str = "rule") -> Rule:
    width = draw(st.sampled_from(WIDTHS))
    ends = draw(st.just((0, SPACE)) | st.tuples(st.integers(0, SPACE), st.integers(0, SPACE)))
    entries = draw(
        st.lists(table_entries(geometry, width), max_size=20, unique_by=lambda entry: entry[0])
    )
    masks = st.sampled_from([0, U64, 0xFFC0, 0xF000]) | st.integers(0, U64)
    return Rule(
        name=name,
        type=draw(st.sampled_from(TYPES)),
        start=min(ends),
        end=max(*ends, min(ends) + 1),
        primary_mask=draw(masks),
        primary_shift=draw(st.integers(8, 16) | st.integers(0, 63)),
        sub_mask=draw(masks),
        sub_shift=draw(st.integers(6, 16) | st.integers(0, 63)),
        op=draw(st.sampled_from(OPS)),
        operand=draw(operands(width)),
        operand_kind=draw(st.sampled_from(OPERANDS)),
        width=width,
        notify_op=draw(st.sampled_from(PREDICATES)),
        notify_operand=draw(operands(width)),
        effect_op=draw(st.sampled_from(EFFECTS)),
        effect_operand=draw(operands(width)),
        map=entries,
        read_every=draw(st.sampled_from([0, 1, 2, 7, 50])),
    )


@st.composite
def events(draw: st.DrawFn, most: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """addr and write columns; half the time a handful of addresses again and again."""
    address = st.integers(0, SPACE - 1)
    if draw(st.booleans()):
        address = st.sampled_from(draw(st.lists(address, min_size=1, max_size=4)))
    rows = draw(st.lists(st.tuples(address, st.booleans()), max_size=most))
    addr = np.array([row[0] for row in rows], np.uint64)
    return addr, np.array([row[1] for row in rows], np.bool_)
