# SPDX-License-Identifier: Apache-2.0
"""Division of DRAM between workloads that share a machine (CAMP §6.3), on the core model."""

from __future__ import annotations

import functools
from itertools import combinations
from typing import Any

from anemone.models.camp.calibrate import dividing, on_model
from anemone.models.camp.colocate import RULES, Workload, place
from anemone.models.camp.fit import fit
from anemone.models.camp.interleave import Endpoints, Tier
from anemone.models.camp.slowdown import Calibration, predict, stalls
from anemone.models.core import Kernel, Memory, Run, machine, simulate, tier
from anemone.studies.camp_workloads import bandwidth_bound, drawn
from anemone.studies.study import Found, Point, Row, Study

_PLATFORM, _SLOW = "skx", "skx-numa"
_HUGE, _BASE = 21, 12  # log2 of page sizes; base pages if a workload's memory is divided
_PAIRS, _RATIOS = 3, ((1, 1), (2, 1), (4, 1))
_CORES, _STREAMING = 4, 6  # cores of a latency-bound workload, and of the bandwidth-bound one
_TAU = 0.05
_COUNTED = 60_000  # counted operations of a core, after half as many for warming up
_EACH_KIND = 3  # workloads of each kind
_PAPER = (10.0, 11.6, 12.2)  # Figure 16b


