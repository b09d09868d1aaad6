# SPDX-License-Identifier: Apache-2.0
"""The choice of a machine's dedicated pages: at random, by DAMON-like scans (Memstrata's Figure
14), and by NEMO's counts of each page, which is not in the paper."""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np

from anemone.memstrata.loop import COPY_GB_PER_S, INTERVAL_S
from anemone.studies.curves import curves
from anemone.studies.flat_slowdown import NOTE as WORKLOADS
from anemone.studies.flat_slowdown import STUDY as FLAT
from anemone.studies.flat_workloads import of_each
from anemone.studies.mixes import PAGE_BYTES
from anemone.studies.pages import Pages, by_hotness, by_misses, counted
from anemone.studies.study import Found, Point, Row, Study
from anemone.tiering.parameters import constants

_EACH = 3  # workloads of a category, 21 in total; the paper has 22 (§6.2)
_SHARE, _STEP, _SECONDS = 0.33, 0.02, 300.0  # §6, §4.3, as in the mixes
_SCAN, _NEMO, _CPU = constants("scan"), constants("nemo"), constants("processor")
# An assumption: an interrupt to another processor takes 1 to 3 µs, and so does the flush.
FLUSH_NS = 1500.0
POLICIES = ("random", "hotness", "miss counters")
NOTE = f"""**How it is done.**

- *A run is a thousandth of an interval*, so a page's own count in it says little. All pages of an
  array are alike to these kernels: what is counted of an array stands for each of its pages.
- *Random*: each page is as likely dedicated, those that nobody uses, too, as in the paper.
- *Hotness*: each {_SCAN["sample_ms"]:g} ms one page of each region is looked at, as DAMON does by
  default; accessed is what the page table was walked for. Cold: never, hot: more than 20 times in
  an interval (§4.3). Dedicated pages of cold regions are exchanged for tiered ones of hot regions,
  whichever. Regions keep to arrays' borders, twice as many as arrays and holes,
  {_SCAN["least_regions"]:g} at least.
- *Miss counters*: tiered pages with most near misses are exchanged for dedicated pages that would
  miss least: their requests times the miss ratio of those beside them.
- *Exchanges*: {100 * _STEP:g} % of a machine's pages an interval. Slowdown is the mean of
  {_SECONDS:g} s, on a straight line from the random placement to the last one.
- *Cost*: of scans {_SCAN["entry_ns"]:g} ns an entry, and {FLUSH_NS:g} ns of each of the machine's
  processors for the flush (assumptions; the paper names TLB shootdowns, §6.2); of counters
  {_NEMO["counter_instructions"]:g} instructions a page and interval (costs.toml), by the host."""


