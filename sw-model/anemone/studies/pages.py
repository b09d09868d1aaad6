# SPDX-License-Identifier: Apache-2.0
"""A workload's arrays on flat memory, each with a share of dedicated pages of its own, and rules
that choose these shares: by hotness, and by misses of near memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from anemone.models.core import Kernel, Memory, Placed, Run, machine, parts_of, simulate
from anemone.studies.camp_workloads import programs_of
from anemone.studies.profiles import (
    CORES,
    FAR,
    LOCAL,
    LOCAL_ONLY,
    PAGE_BITS,
    PLATFORM,
    PROGRAMS,
    near_lines,
    profile,
)

_COLD, _HOT = 1.0, 20.0  # §4.3: cold is 0, here less than one on average


@dataclass(frozen=True)
class Part:
    """An array. pages: its size; share: of its pages that are dedicated; asked, missed, walks:
    memory requests, near misses and page walks per second.
    """

    pages: float
    share: float
    asked: float
    missed: float
    walks: float

    @property
    def would_miss(self) -> float:
        """Misses per second of a page if it is not dedicated. If all pages are dedicated, a miss
        ratio of one half is assumed.
        """
        tiered = self.asked * (1 - self.share)
        ratio = min(1.0, self.missed / tiered) if tiered > 0 else 0.5
        return self.asked * ratio / self.pages


@dataclass(frozen=True)
class Pages:
    """A machine. pages: its size; dedicated: its dedicated pages. Pages outside the parts are
    unused.
    """

    pages: float
    dedicated: float
    parts: tuple[Part, ...]
    seconds: float

    @property
    def unused(self) -> float:
        """Share of the pages that is unused."""
        return max(0.0, 1 - sum(p.pages for p in self.parts) / self.pages)

    def slowdown(self, local: float) -> float:
        return self.seconds / local - 1


@dataclass(frozen=True)
class Chosen:
    """shares: dedicated share of each part. moved: pages that must be exchanged for it."""

    shares: tuple[float, ...]
    moved: float


def counted(
    workload: dict[str, Any], share: float, chosen: Chosen | None = None
) -> tuple[Pages, float]:
    """Run with this share of dedicated pages, random or as chosen: (the run, seconds on local
    memory).
    """
    programs = programs_of(workload, PROGRAMS)
    kernels = [p for p in programs if isinstance(p, Kernel)]
    base = machine(PLATFORM)
    l3 = int(base.sizes["l3_kib"]) // CORES * workload["cores"]
    on = base.with_(page_bits=PAGE_BITS, l3_kib=l3)
    ranges = [each for core in parts_of(on, kernels) for each in core]
    shares = chosen.shares if chosen else (share,) * len(ranges)
    pages = workload["vm_bytes"] >> PAGE_BITS
    sizes = [(end - first) / (1 << PAGE_BITS) for first, end in ranges]
    tiered = sum(n * (1 - s) for n, s in zip(sizes, shares, strict=True))
    # The share of the tiered pages that is in use; 0 would select the state after reset.
    filled = min(1.0, max(1e-6, tiered / (pages * (1 - share))))
    memory = Memory(
        LOCAL, FAR, near_lines=near_lines(workload["vm_bytes"], share), dedicated=share,
        filled=filled, parts=tuple(
            Placed(a, b, s, filled) for (a, b), s in zip(ranges, shares, strict=True)
        ),
    )  # fmt: skip
    each = [workload[key] // workload["cores"] for key in ("operations", "warm")]
    run = simulate(on, memory, programs, *each)
    (local,) = profile(workload, [LOCAL_ONLY])
    return Pages(pages, share * pages, _parts(run, sizes, shares), run.seconds), local["seconds"]


def _parts(run: Run, sizes: Sequence[float], shares: Sequence[float]) -> tuple[Part, ...]:
    return tuple(
        Part(n, s, p.asked / run.seconds, p.missed / run.seconds, p.walks / run.seconds)
        for n, s, p in zip(sizes, shares, run.parts, strict=True)
    )


def by_hotness(pages: Pages, looks: Callable[[float], float]) -> Chosen:
    """Dedicated pages of cold parts and of unused memory go to hot parts, in equal shares.

    looks: how often a scan finds a page accessed, by its page walks per second.
    """
    seen = [looks(p.walks / p.pages) for p in pages.parts]
    cold = [s < _COLD for s in seen]
    hot = [s > _HOT for s in seen]
    used = sum(p.share * p.pages for p in pages.parts)
    spare = max(0.0, pages.dedicated - used)
    spare += sum(p.share * p.pages for p, is_cold in zip(pages.parts, cold, strict=True) if is_cold)
    hot_tiered = sum(
        (1 - p.share) * p.pages for p, is_hot in zip(pages.parts, hot, strict=True) if is_hot
    )
    part = min(1.0, spare / hot_tiered) if hot_tiered else 0.0
    shares = [
        p.share + (1 - p.share) * part if is_hot else 0.0 if is_cold and hot_tiered else p.share
        for p, is_hot, is_cold in zip(pages.parts, hot, cold, strict=True)
    ]
    return _chosen(pages, shares)


def by_misses(pages: Pages) -> Chosen:
    """Dedicated pages go to the parts that would miss most, part by part."""
    order = sorted(range(len(pages.parts)), key=lambda i: -pages.parts[i].would_miss)
    left, shares = pages.dedicated, [0.0] * len(pages.parts)
    for i in order:
        shares[i] = min(1.0, left / pages.parts[i].pages)
        left -= shares[i] * pages.parts[i].pages
    return _chosen(pages, shares)


def _chosen(pages: Pages, shares: Sequence[float]) -> Chosen:
    more = [max(0.0, s - p.share) * p.pages for s, p in zip(shares, pages.parts, strict=True)]
    return Chosen(tuple(shares), sum(more))
