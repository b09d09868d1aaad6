# SPDX-License-Identifier: Apache-2.0
"""Latency over load for each device, with both timing models."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from anemone.hardware.geometry import LINE_BYTES, Geometry
from anemone.report import theme
from anemone.report.charts import HALF, Frame, data, svg, table
from anemone.studies.curves import by_name
from anemone.studies.study import Found, Point, Row, Study
from anemone.tiering import Tier, TierConfig
from anemone.tiering.devices import devices
from anemone.tiering.run import Run
from anemone.trace import Trace

_THREADS, _OUTSTANDING = 32, 16
_LOADS = (0.01, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95, 1.1)  # share of the measured bandwidth
_TIMINGS = ("queue", "dram")


class LoadedLatency(Study):
    title = "Loaded latency of each device"
    about = (
        "Random reads of 1 GiB by 32 threads, 16 in flight each, at a rising share of the "
        "bandwidth that the paper measured: mean latency from issue to completion. The first "
        "timing (queue) has the paper's idle latency and bandwidth by construction; the second "
        "(dram) has the latency of a closed row, and what bandwidth its channels sustain."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        names = list(devices())[:2] if quick else list(devices())
        return [
            {"device": name, "tier": tier, "timing": timing, "load": load, "seed": seed,
             "reads": 20_000 if quick else 200_000}
            for name in names
            for tier in ("fast", "slow")
            for timing in _TIMINGS
            for load in _LOADS
        ]  # fmt: skip

    def run(self, point: Point) -> dict[str, Any]:
        one = devices()[point["device"]]
        tiers = Tier(1 << 18, *one.fast), Tier(1 << 18, *one.slow)
        config = TierConfig(4096, _OUTSTANDING, *tiers, start=point["tier"], timing=point["timing"])
        tier = tiers[point["tier"] == "slow"]
        rng, n = np.random.default_rng(point["seed"]), point["reads"]
        gap = _THREADS * LINE_BYTES / (point["load"] * tier.gb_per_s)
        trace = Trace(
            rng.integers(0, 1 << 24, n).astype(np.uint64) << np.uint64(6), np.zeros(n, np.bool_),
            thread=(np.arange(n) % _THREADS).astype(np.uint16), gap_ns=rng.exponential(gap, n),
        )  # fmt: skip
        run = Run(config, lambda: [trace], None, None, Geometry(device_gib=1), None, "study")
        done = run.result()
        held = float(run.machine.state.memory.held.sum())
        return {"latency_ns": held / n, "gb_per_s": n * LINE_BYTES / done.time_ns}

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        rows, pictures = [], {}
        for name in dict.fromkeys(point["device"] for point, _ in answers):
            mine = [(p, a) for p, a in answers if p["device"] == name]
            for tier in ("fast", "slow"):
                measured = getattr(devices()[name], tier)
                for timing in _TIMINGS:
                    some = [a for p, a in mine if (p["tier"], p["timing"]) == (tier, timing)]
                    first = timing == "queue"
                    # The sustained bandwidth is the highest throughput at any load.
                    maximum = max(a["gb_per_s"] for a in some)
                    why = "" if first else "rows, refresh; served in order"
                    for what, unit, paper, here in (
                        ("idle latency", "ns", measured[0], some[0]["latency_ns"]),
                        ("bandwidth", "GB/s", measured[1], maximum),
                    ):
                        off = abs(here / paper - 1) > 0.02
                        words = f"{name}, {tier}, {timing}: {what}"
                        rows.append(Row(words, unit, paper, here, why if off else ""))
            pictures[name] = _picture(name, mine)
        constants = {f"{n}": d.source for n, d in devices().items()}
        return Found(rows, pictures, [_NOTE], constants)


_NOTE = (
    "Bandwidths are reached by random reads here, by the papers mostly by streams; of a channel "
    "that serves in order, random reads get less than of one that reorders."
)


def _picture(name: str, answers: list[tuple[Point, dict[str, Any]]]) -> Any:
    frame = Frame(HALF, 300, left=70, right=20)
    lines = {"x": [], "y": [], "of": []}
    for point, answer in answers:
        lines["x"].append(answer["gb_per_s"])
        lines["y"].append(answer["latency_ns"])
        lines["of"].append(f"{point['tier']}, {point['timing']}")
    names = list(dict.fromkeys(lines["of"]))
    colour = by_name(names, "top-left")
    x = alt.X("x:Q", axis=alt.Axis(title="GB/s"))
    scale = alt.Scale(type="log")
    y = alt.Y("y:Q", axis=frame.y("mean latency (ns)"), scale=scale)
    curves = alt.Chart(table(**lines)).mark_line(point=True).encode(x=x, y=y, color=colour)
    device = devices()[name]
    papers = table(x=[device.fast[1], device.slow[1]], y=[device.fast[0], device.slow[0]])
    marks = alt.Chart(papers).mark_point(shape="cross", size=90, stroke=theme.colour("ink"))
    crosses = marks.encode(x="x:Q", y=alt.Y("y:Q", scale=scale))
    label = f"{name}: latency over load in both timings; crosses: the paper's latency, bandwidth"
    return svg(frame, label, data(curves, "curves"), data(crosses, "papers"))


STUDY = LoadedLatency()
