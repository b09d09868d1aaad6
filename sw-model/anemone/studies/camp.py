# SPDX-License-Identifier: Apache-2.0
"""Checks CAMP's prediction of slowdown on CXL from counters on DRAM (§4.4) on the core model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anemone.models.camp.calibrate import content_of, dividing, on_model
from anemone.models.camp.counters import NAMES
from anemone.models.core import Memory, machine, simulate, tier
from anemone.studies.camp_judge import TESTBEDS, judge
from anemone.studies.camp_workloads import RANGES, drawn, programs_of
from anemone.studies.study import Found, Point, Study

# Huge pages, because with small ones a million operations would find all page table lines cold.
PAGE_BITS = 21
PROGRAMS = Path("build/studies/programs")
_COUNTED, _WARM = 600_000, 300_000  # operations of a workload, over all cores
_QUICK = 15  # a quick run is smaller by this factor
_KEPT = (*NAMES, "instructions", "l3_miss")


class Camp(Study):
    title = "CAMP: slowdown on slow memory, predicted from a run on DRAM"
    about = (
        "Every workload runs on the core model (docs/core-model.md), all on DRAM and all on the "
        "slow memory; the constants are those of `anemone camp calibrate --simulate`, from the "
        "four microbenchmarks on the same two memories; slowdown is predicted from the counters "
        "of the run on DRAM (CAMP §4.4.3) and compared with the times. A component's measured "
        "slowdown is the rise of its stalls over the cycles on DRAM. Errors are absolute, in "
        "points of slowdown."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        every = drawn(seed)
        if quick:  # one kernel of each kind and no programs, which would have to be captured
            every = [next(w for w in every if w["kind"] == kind) for kind in RANGES]
        small = _QUICK if quick else 1
        size = {"operations": _COUNTED // small, "warm": _WARM // small}
        return [{"calibrate": name} for name in TESTBEDS] + [{**w, **size} for w in every]

    def run(self, point: Point) -> dict[str, Any]:
        if "calibrate" in point:
            platform, slow = TESTBEDS[point["calibrate"]]
            found = on_model(platform, slow, lambda done, total: None, PAGE_BITS)
            return content_of(found, platform)
        found = {}
        for name, (platform, slow) in TESTBEDS.items():
            for memory, share in ((platform, 1.0), (f"{platform} {slow}", 0.0)):
                if memory not in found:
                    found[memory] = _counted(point, platform, slow, share)
            found[name] = {"dram": platform, "slow": f"{platform} {slow}"}
        return found

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        return judge(answers)


def _counted(point: Point, platform: str, slow: str, share: float) -> dict[str, float]:
    on = machine(platform).with_(page_bits=PAGE_BITS)
    memory = Memory(tier(platform), tier(slow), share)
    each = [point[key] // point["cores"] for key in ("operations", "warm")]
    run = simulate(on, memory, programs_of(point, PROGRAMS), *each)
    counters = dividing(run.counters)
    return {**{n: counters[n] for n in _KEPT}, "gb_per_s": run.gb_per_s}


STUDY = Camp()
