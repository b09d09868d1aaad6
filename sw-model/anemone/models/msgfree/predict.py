# SPDX-License-Identifier: Apache-2.0
"""What each call site of a recorded run costs as messages and as loads from CXL memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from anemone.io.errors import Bare, InputError
from anemone.models.msgfree.folder import CANCELLED, FAILED, FREED, KINDS, NOT_RECEIVED, Rank
from anemone.models.msgfree.layout import LINE_BYTES, lines, united
from anemone.models.msgfree.loads import Loads, attribute
from anemone.models.msgfree.model import FINITE, NotFinite, Verdict, evaluate
from anemone.models.msgfree.parameters import Parameters
from anemone.models.msgfree.places import Place, places
from anemone.models.msgfree.site import Metrics, Site

_Chosen = tuple[int, "_Chosen"] | None
_NO_LOADS = Loads(1.0, Metrics(0.0, 0.0, 0.0, 0.0, 0.0), {})


@dataclass
class CallSite:
    """A line of the program that receives, over all ranks.

    messages: sizes, bytes. elements: of basic datatypes in them. loads_per_element: as evaluate
    takes it. line_bytes: the messages', or of
    the cache lines that data with gaps touch. buffer_bytes: distinct bytes of data in all its
    buffers, which CXL memory would have to hold. not_received: how many were cancelled, freed or
    failed, and are not modelled.
    """

    place: Place
    kinds: Counter[str] = field(default_factory=Counter)
    messages: list[int] = field(default_factory=list)
    ranks: set[str] = field(default_factory=set)
    buffer_bytes: int = 0
    not_received: Counter[str] = field(default_factory=Counter)
    samples: list[tuple[float, str]] = field(default_factory=list)
    elements: int = 0
    loads_per_element: float = 1.0
    line_bytes: int = 0
    unpack: bool = False
    verdict: Verdict | None = None
    take: bool = False

    @property
    def gain_ns(self) -> float:
        assert self.verdict is not None
        return self.verdict.gain_ns

    @property
    def use(self) -> str:
        """What to do: CXL, MPI, or full: CXL where there were room."""
        return "CXL" if self.take else "full" if self.gain_ns > 0 else "MPI"


def predict(
    ranks: Sequence[Rank],
    by: Parameters,
    unpack: Collection[str] = (),
    capacity: int | None = None,
    loads: Loads | None = None,
) -> list[CallSite]:
    """The call sites, that of the highest gain first.

    unpack: places ("cg.c:70") whose data are copied out of CXL memory at their first load.
    capacity: bytes of CXL memory; what to take is then the choice of the highest gain that fits.
    Raises InputError where a place is not in the program.
    """
    sites = _collect(ranks, loads)
    names = {str(site.place) for site in sites}
    for name in unpack:
        if name not in names:
            allowed = "a call site of the run: " + ", ".join(sorted(names))
            raise InputError("command line", "call site", "--unpack", name, allowed)
    for site in sites:
        site.unpack = str(site.place) in unpack
        asked = model_site(site, loads)
        site.loads_per_element = asked.loads_per_element
        try:
            site.verdict = evaluate(asked, by)
        except NotFinite as e:
            raise InputError(site.place, "call site", "gain_ns", Bare(str(e)), FINITE) from e
    worth = [site for site in sites if site.gain_ns > 0]
    for site in worth if capacity is None else knapsack(worth, capacity):
        site.take = True
    return sorted(sites, key=lambda site: -site.gain_ns)


def model_site(site: CallSite, loads: Loads | None) -> Site:
    """For evaluate. Loads of an element: those that the samples stand for by the elements.

    An element's bytes are what it has of cache lines: that is what footnote 20 asks, of whose lines
    each has one load that is no demand hit.
    """
    loads = loads or _NO_LOADS
    stood_for = len(site.samples) * loads.rate
    return Site(
        tuple(site.messages), tuple(site.samples), loads.rate,
        max(1.0, stood_for / site.elements) if site.elements else 1.0,
        site.line_bytes / site.elements if site.line_bytes else 1.0, site.unpack, loads.metrics,
    )  # fmt: skip


def _collect(ranks: Sequence[Rank], loads: Loads | None) -> list[CallSite]:
    place_of = places(site for rank in ranks for site in rank.sites.values())
    found: dict[Place, CallSite] = {}
    for rank in ranks:
        by_place: dict[Place, list[int]] = {}
        for address in np.unique(rank.records["site"]).tolist():
            by_place.setdefault(place_of[rank.sites[address]], []).append(address)
        here = {}
        for place, addresses in by_place.items():
            site = found.setdefault(place, CallSite(place))
            records = rank.records[np.isin(rank.records["site"], addresses)]
            _add(site, rank, records)
            here |= dict.fromkeys(addresses, site)
        if loads:
            for address, sample in attribute(rank, loads):
                here[address].samples.append(sample)
    return list(found.values())


def _add(site: CallSite, rank: Rank, records: np.ndarray) -> None:
    """One rank's receives."""
    kinds, counts = np.unique(records["kind"], return_counts=True)
    site.kinds.update({KINDS[kind]: int(n) for kind, n in zip(kinds, counts, strict=True)})
    for name, flag in (("cancelled", CANCELLED), ("freed", FREED), ("failed", FAILED)):
        if count := int(np.count_nonzero(records["flags"] & flag)):
            site.not_received[name] += count
    received = records[(records["flags"] & NOT_RECEIVED) == 0]
    if len(received):
        site.ranks.add(rank.name)
        site.messages += received["bytes"].tolist()
        site.elements += int(received["elements"].sum())
        site.line_bytes += _line_bytes(rank, received)
        fields = ["buffer", "posted", "type"]
        buffers = [rank.runs(buffer, posted, posted, layout)
                   for buffer, posted, layout in np.unique(received[fields]).tolist()]  # fmt: skip
        begins, ends = (np.concatenate(some) for some in zip(*buffers, strict=True))
        site.buffer_bytes += covered(begins, ends - begins)