class MemstrataPages(Study):
    title = "Memstrata: which pages of a machine are dedicated"
    about = (
        "A third of a machine's pages dedicated, chosen at random, by hotness as DAMON scans it "
        "(Memstrata §6.2, Figure 14), or by misses of near memory by page. Each workload alone "
        "on the core model; slowdown is over local memory."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        return of_each(FLAT.points(quick, seed), 1 if quick else _EACH)

    def run(self, point: Point) -> dict[str, Any]:
        pages, local = counted(point, _SHARE)
        hot = by_hotness(pages, _looks)
        missing = by_misses(pages)
        found = {"random": pages.slowdown(local), "unused": pages.unused}
        for name, chosen in (("hotness", hot), ("miss counters", missing)):
            there, _ = counted(point, _SHARE, chosen)
            moved = chosen.moved / pages.pages
            last = there.slowdown(local)
            found[name] = over_time(found["random"], last, moved)
            found[f"{name}: moved"] = moved
        checks = regions(pages) / (_SCAN["sample_ms"] / 1000)
        found["hotness"] += checks * FLUSH_NS / 1e9
        found["hotness: core"] = checks * (_SCAN["entry_ns"] + FLUSH_NS) / 1e9
        instructions = pages.pages * _NEMO["counter_instructions"]
        found["miss counters: core"] = instructions * _CPU["ns_per_instruction"] / 1e9 / INTERVAL_S
        found["copied: core"] = 3 * _STEP * pages.pages * PAGE_BYTES / (
            COPY_GB_PER_S * 1e9 * INTERVAL_S
        )  # fmt: skip
        return found

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        return judge(answers)


def _looks(per_second: float) -> float:
    """How often an interval's scans find a page accessed, by its page walks per second."""
    every = _SCAN["sample_ms"] / 1000
    return INTERVAL_S / every * (1 - exp(-per_second * every))


def regions(pages: Pages) -> float:
    """DAMON's regions: similar neighbours are merged, then each is split."""
    alike = 2 * len(pages.parts) + 1  # arrays, and the gaps between them
    return min(_SCAN["most_regions"], 2 * max(_SCAN["least_regions"], alike))


def over_time(first: float, last: float, moved: float) -> float:
    """The mean slowdown while this share of the pages moves in steps, and afterwards."""
    moving = min(_SECONDS, moved / _STEP * INTERVAL_S)
    reached = first + (last - first) * (moving / (moved / _STEP * INTERVAL_S) if moved else 1.0)
    return ((first + reached) / 2 * moving + last * (_SECONDS - moving)) / _SECONDS


def judge(answers: list[tuple[Point, dict[str, Any]]]) -> Found:
    """Evaluate the points' answers."""
    slower = {p: np.array([100 * a[p] for _, a in answers]) for p in POLICIES}
    rows = [Row("workloads", "", 22.0, float(len(answers)), "three of each category")]
    for name, some in slower.items():
        rows.append(Row(f"{name}: median slowdown", "%", None, float(np.median(some))))
        rows.append(Row(f"{name}: the worst", "%", None, float(some.max())))
    for name in POLICIES[1:]:
        gain = slower["random"] - slower[name]
        rows += [
            Row(f"{name}: median gain over random", "points", None, float(np.median(gain))),
            Row(f"{name}: better by more than 1 point", "workloads", None, float(sum(gain > 1))),
            Row(f"{name}: worse by more than 1 point", "workloads", None, float(sum(gain < -1))),
            Row(f"{name}: of a core, to look, at most", "%", None,
                max(100 * a[f"{name}: core"] for _, a in answers)),
        ]  # fmt: skip
    rows.append(Row("of a core, to copy, while pages move, at most", "%", None,
                    max(100 * a["copied: core"] for _, a in answers)))  # fmt: skip
    each = 100 * np.arange(1, len(answers) + 1) / len(answers)
    lines = {name: (np.sort(some).tolist(), each.tolist()) for name, some in slower.items()}
    picture = curves(
        "Workloads that are slowed by so much at most, a third dedicated", lines,
        "slowdown over local memory, %", "workloads, %",
    )  # fmt: skip
    constants_ = {
        "dedicated": f"{100 * _SHARE:g} %", "step": f"{100 * _STEP:g} % an interval (§4.3)",
        "interval": f"{INTERVAL_S:g} s", "cold, hot": "0, more than 20 (§4.3)",
    }  # fmt: skip
    gains = slower["random"] - slower["hotness"]
    unused = 100 * float(np.median([a["unused"] for _, a in answers]))
    note = (
        "The paper has no numbers beside Figure 14: hotness gives `only marginal benefits` and is "
        f"worse for some, by its overhead (§6.2). Here {sum(gains > 1)} of {len(gains)} gain more "
        f"than a point and {sum(gains < -1)} lose one. What scans find cold is mostly memory that "
        f"nobody uses ({unused:.0f} % of a machine, median), as a kernel asks alike for all pages "
        "of an array. Workloads are those of flat-slowdown."
    )
    return Found(rows, {"pages": picture}, [note, _table(answers, slower), NOTE, WORKLOADS],
                 constants_)  # fmt: skip


def _table(answers: list[tuple[Point, dict[str, Any]]], slower: dict[str, np.ndarray]) -> str:
    head = "| workload | unused pages | " + " | ".join(slower) + " |\n| --- | ---: |"
    lines = [head + " ---: |" * len(slower)]
    for i, (point, answer) in enumerate(answers):
        cells = " | ".join(f"{some[i]:.1f} %" for some in slower.values())
        name = f"{point['category']}: {point['kernel']}"
        lines.append(f"| {name} | {100 * answer['unused']:.0f} % | {cells} |")
    return "\n".join(["Slowdown of each:", "", *lines])


STUDY = MemstrataPages()
