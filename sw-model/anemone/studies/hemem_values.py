# SPDX-License-Identifier: Apache-2.0
"""HeMem by the size of a store's values, with NEMO and with samples (NEMO §5.1, Figure 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from anemone.hardware.geometry import LINE_BYTES, Geometry
from anemone.studies.captured import program
from anemone.studies.curves import curves
from anemone.studies.hemem import LOADED
from anemone.studies.prototype import KIND, THINK_NS, constants, think_time
from anemone.studies.study import Found, Point, Row, Study
from anemone.tiering import Migration, Tier, TierConfig, simulate
from anemone.tiering.config import HUGE_PAGE, made
from anemone.tiering.devices import devices
from anemone.tiering.scaling import scaled
from anemone.trace import Trace

# From the paper: 30 GiB of huge pages, 1:1, 16 threads, 5 % updates, Zipf tuned to 80/20.
_PAGES, _THREADS, _UPDATES = 15_360, 16, 0.05
_SIZES = (256, 1024, 4096, 16384, 65536, 262144)
_QUICK = (1024, 16384, 262144)
# HeMem's telemetry: parameters of the source `nemo`; None for `pebs`.
_SOURCES = {
    "NEMO": {"pipelines": 1}, "PEBS": None, "NEMO of both": {"pipelines": 1, "fast": "nemo"},
}  # fmt: skip
_PAPER_MAX = 1.69


class HeMemValues(Study):
    title = "HeMem, by the size of values"
    about = (
        "A key-value store of 30 GiB, 1:1, 16 threads, 95 % reads and 5 % updates of keys by a "
        "Zipf distribution of which 20 % of the keys take 80 %; keys lie anywhere. A request "
        "reads or writes a whole value, all but its first three lines prefetched. HeMem is told "
        "each second by PEBS at 0.02 %, or by NEMO's counts of the slow tier and PEBS of the fast "
        "one (NEMO §5.1), or by NEMO's of both tiers. Beside it Debian's redis-server and cc1, as "
        "captured, again and again. "
        "Throughput is the median of the second half of the run."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        k, seconds = (512, 20) if quick else (128, 60)
        what: list[int | str] = [*(_QUICK if quick else _SIZES), "redis", "gcc"]
        return [
            {"what": one, "source": source, "timing": timing, "k": k, "seconds": seconds,
             "seed": seed, **({"engine": "model"} if _SOURCES[source] else {})}
            for one in what
            for timing in ("queue", "dram")
            for source in _SOURCES
        ]  # fmt: skip

    def run(self, point: Point) -> dict[str, Any]:
        what, k, one = point["what"], point["k"], devices()["nemo"]
        trace: Callable[[], Iterator[Trace]]
        if isinstance(what, str):
            trace, touched = program(what, k, HUGE_PAGE)
            pages = touched * k
        else:
            pages = _PAGES
            trace = partial(store, pages // k, what, k, point["seed"])
        whole = TierConfig(
            HUGE_PAGE, 10, Tier(pages // 2, *one.fast), Tier(pages, *one.slow), posted=48,
            policy="hemem", interval_ns=1e9, seed=point["seed"], timing=point["timing"],
            migration=Migration(on_write="wait"),
        )  # fmt: skip
        nemo = _SOURCES[point["source"]]
        source = ("nemo", {**nemo, "engine": point["engine"]}) if nemo else ("pebs", {})
        config = replace(scaled(whole, k), telemetry=source[0], telemetry_with=source[1])
        end = point["seconds"] * 1e9
        geometry = Geometry(device_gib=max(1, -(-pages * HUGE_PAGE // k >> 30)))
        threads = 1 if isinstance(what, str) else _THREADS
        done = simulate(config, trace, *made(config), geometry, until_ns=end, threads=threads)
        rate = done.timeline["throughput"]
        return {
            "accesses_per_second": float(np.median(rate[len(rate) // 2 :])) * k,
            "fast": done.accesses[0] / sum(done.accesses),
            "promoted": done.promoted,
            "cpu": (done.telemetry_cpu_ns + done.policy_cpu_ns) / done.time_ns,
        }

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        rows, pictures, notes = [], {}, []
        best: dict[str, dict[Any, float]] = {}
        found = {(p["what"], p["timing"], p["source"]): a for p, a in answers}
        for what, timing in dict.fromkeys((w, t) for w, t, _ in found):
            nemo, pebs, whole = (found[what, timing, s] for s in _SOURCES)
            ratio = nemo["accesses_per_second"] / pebs["accesses_per_second"]
            both = whole["accesses_per_second"] / pebs["accesses_per_second"]
            best.setdefault(timing, {})[what] = ratio
            words = what if isinstance(what, str) else f"values of {what:,} B"
            rows.append(Row(f"{words}, {timing}: NEMO over PEBS", "throughput", None, ratio))
            rows.append(
                Row(f"{words}, {timing}: NEMO of both tiers over PEBS", "throughput", None, both)
            )
            for source in _SOURCES:
                answer = found[what, timing, source]
                rows.append(Row(f"{words}, {timing}, {source}: fast tier", "% of the accesses",
                                None, 100 * answer["fast"]))  # fmt: skip
        for timing, of in best.items():
            stores = {what: ratio for what, ratio in of.items() if not isinstance(what, str)}
            rows.append(Row(f"the most that NEMO gains, {timing}", "throughput", _PAPER_MAX,
                            max(stores.values()), _WHY))  # fmt: skip
            pictures[f"throughput-{timing}"] = curves(
                f"Throughput of HeMem by size of values, {timing}",
                {
                    source: (
                        [float(np.log2(what)) for what in stores],
                        [found[what, timing, source]["accesses_per_second"] * LINE_BYTES / 1e9
                         for what in stores],
                    )
                    for source in _SOURCES
                },
                "size of a value, log2 of bytes", "GB/s",
            )  # fmt: skip
        turned = [
            str(what) for what in best["queue"]
            if (best["queue"][what] - 1) * (best["dram"][what] - 1) < 0
            and abs(best["queue"][what] - best["dram"][what]) > 0.01
        ]  # fmt: skip
        notes.append(
            "Where NEMO and PEBS change places between the timings by more than 1 %: "
            f"{', '.join(turned) or 'nowhere'}."
        )
        first = answers[0][0]
        return Found(rows, pictures, notes, constants(first, {
            "simulated": f"{first['seconds']} s; the paper takes 5 minutes behind 5 minutes",
            "sizes, an assumption: the figure has no numbers in the text": "256 B to 256 KiB",
            "a write to a page that is copied": "waits, as HeMem protects it from writes",
            **think_time(),
        }))  # fmt: skip


_WHY = (
    "the paper's sizes and where its store keeps keys are not said; a value's first three lines "
    "are seen by PEBS here, of large values as of small ones. NEMO counts prefetched lines, which "
    "PEBS of the fast tier does not see, so a page looks colder once it is fast: what NEMO of "
    "both tiers gains has not that"
)


def zipf_of(items: int) -> np.ndarray:
    """Cumulative Zipf distribution in which the first fifth of the items has 80 %:
    float64[items].
    """
    rank = np.log(np.arange(1, items + 1))
    low, high = 0.0, 3.0
    for _ in range(40):
        s = (low + high) / 2
        share = np.cumsum(np.exp(-s * rank))
        if share[max(0, items // 5 - 1)] < 0.8 * share[-1]:
            low = s
        else:
            high = s
    return share / share[-1]


def store(pages: int, size: int, k: int, seed: int) -> Iterator[Trace]:
    """Touches every page in the order of addresses, then makes requests without end."""
    rng = np.random.default_rng(seed)
    first = np.arange(pages, dtype=np.uint64) * np.uint64(HUGE_PAGE)
    yield _rows(first, np.ones(pages, bool), np.zeros(pages), np.full(pages, 64.0 * k),
                np.full(pages, KIND["writeback"]))  # fmt: skip
    items = pages * HUGE_PAGE // size
    share, place = zipf_of(items), rng.permutation(items)
    lines = size // LINE_BYTES
    n = max(1, (1 << 18) // lines)
    thread = 0
    while True:
        item = place[np.searchsorted(share, rng.random(n))]
        line = item[:, None] * lines + np.arange(lines)
        update = np.repeat(rng.random(n) < _UPDATES, lines).reshape(n, lines)
        kind = np.full((n, lines), KIND["prefetch"])
        kind[:, : min(LOADED, lines)] = KIND["load"]
        # An update fetches its lines; they are written back later.
        kind[update & (np.arange(lines) < LOADED)] = KIND["rfo"]
        gap = np.zeros((n, lines))
        gap[:, 0] = rng.exponential(THINK_NS * k, n)
        whose = (thread + np.arange(n)) % _THREADS
        thread += n
        all_of_it = line.reshape(-1).astype(np.uint64) * np.uint64(LINE_BYTES)
        yield _rows(all_of_it, np.zeros(n * lines, bool), np.repeat(whose, lines),
                    gap.reshape(-1), kind.reshape(-1))  # fmt: skip
        if update.any():
            back = line[update].astype(np.uint64) * np.uint64(LINE_BYTES)
            owner = np.repeat(whose, lines).reshape(n, lines)[update]
            yield _rows(back, np.ones(len(back), bool), owner, np.zeros(len(back)),
                        np.full(len(back), KIND["writeback"]))  # fmt: skip


def _rows(
    addr: np.ndarray, write: np.ndarray, thread: np.ndarray, gap: np.ndarray, kind: np.ndarray
) -> Trace:
    return Trace(addr, write, thread=thread.astype(np.uint16), gap_ns=gap,
                 kind=kind.astype(np.uint8))  # fmt: skip


STUDY = HeMemValues()
