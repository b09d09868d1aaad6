# SPDX-License-Identifier: Apache-2.0
"""Compares six machines simulated together on one core model with the mix of their profiles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from anemone.memstrata.colouring import Layout, PageAllocator
from anemone.models.core import Kernel, Memory, Owned, Placed, machine, parts_of, simulate
from anemone.studies.camp_workloads import programs_of
from anemone.studies.flat_interference import FLAT_PAGE
from anemone.studies.flat_mixes import MIXES, Draw, drawn, policy
from anemone.studies.memstrata import COMMON, FIXED
from anemone.studies.mixes import Mix
from anemone.studies.profiles import CORES, FAR, LOCAL, PAGE_BITS, PLATFORM, PROGRAMS, near_lines
from anemone.studies.study import Found, Point, Row, Study
from anemone.studies.surfaces import Surface, shares

_FIVE = (*COMMON, "two outliers", "four outliers")
_FIRST, _LAST = "at first", "at last"
_SHARE = 0.33
_WARM = 0.5  # warm-up cycles, as a share of the counted cycles
_PAGE_LINES = 1 << FLAT_PAGE - 6
_SPARE = 64  # near pages: for page tables, and as shares are of larger pages
NOTE = """**How it is done.**

- *In full*: all machines' kernels on one core model, with one L3 of as many parts as they have
  cores, near and far memory shared, and of each machine its own share of dedicated pages. All run
  for as many cycles as the middle one of them takes by its profile, after half as many that are not
  counted; slowdown is over the same machines on local memory, side by side.
- *By profiles*: the same machines at the same shares, as `anemone study memstrata` has them.
- *At first*: a third of each machine dedicated. *At last*: where Memstrata has led in 300 s.
- *Near lines* are each machine's own, by the colours of `anemone.memstrata.colouring`."""


