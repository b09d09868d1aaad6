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
from anemone.studies.memtis_judge import SOURCES, judge
from anemone.studies.prototype import KIND, THINK_NS, constants, think_time
from anemone.studies.study import Found, Point, Study
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
_ZIPF = 0.99  # YCSB's constant
_LEAVES = 0.05  # share of the memory for the index's leaves
_RATIOS, _QUICK = (2, 4, 6, 8), (2, 8)
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
        "frames of some, others each 500 ms, hot and cold ones by turns, and by PEBS of the fast "
        "tier; with splitting and without (NEMO §5.2). Under NEMO skewness is of the last 500 ms "
        "alone, and pages start in the slow tier, as the paper's do. Beside it Debian's "
        "redis-server and cc1, as captured, again and again. Both timings are at 1:2 and 1:8."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        k, seconds, warm = (512, 16, 8) if quick else (128, 1500, 500)
        both = _RATIOS[-1:] if quick else (_RATIOS[0], _RATIOS[-1])  # timings; else one
        what = [("silo", ratio) for ratio in (_QUICK if quick else _RATIOS)]
        what += [(name, 8) for name in ("redis", "gcc")]
        points = [
            {"what": name, "ratio": ratio, "source": source, "split": split, "timing": timing,
             "k": k, "seconds": seconds, "warm": warm, "seed": seed,
             **({"engine": "model"} if source == "NEMO" else {})}
            for name, ratio in what
            for timing in (("queue", "dram") if ratio in both else ("queue",))
            for source in SOURCES
            for split in (True, False)
        ]  # fmt: skip
        if not quick:
            # More seeds for the time to find candidates, which is over long before the warm-up is.
            points += [
                {**point, "seed": seed + more, "seconds": warm, "warm": 0}
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
            "telemetry": done.extra["telemetry"],
            "page_walks": done.extra["page_walks"],
        }

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        first = answers[0][0]
        return judge(answers, constants(first, {
            "simulated": f"{first['seconds']} s, of which {first['warm']} s warm up",
            "pages whose frames are watched at once": _nemo(first["k"]).pipelines - 1,
            "requests whose latency is taken": f"one of {_TIMED}",
            **think_time(),
            "leaves of the index, an assumption": f"{_LEAVES:.0%} of the memory",
            "skew of the keys": f"Zipf, {_ZIPF}, as YCSB's generator",
            "pages under NEMO": "not pinned to the slow tier for 180 s, as the paper's are",
        }))  # fmt: skip


def _nemo(k: int, engine: str = "model") -> Nemo:
    """A source that watches 112 of 8192 pages at a time, or about this share on a scaled machine.

    A pipeline has counters for the frames of at least one page.
    """
    watched = max(1, round(112 / k))
    states = max(512, 8192 // k)
    return Nemo(1 + max(1, watched * 512 // states), states=states, engine=engine)


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
    place = rng.permutation(keys)
    # YCSB's ZipfianGenerator: exact for the two most popular keys, approximate for the others.
    zeta = (np.arange(1, keys + 1, dtype=float) ** -_ZIPF).sum()
    two = 1 + 0.5**_ZIPF
    eta = (1 - (2 / keys) ** (1 - _ZIPF)) / (1 - two / zeta)
    n, rows = 1 << 15, 1 + _RECORD_LINES
    number = np.arange(1, n + 1, dtype=np.uint64)
    while True:
        at = rng.random(n)
        rank = (keys * (eta * at - eta + 1) ** (1 / (1 - _ZIPF))).astype(np.int64)
        rank[at * zeta < two] = 1
        rank[at * zeta < 1] = 0
        key = place[rank]
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
