# SPDX-License-Identifier: Apache-2.0
"""The time to watch every region once by time multiplexing (NEMO §6.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from anemone.hardware.geometry import Geometry
from anemone.studies.study import Found, Point, Row, Study
from anemone.tiering import Answer, Policy, Statistics, Tier, TierConfig, simulate
from anemone.tiering.config import BASE_PAGE, HUGE_PAGE
from anemone.tiering.devices import devices
from anemone.tiering.sources.nemo import Nemo
from anemone.trace import Trace

_TAU_MS = 500.0
_PAPER = {"gib": 16, "pipelines": 7, "states": 8192, "width": 64}
_PAPER_S, _PAPER_SRAM = 37.0, 1.4 * (1 << 20)  # §6.1


@dataclass
class _Watcher(Policy):
    """Moves no page; records when the last region was seen."""

    splits = True

    def __post_init__(self) -> None:
        self.regions: set[int] = set()
        self.all_at: float | None = None

    def act(self, seen: Statistics) -> Answer:
        self.regions.update(seen.heat.base_page.tolist())
        slow = np.count_nonzero(seen.units.tier == 1)
        if self.all_at is None and len(self.regions) == slow:
            self.all_at = seen.now_ns
        return Answer()


class Sweep(Study):
    title = "How long time multiplexing takes"
    about = (
        "Every huge page of the slow tier is watched by its 4 KiB frames, as many at a time as "
        "the counters hold, others each 500 ms (NEMO §5.2, §6.1). Measured is when the last one "
        "has been read, from the first programming on. The formula is M·τ / (P·S·G), S the "
        "counters of a pipeline, 64/W a state word."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        changes: list[dict[str, int]] = [{}, {"width": 16}, {"states": 16384}, {"pipelines": 3}]
        if not quick:
            changes += [{"width": 8}, {"width": 32}, {"states": 4096}, {"pipelines": 15}]
            changes += [{"gib": 8}, {"gib": 32}]
        size = {"gib": 2} if quick else {}
        more = {"seed": seed, "engine": "model"}
        smaller = [{**_PAPER, **size, **change, **more} for change in changes]
        return [{**_PAPER, **more}, *smaller[not quick :]]

    def run(self, point: Point) -> dict[str, Any]:
        one = devices()["nemo"]
        pages = point["gib"] << 9
        config = TierConfig(
            HUGE_PAGE, 10, Tier(0, *one.fast), Tier(pages, *one.slow), posted=48,
            start="slow", interval_ns=_TAU_MS * 1e6,
        )  # fmt: skip
        expected = formula(**{name: point[name] for name in _PAPER})
        # All pages are touched at the start; then there are no accesses until after the sweep.
        addr = np.arange(pages, dtype=np.uint64) * np.uint64(HUGE_PAGE)
        idle = int(expected / (_TAU_MS * 1e-3)) + 8
        trace = Trace(
            np.append(addr, np.zeros(idle, np.uint64)), np.zeros(pages + idle, np.bool_),
            gap_ns=np.append(np.full(pages, 10.0), np.full(idle, _TAU_MS * 1e6)),
        )  # fmt: skip
        policy = _Watcher()
        source = Nemo(
            point["pipelines"] + 1, point["width"], point["states"], "none", engine=point["engine"]
        )  # fmt: skip
        done = simulate(config, trace, policy, source, Geometry(device_gib=max(1, point["gib"])))
        # The first interval only programs the pipelines.
        took = (policy.all_at or np.inf) / 1e9 - _TAU_MS * 1e-3
        lines = done.extra["telemetry"]["lines"]
        return {"seconds": took, "formula": expected, "lines": lines,
                "cpu": done.telemetry_cpu_ns / done.time_ns}  # fmt: skip

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        rows = []
        for point, answer in answers:
            asked = {name: point[name] for name in _PAPER}
            words = ", ".join(f"{name} {value}" for name, value in asked.items())
            paper = _PAPER_S if asked == _PAPER else None
            why = "the paper rounds 36.6 s" if paper else ""
            rows.append(Row(f"sweep, {words}", "s", paper, answer["seconds"], why))
            rows.append(Row("by the formula", "s", None, answer["formula"]))
            rows.append(Row("CPU of harvests", "% of a processor", None, 100 * answer["cpu"]))
        states = _PAPER["pipelines"] * _PAPER["states"] * 8
        other = (_PAPER["gib"] << 30) * _TAU_MS * 1e-3 * 8 / (_PAPER_SRAM * BASE_PAGE)
        first = formula(**_PAPER)
        rows.append(Row("the paper's second form with its 1.4 MiB", "s", _PAPER_S, other, _WHY))
        rows.append(Row("SRAM for which the second form is the first", "KiB", 1.4 * 1024,
                        states / 1024, _WHY))  # fmt: skip
        note = (
            f"The first form holds: {first:.1f} s and what was measured differ by less than an "
            "interval, in which the last regions are read. The second, M·τ·W / (SRAM·G), says the "
            f"same only where SRAM is the states of one channel, {states >> 10} KiB: each channel "
            "counts its own half of the lines of every frame, so a second one doubles the SRAM and "
            f"watches nothing more. With the paper's 1.4 MiB it gives {other:.1f} s."
        )
        return Found(rows, notes=[note], constants={"interval": "500 ms", "frames": "4 KiB"})


_WHY = "both channels' states and the tables are in 1.4 MiB; a frame has counters in both"


def formula(gib: int, pipelines: int, states: int, width: int) -> float:
    """The first form of the formula of NEMO §6.1, in s."""
    counters = states * 64 // width
    return (gib << 30) * _TAU_MS * 1e-3 / (pipelines * counters * BASE_PAGE)


STUDY = Sweep()
