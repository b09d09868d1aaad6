# SPDX-License-Identifier: Apache-2.0
"""Runs a trace on the simulated machine: the loop around the kernel, with intervals and the policy.

At the end of an interval the source's lines are read through the slow tier's queue. After the last
line and the source's processing, the policy decides. After the policy's CPU time the pages begin to
move. If another interval ends before that, the policy is not called for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from anemone.hardware.geometry import Geometry
from anemone.io.errors import MISSING, Bare, InputError
from anemone.tiering import kernel, near
from anemone.tiering.config import FAST, SLOW, Tier, TierConfig
from anemone.tiering.feed import UNKNOWN, Feed, thread_numbers
from anemone.tiering.interfaces import Answer, Policy, Source, Statistics
from anemone.tiering.machine import Machine
from anemone.tiering.parameters import constants
from anemone.tiering.result import COLUMNS, TierResult, percentiles, request_columns
from anemone.tiering.state import (
    F_END,
    F_LINE_DONE,
    I_COPIED,
    I_DEMOTED,
    I_GIVEN_UP,
    I_PAGE,
    I_PROMOTED,
    I_REFUSED,
    I_RESTARTED,
    I_WALKS,
    I_WHO,
    NEVER,
)
from anemone.trace import Trace

INTERVAL_MS = 1000.0  # without a policy
_PERIOD_NS = constants("scheduler")["period_ms"] * 1e6
# Progress callback: (accesses done, all accesses or None if unknown).
Progress = Callable[[int, int | None], None]


def simulate(
    config: TierConfig,
    trace: Trace | Callable[[], Iterable[Trace]],
    policy: Policy | None = None,
    source: Source | None = None,
    geometry: Geometry | None = None,
    progress: Progress | None = None,
    name: object = "trace",
    until_ns: float = NEVER,
    threads: int | None = None,
) -> TierResult:
    """Run a trace.

    trace: a Trace, or a function that returns its batches from the start at each call. It is called
    twice if the trace has a column `thread`, and once more for the placement "optimum". policy,
    source: None for "none"; their names in config are not used. name: the trace's name in errors.
    until_ns: the run ends at this time or with the trace. threads: number of threads, for a trace
    without end; otherwise the trace is read once to find them. Raises InputError if a page does not
    fit or the trace does not have a column that the source needs.
    """
    given = (lambda: [trace]) if isinstance(trace, Trace) else trace
    run = Run(config, given, policy, source, geometry or Geometry(), progress, name, threads)
    return run.result(until_ns)


class Run:
    """One run; `machine` has its state before, during and after the run."""

    def __init__(
        self,
        config: TierConfig,
        trace: Callable[[], Iterable[Trace]],
        policy: Policy | None,
        source: Source | None,
        geometry: Geometry,
        progress: Progress | None,
        name: object,
        threads: int | None = None,
    ) -> None:
        self.policy, self.source, self.name = policy, source, name
        self.progress, self.total = progress, None
        batches = iter(trace())
        first = next(batches)
        columns = frozenset(first.columns)
        for column in source.needs if source else ():
            if column not in columns:
                allowed = f'must be there with the telemetry source "{config.telemetry}"'
                raise InputError(name, "columns", column, MISSING, allowed)
        numbers, rows = np.zeros(1, np.int64), np.full(1, UNKNOWN)
        if threads is not None:
            numbers, rows = np.arange(threads), np.full(threads, UNKNOWN)
        elif "thread" in columns:
            numbers, rows = thread_numbers(_chained(first, batches))
            self.total = int(rows.sum())
            batches = iter(trace())
            first = next(batches)
        if policy:
            if policy.by_thread and not (source and source.by_thread):
                raise ValueError("the source does not tell whose the accesses are; mbm does")
            policy.start(len(numbers), name)
        splits = bool(policy and policy.splits) and config.page_bytes > 4096
        self.machine = Machine(config, geometry, len(numbers), columns, splits)
        self.machine.state.threads.left[:] = rows
        if config.start == "optimum":
            self.machine.prefer(most_accessed(trace(), config, self.machine.geometry))
        if source:
            source.start(self.machine)
        self.feed = Feed(self.machine.state, _chained(first, batches), numbers)
        default = policy.interval_ms if policy else INTERVAL_MS
        self.interval = config.interval_ns or default * 1e6
        self.timeline: list[tuple[float, ...]] = []
        self.telemetry_cpu = self.policy_cpu = 0.0
        self.splits = 0
        self.reading_since = NEVER
        self.answer: tuple[float, Answer] | None = None
        self.quota: np.ndarray | None = None
        self.period = 0  # the scheduler's next period
        self.before = tuple(np.zeros(n) for n in (2, 3, 2))
        self.latest = self.before

    def result(self, until_ns: float = NEVER) -> TierResult:
        """Run to the end of the trace or to a time."""
        started = time.perf_counter()
        try:
            self._run(until_ns)
            return self._result(time.perf_counter() - started - self.feed.seconds)
        finally:
            self.feed.close()
            if self.source:
                self.source.close()

    def _run(self, stop: float) -> None:
        interval = sample = 1
        every = self.source.sample_ms * 1e6 if self.source and self.source.sample_ms else NEVER
        while True:
            tick, look = interval * self.interval, sample * every
            act = self.answer[0] if self.answer else NEVER
            hold = NEVER if self.quota is None else self.period * _PERIOD_NS
            self.machine.now = min(tick, act, look, hold, stop)
            status = kernel.run(self.machine.state, self.machine.now)
            whole = self.machine.state.whole
            if status == kernel.END:
                self._flush()
                self._row(interval, self.machine.state.time[F_END])
                return
            if status == kernel.ROWS:
                self.feed.need(int(whole[I_WHO]))
                if self.progress:
                    done = int(self.machine.state.memory.accesses.sum())
                    self.progress(done, self.total)
            elif status == kernel.LOG:
                self._flush()
            elif status == kernel.OPS:
                self.machine.more_requests()
            elif status in (kernel.LINE, kernel.HARVESTED):
                self._line(status)
            elif status == kernel.FULL:
                config, page = self.machine.config, int(whole[I_PAGE])
                if flat := config.flat_config:
                    flat.check(np.array([page * config.page_bytes], np.uint64), self.name)
                tiers = f"{config.fast.pages} fast and {config.slow.pages} slow pages"
                what = Bare(f"at {page * config.page_bytes:#x}, for which there is no room")
                allowed = f'pages that fit {tiers}, placed by "{config.start}"'
                raise InputError(self.name, "trace", "page", what, allowed)
            elif stop <= min(tick, look, act, hold):
                self._flush()
                self._row(interval, stop)
                return
            elif hold <= min(tick, look, act):
                self.machine.hold((1.0 - self.quota) * _PERIOD_NS)
                self.period += 1
            elif act <= min(tick, look):
                self._act()
            elif look <= tick:
                if self.source.sample(self.machine):
                    self._tick(look)
                sample += 1
            else:
                self._row(interval, tick)
                self._tick(tick)
                interval += 1

    def _flush(self) -> None:
        addr, flags = self.machine.take_log()
        if self.source and len(addr):
            self.source.events(addr, flags)

    def _tick(self, now: float) -> None:
        """End an interval: read the source, unless it or the policy is still busy."""
        if self.source is None or self.answer or self.machine.reading:
            return
        self._flush()
        lines = self.source.lines(self.machine)
        if lines:
            self.line, self.reading_since = 0, now
            cost = self.source.line_ns * self.machine.config.scale
            self.machine.read_lines(lines, cost, self.source.acknowledges, now)
        else:
            self._decide(now)

    def _line(self, status: int) -> None:
        self._flush()
        if status == kernel.LINE:
            self.source.read_line(self.line)
            self.line += 1
        if not self.machine.reading:
            done = float(self.machine.state.time[F_LINE_DONE])
            self.telemetry_cpu += done - self.reading_since
            self._decide(done)

    def _decide(self, now: float) -> None:
        self.machine.now = now
        units = self.machine.units()
        heat = self.source.heat(self.machine, units)
        scale = self.machine.config.scale
        processing = heat.cpu_ns * scale
        self.telemetry_cpu += processing
        if self.policy is None:
            self.source.watch(None)
            return
        memory = self.machine.state.memory
        accesses, _, held = self.latest
        mean = np.divide(held, accesses, out=memory.tiers[2].copy(), where=accesses > 0)
        seen = Statistics(
            now_ns=now,
            units=units,
            heat=heat,
            free=self.machine.free,
            capacity=(int(memory.capacity[FAST]), int(memory.capacity[SLOW])),
            span=self.machine.span,
            frame_bytes=1 << self.machine.frame_shift,
            accesses=(int(accesses[FAST]), int(accesses[SLOW])),
            latency_ns=(float(mean[FAST]), float(mean[SLOW])),
        )
        answer = self.policy.act(seen)
        deciding = answer.cpu_ns * scale
        self.policy_cpu += deciding
        self.answer = (now + processing + deciding, answer)

    def _act(self) -> None:
        now, answer = self.answer
        self.answer = None
        self.splits += self.machine.split(answer.split)
        self.machine.move(answer.promote, answer.demote, answer.join, now)
        self.source.watch(answer.watch)
        if answer.quota is not None:
            if self.quota is None:
                self.period = int(now // _PERIOD_NS) + 1
            self.quota = answer.quota

    def _row(self, interval: int, end: float) -> None:
        """Append a row to the timeline, unless nothing happened."""
        whole, memory = self.machine.state.whole, self.machine.state.memory
        now = (memory.accesses, whole[[I_PROMOTED, I_DEMOTED, I_COPIED]], memory.held)
        self.latest = tuple(a - b for a, b in zip(now, self.before, strict=True))
        accesses, moves, _ = self.latest
        if accesses.any() or moves.any():
            begin = (interval - 1) * self.interval
            end = min(end, interval * self.interval)
            rate = float(accesses.sum()) / (end - begin) * 1e9 if end > begin else 0.0
            moved = int(moves[2]) << self.machine.frame_shift
            pages = memory.used // self.machine.span
            self.timeline.append((begin, end, rate, *accesses, *pages, *moves[:2], moved))
            self.before = tuple(a.copy() for a in now)

    def _result(self, seconds: float) -> TierResult:
        state, machine = self.machine.state, self.machine
        whole, time_ = state.whole, state.time
        table = np.array(self.timeline).reshape(-1, 1 + len(COLUMNS)).T
        timeline = {
            name: values.astype(dtype)
            for (name, dtype), values in zip(COLUMNS.items(), table[1:], strict=True)
        }
        latency = None
        if "op" in machine.columns:
            there = np.flatnonzero(state.ops.number)
            first = state.ops.first[there]
            took = state.ops.last[there] - first
            row_of = np.searchsorted(table[0], first, side="right") - 1
            timeline |= request_columns(row_of, took, len(table[0]))
            latency = percentiles(took) if len(took) else {}
        extra: dict[str, Any] = {}
        if self.policy:
            extra["migration"] = {
                "restarted": int(whole[I_RESTARTED]),
                "given_up": int(whole[I_GIVEN_UP]),
                "refused": int(whole[I_REFUSED]),
                "split": self.splits,
            }
        if machine.config.flat:
            extra["flat"] = asdict(near.counts(state.memory.near))
        if machine.config.tlb:
            extra["page_walks"] = int(whole[I_WALKS])
        if self.source:
            # Convert NumPy numbers, which JSON does not support.
            counts = self.source.counts(machine)
            extra["telemetry"] = {name: np.asarray(n).item() for name, n in counts.items()}
        return TierResult(
            time_ns=float(time_[F_END]),
            accesses=(int(state.memory.accesses[FAST]), int(state.memory.accesses[SLOW])),
            promoted=int(whole[I_PROMOTED]),
            demoted=int(whole[I_DEMOTED]),
            migrated_bytes=int(whole[I_COPIED]) << machine.frame_shift,
            telemetry_cpu_ns=float(self.telemetry_cpu),
            policy_cpu_ns=float(self.policy_cpu),
            seconds=seconds,
            timeline=timeline,
            latency=latency,
            extra=extra,
        )


def most_accessed(batches: Iterable[Trace], config: TierConfig, geometry: Geometry) -> np.ndarray:
    """The most accessed pages that fit the fast tier; of ties, the lower ones: bool[pages]."""
    shift = np.uint64(config.page_bytes.bit_length() - 1)
    counts = np.zeros(-(-geometry.device_bytes // config.page_bytes), np.int64)
    for batch in batches:
        page, times = np.unique(batch.addr >> shift, return_counts=True)
        counts[page.astype(np.int64)] += times
    best = np.zeros(len(counts), np.bool_)
    best[np.argsort(-counts, kind="stable")[: config.fast.pages]] = True
    return best & (counts > 0)


def warm_up() -> None:
    """Compile the kernel or load it from the cache, so that this is not part of a measured run."""
    tier = Tier(1, 1.0, 1.0)
    one = Trace(np.zeros(1, np.uint64), np.zeros(1, np.bool_))
    simulate(TierConfig(4096, 1, tier, tier), one, geometry=Geometry(device_gib=1))


def _chained(first: Trace, rest: Iterable[Trace]) -> Iterator[Trace]:
    yield first
    yield from rest
