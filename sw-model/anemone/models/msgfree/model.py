# SPDX-License-Identifier: Apache-2.0
"""What a receive costs as a message and as loads from CXL memory: Eq. 1, 2 and 5 to 10."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, isfinite

from anemone.models.msgfree.layout import LINE_BYTES
from anemone.models.msgfree.parameters import Parameters
from anemone.models.msgfree.site import HITS, Site
from anemone.models.msgfree.weights import Weights, weights

FINITE = "costs by these parameters that are finite numbers of ns"


class NotFinite(ValueError):
    """A cost is past the largest number."""


@dataclass(frozen=True)
class Cost:
    """Of all messages of a call site, ns."""

    mpi_ns: float
    cxl_ns: float


@dataclass(frozen=True)
class Verdict:
    """A call site's answer. gain_ns: what CXL saves, below 0 where the message is better."""

    first: Weights
    later: Weights
    transfer: Cost
    access: Cost

    @property
    def gain_ns(self) -> float:
        return fsum(
            (self.transfer.mpi_ns, self.access.mpi_ns, -self.transfer.cxl_ns, -self.access.cxl_ns)
        )


@dataclass(frozen=True)
class _Loads:
    """Sums over a site's samples, from which each category's equation is made.

    hit, lfb, mem: latencies in ns. hits, lfbs, mems: how many. lfb_over, mem_over: what their
    latencies are above MEM_LAT, each at least 0. prefetched: share of the hits (footnote 20).
    """

    hit: float
    lfb: float
    mem: float
    hits: int
    lfbs: int
    mems: int
    lfb_over: float
    mem_over: float
    prefetched: float

    @staticmethod
    def of(site: Site, mem_lat: float) -> _Loads:
        hit = [latency for latency, source in site.samples if source in HITS]
        lfb = [latency for latency, source in site.samples if source == "LFB"]
        mem = [latency for latency, source in site.samples if source == "MEM"]
        share = len(hit) / len(site.samples) if site.samples else 0.0
        demand = max(0.0, 1 - site.element_bytes / LINE_BYTES)
        return _Loads(
            fsum(hit), fsum(lfb), fsum(mem), len(hit), len(lfb), len(mem),
            fsum(max(0.0, latency - mem_lat) for latency in lfb),
            fsum(max(0.0, latency - mem_lat) for latency in mem),
            max(0.0, share - demand) / share if hit else 0.0,
        )  # fmt: skip


def _on_cxl(loads: _Loads, by: Parameters) -> dict[str, float]:
    """The sums in the brackets of Eq. 6 to 10, ns.

    max(CXL_LAT, lat + CXL_LAT - MEM_LAT) is CXL_LAT and what lat is above MEM_LAT.
    """
    more = by.cxl_lat - by.mem_lat
    hits = loads.hit + loads.prefetched * loads.hits * more
    slow_lfb = loads.lfbs * by.cxl_lat + loads.lfb_over
    slow_mem = loads.mems * by.cxl_lat + loads.mem_over
    return {
        "MLAT": loads.hit + loads.lfb + loads.lfbs * more + loads.mems * by.cxl_lat,
        "MBW": hits + slow_lfb + slow_mem,
        "CBW": hits + loads.lfb + slow_mem,
        "CLAT": loads.hit + loads.lfb + loads.mems * by.cxl_lat,
        "Compute": loads.hit + loads.lfb + loads.lfbs * more / 2 + loads.mems * by.cxl_lat,
    }


def evaluate(site: Site, by: Parameters) -> Verdict:
    """Whether this receive would be better as loads from CXL memory. Raises NotFinite."""
    try:
        found = _evaluate(site, by)
        if isfinite(found.gain_ns):
            return found
    except (OverflowError, ValueError):  # of fsum
        pass
    raise NotFinite("not finite")


def _evaluate(site: Site, by: Parameters) -> Verdict:
    first, later = weights(site.metrics, by)
    loads = _Loads.of(site, by.mem_lat)
    on_cxl = _on_cxl(loads, by)
    on_ddr = dict.fromkeys(on_cxl, loads.hit + loads.lfb + loads.mem)
    once = 1 / site.loads_per_element

    def access(of_first: dict[str, float], of_later: dict[str, float]) -> float:
        """Loads that are first and those that are not, each by its categories' weights."""
        parts = ((once, first, of_first), (1 - once, later, of_later))
        return site.rate * fsum(
            share * weight * sums[name] / _at_a_time(name, by)
            for share, weighted, sums in parts
            for name, weight in weighted.items()
        )

    return Verdict(
        first,
        later,
        Cost(
            fsum(by.mpi_lat + size / by.mpi_bw for size in site.messages),
            len(site.messages) * 2 * by.cxl_atomic_lat,
        ),
        Cost(access(on_ddr, on_ddr), access(on_cxl, on_ddr if site.unpack else on_cxl)),
    )


def _at_a_time(category: str, by: Parameters) -> float:
    """The load parallelization factor."""
    return by.lpf_lat if category in ("MLAT", "CLAT") else by.lpf_bw
