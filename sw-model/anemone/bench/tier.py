# SPDX-License-Identifier: Apache-2.0
"""The tiering simulator in `anemone bench`: its speed, compared with libcachesim's LRU."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from anemone.bench.measure import REPEATS, SEED, Log, Measure, speed_measure
from anemone.hardware.geometry import Geometry
from anemone.policies.hemem import HeMem
from anemone.tiering import Tier, TierConfig, simulate
from anemone.tiering.run import warm_up
from anemone.tiering.sources.nemo import Nemo
from anemone.trace import Trace

ROOT = Path(__file__).resolve().parents[3]
LOCK = Path(__file__).with_name("libcachesim.lock")
PLAIN_BAR, POLICY_BAR = 20_000_000, 10_000_000  # accesses/s, one core
MEMORY_BAR = 2  # GiB for 10^9 rows
_STREAMED = 25_000_000, 50_000_000  # rows; the pool of pending rows is full before these
FAST, SLOW = (114.1, 123.4), (380.3, 17.6)  # NEMO §4
PAGES, FAST_PAGES = 1 << 18, 1 << 13
_RECORD = np.dtype([("time", "<u4"), ("page", "<u8"), ("size", "<u4"), ("next", "<i8")])


def speeds(count: int, log: Log) -> list[Measure]:
    """Accesses/s without a policy and with NEMO and HeMem, LRU on the same pages, and memory
    use.
    """
    warm_up()
    rng = np.random.default_rng(SEED)
    page = rng.zipf(1.2, count).astype(np.uint64) % np.uint64(PAGES)
    log("tiered memory, no policy")
    trace = Trace(page << np.uint64(12), np.zeros(count, np.bool_))
    base = TierConfig(4096, 10, Tier(FAST_PAGES, *FAST), Tier(PAGES, *SLOW), posted=48)
    plain = _best(trace, lambda: simulate(base, trace, geometry=Geometry(device_gib=1)))
    log("libcachesim's LRU")
    lru = count / _lru(page)["cpu"]
    ratio = plain[1] / lru
    log("tiered memory, NEMO and HeMem")
    # 90 % of the accesses go to a hot fifth of the pages; the fast tier holds a third of all pages.
    huge = rng.integers(0, 512, count)
    hot = rng.permutation(512)[rng.integers(0, 100, count)]
    addr = np.where(rng.random(count) < 0.9, hot, huge) << 21 | rng.integers(0, 1 << 15, count) << 6
    accesses = Trace(
        addr.astype(np.uint64), np.zeros(count, np.bool_), gap_ns=rng.exponential(20.0, count)
    )
    tiers = Tier(170, *FAST), Tier(512, *SLOW)
    config = TierConfig(2 << 20, 10, *tiers, posted=48, interval_ns=count * 5.0)
    policy = _best(
        accesses,
        lambda: simulate(config, accesses, HeMem(), Nemo(fast="none"), Geometry(device_gib=1)),
    )
    log("tiered memory, a long trace")
    small, large = (_peak(rows) for rows in _STREAMED)
    longest = large + max(0.0, large - small) / (_STREAMED[1] - _STREAMED[0]) * 1e9
    memory = Measure(
        "tiered memory", "memory of 10^9 rows", longest / (1 << 30), "GiB", f"<= {MEMORY_BAR}",
        longest <= MEMORY_BAR << 30,
        note=f"extrapolated: {small >> 20} MiB of {_STREAMED[0]:,} rows, {large >> 20} MiB of "
        f"{_STREAMED[1]:,}, by eight threads",
    )  # fmt: skip
    return [
        memory,
        speed_measure("tiered memory", "no policy", plain[0], PLAIN_BAR, plain[1]),
        Measure("tiered memory", "libcachesim's LRU, same pages", lru, "events/s", note="CPU time"),
        Measure("tiered memory", "no policy, of that LRU", ratio, "times", "> 1", ratio > 1),
        speed_measure("tiered memory", "NEMO and HeMem", policy[0], POLICY_BAR, policy[1]),
    ]  # fmt: skip


def _peak(rows: int) -> int:
    """Peak memory in bytes of a process that runs a trace of `rows` rows in batches."""
    command = [sys.executable, "-m", "anemone.bench.stream", str(rows)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _best(trace: Trace, run: Callable[[], object]) -> tuple[float, float]:
    """(accesses per second of wall-clock time, of CPU time), the best of REPEATS runs."""
    seconds, cpu = [], []
    for _ in range(REPEATS):
        started, spent = time.perf_counter(), time.thread_time()
        run()
        seconds.append(time.perf_counter() - started)
        cpu.append(time.thread_time() - spent)
    return len(trace) / min(seconds), len(trace) / max(min(cpu), 1e-6)


def _lru(page: np.ndarray) -> dict[str, float]:
    """Run libcachesim's LRU with as many pages as the fast tier, in its own environment."""
    command = [ROOT / "mk/synth-tools.sh", "libcachesim", LOCK.relative_to(ROOT)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    records = np.zeros(len(page), _RECORD)
    records["page"], records["size"], records["next"] = page, 1, -1
    with tempfile.TemporaryDirectory(prefix="anemone-bench-") as folder:
        path = Path(folder) / "pages.bin"
        records.tofile(path)
        python = ROOT / ".venv-synth/libcachesim/bin/python"
        words = [python, Path(__file__).with_name("lru.py"), path, FAST_PAGES, REPEATS]
        done = subprocess.run([str(w) for w in words], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)
