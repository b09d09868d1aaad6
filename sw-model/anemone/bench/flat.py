# SPDX-License-Identifier: Apache-2.0
"""Flat memory mode in `anemone bench`: cycles of the controller, and speeds.

The results of each run on the RTL are also compared with the model.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import product

import numpy as np

from anemone import flat
from anemone.backends.rtl.builder import BackendError
from anemone.backends.rtl.flat import FlatRun, Memories, run_memories
from anemone.bench.measure import REPEATS, SEED, Log, Measure, speed_measure
from anemone.flat import FlatConfig, differences
from anemone.golden.flat_fast import FlatMemory
from anemone.hardware.geometry import LINE_BYTES, Geometry
from anemone.tiering import near
from anemone.trace import Trace

# Cycles a read hit adds to near memory's latency: the gate, and the bar of docs/performance.md.
HIT_CEILING, HIT_GOAL = 7, 6
STREAM_BAR, FAR_BAR, LIMIT_BAR = 0.95, 0.90, 0.90
RTL_BAR, GOLDEN_BAR, OUTCOMES_BAR = 300_000, 20_000_000, 30_000_000  # accesses/s
POLICIES = (("every", 1), ("nth", 2), ("one_in", 8), ("never", 1))
LINES = 1 << 13  # near lines in runs on the RTL
GOLDEN_LINES = 1 << 19  # near lines in runs on the model; 32 MiB
# A scan of (1 + SCAN) times near memory has 41 % lines that share a set with another line.
SCAN = 0.41 / (2 - 0.41)


def cycles(geometry: Geometry, log: Log) -> list[Measure]:
    """Use of the controller's ports with reads, and the far accesses of each policy."""
    rng = np.random.default_rng(SEED)
    memories = Memories()
    every = FlatConfig(LINES)
    log("flat memory: hits and misses")
    one = _run(every, np.zeros(1, np.int64), geometry, memories)
    hits = _run(every, np.arange(LINES), geometry, memories)
    misses = _run(every, LINES + np.arange(LINES), geometry, memories)
    mixed = _run(every, rng.integers(0, 2 * LINES, LINES), geometry, memories)
    added = one.result.cycles - 1 - memories.near_latency
    measures = [
        Measure(
            "flat memory", "read hit added", added, "cycles", f"<= {HIT_CEILING}",
            added <= HIT_CEILING, True, f"AR to R, beside near's latency; goal {HIT_GOAL}",
        ),
        _share("read hits", LINES / hits.result.cycles, "requests a cycle", STREAM_BAR, hits),
        _share("read misses", _limit(misses, memories), "of far's limit", FAR_BAR, misses),
        _share("half hits", _limit(mixed, memories), "of the ports' limit", LIMIT_BAR, mixed),
    ]  # fmt: skip
    once = int(LINES * (1 + SCAN))
    scan = np.arange(10 * once) % once
    for policy, n in POLICIES:
        log(f"flat memory: a scan, {policy}")
        run = _run(FlatConfig(LINES, policy=policy, n=n), scan, geometry, memories)
        far = (run.result.counts.far_reads + run.result.counts.far_writes) / len(scan)
        missed = run.result.counts.misses / len(scan)
        name = f"scan, {policy}" + (f" {n}" if n > 1 else "")
        note = f"a read; {missed:.1%} miss, {run.result.cycles / len(scan):.2f} cycles each"
        measures.append(Measure("flat memory", name, far, "far accesses", note=note))
    return measures


def _run(config: FlatConfig, line: np.ndarray, geometry: Geometry, memories: Memories) -> FlatRun:
    """Read lines on both backends. Raises BackendError if the results differ."""
    trace = Trace(line.astype(np.uint64) * np.uint64(LINE_BYTES), np.zeros(len(line), np.bool_))
    run = run_memories(config, trace, geometry, memories)
    if unlike := differences(run.result, flat.run(config, trace, "model", geometry)):
        raise BackendError("flat memory differs from its model: " + "; ".join(unlike))
    return run


def _limit(run: FlatRun, memories: Memories) -> float:
    """The share of the run's cycles in which the busier port was busy; at 1 it cannot be faster."""
    ports = run.ports
    near = (ports["near_reads"] + ports["near_writes"]) * memories.near_interval
    far = (ports["far_reads"] + ports["far_writes"]) * memories.far_interval
    # At most 1, because the last access may keep the port busy beyond the end of the run.
    return min(1.0, max(near, far) / run.result.cycles)


def _share(name: str, value: float, unit: str, bar: float, run: FlatRun) -> Measure:
    counts = run.result.counts
    note = f"{counts.hits:,} hits, {counts.misses:,} misses in {run.result.cycles:,} cycles"
    return Measure("flat memory", name, value, unit, f">= {bar}", value >= bar, True, note)


def accesses(lines: int, count: int) -> Trace:
    """Accesses to twice as many lines as near memory has.

    Half of them scan all lines, half go to a hot eighth; 30 % are writes.
    """
    rng = np.random.default_rng(SEED)
    scan = np.arange(count) % (2 * lines)
    line = np.where(rng.random(count) < 0.5, scan, rng.integers(0, lines // 4, count))
    return Trace(line.astype(np.uint64) * np.uint64(LINE_BYTES), rng.random(count) < 0.3)


def rtl_speed(geometry: Geometry, events: int, log: Log) -> list[Measure]:
    """Wall-clock accesses/s of the RTL."""
    log("RTL, flat memory")
    lines = max(1, events // 4)
    trace = accesses(lines, events)
    runs = [run_memories(FlatConfig(lines), trace, geometry, Memories()) for _ in range(REPEATS)]
    speed = max(events / run.result.seconds for run in runs)
    cpu = max(events / max(run.user_seconds, 1e-6) for run in runs)
    per = runs[0].result.cycles / events
    return [speed_measure("RTL", f"flat memory, {per:.1f} cycles each", speed, RTL_BAR, cpu)]


def golden_speed(events: int, log: Log) -> list[Measure]:
    """Accesses/s by policy on one core: the golden model, and outcomes without contents."""
    trace = accesses(GOLDEN_LINES, events)
    found = np.empty(events, np.int8)

    def model(config: FlatConfig) -> Callable[[], object]:
        memory = FlatMemory(config)
        return lambda: memory.accesses(trace.addr, trace.write)

    def outcomes(config: FlatConfig) -> Callable[[], object]:
        state = near.make(config)
        return lambda: near.outcomes(state, trace.addr, trace.write, found)

    FlatMemory.warm_up()
    outcomes(FlatConfig(GOLDEN_LINES))()
    kinds = (("golden model", GOLDEN_BAR, model), ("outcomes alone", OUTCOMES_BAR, outcomes))
    measures = []
    for (kind, bar, make), (policy, n) in product(kinds, POLICIES):
        log(f"{kind}, flat memory, {policy}")
        seconds, cpu = [], []
        for _ in range(REPEATS):
            run = make(FlatConfig(GOLDEN_LINES, policy=policy, n=n))
            started, spent = time.perf_counter(), time.thread_time()
            run()
            seconds.append(time.perf_counter() - started)
            cpu.append(time.thread_time() - spent)
        name = f"flat memory, {policy}" + (f" {n}" if n > 1 else "")
        fastest, busy = events / min(seconds), events / max(min(cpu), 1e-6)
        measures.append(speed_measure(kind, name, fastest, bar, busy))
    return measures
