# SPDX-License-Identifier: Apache-2.0
"""Compares count-min sketches from chained pipelines, exact counters and samples (NEMO §6.3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from anemone.control import CountMin, ModelController
from anemone.hardware.features import Features
from anemone.hardware.geometry import Geometry
from anemone.studies.captured import ROOT
from anemone.studies.curves import curves
from anemone.studies.hemem_values import zipf_of
from anemone.studies.study import Found, Point, Row, Study
from anemone.tiering.parameters import constants
from anemone.trace import read_trace

_SHIFT = 12  # pages of 4 KiB
_WIDTH = 32  # bits of a counter
_GENERATED = {"zipf": 1, "shifting": 8}  # name: number of successive hot sets
_CAPTURED = ("redis", "gcc")
_ACCESSES, _PAGES = 20_000_000, 1 << 18
_QUICK = 16  # a quick run's generated trace is smaller by this factor
_SHARES = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2)  # counters per channel and page
_DEPTHS = (1, 2, 4)
_PERIODS = (int(constants("pebs")["period"]), 100)
_TABLE_STEP = 2  # the table has every second size, the pictures have all
_HOTTEST = 0.01  # share of the pages that are to be found


class Sketches(Study):
    title = "Sketches of chained pipelines, beside exact counters and samples"
    about = (
        "Which pages are the hottest hundredth, and how often is each of them accessed? A "
        "count-min sketch counts all pages at once in fewer counters than there are pages: "
        "pipelines of the same filter, each with a hash of its own (NEMO §6.3). Beside it exact "
        "counters, as many, which watch as many pages at a time as they are, all after each other, "
        "and count each for its part of the time; and samples, which need no counters. All are of "
        f"{_WIDTH} bits, and SRAM is that of both channels. The generated traces have 80 % of "
        "their accesses in a fifth of their pages, for the whole time or in eight such fifths by "
        "turns; the programs are Debian's, as captured in sim/traces."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        small = _QUICK if quick else 1
        size = {"accesses": _ACCESSES // small, "pages": _PAGES // small}
        traces = [{"trace": name, **size} for name in _GENERATED]
        traces += [{"trace": name} for name in _CAPTURED[: 1 if quick else None]]
        shares = _SHARES[::2] if quick else _SHARES
        return [
            {**trace, "share": share, "seed": seed, "engine": "model"}
            for trace in traces
            for share in shares
        ]

    def run(self, point: Point) -> dict[str, Any]:
        rng = np.random.default_rng(point["seed"])
        addr = _addresses(point, rng)
        pages = int(addr.max() >> np.uint64(_SHIFT)) + 1
        page = (addr >> np.uint64(_SHIFT)).astype(np.int64)
        true = np.bincount(page, minlength=pages)
        counters = max(4, int(pages * point["share"]))
        found = {f"sketch of {d}": _sketch(addr, pages, counters, d) for d in _DEPTHS}
        found["exact"] = _multiplexed(page, pages, counters)
        for period in _PERIODS:
            sampled = page[int(rng.integers(period)) :: period]
            found[f"1 in {period:,}"] = np.bincount(sampled, minlength=pages) * period
        judged = {name: _judge(estimate, true, rng) for name, estimate in found.items()}
        kib = counters * _WIDTH // 8 * Geometry().channels / 1024
        return {"pages": pages, "accesses": len(addr), "kib": kib, "of": judged}

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        rows, pictures, notes = [], {}, []
        for trace in dict.fromkeys(point["trace"] for point, _ in answers):
            some = [answer for point, answer in answers if point["trace"] == trace]
            sizes = [answer["kib"] for answer in some]
            for measure, title, y in _MEASURES:
                lines = {}
                for name in some[0]["of"]:
                    lines[name] = (np.log2(sizes), [answer["of"][name][measure] for answer in some])
                    rows += [
                        Row(f"{trace}, {kib:,.1f} KiB, {name}: {title}", y, None, value)
                        for kib, value in list(zip(sizes, lines[name][1], strict=True))[
                            1::_TABLE_STEP
                        ]
                    ]
                pictures[f"{trace}-{measure}"] = curves(
                    f"{trace}: {title}", lines, "SRAM of both channels, log2 of KiB", y, "top"
                )
            exact = some[0]["pages"] * _WIDTH // 8 * Geometry().channels / 1024
            better = [a["kib"] for a in some if _best(a["of"]) > a["of"]["exact"]["found"]]
            notes.append(
                f"{trace}: {some[0]['accesses']:,} accesses of {some[0]['pages']:,} pages; a "
                f"counter for each takes {exact:,.0f} KiB. Of the hottest a sketch finds more "
                f"than exact counters by turns: {_sizes(better)}."
            )
        return Found(rows, pictures, notes, {
            "hottest": f"{_HOTTEST:.0%} of the pages", "page": "4 KiB",
            "counters": f"{_WIDTH} bits",
            "samples": "1 in 5,003 as HeMem's, and 1 in 100, the most that NEMO §5.1 tries",
        })  # fmt: skip


_MEASURES = (
    ("found", "of the hottest pages found", "%"),
    ("error", "mean error of their counts", "%"),
)


def _best(found: dict[str, dict[str, float]]) -> float:
    """Percentage of the hottest pages that the best sketch found."""
    return max(one["found"] for name, one in found.items() if name.startswith("sketch"))


def _sizes(kib: list[float]) -> str:
    return f"at {', '.join(f'{size:,.1f}' for size in kib)} KiB" if kib else "at no size"


def _addresses(point: Point, rng: np.random.Generator) -> np.ndarray:
    """The trace's byte addresses, with pages renumbered from 0."""
    if point["trace"] not in _GENERATED:
        addr = read_trace(ROOT / "sim" / "traces" / f"{point['trace']}.parquet", Geometry()).addr
        _, page = np.unique(addr >> np.uint64(_SHIFT), return_inverse=True)
        return page.astype(np.uint64) << np.uint64(_SHIFT) | addr & np.uint64((1 << _SHIFT) - 1)
    share, phases = zipf_of(point["pages"]), _GENERATED[point["trace"]]
    rank = np.searchsorted(share, rng.random(point["accesses"]))
    page = np.empty(point["accesses"], np.uint64)
    for part in np.array_split(np.arange(len(rank)), phases):
        page[part] = rng.permutation(point["pages"])[rank[part]]
    line = rng.integers(0, 1 << _SHIFT - 6, point["accesses"], np.uint64)
    return page << np.uint64(_SHIFT) | line << np.uint64(6)