class Colocate(Study):
    title = "CAMP: which of two workloads gets the DRAM"
    about = (
        "Two workloads share SKX2S and its two tiers (Table 3). First three pairs of "
        "latency-bound ones on four cores each, one of them on DRAM, the other on the slow tier: "
        "those of the drawn workloads whose order by predicted slowdown and by MPKI differs most. "
        "Then a bandwidth-bound one on six cores and a latency-bound one on four, with DRAM for a "
        "part of their memory. Slowdowns are over both all on DRAM."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        size = {"seed": seed, "operations": _COUNTED // (6 if quick else 1)}
        pairs = [{"pair": i, **size} for i in range(1 if quick else _PAIRS)]
        return pairs + [{"ratio": list(r), **size} for r in _RATIOS[: 1 if quick else None]]

    def run(self, point: Point) -> dict[str, Any]:
        if "pair" in point:
            return _pair(*_pairs(point["seed"], point["operations"])[point["pair"]], point)
        return _divided(point)

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        rows = []
        for point, answer in answers:
            if "pair" in point:
                rows += _pair_rows(point["pair"], answer)
            else:
                fast, slow = point["ratio"]
                for rule, found in answer["rules"].items():
                    words = f"DRAM to slow tier {fast}:{slow}, by {rule}: mean slowdown"
                    rows.append(Row(words, "%", None, 100 * found["mean"]))
                    words = f"DRAM to slow tier {fast}:{slow}, by {rule}: predicted"
                    rows.append(Row(words, "%", None, 100 * found["predicted"]))
        constants = {"operations of a core": f"{answers[0][0]['operations']:,}"}
        return Found(rows, {"pairs": _picture(answers)}, [_NOTE], constants)


def _pair_rows(number: int, answer: dict[str, Any]) -> list[Row]:
    of = f"pair {number + 1} ({' and '.join(answer['names'])})"
    camp, mpki = answer["camp"], answer["mpki"]
    worse = 100 * (_mean_time(mpki) / _mean_time(camp) - 1)
    paper = _PAPER[number]
    rows = [Row(f"{of}: placed by MPKI is worse by", "%", paper, worse, _WHY)]
    for who, predicted, measured in zip(
        answer["names"], answer["predicted"], (mpki[0], camp[1]), strict=True
    ):
        rows.append(Row(f"{of}: {who} on the slow tier, predicted", "%", None, 100 * predicted))
        rows.append(Row(f"{of}: {who}, measured", "%", None, 100 * measured))
    return rows


def _mean_time(slowdowns: list[float]) -> float:
    return 1 + sum(slowdowns) / len(slowdowns)


@functools.cache
def _constants() -> Calibration:
    points = on_model(_PLATFORM, _SLOW, lambda done, total: None, _HUGE)
    return fit(points, _PLATFORM).calibration


def _run(
    programs: list[Kernel], shares: list[float], operations: int, page_bits: int = _HUGE
) -> Run:
    on = machine(_PLATFORM).with_(page_bits=page_bits)
    memory = Memory(tier(_PLATFORM), tier(_SLOW), shares=tuple(shares))
    return simulate(on, memory, programs, operations, operations // 2)


@functools.cache
def _idle_ns() -> float:
    return _run([Kernel("chase", {"work": 0})], [1.0], 10_000).read_ns


def _mpki(run: Run) -> float:
    return 1000 * run.counters["l3_miss"] / run.counters["instructions"]


@functools.cache
def _pairs(seed: int, operations: int) -> list[tuple[dict, dict]]:
    """Pairs of latency-bound workloads: the first is slowed more, the second misses more."""
    kernels = [w for w in drawn(seed) if "kernel" in w]
    kinds = dict.fromkeys(w["kind"] for w in kernels)
    some = [w for k in kinds for w in [w for w in kernels if w["kind"] == k][:_EACH_KIND]]
    found = []
    for one in some:
        run = _run([Kernel(one["kernel"], one["settings"])] * _CORES, [1.0] * _CORES, operations)
        if run.read_ns <= (1 + _TAU) * _idle_ns():
            s = predict(dividing(run.counters), _constants(), _PLATFORM).total
            found.append({**one, "S": s, "mpki": _mpki(run)})
    conflicts = [
        (a, b) if a["S"] > b["S"] else (b, a)
        for a, b in combinations(found, 2)
        if (a["S"] - b["S"]) * (a["mpki"] - b["mpki"]) < 0
    ]
    chosen: list[tuple[dict, dict]] = []
    for a, b in sorted(conflicts, key=lambda pair: pair[1]["S"] - pair[0]["S"]):
        if all(one not in pair for pair in chosen for one in (a, b)):
            chosen.append((a, b))
    return chosen[:_PAIRS]


def _pair(a: dict, b: dict, point: Point) -> dict[str, Any]:
    programs = [Kernel(one["kernel"], one["settings"]) for one in (a, b) for _ in range(_CORES)]

    def slowdowns(first: float, second: float) -> list[float]:
        shares = [first] * _CORES + [second] * _CORES
        run = _run(programs, shares, point["operations"])
        return [sum(core["c"] for core in half) for half in _halves(run, _CORES)]

    base = slowdowns(1.0, 1.0)
    return {
        "names": [f"{one['kind']} {one['settings']['seed']}" for one in (a, b)],
        "mpki_alone": [a["mpki"], b["mpki"]],
        "predicted": [a["S"], b["S"]],
        "camp": _over(slowdowns(1.0, 0.0), base),
        "mpki": _over(slowdowns(0.0, 1.0), base),
    }


def _halves(run: Run, at: int) -> tuple:
    return run.cores[:at], run.cores[at:]


def _over(cycles: list[float], base: list[float]) -> list[float]:
    return [c / b - 1 for c, b in zip(cycles, base, strict=True)]


def _divided(point: Point) -> dict[str, Any]:
    """A bandwidth-bound and a latency-bound workload with equal memory sizes."""
    wide = next(w for w in bandwidth_bound(point["seed"]) if w["kernel"] == "stream")
    deep = {"bytes": wide["settings"]["bytes"], "work": 20, "chains": 2, "ilp": 4}
    groups = [
        [Kernel("stream", wide["settings"])] * _STREAMING,
        [Kernel("chase", deep)] * _CORES,
    ]
    ends = [_endpoints(group, point["operations"]) for group in groups]
    names = ("bandwidth-bound", "latency-bound")
    workloads = [
        Workload(name, 1.0, mpki, end) for name, (mpki, end) in zip(names, ends, strict=True)
    ]
    fast, slow = point["ratio"]
    programs = [program for group in groups for program in group]

    def measured(shares: tuple[float, ...]) -> list[float]:
        of_cores = [s for s, group in zip(shares, groups, strict=True) for _ in group]
        run = _run(programs, of_cores, point["operations"], _BASE)
        return [sum(core["c"] for core in half) for half in _halves(run, _STREAMING)]

    base = measured((1.0, 1.0))
    rules = {}
    for name, rule in RULES.items():
        placed = place(workloads, 2 * fast / (fast + slow), rule)
        found = _over(measured(placed.shares), base)
        rules[name] = {
            "shares": list(placed.shares),
            "predicted": placed.mean,
            "slowdowns": found,
            "mean": sum(found) / len(found),
        }
    return {"rules": rules}


def _endpoints(group: list[Kernel], operations: int) -> tuple[float, Endpoints]:
    runs = [_run(group, [share] * len(group), operations, _BASE) for share in (1.0, 0.0)]
    idle = [_idle_ns(), _idle_ns() + tier(_SLOW).ns - tier(_PLATFORM).ns]
    tiers = [
        Tier(stalls(run.counters, _PLATFORM), rest, max(run.read_ns, 1.0))
        for run, rest in zip(runs, idle, strict=True)
    ]
    return _mpki(runs[0]), Endpoints(runs[0].counters["c"], *tiers, tau=_TAU)


def _picture(answers: list[tuple[Point, dict[str, Any]]]) -> Any:
    import altair as alt

    from anemone.report.charts import HALF, Frame, data, svg, table
    from anemone.studies.curves import by_name

    frame = Frame(HALF, 280, left=70, right=20)
    rows: dict[str, list] = {"what": [], "by": [], "slowdown": []}
    for point, answer in answers:
        if "pair" in point:
            found = {by: _mean_time(answer[by]) - 1 for by in ("camp", "mpki")}
            what = f"pair {point['pair'] + 1}"
        else:
            found = {by: rule["mean"] for by, rule in answer["rules"].items()}
            what = "{}:{}".format(*point["ratio"])
        for by, slowdown in found.items():
            rows["what"].append(what)
            rows["by"].append(by)
            rows["slowdown"].append(slowdown)
    names = list(dict.fromkeys(rows["by"]))
    colour = by_name(names, "top-right", "by")
    x = alt.X("what:N", axis=alt.Axis(title=None, labelAngle=0), sort=None)
    y = alt.Y("slowdown:Q", axis=frame.y("mean slowdown", format="%"))
    bars = alt.Chart(table(**rows)).mark_bar().encode(x=x, y=y, color=colour, xOffset="by:N")
    return svg(frame, "Mean slowdown by who gets the DRAM", data(bars, "slowdowns"))


_WHY = "pairs are those of the drawn workloads that differ most, not the paper's"
_NOTE = (
    "What workloads take of each other's bandwidth is in the measured numbers and not in the "
    "predicted ones (§5.5): where the other one moves to the slow tier, what stays may run faster "
    "than before, and a pair may do so together. A stream whose lines the prefetchers bring has "
    "few demand reads, and quick ones: by §5.3 it is latency-bound, though it takes much bandwidth."
)
STUDY = Colocate()
