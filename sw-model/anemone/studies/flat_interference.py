# SPDX-License-Identifier: Apache-2.0
"""A machine next to one that scans its memory, with shared or separate near lines and L3
(Memstrata's Figures 6 and 7)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from anemone.memstrata.colouring import Layout, PageAllocator
from anemone.models.core import Kernel, Memory, Owned, Placed, machine, parts_of, simulate
from anemone.studies.camp_workloads import COPY_BITS, programs_of
from anemone.studies.curves import curves
from anemone.studies.flat_slowdown import NOTE as WORKLOADS
from anemone.studies.flat_slowdown import STUDY as FLAT
from anemone.studies.flat_slowdown import compared
from anemone.studies.flat_workloads import PROGRAM, SIZES, of_each
from anemone.studies.profiles import CORES, FAR, LOCAL, PAGE_BITS, PLATFORM, PROGRAMS
from anemone.studies.study import Found, Point, Row, Study

_EACH = 3  # workloads of a category; the paper also has a sample, without its size
_SMALLER = 2  # a quick run's machines are smaller by this factor
THREADS = 6  # the neighbour's threads (§3.3)
_FILLED = 0.98  # the neighbour's data in its memory; the rest is page tables and parts of pages
_SCAN_GB_PER_S = 30.0  # least bandwidth of the neighbour
_COUNTED = 0.5  # counted cycles, as a share of those before them
FLAT_PAGE = 12  # page bits of the core model's flat memory
# Setting -> whether the machines share near lines; the L3.
SETTINGS = {
    "nothing": (False, False), "L3": (False, True), "near memory": (True, False),
    "both": (True, True),
}  # fmt: skip
_ABOVE, _SLOWED, _WORST, _ALL = 10.0, 73.0, 480.0, 100.0  # %, §3.3
_P95 = "the paper's is the p95 latency of Redis, here is the time of all operations"
_TOUCHED = "a captured program's run touches less than it has"
NOTE = f"""**How it is done.**

