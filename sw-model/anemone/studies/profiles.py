# SPDX-License-Identifier: Apache-2.0
"""Profiles of workload phases on the core model in each memory place, for Memstrata's studies.

A place is local memory alone, far memory alone, or flat memory with a share of dedicated near
memory; and a share of both memories' bandwidth. Each combination is simulated once and its result
is kept, so that 300 s of six machines are computed from profiles and an interrupted run continues.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from anemone.models.core import Memory, Run, Tier, machine, simulate, tier
from anemone.studies.camp_workloads import programs_of
from anemone.studies.study import Point, keep, kept_at, read_kept

FOLDER = Path("build/studies/profiles")
PROGRAMS = Path("build/studies/programs")  # shared with CAMP's study
PLATFORM = "spr"
LOCAL = tier(PLATFORM)
# §6: 200 to 220 % of the local latency; three cards of 50 GB/s.
FAR = Tier(2.1 * LOCAL.ns, 3 * 50)
PAGE_BITS = 15  # 2 MiB by flat_workloads.SCALE
CORES = 32  # of the platform (CAMP, Table 3); a machine gets the part of the L3 of its cores
_PAGE_LINES = 64  # lines of a page of flat memory


@dataclass(frozen=True)
class Place:
    """The memory of a workload's data.

    dedicated: share of flat memory that is dedicated; 1 is local memory alone, None is far memory
    alone. bandwidth: the workload's share of each memory's bandwidth.
    """

    dedicated: float | None
    bandwidth: float = 1.0


LOCAL_ONLY, FAR_ONLY, TIERED, MIXED = Place(1.0), Place(None), Place(0.0), Place(0.33)  # §3.2


def profile(
    workload: Point, places: Sequence[Place], folder: Path | None = None
) -> list[dict[str, float]]:
    """The result of a workload in each place; results that are kept in `folder` are reused."""
    folder = folder or FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for place in places:
        path = kept_at(folder, __name__, {**workload, **asdict(place)})
        if not path.exists():
            keep(path, measured(_run(workload, place)))
        found.append(read_kept(path))
    return found


def slowdown(there: dict[str, float], local: dict[str, float]) -> float:
    """Slowdown in a place, relative to local memory with the same share of bandwidth."""
    return there["seconds"] / local["seconds"] - 1


def _run(workload: Point, place: Place) -> Run:
    cores = workload["cores"]
    base = machine(PLATFORM)
    l3 = int(base.sizes["l3_kib"]) // CORES * cores
    on = base.with_(page_bits=PAGE_BITS, l3_kib=l3)
    near, far = (Tier(t.ns, t.gb_per_s * place.bandwidth) for t in (LOCAL, FAR))
    if place.dedicated in (None, 1.0):
        memory = Memory(near, far, fast_share=place.dedicated or 0.0)
    else:
        memory = Memory(
            near, far, near_lines=near_lines(workload["vm_bytes"], place.dedicated),
            dedicated=place.dedicated, filled=workload["filled"],
        )  # fmt: skip
    each = [workload[key] // cores for key in ("operations", "warm")]
    return simulate(on, memory, programs_of(workload, PROGRAMS), *each)


def near_lines(vm_bytes: int, dedicated: float) -> int:
    """Half of the lines that are not dedicated (1:1, §3.1), rounded down to whole pages."""
    return int(vm_bytes * (1 - dedicated)) // (2 * 64 * _PAGE_LINES) * _PAGE_LINES


def measured(run: Run) -> dict[str, float]:
    """The values of a run that are kept. perf can measure _ns, mpki and requests on a machine.

    requests: lines requested from memory. miss_ratio: the share of these that was not in near
    memory, which cores cannot count; with far memory alone it is 1.
    """
    counters = run.counters
    kilo = counters["instructions"] / 1000
    flat = run.near_hits + run.near_misses + run.dedicated
    lines = [(r + w) * 1e9 / 64 for r, w in zip(run.read_gb, run.written_gb, strict=True)]
    asked, missed = (
        (flat, run.near_misses) if run.near_hits + run.near_misses else (sum(lines), lines[1])
    )
    return {
        "seconds": run.seconds,
        "instructions": counters["instructions"],
        "l3_ns": run.mean_ns("l3_miss"),
        "l2_ns": run.mean_ns("l2_miss"),
        "tlb_ns": run.mean_ns("tlb_miss"),
        "l2_mpki": counters["l2_miss"] / kilo,
        "requests": asked / kilo,
        "miss_ratio": missed / asked if asked else 0.0,
        "gb_per_s": run.gb_per_s,
        "far_gb_per_s": lines[1] * 64 / 1e9 / run.seconds,
    }
