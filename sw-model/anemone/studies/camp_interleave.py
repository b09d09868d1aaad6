# SPDX-License-Identifier: Apache-2.0
"""CAMP's prediction by ratio of two tiers (§5) and Best-shot (§6.2), on the core model."""

from __future__ import annotations

from typing import Any

from anemone.models.core import Kernel, Memory, Run, machine, simulate, tier
from anemone.studies.camp_interleave_judge import judge
from anemone.studies.camp_workloads import bandwidth_bound
from anemone.studies.study import Found, Point, Study

PLATFORM, SLOW = "skx", "skx-numa"
_COUNTED, _WARM = 60_000, 20_000  # operations at each ratio, over all cores


class Interleave(Study):
    title = "CAMP: slowdown over the ratio of two tiers, and Best-shot"
    about = (
        "Bandwidth-bound workloads of ten cores on SKX2S, whose second tier is the other socket's "
        "memory (Table 3), at 101 ratios. The stalls of the two ends and their latencies give the "
        "curve (Eq. 8 to 10); slowdown is over all on DRAM. Policies get the time of the ratio "
        "that they choose. Errors are absolute, in points of slowdown."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        every = bandwidth_bound(seed)
        every = every[::8] if quick else every
        step, small = (10, 2) if quick else (1, 1)
        size = {"step": step, "operations": _COUNTED // small, "warm": _WARM // small}
        return [{"idle": True}, *({**one, **size} for one in every)]

    def run(self, point: Point) -> dict[str, Any]:
        if "idle" in point:
            chase = Kernel("chase", {"bytes": 1 << 28, "work": 0})
            ends = [_at(x, [chase], 20_000, 2000).read_ns for x in (1.0, 0.0)]
            return {"dram": ends[0], "cxl": ends[1]}
        programs = [Kernel(point["kernel"], point["settings"])] * point["cores"]
        each = [point[key] // point["cores"] for key in ("operations", "warm")]
        shares = range(0, 101, point["step"])
        return {"curve": [_answer(x / 100, _at(x / 100, programs, *each)) for x in shares]}

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        return judge(answers)


def _at(x: float, programs: list[Kernel], operations: int, warm: int) -> Run:
    memory = Memory(tier(PLATFORM), tier(SLOW), x)
    return simulate(machine(PLATFORM), memory, programs, operations, warm)


def _answer(x: float, run: Run) -> dict[str, float]:
    counters = run.counters
    of_tiers = {
        f"{name}_ns": tier(which).ns + queued
        for name, which, queued in zip(
            ("dram", "cxl"), (PLATFORM, SLOW), run.queued_ns, strict=True
        )
    }
    return {
        "x": x,
        **{name: counters[name] for name in ("c", "P1", "P2", "P3", "P6")},
        "l_ns": run.read_ns,
        "l1_miss_ns": run.mean_ns("l1_miss"),
        "ipc": counters["instructions"] / counters["c"],
        **of_tiers,
    }


STUDY = Interleave()
