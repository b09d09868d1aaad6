# SPDX-License-Identifier: Apache-2.0
"""Random valid counters, constants and endpoints."""

from __future__ import annotations

from hypothesis import strategies as st

PLATFORMS = st.sampled_from(["skx", "spr", "emr"])
_count = st.integers(0, 10**12)
_some = st.integers(1, 10**12)


@st.composite
def counters(draw: st.DrawFn) -> dict[str, int]:
    """All 17 counters and c, with P1 >= P2 >= P3, P7 >= P8 and divisors above 0."""
    found = {f"P{i}": draw(_count) for i in range(1, 18)}
    found["P3"], found["P2"], found["P1"] = sorted(draw(_count) for _ in range(3))
    found["P8"], found["P7"] = sorted((found["P7"], found["P8"]))
    return {"c": draw(_some), **found, "P13": draw(_some), "P15": draw(_some)}


_factor = st.floats(0, 1e3, allow_subnormal=False)
calibrations = st.fixed_dictionaries(
    {
        "k_drd": _factor, "p": _factor, "q": st.floats(1e-3, 1e3),
        "k_cache": _factor, "k_store": _factor,
    }
)  # fmt: skip

_stalls = st.one_of(st.just(0.0), st.floats(1, 1e10))
_latency = st.floats(10, 5000)
_tier = st.fixed_dictionaries(
    {"s_llc": _stalls, "s_cache": _stalls, "s_sb": _stalls, "l_idle": _latency, "l_full": _latency}
)
endpoints = st.fixed_dictionaries(
    {
        "c": st.floats(1e6, 1e12),
        "tau": st.sampled_from([0.0, 0.05, 0.5]),
        "dram": _tier,
        "cxl": _tier,
    }
)
