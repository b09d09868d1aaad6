# SPDX-License-Identifier: Apache-2.0
"""How much of a program each category is (§IV-B): Eq. 3, Eq. 4 and footnote 17."""

from __future__ import annotations

from anemone.models.msgfree.parameters import Parameters
from anemone.models.msgfree.site import Metrics

Weights = dict[str, float]  # by category; they sum to 1


def between(value: float, lower: float, upper: float) -> float:
    """Eq. 3: 0 up to the lower threshold, 1 from the upper one on, a square between."""
    if value <= lower:
        return 0.0
    if value >= upper:
        return 1.0
    return ((value - lower) / (upper - lower)) ** 2


def normalised(weights: Weights, compute_max: float) -> Weights:
    """Footnote 17: what is left of 1 is Compute up to its maximum, and then equally the others';
    more than 1 in all is scaled down.
    """
    total = sum(weights.values())
    if total >= 1:
        return {**{name: weight / total for name, weight in weights.items()}, "Compute": 0.0}
    compute = min(1 - total, compute_max)
    more = (1 - total - compute) / len(weights)
    return {**{name: weight + more for name, weight in weights.items()}, "Compute": compute}


def weights(metrics: Metrics, by: Parameters) -> tuple[Weights, Weights]:
    """Those of first loads, and those of later ones (§IV-B2)."""
    mbw = between(metrics.mem_gb_per_s / by.peak_mem_gb_per_s, by.mbw_thr_l, by.mbw_thr_u)
    mlat = max(0.0, between(metrics.l3_miss_share, by.mlat_thr_l, by.mlat_thr_u) - mbw)
    cbw = max(
        between(metrics.l1_gb_per_s / by.peak_l1_gb_per_s, by.cbw_thr_l, by.cbw_thr_u),
        between(metrics.l2_gb_per_s / by.peak_l2_gb_per_s, by.cbw_thr_l, by.cbw_thr_u),
    )
    clat = between(metrics.l2_load_share, by.clat_thr_l, by.clat_thr_u)
    memory = {"MBW": mbw, "MLAT": mlat}
    caches = {"CBW": cbw, "CLAT": max(0.0, clat - (mbw + mlat + cbw))}
    return (
        normalised(memory, by.compute_max_weight),
        normalised(memory | caches, by.compute_max_weight),
    )