- *Two machines of the same size* on one core model: a workload, and a neighbour whose {THREADS}
  threads read its memory from end to end, again and again (MLC's part). Both are on flat memory
  alone, half near, nothing dedicated.
- *Isolated*: each has colours of its own, of `anemone.memstrata.colouring`. *Conflicting*: each
  page of one shares near lines with a page of the other, the worst case, as in the paper.
- *L3*: as many parts as twice the machine's cores; shared by all, or a half for each machine.
- *What is counted* begins when the neighbour has read all of its memory at least once. So what is
  near is what such a neighbour leaves, and no assumption on what ran before. Slowdown is of the
  time of an operation of the workload: of Figure 6 conflicting over isolated with the L3 shared, of
  Figure 7 over neither shared, captured programs among them.
- *Captured programs*, one copy each, are told apart. Their operations are repeated until the run
  ends, so what a run touches is all that competes with the neighbour: less than such a program has.
- *Bandwidth* is shared in all settings, and not saturated, as in the paper (§3.3); the table has
  the most that was used."""


class FlatInterference(Study):
    title = "Flat memory mode: interference between machines"
    about = (
        "A virtual machine beside a neighbour that scans its memory, on the core model: near lines "
        "shared or isolated by page colouring, the L3 shared or divided (Memstrata §3.3, "
        "Figures 6 and 7)."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        every = FLAT.points(quick, seed)
        some = of_each(every, _EACH)
        if quick:  # those of the smallest machines
            some = [smaller(w, _SMALLER) for w in of_each(every, 1) if w["vm_bytes"] <= SIZES[1]]
        some += [w for w in every if w["category"] == PROGRAM and w["cores"] == 1]
        return [{**w, "seed": seed} for w in some]

    def run(self, point: Point) -> dict[str, Any]:
        return {name: side_by_side(point, *shared) for name, shared in SETTINGS.items()}

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        return judge(answers)


def smaller(workload: Point, by: int) -> Point:
    """The workload in a machine that is smaller by this factor."""
    size = workload["settings"]["bytes"] // by
    settings = {**workload["settings"], "bytes": size}
    return {**workload, "settings": settings, "vm_bytes": workload["vm_bytes"] // by}


def side_by_side(workload: Point, near_shared: bool, l3_shared: bool) -> dict[str, float]:
    """Simulate a workload next to the neighbour.

    Returns ns: time of an operation on a core. misses: share of the workload's requests that miss
    near memory. neighbour: its GB/s. scans: its scans before counting starts. far: the used share
    of far memory's bandwidth.
    """
    cores, vm = workload["cores"], workload["vm_bytes"]
    scanned = int(_FILLED * vm) // THREADS >> PAGE_BITS << PAGE_BITS
    scan = Kernel("stream", {"bytes": scanned, "step": 64})
    programs = [*programs_of(workload, PROGRAMS), *[scan] * THREADS]
    base = machine(PLATFORM)
    on = base.with_(
        page_bits=PAGE_BITS, l3_kib=int(base.sizes["l3_kib"]) // CORES * cores * 2,
        l3_split=0 if l3_shared else cores,
    )  # fmt: skip
    ranges = [
        some or [(core << COPY_BITS, (core + 1) << COPY_BITS)]  # of a captured program
        for core, some in enumerate(parts_of(on, programs))
    ]
    filled = [workload["filled"]] * cores + [_FILLED] * THREADS
    parts = [Placed(a, b, 0.0, f) for f, some in zip(filled, ranges, strict=True) for a, b in some]
    one, other = frames_of(vm >> PAGE_BITS, near_shared, workload["seed"])
    scanned_at = ranges[cores][0][0], ranges[-1][-1][1] + (1 << PAGE_BITS)
    memory = Memory(
        LOCAL, FAR, near_lines=vm // 64, filled=max(filled), parts=tuple(parts),
        owned=(Owned(*scanned_at, other), Owned(0, cores << COPY_BITS, one)),
    )  # fmt: skip
    warm = int(scanned * THREADS / _SCAN_GB_PER_S * base.ghz)
    run = simulate(on, memory, programs, round(_COUNTED * warm), warm, by_cycles=True)
    speeds = [core["operations"] / core["c"] for core in run.cores]
    lines = [core["loads"] / core["c"] for core in run.cores[cores:]]
    own = run.parts[: sum(map(len, ranges[:cores]))]
    asked = sum(p.asked for p in own)
    return {
        "ns": 1 / float(np.mean(speeds[:cores])) / base.ghz,
        "misses": sum(p.missed for p in own) / asked if asked else 0.0,
        "neighbour": sum(lines) * 64 * base.ghz,
        "scans": warm * min(lines) * 64 / scanned,
        "far": (run.read_gb[1] + run.written_gb[1]) / run.seconds / FAR.gb_per_s,
    }  # fmt: skip


def frames_of(pages: int, shared: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Frames of flat memory for two machines of so many pages each, in random order.

    shared: each page of a machine conflicts with one of the other; else colours isolate them.
    """
    layout = Layout(pages, 1, 0, 1 << PAGE_BITS)
    host = PageAllocator(layout)
    for name in ("one", "other"):
        host.launch(name, pages)
    half = [range(pages), range(pages, 2 * pages)]
    rng = np.random.default_rng(seed)
    each = 1 << PAGE_BITS - FLAT_PAGE
    one, other = (
        rng.permutation((np.array(some)[:, None] * each + np.arange(each)).ravel())
        for some in (half if shared else [host.tiered(name) for name in host.machines])
    )
    return one, other


def judge(answers: list[tuple[Point, dict[str, Any]]]) -> Found:
    """Evaluate the points' answers."""
    times = {s: np.array([a[s]["ns"] for _, a in answers]) for s in SETTINGS}
    slower = {s: 100 * (times[s] / times["nothing"] - 1) for s in SETTINGS}
    conflicting = 100 * (times["both"] / times["L3"] - 1)
    captured = np.array([point["category"] == PROGRAM for point, _ in answers])
    rows = [
        Row("workloads", "", None, float(sum(~captured))),
        compared(
            "Figure 6: slowed by more than 10 %", "%", _SLOWED, _above(conflicting[~captured])
        ),
        replace(
            compared("Figure 6: the worst", "%", _WORST, float(conflicting[~captured].max())),
            why=_P95,
        ),
        compared("Figure 6: median", "%", None, np.median(conflicting[~captured])),
    ]
    if captured.any():
        some = conflicting[captured]
        rows += [
            Row("captured programs", "", None, float(len(some))),
            compared(
                "captured programs, Figure 6: slowed by more than 10 %", "%", None, _above(some)
            ),
            compared("captured programs, Figure 6: the worst", "%", None, some.max()),
        ]
    for name in list(SETTINGS)[1:]:
        rows += [
            compared(f"Figure 7: {name} shared, slowed by more than 10 %", "%", None,
                 _above(slower[name])),
            compared(f"Figure 7: {name} shared, the worst", "%", None, slower[name].max()),
        ]  # fmt: skip
    larger = slower["near memory"] > slower["L3"]
    rows.append(compared("Figure 7: near memory slows more than the L3", "%", None, _share(larger)))
    suffer = slower["L3"] > _ABOVE
    if suffer.any():
        more = slower["both"] > np.maximum(slower["L3"], slower["near memory"])
        of = "Figure 7: of those that the L3 slows by more than 10 %"
        names = ", ".join(_name(p) for (p, _), some in zip(answers, suffer, strict=True) if some)
        why = f"they are: {names}" + (f"; {_TOUCHED}" if captured[suffer].any() else "")
        rows += [
            replace(row, why=row.why and why)
            for row in (
                compared(f"{of}, near memory does, too", "%", _ALL,
                         _share(slower["near memory"][suffer] > _ABOVE)),
                compared("Figure 7: and both slow them more than each", "%", _ALL,
                         _share(more[suffer])),
            )
        ]  # fmt: skip
    every = [(s, a[s]) for _, a in answers for s in SETTINGS]
    for what, shared in (("isolated", "L3"), ("conflicting", "both")):
        some = [each for s, each in every if s == shared]
        misses = 100 * np.median([each["misses"] for each in some])
        rows += [
            compared(f"{what}: median misses of near memory", "%", None, misses),
            compared(f"{what}: median of the neighbour", "GB/s", None,
                 np.median([each["neighbour"] for each in some])),
        ]  # fmt: skip
    rows += [
        compared("far bandwidth used, at most", "%", None, 100 * max(e["far"] for _, e in every)),
        compared(
            "scans before what is counted, at least", "", None, min(e["scans"] for _, e in every)
        ),
    ]
    each = (100 * np.arange(1, len(answers) + 1) / len(answers)).tolist()
    lines = {f"{s} shared": (np.sort(slower[s]).tolist(), each) for s in list(SETTINGS)[1:]}
    picture = curves(
        "Workloads that a neighbour slows by so much at most, by what it shares", lines,
        "slowdown over nothing shared, %", "workloads, %",
    )  # fmt: skip
    constants = {
        "near memory": f"{LOCAL.ns:g} ns, {LOCAL.gb_per_s:g} GB/s",
        "far memory": f"{FAR.ns:.0f} ns, {FAR.gb_per_s:g} GB/s",
        "neighbour": f"{THREADS} threads (§3.3), {100 * _FILLED:g} % of its memory",
        "cycles before what is counted": f"a scan at {_SCAN_GB_PER_S:g} GB/s; counted: half of it",
        "workloads": "studies/flat_workloads.py has their ranges",
    }
    table = _table([point for point, _ in answers], slower, conflicting)
    return Found(rows, {"interference": picture}, [table, NOTE, WORKLOADS], constants)


def _share(some: np.ndarray) -> float:
    return 100 * float(np.mean(some))


def _above(slower: np.ndarray) -> float:
    return _share(slower > _ABOVE)


def _name(point: Point) -> str:
    return f"{point['category']}: {point.get('program') or point['kernel']}"


def _table(points: list[Point], slower: dict[str, np.ndarray], conflicting: np.ndarray) -> str:
    shared = list(SETTINGS)[1:]
    lines = [
        "Slowdown of each workload: of Figure 6, and by what is shared, of Figure 7:", "",
        f"| workload | cores | Figure 6 | {' | '.join(shared)} |",
        "| --- | ---: | ---: | " + "---: | " * len(shared),
    ]  # fmt: skip
    for i, point in enumerate(points):
        cells = [conflicting[i], *(slower[s][i] for s in shared)]
        lines.append(
            f"| {_name(point)} | {point['cores']} | "
            + " | ".join(f"{cell:.1f} %" for cell in cells)
            + " |"
        )
    return "\n".join(lines)


STUDY = FlatInterference()
