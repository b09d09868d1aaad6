# SPDX-License-Identifier: Apache-2.0
"""Random small configurations of flat memory mode and traces with hot sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from anemone.flat import FlatConfig
from anemone.hardware.geometry import LINE_BYTES

policies = (
    st.sampled_from([("every", 1), ("never", 1)])
    | st.tuples(st.just("nth"), st.sampled_from([1, 2, 3, 255]))
    | st.tuples(st.just("one_in"), st.sampled_from([1, 2, 3, 7, (1 << 32) - 1]))
)


@st.composite
def configs(
    draw: st.DrawFn, max_lines: int = 12, ratios: Sequence[int] = (1, 2, 3, 4)
) -> FlatConfig:
    """These ratios and all policies; dedicated memory within the sets' addresses, across their
    end, after it, or none.
    """
    near_lines, ratio = draw(st.integers(1, max_lines)), draw(st.sampled_from(ratios))
    total = (ratio + 1) * near_lines
    start = draw(st.integers(0, total + 3))
    dedicated = (start * LINE_BYTES, (start + draw(st.integers(1, 5))) * LINE_BYTES)
    policy, n = draw(policies)
    return FlatConfig(near_lines, ratio, dedicated if draw(st.booleans()) else (0, 0), policy, n)


@st.composite
def traces(draw: st.DrawFn, config: FlatConfig, maximum: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """addr and write columns: random lines, few repeated lines, or a scan."""
    n = draw(st.integers(0, maximum))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    lines = np.array(sorted({*range(config.lines), *config.dedicated_lines}), np.uint64)
    kind = draw(st.sampled_from(["any", "few", "scan"]))
    if kind == "scan":
        line = lines[np.arange(n) % len(lines)]
    else:
        line = rng.choice(rng.permutation(lines)[: 3 if kind == "few" else None], n)
    # An address may be any byte of the line.
    addr = line * np.uint64(LINE_BYTES) + rng.integers(0, LINE_BYTES, n, np.uint64)
    return addr, rng.random(n) < draw(st.sampled_from([0.0, 0.3, 1.0]))