class MixCheck(Study):
    title = "Memstrata: mixes on profiles, beside six machines simulated in full"
    about = (
        "Whether machines side by side are as slow as their profiles say (docs/memstrata.md): five "
        "mixes of the study `memstrata`, before Memstrata moves a page and after it did."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        mixes, whens = (_FIVE[:1], (_FIRST,)) if quick else (_FIVE, (_FIRST, _LAST))
        return [
            {"mix": mix, "when": when, "quick": quick, "seed": seed}
            for mix in mixes
            for when in whens
        ]

    def run(self, point: Point) -> dict[str, Any]:
        quick, seed = point["quick"], point["seed"]
        draw = Draw(MIXES[point["mix"]], quick, seed, drawn(point["mix"], 0), False)
        last = point["when"] == _LAST
        mix = Mix(draw.jobs, _SHARE, policy("Memstrata" if last else "no software", quick, seed))
        mix.run(FIXED if last else 0)
        places = [mix.host.dedicated(job.name) for job in draw.jobs]
        surfaces = [job.phases[0][0] for job in draw.jobs]
        here, local = (by_profiles(surfaces, some) for some in (places, [1.0] * len(places)))
        workloads = [draw.workloads[job.name][0] for job in draw.jobs]
        cycles = round(float(np.median(here)) * machine(PLATFORM).ghz * 1e9)
        full = together(workloads, places, cycles)
        base = together(workloads, [1.0] * len(places), cycles)
        return {
            "machines": [
                {"name": job.name, "dedicated": d, "profiles": 100 * (a / b - 1),
                 "full": 100 * (c / e - 1)}
                for job, d, a, b, c, e in zip(
                    draw.jobs, places, here, local, full, base, strict=True
                )
            ]
        }  # fmt: skip

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        return judge(answers)


def by_profiles(surfaces: Sequence[Surface], places: Sequence[float]) -> list[float]:
    """Seconds of each machine's operations in the mix, from the profiles."""
    given = shares(list(zip(surfaces, places, strict=True)))
    return [s.at(d, b).seconds for s, d, b in zip(surfaces, places, given, strict=True)]


def together(workloads: Sequence[Point], places: Sequence[float], cycles: int) -> list[float]:
    """Seconds of each workload's operations with all of them on one core model. places: the share
    of dedicated pages of each.
    """
    programs = [p for w in workloads for p in programs_of(w, PROGRAMS) if isinstance(p, Kernel)]
    base = machine(PLATFORM)
    on = base.with_(page_bits=PAGE_BITS, l3_kib=int(base.sizes["l3_kib"]) // CORES * len(programs))
    if all(place == 1.0 for place in places):
        memory = Memory(LOCAL, FAR, fast_share=1.0)
    else:
        ranges = iter(parts_of(on, programs))
        of = [[r for core in islice(ranges, w["cores"]) for r in core] for w in workloads]
        sizes = [w["vm_bytes"] for w in workloads]
        near = [
            near_lines(n, d) // _PAGE_LINES + _SPARE for n, d in zip(sizes, places, strict=True)
        ]
        memory = Memory(
            LOCAL, FAR, dedicated=float(np.average(places, weights=sizes)),
            near_lines=sum(near) * _PAGE_LINES, filled=max(w["filled"] for w in workloads),
            parts=tuple(
                Placed(first, end, d, w["filled"])
                for w, d, some in zip(workloads, places, of, strict=True)
                for first, end in some
            ),
            owned=tuple(
                Owned(some[0][0], some[-1][1] + (1 << PAGE_BITS), frames)
                for some, frames in zip(of, _coloured(near), strict=True)
            ),
        )  # fmt: skip
    run = simulate(on, memory, programs, cycles, round(_WARM * cycles), by_cycles=True)
    found, cores = [], iter(run.cores)
    for workload in workloads:
        speeds = [c["operations"] / c["c"] for c in islice(cores, workload["cores"])]
        each = workload["operations"] // workload["cores"]
        found.append(each / float(np.mean(speeds)) / base.ghz / 1e9)
    return found


def _coloured(near: Sequence[int]) -> list[np.ndarray]:
    """Frames of flat memory of each machine, in any order, of which no two share near lines.

    near: pages of near memory that each has, beside as many far ones.
    """
    host = PageAllocator(Layout(sum(near), 1, 0, 1 << FLAT_PAGE))
    rng = np.random.default_rng(1)
    for i, pages in enumerate(near):
        host.launch(str(i), 2 * pages)
    return [rng.permutation(host.tiered(name)) for name in host.machines]


def judge(answers: list[tuple[Point, dict[str, Any]]]) -> Found:
    """Evaluate the points' answers."""
    rows = []
    for point, answer in answers:
        what = f"{point['mix']}, {point['when']}"
        for way in ("full", "profiles"):
            worst = max(m[way] for m in answer["machines"])
            rows.append(Row(f"{what}: the worst, by {way}", "%", None, worst))
    every = [m for _, a in answers for m in a["machines"]]
    apart = np.array([m["profiles"] - m["full"] for m in every])
    slow = [(m["profiles"] > 5) == (m["full"] > 5) for m in every]
    rows += [
        Row("profiles less full: mean", "points", None, float(apart.mean())),
        Row("profiles less full: mean of the distances", "points", None, float(abs(apart).mean())),
        Row("profiles less full: the largest distance", "points", None, float(abs(apart).max())),
        Row("machines alike above 5 % or not", "%", None, 100 * float(np.mean(slow))),
    ]
    lines = ["| mix | machine | dedicated | by profiles | in full |",
             "| --- | --- | ---: | ---: | ---: |"]  # fmt: skip
    for point, answer in answers:
        lines += [
            f"| {point['mix']}, {point['when']} | {m['name']} | {100 * m['dedicated']:.0f} % | "
            f"{m['profiles']:.1f} % | {m['full']:.1f} % |"
            for m in answer["machines"]
        ]
    return Found(rows, {}, ["\n".join(lines), NOTE], {"dedicated": f"{100 * _SHARE:g} %"})


STUDY = MixCheck()
