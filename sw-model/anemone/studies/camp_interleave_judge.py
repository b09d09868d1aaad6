# SPDX-License-Identifier: Apache-2.0
"""Evaluates the study of ratios: predicted and measured curves, and policies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from anemone.caption.algorithm import Average, Tuning, decide, estimate, first
from anemone.models.camp.interleave import Endpoints, Tier
from anemone.models.camp.slowdown import Stalls
from anemone.report.charts import HALF, Frame, data, svg, table
from anemone.studies.study import Found, Point, Row

_CAPACITY = 0.8  # DRAM's share of the workload's memory for the baselines (§6.2.1)
_PERIODS, _SETTLED = 40, 10  # Caption's periods, and how many of the last are evaluated
_WINDOW = 5  # samples in Caption's moving average
_WALKS = ("stream", "stride", "stencil", "memset")  # kernels that traverse their data in order
_WITHIN = 90.0
_UP_TO = {"first touch": 21.0, "Colloid-like": 21.0, "Caption": 5.0}  # §3.3, §6.2.2

WHY = "queues here grow at a point, not with the square of the load; P2 - P3 has stalls, too"
NOTES = [
    """**What our core does not share with the paper's.**

- *Latency grows with the square of the load* (Eq. 8). A tier here serves a line at a time, and
  cores of one program keep it busy in step: there is no queue up to its bandwidth, and then all of
  it. The measured curve has an edge where one tier is full and the other is not; the model's is
  round. So the best ratio is found, and the slowdown beside it is not.
- *Stalls are P3, P1 - P2 and P6.* A load that waits for a line which the L2's prefetcher has asked
  for is in P2 - P3 here, which Skylake's S_Cache leaves out: of the strides that is most of them.
- *Latency is that of demand reads.* memset has none, and so counts as latency-bound.
- gather is latency-bound on ten cores: pages of 4 KiB, a walk for almost each load.

**Policies.** First touch gives DRAM to the first four fifths of the memory; 1:1 is x = 0.5. Caption
is Algorithm 1 with steps of 10 and 9 %, its linear estimate fitted to each workload's own curve,
which is more than it could know; of forty periods the last ten count, and in each all pages are
new. Colloid-like is the share at which both tiers' reads take as long, at most four fifths: where
Colloid ends if it ever does, without the cost of its migrations. Best-shot takes the share from two
runs.

**What was changed after a look.** Twelve of the 36 workloads, of the same ranges, were added when
16 of the first 24 were bandwidth-bound; Caption's estimate was one for all, and did worse."""
]

_WHY_POLICY = {
    "first touch": "ten cores that only move memory have more to gain by a second tier",
    "Colloid-like": "its end point, which costs no migration here",
    "Caption": "steps of no less than 9 %, about an optimum with an edge",
}


class Curve:
    """A workload at every ratio. shares, cycles: measured; predicted: S by Eq. 10."""

    def __init__(self, point: Point, answer: dict[str, Any], idle: dict[str, float]) -> None:
        self.kernel, self.rows = point["kernel"], answer["curve"]
        self.shares = np.array([row["x"] for row in self.rows])
        self.cycles = np.array([row["c"] for row in self.rows])
        slow, dram = self.rows[0], self.rows[-1]
        self.slowdown = self.cycles / dram["c"] - 1
        self.ends = Endpoints(dram["c"], _tier(dram, idle["dram"]), _tier(slow, idle["cxl"]))
        self.predicted = np.array([self.ends.at(x).total for x in self.shares])

    def at(self, x: float, of: str = "c") -> float:
        """A value at any share, interpolated between the measured shares."""
        return float(np.interp(x, self.shares, [row[of] for row in self.rows]))

    @property
    def error(self) -> np.ndarray:
        """|predicted - measured| at all shares but the two ends."""
        return np.abs(self.predicted - self.slowdown)[1:-1]


def _tier(row: dict[str, float], idle: float) -> Tier:
    # On Skylake the cache's stalls are P1 - P2.
    return Tier(Stalls(row["P3"], row["P1"] - row["P2"], row["P6"]), idle, row["l_ns"])


def judge(answers: list[tuple[Point, dict[str, Any]]]) -> Found:
    """Evaluate the points' answers."""
    idle = next(a for p, a in answers if "idle" in p)
    curves = [Curve(p, a, idle) for p, a in answers if "idle" not in p]
    bound = [c for c in curves if c.ends.bandwidth_bound]
    rows = [Row("workloads, of them bandwidth-bound by §5.3", "", 20.0, float(len(bound)))]
    for name, some in (("all", curves), ("bandwidth-bound", bound)):
        if not some:
            continue
        errors = np.concatenate([c.error for c in some])
        paper = _WITHIN if some is bound else None
        near = 100 * float(np.mean(errors <= 0.05))
        rows.append(Row(f"{name}: ratios within 5 %", "%", paper, near, _why(near, paper)))
        rows.append(Row(f"{name}: within 10 %", "%", None, 100 * float(np.mean(errors <= 0.1))))
        rows.append(Row(f"{name}: median error", "%", None, 100 * float(np.median(errors))))
    rows += _policies(bound or curves)
    errors = {
        kernel: np.concatenate([c.error for c in curves if c.kernel == kernel]).mean()
        for kernel in dict.fromkeys(c.kernel for c in curves)
    }
    errors_text = ", ".join(f"{kernel} {error:.1%}" for kernel, error in errors.items())
    notes = [f"Mean error by kernel, points of slowdown: {errors_text}.", *NOTES]
    constants = {
        "idle latency, P11 / P12 of a chase": f"{idle['dram']:.1f} and {idle['cxl']:.1f} ns",
        "tau": 0.05,
        "DRAM of the rivals": f"{_CAPACITY:.0%} of the workload's memory",
        "workloads": f"{len(curves)}, studies/camp_workloads.py has their ranges",
    }
    return Found(rows, {"curves": _picture(bound or curves)}, notes, constants)


