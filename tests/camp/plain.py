# SPDX-License-Identifier: Apache-2.0
"""A second implementation of CAMP's equations in exact fractions, for comparison."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction as F


def slowdown(n: Mapping[str, float], k: Mapping[str, float], platform: str) -> list[F]:
    """S_DRd, S_Cache, S_Store: the final model of §4.4.3."""
    p = {name: F(value) for name, value in n.items()}
    k = {name: F(value) for name, value in k.items()}
    drd = k["k_drd"] * (p["P3"] / p["c"]) * (1 / (k["p"] * (p["P12"] / p["P13"]) + k["q"]))
    lfb = F(0) if p["P4"] + p["P5"] == 0 else p["P5"] / (p["P4"] + p["P5"])
    if platform == "skx":
        memory = F(0) if p["P7"] == 0 else (p["P7"] - p["P8"]) / p["P7"]
        cache = k["k_cache"] * ((p["P1"] - p["P2"]) / p["c"]) * lfb * memory
    else:
        seen = p["P16"] + p["P17"]
        memory = F(0) if seen == 0 else (p["P14"] / p["P15"]) * (p["P16"] / seen)
        cache = k["k_cache"] * ((p["P2"] - p["P3"]) / p["c"]) * lfb * memory
    return [drd, cache, k["k_store"] * (p["P6"] / p["c"])]


def latency(tier: Mapping[str, float], share: F) -> F:
    """Eq. 8."""
    idle, full = F(tier["l_idle"]), max(F(tier["l_full"]), F(tier["l_idle"]))
    return idle + (full - idle) * share**2


def load(tier: Mapping[str, float], share: F, bandwidth_bound: bool) -> F:
    """Eq. 9."""
    if not bandwidth_bound:
        return share
    return share * latency(tier, share) / latency(tier, F(1))


def interleaved(e: Mapping, x: float) -> list[F]:
    """Eq. 10, by component."""
    x, dram, cxl = F(x), e["dram"], e["cxl"]
    bound = dram["l_full"] > (1 + e["tau"]) * dram["l_idle"]
    return [
        (
            load(dram, x, bound) * F(dram[s])
            + load(cxl, 1 - x, bound) * F(cxl[s])
            - F(dram[s])
        )
        / F(e["c"])
        for s in ("s_llc", "s_cache", "s_sb")
    ]  # fmt: skip
