# SPDX-License-Identifier: Apache-2.0
"""Evaluates the study of CAMP: predicted and measured slowdowns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from anemone.models.camp.calibrate import points_of
from anemone.models.camp.fit import Fit, fit
from anemone.models.camp.fit import Point as Measured
from anemone.models.camp.slowdown import CONSTANTS, predict, stalls
from anemone.models.core import machine, tier
from anemone.report.charts import HALF, Frame, data, svg, table
from anemone.studies import camp_assumptions
from anemone.studies.camp_assumptions import PARTS
from anemone.studies.study import Found, Point, Row

# The paper's testbeds: platform and slow memory. CXL-A and CXL-B are attached to Sapphire Rapids,
# CXL-C to Emerald Rapids with the same DRAM.
TESTBEDS = {
    "NUMA": ("skx", "skx-numa"),
    "CXL-A": ("spr", "cxl-a"),
    "CXL-B": ("spr", "cxl-b"),
    "CXL-C": ("emr", "cxl-c"),
}
_SATURATED = 0.8  # share of the slow memory's bandwidth from which it counts as saturated
# (Pearson, % within 5 %, % within 10 %) of S from Table 6. Then Figure 6's shares within 5 %, with
# the lower bound where it gives a range, and Table 1's correlations for NUMA.
_PAPER = {
    "NUMA": (0.965, 88.4, 97.3),
    "CXL-A": (0.919, 88.7, 94.3),
    "CXL-B": (0.963, 77.8, 90.7),
    "CXL-C": (0.940, 92.4, 96.2),
}
_PAPER_DRD = {"NUMA": 92.0, "CXL-A": 92.0, "CXL-B": 78.7, "CXL-C": 92.0}
_PAPER_PART = 93.0
_METRICS = {
    "MPKI": 0.40, "bandwidth": 0.66, "latency": 0.37, "stall cycles": 0.84, "AOL": 0.88,
}  # fmt: skip
_MILD = 0.5  # most programs have a slowdown up to this

WHY_ALL = (
    "a fifth to two fifths of the workloads saturate the slow memory, which the model leaves out "
    "(§4.4.6), and the others are slowed more than programs; on CXL also S_Cache's reason"
)
WHY = {
    "S_DRd": "what saturates the slow memory; s_LLC is no steady part of C: rows s_LLC / C, Eq. 2",
    "S_Cache": "late prefetches of the L1 are in P1 - P2 here, which SPR's model has not; k_cache",
    "S_Store": "k_store is of memset: row with the k that fits these workloads best",
}
WHY_NUMA = "what saturates the slow memory; k_cache is right: row with the k that fits best"
WHY_METRIC = (
    "of these workloads, with those that saturate the slow memory; the next rows are without"
)
NOTE = """**What our core does not share with the paper's.**

- *Slow memory is not saturated* (§4.4.6). Of the drawn workloads a fifth to two fifths are,
  most of them on four cores and more: their slowdown is the ratio of bandwidths, so that among all
  workloads bandwidth is the best metric on CXL. The rows "not saturated" leave them out.
- *Slowdowns are small.* An error of a fifth of the slowdown is within 10 % where the slowdown is
  half or less, and not where a workload is three times slower. Programs are slowed less than these
  kernels, and the captured ones (in 1, 4 and 8 copies) are predicted best. The rows "slowed by at
  most half" select by the outcome, so they say where the model is right and not how often.
- *On SPR and EMR P2 - P3 sees the waiting for late prefetches* (§4.4.3). Here a load that finds
  its line in a fill buffer, where the L1's prefetcher has put it, has missed the L1 and not the
  L2, as Intel describes the events: its waiting is in P1 - P2, as on Skylake, where the model reads
  it. So on CXL the three measured components do not add up to S, and k_cache, of microbenchmarks
  that hardly move P2 - P3, is not to be trusted, as the fit says: the rows "with the k that fits
  these workloads best" have a fraction of it, and errors that are smaller by far. With P1 in place
  of P2 the parts add up (rows "with P1 - P3").