def _why(here: float, paper: float | None) -> str:
    return WHY if paper is not None and here < paper else ""


def _policies(curves: list[Curve]) -> list[Row]:
    chosen: dict[str, Callable[[Curve], float]] = {
        "oracle": lambda c: float(c.cycles.min()),
        "1:1": lambda c: c.at(0.5),
        "first touch": _first_touch,
        "Caption": _caption,
        "Colloid-like": lambda c: c.at(_equal_latency(c)),
    }
    best = np.array([c.at(c.ends.best()) for c in curves])
    alone = np.array([c.cycles[-1] for c in curves])
    rows = [Row("Best-shot over DRAM alone", "mean %", None, _gain(alone, best).mean())]
    for name, policy in chosen.items():
        gain = _gain(np.array([policy(c) for c in curves]), best)
        rows.append(Row(f"Best-shot over {name}", "mean %", None, gain.mean()))
        paper = _UP_TO.get(name)
        why = _WHY_POLICY.get(name, "")
        rows.append(Row(f"Best-shot over {name}", "at most %", paper, gain.max(), why))
        rows.append(Row(f"Best-shot over {name}", "at least %", None, gain.min()))
    off = [abs(c.ends.best() - c.shares[c.cycles.argmin()]) for c in curves]
    rows.append(Row("Best-shot's share of DRAM and the oracle's differ by", "mean", None,
                    float(np.mean(off))))  # fmt: skip
    return rows


def _gain(theirs: np.ndarray, ours: np.ndarray) -> np.ndarray:
    """How much more work per cycle ours does, in %."""
    return 100 * (theirs / ours - 1)


def _first_touch(curve: Curve) -> float:
    """Cycles with DRAM for the data touched first. A traversal spends a share of its time in DRAM;
    other kernels always have a share of their accesses there.
    """
    if curve.kernel in _WALKS:
        return _CAPACITY * curve.at(1.0) + (1 - _CAPACITY) * curve.at(0.0)
    return curve.at(_CAPACITY)


def _equal_latency(curve: Curve) -> float:
    """The share at which reads of both tiers have equal latencies, or the nearest to it."""
    shares = curve.shares[curve.shares <= _CAPACITY]
    gap = [abs(curve.at(x, "dram_ns") - curve.at(x, "cxl_ns")) for x in shares]
    return float(shares[int(np.argmin(gap))])


def _estimate(curve: Curve) -> tuple[float, float, float, float]:
    """Caption's linear model of performance, fitted to all ratios of the workload."""
    rows = [[1.0, row["l1_miss_ns"], row["dram_ns"], row["ipc"]] for row in curve.rows]
    found, *_ = np.linalg.lstsq(np.array(rows), curve.cycles[-1] / curve.cycles, rcond=None)
    return tuple(found.tolist())


def _caption(curve: Curve) -> float:
    """Mean cycles at the ratios of the last periods; all pages are new in each period."""
    beta, average, tuning = _estimate(curve), Average(_WINDOW), Tuning()
    x, spent, state = 1.0, [], None
    for _ in range(_PERIODS):
        spent.append(curve.at(x))
        seen = average.add(tuple(curve.at(x, of) for of in ("l1_miss_ns", "dram_ns", "ipc")))
        now = estimate(beta, seen)
        state = decide(now, state, tuning) if state else first(now, tuning)
        x = 1 - state.ratio / 100
    return float(np.mean(spent[-_SETTLED:]))


def _picture(curves: list[Curve]) -> Any:
    import altair as alt

    from anemone.studies.curves import by_name

    frame = Frame(HALF, 340, left=70, right=20)
    first = dict.fromkeys(c.kernel for c in curves)
    kernels = {kernel: next(c for c in curves if c.kernel == kernel) for kernel in first}
    lines: dict[str, list] = {"x": [], "y": [], "of": [], "how": []}
    for kernel, c in list(kernels.items())[:3]:
        for how, values in (("measured", c.slowdown), ("predicted", c.predicted)):
            lines["x"] += c.shares.tolist()
            lines["y"] += values.tolist()
            lines["of"] += [kernel] * len(c.shares)
            lines["how"] += [how] * len(c.shares)
    names = list(dict.fromkeys(lines["of"]))
    colour = by_name(names, "top-right")
    dash = alt.StrokeDash("how:N", legend=alt.Legend(title=None, orient="bottom-left"))
    x = alt.X("x:Q", axis=alt.Axis(title="DRAM's share", format="%"))
    y = alt.Y("y:Q", axis=frame.y("slowdown", format="%"))
    drawn = alt.Chart(table(**lines)).mark_line().encode(x=x, y=y, color=colour, strokeDash=dash)
    label = "Slowdown over DRAM's share, measured and predicted, of a workload of three kernels"
    return svg(frame, label, data(drawn, "curves"))
