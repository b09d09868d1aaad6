# SPDX-License-Identifier: Apache-2.0
"""HeMem when the hot set shifts, with NEMO's counts and with samples (NEMO §5.1, Figures 3, 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from anemone.hardware.geometry import LINE_BYTES, Geometry
from anemone.studies.captured import program
from anemone.studies.curves import curves
from anemone.studies.prototype import KIND, THINK_NS, constants, think_time
from anemone.studies.study import Found, Point, Row, Study
from anemone.tiering import Migration, Tier, TierConfig, simulate
from anemone.tiering.config import HUGE_PAGE, made
from anemone.tiering.devices import devices
from anemone.tiering.scaling import scaled
from anemone.trace import Trace

# From the paper: 24 GiB of huge pages, 1:2, 6 threads, values of 1024 B; 20 % of the keys take 90
# %.
PAGES, FAST_PAGES, _THREADS, _HOT, _SHARE = 12_288, 4096, 6, 0.2, 0.9
VALUE_LINES = 16
LOADED = 3  # demand loads of a value before the prefetcher starts (as in sim/capture)
_PAGE_LINES = HUGE_PAGE // LINE_BYTES
_RATES = {"0.005 %": 20_000, "0.02 %": 5003, "0.1 %": 1000, "1 %": 100}
_STORE = "store"
_NEMO, _DEFAULT = "NEMO", "0.02 %"
_RECOVERED = 0.95  # share of the throughput before the shift
_PAPER_S = {_NEMO: 67.0, _DEFAULT: 324.0}


class HeMemShift(Study):
    title = "HeMem when the hot set shifts"
    about = (
        "A key-value store of 24 GiB, 1:2, 6 threads; hot keys lie together and take 90 % of the "
        "requests; then a disjoint set of pages becomes hot. A request reads its bucket and 16 "
        "lines of its value, all but three of them prefetched. Each interval of 1 s HeMem is told "
        "what PEBS sampled of both tiers, or NEMO's counts of the slow one and PEBS at 0.02 % of "
        "the fast one (NEMO §5.1). Recovered is when throughput is at 95 % of what the best source "
        "had before the shift. Beside it Debian's redis-server, as captured, again and again, "
        "whose pages trade places with others at the shift; a request is an access there."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        k, before, after = (512, 20, 60) if quick else (128, 120, 500)
        return [
            {"what": what, "source": source, "timing": timing, "k": k, "before": before,
             "after": after, "seed": seed, **({"engine": "model"} if source == _NEMO else {})}
            for what in (_STORE, "redis")
            for timing in ("queue", "dram")
            for source in (_NEMO, *_RATES)
        ]  # fmt: skip

    def run(self, point: Point) -> dict[str, Any]:
        one = devices()["nemo"]
        source, k = point["source"], point["k"]
        if source == _NEMO:
            nemo = {"pipelines": 1, "engine": point["engine"]}
            telemetry = {"telemetry": "nemo", "telemetry_with": nemo}
            policy: dict[str, Any] = {}
        else:
            period = _RATES[source]
            telemetry = {"telemetry": "pebs", "telemetry_with": {"period": period}}
            policy = {"samples_per_access": 1 / period}
        pages, fast, each, threads = PAGES, FAST_PAGES, VALUE_LINES + 1, _THREADS
        requests = int(rate() / k * point["before"]), int(rate() / k * point["after"])
        trace = partial(store, PAGES // k, requests, k, point["seed"])
        if point["what"] != _STORE:
            again, touched = program(point["what"], k, HUGE_PAGE)
            pages, fast, each, threads = touched * k, touched // 3 * k, 1, 1
            requests, trace = _traded(again, touched, point["before"], point["after"])
        whole = TierConfig(
            HUGE_PAGE, 10, Tier(fast, *one.fast), Tier(pages, *one.slow), posted=48,
            migration=Migration(on_write="wait"), policy="hemem", policy_with=policy,
            interval_ns=1e9, seed=point["seed"], timing=point["timing"], **telemetry,
        )  # fmt: skip
        # The hardware is not scaled: one pipeline has enough table entries and counters.
        config = scaled(replace(whole, telemetry="none", telemetry_with={}), k)
        config = replace(config, telemetry=whole.telemetry, telemetry_with=whole.telemetry_with)
        geometry = Geometry(device_gib=max(1, -(-pages * HUGE_PAGE // k >> 30)))
        done = simulate(config, trace, *made(config), geometry, threads=threads)
        throughput = done.timeline["throughput"]
        end = done.timeline["time_ns"] / 1e9
        counts = done.timeline["fast_accesses"] + done.timeline["slow_accesses"]
        shifted = int(np.searchsorted(np.cumsum(counts), requests[0] * each))
        level = float(np.median(throughput[max(0, shifted - 11) : max(1, shifted - 1)]))
        cpu = (done.telemetry_cpu_ns + done.policy_cpu_ns) / done.time_ns
        per_request = k / each
        return {
            "seconds": end.tolist(),
            "requests_per_second": (throughput * per_request).tolist(),
            "shift_s": float(end[shifted]),
            "before": level * per_request,
            "cpu": float(cpu),
        }

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        rows, notes, pictures = [], [], {}
        for what, timing in dict.fromkeys((p["what"], p["timing"]) for p, _ in answers):
            some = [(p, a) for p, a in answers if (p["what"], p["timing"]) == (what, timing)]
            level = max(a["before"] for _, a in some)
            took = {p["source"]: _recovery(a, _RECOVERED * level) for p, a in some}
            for point, answer in some:
                rows += _rows(point, answer, took[point["source"]])
            order = sorted(took, key=lambda source: took[source])
            notes.append(f"Ranking by recovery, {what}, {timing}: {', '.join(order)}.")
            pictures[f"throughput-{what}-{timing}"] = _picture(some)
        first = answers[0][0]
        return Found(rows, pictures, notes, constants(first, think_time()))


def _rows(point: Point, answer: dict[str, Any], took: float) -> list[Row]:
    """took: recovery time in s, inf without recovery. The paper has numbers only for the store."""
    source, ours = point["source"], point["what"] == _STORE
    words = f"{source if source == _NEMO else 'PEBS at ' + source}, {point['timing']}"
    words = words if ours else f"{point['what']}, {words}"
    paper = _PAPER_S.get(source) if ours else None
    why = _WHY if paper else ""
    if not ours and source == _NEMO:
        why = _WHY_PROGRAM
    if took == np.inf:
        took = answer["seconds"][-1] - answer["shift_s"]
        why = "not recovered by the end of the run, which is given"
    share = 0.89 if source == _NEMO and ours else None
    return [
        Row(f"recovery, {words}", "s", paper, took, why),
        Row(f"CPU, {words}", "% of a processor", share, 100 * answer["cpu"],
            _WHY_CPU if share else ""),
    ]  # fmt: skip


_WHY = (
    "hot keys fill whole pages here, so that a few samples tell them, and HeMem migrates at up to "
    "10 GB/s; the paper says that its recovery is bound by migration, not how fast that was, nor "
    "how hot keys lie on pages"
)
_WHY_PROGRAM = (
    "later than by samples: most of its pages are about equally hot. By exact counts they "
    "become hot together and cool together, and those in the fast tier change all the time, also "
    "before the shift; the noise of samples separates them"
)
_WHY_CPU = "instructions of our driver at one a cycle, and nothing else that the prototype spent"


def _recovery(answer: dict[str, Any], level: float) -> float:
    """Seconds from the shift until throughput reaches a level; inf if it does not."""
    later = [
        t - answer["shift_s"]
        for t, rate in zip(answer["seconds"], answer["requests_per_second"], strict=True)
        if t > answer["shift_s"] and rate >= level
    ]
    return later[0] if later else np.inf


def rate() -> float:
    """Approximate requests per second of the unscaled machine, to choose the number of requests."""
    return _THREADS / ((THINK_NS + 600.0) * 1e-9)


def _traded(
    again: Callable[[], Iterator[Trace]], pages: int, before: float, after: float
) -> tuple[tuple[int, int], Callable[[], Iterator[Trace]]]:
    """A program's (accesses before and after the shift; trace), for about so many seconds each.

    After the shift the program's pages are rotated by a third.
    """
    one = next(again())
    a_second = len(one) / (one.gap_ns.sum() * 1e-9)
    counts = int(a_second * before), int(a_second * after)

    def trace() -> Iterator[Trace]:
        for count, turn in zip(counts, (0, pages // 3), strict=True):
            for at in range(0, count, len(one)):
                part = one.part(0, min(len(one), count - at))
                size = np.uint64(HUGE_PAGE)
                page = (part.addr // size + np.uint64(turn)) % np.uint64(pages)
                yield replace(part, addr=page * size + part.addr % size)

    return counts, trace


def store(pages: int, requests: tuple[int, int], k: int, seed: int) -> Iterator[Trace]:
    """Requests before and after the shift, in batches. pages: number of huge pages; all of them are
    touched first.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(pages)
    hot = max(1, round(_HOT * pages))
    kinds = [KIND["load"]] * (1 + LOADED) + [KIND["prefetch"]] * (VALUE_LINES - LOADED)
    rows = len(kinds)
    # The store is filled in the order of addresses, so that hot pages are in both tiers.
    fill = np.arange(pages, dtype=np.uint64) * np.uint64(HUGE_PAGE)
    yield Trace(
        fill, np.ones(pages, np.bool_), thread=np.zeros(pages, np.uint16),
        gap_ns=np.full(pages, 64.0 * k), kind=np.full(pages, KIND["writeback"], np.uint8),
    )  # fmt: skip
    for some, number in zip((order[:hot], order[hot : 2 * hot]), requests, strict=True):
        for begin in range(0, number, 1 << 16):
            n = min(1 << 16, number - begin)
            page = np.where(rng.random(n) < _SHARE, rng.choice(some, n), rng.integers(0, pages, n))
            # A key's bucket is on the page of its value, because both are allocated together.
            line = rng.integers(0, _PAGE_LINES - VALUE_LINES, n)
            lines = np.empty((n, rows), np.int64)
            lines[:, 0] = rng.integers(0, _PAGE_LINES, n)
            lines[:, 1:] = line[:, None] + np.arange(VALUE_LINES)
            addr = (page[:, None] * _PAGE_LINES + lines) << 6
            gap = np.zeros((n, rows))
            gap[:, 0] = rng.exponential(THINK_NS * k, n)
            thread = (begin + np.arange(n)) % _THREADS
            yield Trace(
                addr.reshape(-1).astype(np.uint64), np.zeros(n * rows, np.bool_),
                thread=np.repeat(thread, rows).astype(np.uint16), gap_ns=gap.reshape(-1),
                kind=np.tile(np.array(kinds, np.uint8), n),
            )  # fmt: skip


def _picture(answers: list[tuple[Point, dict[str, Any]]]) -> Any:
    lines = {
        point["source"]: (
            [t - answer["shift_s"] for t in answer["seconds"]],
            [r / 1e6 for r in answer["requests_per_second"]],
        )
        for point, answer in answers
    }
    title = "Throughput over time, by source"
    return curves(title, lines, "seconds since the shift", "million requests a second")


STUDY = HeMemShift()
