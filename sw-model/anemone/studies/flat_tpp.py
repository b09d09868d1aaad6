# SPDX-License-Identifier: Apache-2.0
"""Flat memory mode compared with software tiering like TPP's (Memstrata's Figure 11)."""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np

from anemone.memstrata.loop import COPY_GB_PER_S
from anemone.models.core import Kernel, Memory, Placed, machine, parts_of, simulate
from anemone.studies.camp_workloads import programs_of
from anemone.studies.curves import curves
from anemone.studies.flat_slowdown import NOTE as WORKLOADS
from anemone.studies.flat_slowdown import STUDY as FLAT
from anemone.studies.flat_slowdown import compared
from anemone.studies.flat_workloads import PROGRAM, SCALE
from anemone.studies.memstrata_pages import FLUSH_NS
from anemone.studies.profiles import (
    CORES,
    FAR,
    LOCAL,
    LOCAL_ONLY,
    PAGE_BITS,
    PLATFORM,
    PROGRAMS,
    TIERED,
    profile,
    slowdown,
)
from anemone.studies.study import Found, Point, Row, Study
from anemone.tiering.parameters import constants

_NEAR = 0.5  # near share of the machine's memory, as with flat memory (Figure 11)
_HEADROOM = 0.02  # share of local memory that TPP keeps free (policies/linux.py)
_PAGE = 4096  # TPP runs in the guest (§6.1)
_FAULTS = constants("faults")
# Linux: numa_balancing scans scan_size_mb at most every 100 ms (MAX_SCAN_WINDOW, 2560 MB/s).
_SCAN_BYTES = _FAULTS["scan_mib"] * (1 << 20) / 0.1
_SLOW = (5.0, 50.0)  # %
NOTE = f"""**How it is done.**

- *Software tiering*: half of a machine's memory is local. What is used and fits there, less
  {100 * _HEADROOM:g} %, is there: TPP's target. Of what does not fit each page is as likely local:
  pages of an array are alike, and TPP does not know which array is hotter than another.
- *Faults*: a scan makes all far pages fault, {_SCAN_BYTES / 1e9:.2f} GB/s at most, which is Linux's
  limit. A page that was walked for in two scans is promoted, another one demoted for it.
- *Costs*: {_FAULTS["fault_ns"]:g} ns a fault; a promotion copies two pages at
  {COPY_GB_PER_S:g} GB/s, and both are flushed, {FLUSH_NS:g} ns each (assumptions). The core that
  faulted waits for fault and flushes; the others go on, and what a flush interrupts there is not
  counted. Copies are kswapd's: one core.
- Pages are of {_PAGE >> 10} KiB, as in the guest (§6.1); scans are of the machine in full size, of
  which this is a {SCALE}th.
- *Flat memory*: the study `flat-slowdown`, tiered; the same workloads without captured programs."""