def _line_bytes(rank: Rank, received: np.ndarray) -> int:
    """Bytes received, and where data have gaps, of all lines that they touch."""
    strided = received[received["type"] > 0]
    fields = ["buffer", "posted", "bytes", "type"]
    found, counts = np.unique(strided[fields], return_counts=True)
    touched = sum(
        count * lines(rank.runs(*of), 0)
        for of, count in zip(found.tolist(), counts.tolist(), strict=True)
    )
    return int(received["bytes"][received["type"] == 0].sum()) + LINE_BYTES * touched


def covered(starts: np.ndarray, lengths: np.ndarray) -> int:
    """Distinct bytes of ranges that may overlap."""
    begins, ends = united(starts, lengths)
    return int((ends - begins).sum())


def knapsack(sites: Sequence[CallSite], capacity: int) -> list[CallSite]:
    """The sites of the highest gain in all whose buffers fit. Exact."""
    return [sites[i] for i in frontier(sites, capacity)[-1][2]]


def frontier(
    sites: Sequence[CallSite], capacity: float = inf
) -> list[tuple[int, float, tuple[int, ...]]]:
    """Choices of sites that no smaller one is as good as, the smallest first: bytes, gain in ns,
    and which.

    Of each set of the sites so far only such choices stay. A choice is its last site and the choice
    before that: a copy of all its sites for each would take minutes for thousands of sites.
    """
    best: list[tuple[int, float, _Chosen]] = [(0, 0.0, None)]
    for i, site in enumerate(sites):
        more = [(size + site.buffer_bytes, gain + site.gain_ns, (i, chosen))
                for size, gain, chosen in best]  # fmt: skip
        merged = sorted(best + more, key=lambda one: (one[0], -one[1]))
        best = []
        for one in merged:
            if one[0] <= capacity and (not best or one[1] > best[-1][1]):
                best.append(one)
    return [(size, gain, _sites_of(chosen)) for size, gain, chosen in best]


def _sites_of(chosen: _Chosen) -> tuple[int, ...]:
    sites = []
    while chosen is not None:
        site, chosen = chosen
        sites.append(site)
    return tuple(reversed(sites))
