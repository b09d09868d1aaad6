# SPDX-License-Identifier: Apache-2.0
"""Predicts the slowdown at any DRAM to CXL ratio from the two endpoints, and the best ratio (§5).

x is the share of the memory that is on DRAM. A workload is latency-bound if its latency on DRAM is
that of an idle machine within the tolerance tau (§5.3); M(x') is then x' on both tiers.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from anemone.io.errors import MISSING
from anemone.io.json_file import read_json
from anemone.io.tables import Table
from anemone.models.camp import slowdown
from anemone.models.camp.counters import PLATFORMS, from_content, read
from anemone.models.camp.slowdown import Slowdown, Stalls

TAU = 0.05  # §5.3's example
MAX_WEIGHT = 255  # Linux's weighted interleave stores a weight in a byte
_STALLS = ("s_llc", "s_cache", "s_sb")
_PREDICTED = ("platform", "counters", "calibration")


@dataclass(frozen=True)
class Tier:
    """A tier's endpoint of the curve: stall cycles with all memory on it, latencies in ns."""

    stalls: Stalls
    l_idle: float
    l_full: float


@dataclass(frozen=True)
class Endpoints:
    """A workload all on DRAM and all on CXL. c: cycles of the run on DRAM; tau as in §5.3."""

    c: float
    dram: Tier
    cxl: Tier
    tau: float = TAU

    @property
    def bandwidth_bound(self) -> bool:
        return self.dram.l_full > (1 + self.tau) * self.dram.l_idle

    def load(self, tier: Tier, share: float) -> float:
        """M(x') of a tier (Eq. 9): its stall cycles at this share of the load, over those at full
        load.
        """
        if not self.bandwidth_bound or tier.l_full <= tier.l_idle:
            return share
        return share * (tier.l_idle + (tier.l_full - tier.l_idle) * share**2) / tier.l_full

    def at(self, x: float) -> Slowdown:
        """Eq. 10, for each component."""
        on_dram, on_cxl = self.load(self.dram, x), self.load(self.cxl, 1 - x)
        pairs = zip(self.dram.stalls, self.cxl.stalls, strict=True)
        return Slowdown(*((on_dram * d + on_cxl * s - d) / self.c for d, s in pairs))

    def curve(self) -> list[tuple[float, Slowdown]]:
        """(x, slowdown) for x from 0 to 1 in steps of 0.01."""
        return [(i / 100, self.at(i / 100)) for i in range(101)]

    def _slope(self, tier: Tier) -> tuple[float, float]:
        """(a, b) of the derivative a + b * x'² of a tier's stalls by its share x' (from Eq. 9)."""
        stalled = sum(tier.stalls)
        if not self.bandwidth_bound or tier.l_full <= tier.l_idle:
            return stalled, 0.0
        idle = tier.l_idle / tier.l_full
        return stalled * idle, stalled * 3 * (1 - idle)

    def best(self, rent: float = 0.0) -> float:
        """The x in [0, 1] with the least sum of Eq. 10; the largest if there are several.

        M is convex on both tiers, so the derivative a + b x² - (c + d (1 - x)²) never falls: the
        minimum is where it is 0, or at an end if it has one sign. rent: a price in cycles for
        having all memory on DRAM, for workloads that share DRAM (colocate.py).
        """
        (a, b), (c, d) = self._slope(self.dram), self._slope(self.cxl)
        if a + b - c + rent <= 0:
            return 1.0
        at_zero = a - c - d + rent
        if at_zero > 0:
            return 0.0
        # Root of (b - d) x² + 2 d x + at_zero = 0, in the form that is also valid for b = d.
        root = d + math.sqrt(max(d * d - (b - d) * at_zero, 0.0))
        return min(-at_zero / root, 1.0) if at_zero else 0.0