class FlatTpp(Study):
    title = "Flat memory mode against software tiering like TPP's"
    about = (
        "Each workload alone in its machine, half of whose memory is local: tiered by hardware, "
        "line by line, or by software like TPP's, page by page (Memstrata §6.1, Figure 11)."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        return [w for w in FLAT.points(quick, seed) if w["category"] != PROGRAM]

    def run(self, point: Point) -> dict[str, Any]:
        local, tiered = profile(point, [LOCAL_ONLY, TIERED])
        used = point["filled"]
        share = min(1.0, _NEAR * (1 - _HEADROOM) / used)
        seconds, walks = placed(point, share)
        still = seconds / local["seconds"] - 1
        faults, promoted = moves(point["vm_bytes"] * SCALE, used, share, walks)
        costs = overhead(faults, promoted, point["cores"])
        return {
            "flat": slowdown(tiered, local), "placed": still, "fits": share == 1.0,
            "tpp": (1 + still) * (1 + costs) - 1, "promoted": promoted / (1 + costs) * _PAGE / 1e9,
            "core": promoted / (1 + costs) * 2 * _PAGE / (COPY_GB_PER_S * 1e9),
        }  # fmt: skip

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        return judge(answers)


def placed(workload: Point, share: float) -> tuple[float, float]:
    """(seconds, page walks per second) with this share of the used pages in local memory."""
    programs = programs_of(workload, PROGRAMS)
    kernels = [p for p in programs if isinstance(p, Kernel)]
    base = machine(PLATFORM)
    l3 = int(base.sizes["l3_kib"]) // CORES * workload["cores"]
    on = base.with_(page_bits=PAGE_BITS, l3_kib=l3)
    parts = tuple(Placed(a, b, share, 1.0) for core in parts_of(on, kernels) for a, b in core)
    memory = Memory(LOCAL, FAR, fast_share=1.0, parts=parts)
    each = [workload[key] // workload["cores"] for key in ("operations", "warm")]
    run = simulate(on, memory, programs, *each)
    return run.seconds, sum(p.walks for p in run.parts) / run.seconds


def moves(vm_bytes: float, used: float, share: float, walks: float) -> tuple[float, float]:
    """(faults, promoted pages) per second of a program that always runs.

    walks: page walks per second, spread evenly over used pages. A walk of a page of the core model
    counts for one of the guest's pages in it.
    """
    if share == 1.0:
        return 0.0, 0.0
    pages = used * vm_bytes / _PAGE
    scan = vm_bytes / _SCAN_BYTES  # seconds
    touched = 1 - exp(-walks / pages * scan)
    far = pages * (1 - share)
    return far * touched / scan, far * touched * touched / scan


def overhead(faults: float, promoted: float, cores: int) -> float:
    """The added share of a core's time. Faults and promotions are of the machine, and each stops
    only the core that faulted."""
    return (faults * _FAULTS["fault_ns"] + 2 * promoted * FLUSH_NS) / 1e9 / cores


def judge(answers: list[tuple[Point, dict[str, Any]]]) -> Found:
    """Evaluate the points' answers."""
    of = {name: np.array([100 * a[name] for _, a in answers]) for name in ("flat", "tpp", "placed")}
    above = {(n, s): float(100 * np.mean(some > s)) for n, some in of.items() for s in _SLOW}
    rows = [
        compared("TPP-like: above 50 %", "%", 17.0, above["tpp", 50.0]),
        Row("TPP-like: above 5 %", "%", None, above["tpp", 5.0]),
        Row("TPP-like, moves for nothing: above 50 %", "%", None, above["placed", 50.0]),
        compared("flat memory: above 50 %", "%", 0.0, above["flat", 50.0]),
        compared("flat memory: above 5 %", "%", 27.0, above["flat", 5.0]),
        Row("workloads that fit in local memory", "%", None,
            float(100 * np.mean([a["fits"] for _, a in answers]))),
        Row("TPP-like: promoted, at most", "GB/s", 22.0,
            max(a["promoted"] for _, a in answers), "scans here are Linux's limit"),
        Row("TPP-like: copies, of a core, at most", "%", 100.0,
            100 * max(a["core"] for _, a in answers), "the paper's core also scans and demotes"),
    ]  # fmt: skip
    each = (100 * np.arange(1, len(answers) + 1) / len(answers)).tolist()
    names = {"flat": "flat memory", "tpp": "TPP-like"}
    lines = {words: (np.sort(of[n]).tolist(), each) for n, words in names.items()}
    picture = curves(
        "Workloads that are slowed by so much at most, half of memory local", lines,
        "slowdown over local memory, %", "workloads, %",
    )  # fmt: skip
    constants_ = {"local": f"{100 * _NEAR:g} %", "scan": f"{_SCAN_BYTES / 1e9:.2f} GB/s"}
    return Found(rows, {"slowdown": picture}, [NOTE, WORKLOADS], constants_)


STUDY = FlatTpp()