def _sketch(addr: np.ndarray, pages: int, counters: int, depth: int) -> np.ndarray:
    """Estimates of all pages by a sketch with `counters` counters in `depth` rows."""
    size = counters // depth
    states = max(512, 1 << (size * _WIDTH // 64).bit_length())
    controller = ModelController(
        Geometry(pipelines=depth, states=states, features=Features(hash=True))
    )
    sketch = CountMin(controller, _SHIFT, size, depth)
    controller.access(addr, np.zeros(len(addr), np.bool_))
    return sketch.estimate(sketch.read(), np.arange(pages))


def _multiplexed(page: np.ndarray, pages: int, counters: int) -> np.ndarray:
    """Estimates by exact counters that watch `counters` pages at a time, each for the same time."""
    turns = -(-pages // counters)
    estimate = np.zeros(pages)
    for turn, part in enumerate(np.array_split(page, turns)):
        first, last = turn * counters, min(pages, (turn + 1) * counters)
        watched = part[(part >= first) & (part < last)]
        estimate[first:last] = np.bincount(watched - first, minlength=last - first) * turns
    return estimate


def _judge(estimate: np.ndarray, true: np.ndarray, rng: np.random.Generator) -> dict[str, float]:
    """Percentage of the hottest pages among the hottest by estimate, and the mean error of their
    counts.

    Ties in the estimate are broken at random. All pages with the least hot count are hottest.
    """
    count = max(1, int(len(true) * _HOTTEST))
    minimum = np.sort(true)[-count]
    chosen = np.lexsort((rng.random(len(true)), estimate))[-count:]
    hottest = true >= max(1, minimum)
    error = np.abs(estimate[hottest].astype(float) - true[hottest]) / true[hottest]
    return {"found": 100 * float(hottest[chosen].mean()), "error": 100 * float(error.mean())}


STUDY = Sketches()
