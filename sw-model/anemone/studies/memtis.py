# SPDX-License-Identifier: Apache-2.0
"""MEMTIS on an in-memory database, with NEMO and with samples (NEMO §5.2, Figures 6 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from anemone.hardware.geometry import Geometry
from anemone.policies.memtis import Memtis
from anemone.studies.captured import program
from anemone.studies.curves import curves
from anemone.studies.prototype import KIND, THINK_NS, constants, think_time
from anemone.studies.study import Found, Point, Row, Study
from anemone.tiering import Source, Statistics, Tier, TierConfig, Tlb, simulate
from anemone.tiering.compare import PUBLISHED
from anemone.tiering.config import HUGE_PAGE
from anemone.tiering.devices import devices
from anemone.tiering.scaling import scaled
from anemone.tiering.sources.nemo import Nemo
from anemone.tiering.sources.pebs import Pebs
from anemone.trace import Trace

# From the paper: 16 GiB of huge pages, 20 threads, 90 M keys of 64 B with values of 100 B.
_PAGES, _THREADS, _KEYS, _RECORD_LINES = 8192, 20, 90_000_000, 3
_SKEW_HIGH = 16
_ZIPF = 0.99  # YCSB's constant
_LEAVES = 0.05  # share of the memory for the index's leaves
_RATIOS, _QUICK = (2, 4, 6, 8), (2, 8)
_SOURCES = ("NEMO", "PEBS")
_SHARE = 0.95
_TIMED = 64  # of so many requests one is timed: a table of all would not fit a host's memory


@dataclass
class _Recorded(Memtis):
    """Records each page's last skewness score, and when the score was first above 0."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.last: dict[int, float] = {}
        self.found: dict[int, float] = {}

    def scores(self, seen: Statistics, base: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        score, used = super().scores(seen, base)
        for page, one in zip(seen.heat.base_page.tolist(), score.tolist(), strict=True):
            self.last[page] = one
            if one > 0:
                self.found.setdefault(page, seen.now_ns / 1e9)
        return score, used


class MemtisSilo(Study):
    title = "MEMTIS, splitting by what NEMO or samples tell"
    about = (
        "A database of 16 GiB in huge pages, fast tier to slow 1:2 to 1:8, 20 threads, reads only, "
        "keys by YCSB's Zipf distribution, anywhere: a request reads a leaf of the index and the "
        "three lines of its record. MEMTIS is told by PEBS, whose period adapts to 3 % of a "
        "processor, or by NEMO, of which one pipeline counts huge pages and the others watch the "
        "frames of some, others each 500 ms, and by PEBS of the fast tier; with splitting and "
        "without (NEMO §5.2). Under NEMO pages start in the slow tier, as the paper's do. Beside "
        "it Debian's redis-server and cc1, as captured, again and again."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        k, seconds, warm = (512, 16, 8) if quick else (32, 1500, 500)
        what = [("silo", ratio) for ratio in (_QUICK if quick else _RATIOS)]
        what += [(name, 8) for name in ("redis", "gcc")]
        points = [
            {"what": name, "ratio": ratio, "source": source, "split": split, "timing": timing,
             "k": k, "seconds": seconds, "warm": warm, "seed": seed,
             **({"engine": "model"} if source == "NEMO" else {})}
            for name, ratio in what
            for timing in (("queue", "dram") if ratio == 8 or not quick else ("queue",))
            for source in _SOURCES
            for split in (True, False)
        ]  # fmt: skip
        if not quick:
            # More seeds for the time to find candidates.
            points += [
                {**point, "seed": seed + more}
                for point in points
                if point["what"] == "silo" and point["split"] and point["timing"] == "queue"
                for more in range(1, 5)
            ]
        return points

    def run(self, point: Point) -> dict[str, Any]:
        k, one, silo = point["k"], devices()["nemo"], point["what"] == "silo"
        trace: Callable[[], Iterator[Trace]]
        if silo:
            pages, threads = _PAGES // k, _THREADS
            trace = partial(database, pages, k, point["seed"])
        else:
            trace, pages = program(point["what"], k, HUGE_PAGE)
            threads = 1
        nemo = point["source"] == "NEMO"
        fast = max(1, pages // (1 + point["ratio"]))
        whole = TierConfig(
            HUGE_PAGE, 10, Tier(fast * k, *one.fast), Tier(pages * k, *one.slow), posted=48,
            start="slow" if nemo else "first-touch", interval_ns=500e6, seed=point["seed"],
            timing=point["timing"],
        )  # fmt: skip
        config = scaled(whole, k)
        # A TLB of 2048 entries is scaled by k, too, so that it covers the same share of the memory.
        config = replace(config, tlb=Tlb(max(8, 2048 // k // 8 * 8), 30.0 * k, 8))
        policy = _Recorded(
            split=point["split"], cooling=max(1, Memtis.cooling // k),
            most_splits=max(1, Memtis.most_splits // k),
        )  # fmt: skip
        source: Source = _nemo(k, point["engine"]) if nemo else Pebs(**PUBLISHED["memtis", "pebs"])
        end = point["seconds"] * 1e9
        geometry = Geometry(device_gib=max(1, -(-pages * HUGE_PAGE >> 30)))
        done = simulate(config, trace, policy, source, geometry, until_ns=end, threads=threads)
        late = done.timeline["time_ns"] > point["warm"] * 1e9
        return {
            "accesses_per_second": float(done.timeline["throughput"][late].mean()) * k,
            "latency_ns": {name: value / k for name, value in (done.latency or {}).items()},
            "fast": done.accesses[0] / sum(done.accesses),
            "split": done.extra["migration"]["split"],
            "scores": [policy.last[page] for page in sorted(policy.last)],
            "found_s": sorted(policy.found.values()),
            "cpu": (done.telemetry_cpu_ns + done.policy_cpu_ns) / done.time_ns,
            "pages": pages,
        }

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        rows, pictures, notes = [], {}, []
        seed = answers[0][0]["seed"]
        found = {
            (p["what"], p["ratio"], p["timing"], p["source"], p["split"]): a
            for p, a in answers
            if p["seed"] == seed
        }
        best: dict[tuple[str, int], dict[str, list[str]]] = {}
        for what, ratio, timing in dict.fromkeys(key[:3] for key in found):
            base = found[what, ratio, timing, "PEBS", False]["accesses_per_second"]
            words = f"{what}, 1:{ratio}, {timing}"
            speeds = {}
            for source in _SOURCES:
                for split in (True, False):
                    answer = found[what, ratio, timing, source, split]
                    name = source if split else f"{source}, huge only"
                    speeds[name] = answer["accesses_per_second"] / base
                    if name != "PEBS, huge only":
                        rows.append(Row(f"{words}: {name}, over PEBS, huge only", "throughput",
                                        None, speeds[name]))  # fmt: skip
            gain = 100 * (speeds["NEMO"] / speeds["PEBS"] - 1)
            paper = 13.0 if (what, ratio) == ("silo", 8) else None
            why = _WHY if paper else ""
            rows.append(Row(f"{words}: NEMO over PEBS", "% of throughput", paper, gain, why))
            rows += _skew_rows(words, what, ratio, *(
                found[what, ratio, timing, source, True] for source in _SOURCES
            ))  # fmt: skip
            order = sorted(speeds, key=lambda name: -speeds[name])
            best.setdefault((what, ratio), {})[timing] = order
            if what == "silo":
                pictures[f"latency-{ratio}-{timing}"] = curves(
                    f"Latency of a request, 1:{ratio}, {timing}",
                    {
                        source: _distribution(
                            found[what, ratio, timing, source, True]["latency_ns"]
                        )
                        for source in _SOURCES
                    },
                    "latency, ns", "share of the requests, %",
                )  # fmt: skip
        rows += _times([(p, a) for p, a in answers if p["split"] and p["what"] == "silo"])
        for (what, ratio), of in best.items():
            orders = "; ".join(f"{timing}: {', '.join(order)}" for timing, order in of.items())
            notes.append(f"By throughput, {what}, 1:{ratio}: {orders}.")
        first = answers[0][0]
        return Found(rows, pictures, notes, constants(first, {
            "simulated": f"{first['seconds']} s, of which {first['warm']} s warm up",
            "pages whose frames are watched at once": _nemo(first["k"]).pipelines - 1,
            "requests whose latency is taken": f"one of {_TIMED}",
            **think_time(),
            "leaves of the index, an assumption": f"{_LEAVES:.0%} of the memory",
            "skew of the keys": f"Zipf, {_ZIPF}, as YCSB's",
            "pages under NEMO": "not pinned to the slow tier for 180 s, as the paper's are",
            "turns": "all regions by turns, not active and inactive lists alternately",
        }))  # fmt: skip


_WHY = (
    "keys lie anywhere here, so that no page is much more skewed than others, and what splitting "
    "costs in page walks, with a TLB as small as the machine, is not earned; the paper's database "
    "has an index of several levels, and versions"
)
_WHY_SKEW = (
    "of the pages that the source has told of by their frames. Keys lie anywhere here, so that "
    "pages are much alike; with few samples they look skewed by chance, and a score above 0 finds "
    "them all"
)


def _nemo(k: int, engine: str = "model") -> Nemo:
    """A source that watches 112 of 8192 pages at a time, or about this share on a scaled machine.

    A pipeline has counters for the frames of at least one page.
    """
    watched = max(1, round(112 / k))
    states = max(512, 8192 // k)
    return Nemo(1 + max(1, watched * 512 // states), states=states, engine=engine)


def _skew_rows(
    words: str, what: str, ratio: int, nemo: dict[str, Any], pebs: dict[str, Any]
) -> list[Row]:
    rows = []
    exact = (what, ratio) == ("silo", 8)
    for source, answer in (("NEMO", nemo), ("PEBS", pebs)):
        scores, pages = np.array(answer["scores"]), answer["pages"]
        high = 100 * np.count_nonzero(scores >= _SKEW_HIGH) / pages
        some = 100 * np.count_nonzero(scores > 0) / pages
        paper = 18.0 if exact and source == "PEBS" else None
        rows.append(Row(f"{words}: skewness of at least {_SKEW_HIGH}, {source}", "% of the pages",
                        paper, high, _WHY_SKEW if paper else ""))  # fmt: skip
        rows.append(Row(f"{words}: skewness above 0, {source}", "% of the pages", None, some))
        rows.append(Row(f"{words}: pages split, {source}", "pages", None, answer["split"]))
        share = {"NEMO": 3.0, "PEBS": 2.89}[source] if what == "silo" else None
        rows.append(Row(f"{words}: CPU, {source}", "% of a processor", share,
                        100 * answer["cpu"], _WHY_CPU if share else ""))  # fmt: skip
    ratio_found = len(nemo["found_s"]) / max(1, len(pebs["found_s"]))
    rows.append(Row(f"{words}: candidates found, NEMO over PEBS", "", 2.0 if exact else None,
                    ratio_found, _WHY_SKEW if exact else ""))  # fmt: skip
    return rows


_WHY_CPU = (
    "instructions of our driver and of a sample at one a cycle. PEBS may take 3 % and need not: "
    "its period does not go below 199 accesses. A pipeline has the frames of at least one page, so "
    "that of a smaller machine NEMO watches a larger share, and pays for it"
)


def _times(answers: list[tuple[Point, dict[str, Any]]]) -> list[Row]:
    """Rows of the time until a source has found 95 % of its candidates: median over the seeds."""
    rows = []
    groups: dict[tuple[int, str, str], list[float]] = {}
    for p, a in answers:
        found = a["found_s"]
        at = found[max(0, int(np.ceil(_SHARE * len(found))) - 1)] if found else np.nan
        groups.setdefault((p["ratio"], p["timing"], p["source"]), []).append(at)
    for (ratio, timing, source), times in groups.items():
        paper = 150.0 if source == "NEMO" else None
        rows.append(
            Row(f"silo, 1:{ratio}, {timing}: 95 % of the candidates by {source}, "
                f"{len(times)} seed{'s' * (len(times) > 1)}", "s", paper,
                float(np.median(times)), _WHY_TIME if paper else "")
        )  # fmt: skip
    return rows


_WHY_TIME = (
    "a sweep of all pages takes 37 s by the paper's own formula (study sweep), and a candidate is "
    "found in the first that comes to it here"
)


def _distribution(latency: dict[str, float]) -> tuple[list[float], list[float]]:
    shares = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "p999": 99.9}
    return [latency[name] for name in shares], list(shares.values())


def database(pages: int, k: int, seed: int) -> Iterator[Trace]:
    """Touches every page in the order of addresses, then makes requests without end."""
    rng = np.random.default_rng(seed)
    lines = pages * (HUGE_PAGE >> 6)
    leaves = int(lines * _LEAVES)
    first = np.arange(pages, dtype=np.uint64) * np.uint64(HUGE_PAGE)
    load = np.uint8(KIND["load"])
    yield Trace(
        first, np.ones(pages, bool), thread=np.zeros(pages, np.uint16),
        gap_ns=np.full(pages, 64.0 * k), kind=np.full(pages, KIND["writeback"], np.uint8),
        dep=np.zeros(pages, bool), op=np.zeros(pages, np.uint64),
    )  # fmt: skip
    keys = min(_KEYS // k, (lines - leaves) // _RECORD_LINES)
    share = np.cumsum(np.arange(1, keys + 1, dtype=float) ** -_ZIPF)
    share /= share[-1]
    place = rng.permutation(keys)
    n, rows = 1 << 15, 1 + _RECORD_LINES
    number = np.arange(1, n + 1, dtype=np.uint64)
    while True:
        key = place[np.searchsorted(share, rng.random(n))]
        line = np.empty((n, rows), np.int64)
        # A line of a leaf has the entries of neighbouring keys.
        line[:, 0] = key * leaves // keys
        line[:, 1:] = leaves + key[:, None] * _RECORD_LINES + np.arange(_RECORD_LINES)
        gap = np.zeros((n, rows))
        gap[:, 0] = rng.exponential(THINK_NS * k, n)
        dep = np.zeros((n, rows), bool)
        dep[:, 1] = True  # the leaf has the record's address
        yield Trace(
            line.reshape(-1).astype(np.uint64) << np.uint64(6), np.zeros(n * rows, bool),
            thread=np.repeat(np.arange(n) % _THREADS, rows).astype(np.uint16),
            gap_ns=gap.reshape(-1), kind=np.full(n * rows, load), dep=dep.reshape(-1),
            op=np.repeat(np.where(number % _TIMED, 0, number), rows),
        )  # fmt: skip
        number += np.uint64(n)


STUDY = MemtisSilo()