def weights(x: float) -> tuple[int, int] | None:
    """The weights of DRAM and CXL (1 to 255) whose DRAM share is nearest to x; None at 0 and 1.

    Of equally near ratios, the one with smaller numbers.
    """
    if x in (0.0, 1.0):
        return None
    exact = Fraction(x)
    every = range(1, MAX_WEIGHT + 1)
    # For each weight of DRAM, the best weight of CXL is next to dram * (1 - x) / x.
    candidates = []
    for dram in every:
        cxl = int(dram * (1 - exact) / exact)
        for near in (cxl, cxl + 1):
            near = min(max(near, 1), MAX_WEIGHT)
            error = abs(Fraction(dram, dram + near) - exact)
            candidates.append((error, dram + near, dram, near))
    _, _, dram, cxl = min(candidates)
    return dram, cxl


def commands(x: float, dram_node: int, cxl_node: int) -> list[str]:
    """Commands that start a program at this ratio, for Linux 6.9 and numactl 2.0.19 or newer."""
    ratio = weights(x)
    if ratio is None:
        return [f"numactl --membind={dram_node if x == 1.0 else cxl_node} PROGRAM"]
    folder = "/sys/kernel/mm/mempolicy/weighted_interleave"
    nodes = (dram_node, cxl_node)
    set_weights = [f"echo {w} > {folder}/node{n}" for w, n in zip(ratio, nodes, strict=True)]
    return [*set_weights, f"numactl --weighted-interleave={dram_node},{cxl_node} PROGRAM"]


def endpoints_of(content: dict[str, Any], file: object, folder: Path) -> Endpoints:
    """The endpoints in a JSON object. Raises InputError.

    folder: base of relative file names in the object (of counters or of a calibration).
    """
    table = Table(file, "endpoints", content)
    table.only("c", "dram", optional=("tau", "cxl", *_PREDICTED))
    c = table.real("c", minimum=0, above=True)
    tau = table.real("tau", minimum=0) if "tau" in content else TAU
    dram = _tier(_part(table, "dram"))
    cxl = table.table("cxl")
    measured = cxl is not None and any(name in cxl.content for name in _STALLS)
    if measured:
        return Endpoints(c, dram, _tier(cxl), tau)
    if dram.l_full > (1 + tau) * dram.l_idle:
        allowed = "of a run on CXL, with s_llc, s_cache and s_sb: the workload is bandwidth-bound"
        raise table.wrong("cxl", allowed)
    # Latency-bound: one run is enough (§5.3), because its counters predict the slowdown on CXL.
    for name in _PREDICTED:
        if name not in content:
            allowed = "given, where cxl has no stalls; or cxl with s_llc, s_cache and s_sb"
            raise table.wrong(name, allowed, MISSING)
    added = _predicted(table, folder)
    stalls = Stalls(*(s + part * c for s, part in zip(dram.stalls, added, strict=True)))
    if cxl is not None:
        cxl.only(optional=("l_idle", "l_full"))
        for key in cxl.content:
            cxl.real(key, minimum=0, above=True)
    return Endpoints(c, dram, Tier(stalls, 1.0, 1.0), tau)  # the CXL latencies are not used


def _part(table: Table, key: str) -> Table:
    part = table.table(key)
    if part is None:
        raise table.wrong(key, "{ s_llc, s_cache, s_sb, l_idle, l_full }")
    return part


def _tier(table: Table) -> Tier:
    table.only(*_STALLS, "l_idle", "l_full")
    stalls = Stalls(*(table.real(name, minimum=0) for name in _STALLS))
    return Tier(stalls, *(table.real(key, minimum=0, above=True) for key in ("l_idle", "l_full")))


def _predicted(table: Table, folder: Path) -> tuple[float, float, float]:
    """S_DRd, S_Cache and S_Store (§4) from the counters that the file contains or names."""
    platform = table.choice("platform", PLATFORMS)
    counters, calibration = table.content["counters"], table.content["calibration"]
    if isinstance(calibration, str):
        constants = slowdown.read_calibration(folder / calibration)
    else:
        constants = slowdown.calibration_of(_part(table, "calibration").content, table.file)
    if isinstance(counters, str):
        run = read(folder / counters, platform)
    else:
        run = from_content(_part(table, "counters").content, platform, table.file)
    found = slowdown.predict(run.total, constants, platform)
    return found.drd, found.cache, found.store


def read_endpoints(path: str | os.PathLike) -> Endpoints:
    """Read E.json. Raises InputError."""
    return endpoints_of(read_json(path), path, Path(path).parent)