- *s_LLC is a steady part of C* (Eq. 5, Figure 4b). The rise of memory-active cycles is S_DRd's
  here, too (rows "by Eq. 2, of both runs"), so the derivation holds as far as that. But stalls are
  in place of C, and a workload that works while it waits hides DRAM's latency and leaves few to
  scale: the rows "s_LLC / C" say for how many its part is the paper's, for how many it is above.
- *A full store buffer is a wait for memory.* The memset that k_store comes from is prefetched and
  drains at a store a cycle on DRAM, so that its few stalls grow by more than those of scattered
  stores, which wait for memory on both. One k cannot serve both: what fits the workloads best
  (row "S_Store, with the k") is about half of it on CXL.
- *AOL and latency* do not say how much of its time a workload waits, and in that kernels differ
  most (1 to 400 operations of work an access); nor do they where there are reads (rows "with
  reads"). S_DRd, which is AOL's factor times the stalls, has its own rows.

The runs are short: caches are warm as far as so many operations fill them, no dirty line leaves
the L3 of 60 MiB and more, and all threads of a workload do the same.

**What was changed after a look.** Once after a quick run of ten workloads, with their slowdowns:
the work of kernels is in one to four chains, not in one. And the core, after calibrations:
prefetches that a load waits for count in P11 and P13, as Intel's text of the event says, and in
P12, which it does not say; without P12 a latency P11 / P12 would be thousands of cycles. The rows
of those not saturated, of those slowed by at most half, with reads, by Eq. 2 and with the k that
fits were added when all were known, and so were the programs of the system (xz to cc1)."""


def judge(answers: list[tuple[Point, dict[str, Any]]]) -> Found:
    """Evaluate the points' answers."""
    rows, pictures, notes, constants = [], {}, [], {}
    measured = {p["calibrate"]: _measured(p, a) for p, a in answers if "calibrate" in p}
    fits = {name: fit(points, TESTBEDS[name][0]) for name, points in measured.items()}
    some = [(p, a) for p, a in answers if "calibrate" not in p]
    for name, (platform, slow) in TESTBEDS.items():
        judged = [
            Judged(p, a[a[name]["dram"]], a[a[name]["slow"]], fits[name], platform) for p, a in some
        ]
        maximum = _SATURATED * tier(slow).gb_per_s
        rows += _rows(name, judged, [j for j in judged if j.slow["gb_per_s"] <= maximum])
        if platform != "skx":
            rows += _late(name, measured[name], some, platform)
        pictures[name.lower()] = _picture(name, judged)
        notes.append(_kinds(name, judged))
        k = fits[name].calibration
        constants[f"{name}: {platform} with {slow}"] = ", ".join(
            f"{c} = {getattr(k, c):.4g}" for c in CONSTANTS
        )
        constants[f"{name}: doubts of the fit"] = "; ".join(fits[name].doubts) or "none"
    size = some[0][0]
    constants["workloads"] = f"{len(some)}, studies/camp_workloads.py has their ranges"
    constants["operations of a workload"] = f"{size['operations']:,}, {size['warm']:,} before"
    constants["pages"] = "2 MiB"
    return Found(rows, pictures, [*notes, NOTE], constants)


class Judged:
    """A workload on a testbed. slowdown, rises: measured in total and by component; predicted,
    parts: the model's values for these.
    """

    def __init__(self, point: Point, dram: dict, slow: dict, found: Fit, platform: str) -> None:
        self.kind, self.cores, self.dram, self.slow = point["kind"], point["cores"], dram, slow
        c = dram["c"]
        self.slowdown = slow["c"] / c - 1
        before, after = stalls(dram, platform), stalls(slow, platform)
        self.rises = [(b - a) / c for a, b in zip(before, after, strict=True)]
        p = predict(dram, found.calibration, platform)
        self.parts = [p.drd, p.cache, p.store]
        self.predicted = p.total

    def metrics(self, ghz: float) -> dict[str, float]:
        """The other metrics of Table 1, from the run on DRAM. AOL is latency over MLP, in
        cycles.
        """
        d = self.dram
        return {
            "MPKI": 1000 * d["l3_miss"] / d["instructions"],
            "bandwidth": d["gb_per_s"],
            "latency": d["P11"] / max(d["P12"], 1) / ghz,
            "stall cycles": d["P3"] / d["c"],
            "AOL": d["P13"] / max(d["P12"], 1),
        }


def _measured(point: Point, content: dict[str, Any]) -> list[Measured]:
    platform, _ = TESTBEDS[point["calibrate"]]
    return points_of(content, platform, point["calibrate"])


def pearson(a: list[float], b: list[float]) -> float:
    """The correlation; 0 if one of them is constant."""
    if np.std(a) == 0 or np.std(b) == 0:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def within(a: list[float], b: list[float], maximum: float) -> float:
    """Percentage of the pairs that differ by at most `maximum`."""
    return float(100 * np.mean(np.abs(np.subtract(a, b)) <= maximum))


def _compared(
    what: str, here: list[float], measured: list[float], paper: tuple, why: str
) -> list[Row]:
    """Rows of the correlation and of shares of errors; none for fewer than two values."""
    if len(here) < 2:
        return []
    found = (pearson(here, measured), within(here, measured, 0.05), within(here, measured, 0.1))
    units = ("Pearson", "% within 5 %", "% within 10 %")
    return [
        Row(what, unit, theirs, number, why)
        for unit, number, theirs in zip(units, found, paper, strict=True)
    ]


def _rows(name: str, judged: list[Judged], free: list[Judged]) -> list[Row]:
    rows = []

    def compare(
        what: str, here: list[float], measured: list[float], paper: tuple, why: str = ""
    ) -> None:
        found = _compared(f"{name}: {what}", here, measured, paper, why)
        rows.extend(r if r.paper and r.here < r.paper else replace(r, why="") for r in found)

    compare("S", _of(judged, "predicted"), _of(judged, "slowdown"), _PAPER[name], WHY_ALL)
    nothing = (None, None, None)
    what = f"S, of the {len(free)} that do not saturate it"
    compare(what, _of(free, "predicted"), _of(free, "slowdown"), nothing)
    mild = [j for j in free if j.slowdown <= _MILD]
    what = f"S, of the {len(mild)} of these that are slowed by at most half"
    compare(what, _of(mild, "predicted"), _of(mild, "slowdown"), nothing)
    real = [j for j in judged if j.kind == "program"]
    if real:
        what = f"S, of the {len(real)} of captured programs"
        compare(what, _of(real, "predicted"), _of(real, "slowdown"), nothing)
    for i, part in enumerate(PARTS):
        why = WHY_NUMA if name == "NUMA" and i == 1 else WHY[part]
        paper = (None, _PAPER_DRD[name] if i == 0 else _PAPER_PART, None)
        here, measured = [j.parts[i] for j in judged], [j.rises[i] for j in judged]
        compare(part, here, measured, paper, why)
        here, measured = [j.parts[i] for j in free], [j.rises[i] for j in free]
        compare(f"{part}, not saturated", here, measured, nothing)
    summed = [sum(j.rises) for j in judged]
    compare("the measured components' sum, and S", summed, _of(judged, "slowdown"), nothing)
    rows += _rivals(name, judged, free, real)

    def beside(what: str, here: list[float], measured: list[float], why: str) -> list[Row]:
        return _compared(what, here, measured, nothing, why)

    return rows + camp_assumptions.rows(name, free, beside)


def _rivals(name: str, judged: list[Judged], free: list[Judged], real: list[Judged]) -> list[Row]:
    """Rows of Table 1's other metrics for the same workloads."""
    rows = []
    ghz = machine(TESTBEDS[name][0]).ghz
    groups = {
        "": judged,
        ", not saturated": free,
        ", not saturated, with reads": [j for j in free if camp_assumptions.reads(j)],
        ", of captured programs": real,
    }
    for metric, paper in _METRICS.items():
        for which, some in groups.items():
            if len(some) < 2:
                continue
            here = pearson([j.metrics(ghz)[metric] for j in some], _of(some, "slowdown"))
            theirs = paper if name == "NUMA" and not which else None
            why = WHY_METRIC if theirs is not None else ""
            rows.append(Row(f"{name}: {metric} and S{which}", "Pearson", theirs, here, why))
    return rows


def _late(name: str, calibrated: list[Measured], some: list, platform: str) -> list[Row]:
    """Rows for the model with P1 in place of P2, so that it sees stalls on late L1 prefetches."""

    def with_p1(counters: dict[str, float]) -> dict[str, float]:
        return {**counters, "P2": counters["P1"]}

    points = [Measured(p.name, with_p1(p.dram), with_p1(p.cxl)) for p in calibrated]
    again = fit(points, platform)
    judged = [
        Judged(p, with_p1(a[a[name]["dram"]]), with_p1(a[a[name]["slow"]]), again, platform)
        for p, a in some
    ]
    rows = []
    for what, here in (("S", _of(judged, "predicted")), ("sum", [sum(j.rises) for j in judged])):
        measured = _of(judged, "slowdown")
        words = f"{name}: with P1 - P3 in place of P2 - P3, {what}"
        rows.append(Row(words, "Pearson", None, pearson(here, measured)))
        rows.append(Row(words, "% within 10 %", None, within(here, measured, 0.1)))
    return rows


def _of(judged: list[Judged], what: str) -> list[float]:
    return [getattr(j, what) for j in judged]


def _kinds(name: str, judged: list[Judged]) -> str:
    """A Markdown table of the errors by kind of workload."""
    lines = [
        f"**{name}**, means by kind:", "",
        "| kind | S measured | S predicted | error of S | of DRd | of Cache | of Store |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]  # fmt: skip
    for kind in dict.fromkeys(j.kind for j in judged):
        of = [j for j in judged if j.kind == kind]
        errors = [np.mean([abs(j.parts[i] - j.rises[i]) for j in of]) for i in range(3)]
        whole = np.mean([abs(j.predicted - j.slowdown) for j in of])
        numbers = [np.mean(_of(of, "slowdown")), np.mean(_of(of, "predicted")), whole, *errors]
        lines.append(f"| {kind} | " + " | ".join(f"{100 * n:.1f} %" for n in numbers) + " |")
    return "\n".join(lines)


def _picture(name: str, judged: list[Judged]) -> Any:
    import altair as alt

    from anemone.report import theme
    from anemone.studies.curves import by_name

    frame = Frame(HALF, 340, left=70, right=20)
    kinds = list(dict.fromkeys(j.kind for j in judged))
    groups = {kind: "program" if kind == "program" else "kernel" for kind in kinds}
    dots = table(
        x=_of(judged, "slowdown"), y=_of(judged, "predicted"), of=[groups[j.kind] for j in judged]
    )
    names = list(dict.fromkeys(groups.values()))
    colour = by_name(names, "top-left")
    x = alt.X("x:Q", axis=alt.Axis(title="slowdown, measured", format="%"))
    y = alt.Y("y:Q", axis=frame.y("slowdown, predicted", format="%"))
    points = alt.Chart(dots).mark_point(filled=True, opacity=0.7).encode(x=x, y=y, color=colour)
    far = max(_of(judged, "slowdown"))
    same = alt.Chart(table(x=[0.0, far], y=[0.0, far])).mark_line(stroke=theme.colour("ink"))
    line = same.encode(x="x:Q", y="y:Q")
    label = f"{name}: slowdown that is predicted, over the one that is measured"
    return svg(frame, label, data(points, "workloads"), data(line, "equal"))
