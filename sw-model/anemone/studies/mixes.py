# SPDX-License-Identifier: Apache-2.0
"""Simulates machines that share a host from their profiles, with a policy for dedicated pages.

A machine's speed comes from its surface, by its share of dedicated pages and by the bandwidth that
the others leave. Slowdown is relative to the same moment with all machines on local memory.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import exp, inf

from anemone.memstrata.colouring import Layout
from anemone.memstrata.loop import (
    COPY_GB_PER_S,
    FREE,
    INTERVAL_S,
    Host,
    Judge,
    Judged,
    Moved,
    Reading,
)
from anemone.memstrata.outliers import EWMA, SLOW
from anemone.memstrata.plan import STEP_RATIO, Migration
from anemone.studies.surfaces import State, Surface, shares

PAGE_BYTES = 2 << 20  # §5; sizes here are the paper's, profiles use 1/64 of them
HOST_PAGES = 6 * 32 * 512  # six machines of 32 GB
TICK_S = 1.0
_SEARCH = 40  # bisection steps for the smallest worst slowdown


@dataclass(frozen=True)
class Job:
    """The work of a machine.

    pages: of the machine. phases: (surface, seconds), repeated in order. work: total, seconds. Both
    times are those of the machine alone on local memory.
    """

    name: str
    pages: int
    cores: int
    phases: tuple[tuple[Surface, float], ...]
    work: float = inf

    def phase(self, done: float) -> Surface:
        """The phase after `done` seconds of work."""
        ends = list(accumulate(seconds for _, seconds in self.phases))
        return self.phases[bisect(ends, done % ends[-1])][0]


@dataclass
class Running:
    """A job's progress. done: work; base: work done if all machines were on local memory."""

    job: Job
    done: float = 0.0
    base: float = 0.0
    seconds: float = 0.0
    stalled: float = 0.0  # seconds that it still has to wait for pages being copied
    missed: list[Reading] = field(default_factory=list)  # one per tick of the interval

    @property
    def slowdown(self) -> float:
        return self.base / self.done - 1 if self.done else 0.0


@dataclass(frozen=True)
class Policy:
    """How dedicated pages move. judge: finds the outliers; None: pages stay. count: replaces the
    misses in readings by those that a device counts; None: misses come from the profiles. oracle:
    knows all slowdowns at every share, and minimises the worst of them at once.
    """

    judge: Judge | None = None
    count: Callable[[Mapping[str, Reading]], Mapping[str, Reading]] | None = None
    oracle: bool = False
    interval_s: float = INTERVAL_S
    step_ratio: float = STEP_RATIO
    ewma: float = EWMA


@dataclass
class Outcome:
    """ended: finished jobs and those that the end of the run cut off. judged: decisions whether a
    machine loses more than 5 %, one for each machine and interval; right: the correct ones.
    reacted: seconds from the start of such a loss until it is detected. copied_gb, copy_s: of all
    exchanges.
    """

    ended: list[Running] = field(default_factory=list)
    judged: int = 0
    right: int = 0
    reacted: list[float] = field(default_factory=list)
    copied_gb: float = 0.0
    copy_s: float = 0.0


@dataclass
class Mix:
    """share: of the host's pages that are dedicated. next_job: the successor of a finished job."""

    jobs: Sequence[Job]
    share: float
    policy: Policy
    next_job: Callable[[Job], Job] | None = None

    def __post_init__(self) -> None:
        dedicated = int(self.share * HOST_PAGES)
        layout = Layout((HOST_PAGES - dedicated) // 2, 1, dedicated, PAGE_BYTES)
        judge = self.policy.judge or (_calm if self.policy.oracle else None)
        self.host = Host(layout, self.share, judge, self.policy.step_ratio, self.policy.ewma)
        self.running: dict[str, Running] = {}
        self.outcome = Outcome()
        self._moving = (0.0, 0.0)  # GB/s of copies, near and far
        self._slow_since: dict[str, float] = {}
        self._now = 0.0
        self._asked: object = None  # the arguments for which _states is valid
        self._states: tuple[list[State], list[State]] = ([], [])

    def run(self, seconds: float) -> Outcome:
        for job in self.jobs:
            self._launch(job)
        for tick in range(round(seconds / TICK_S)):
            self._now = tick * TICK_S
            self._step()
            self._end()
            if (tick + 1) % round(self.policy.interval_s / TICK_S) == 0:
                self._round()
        self.outcome.ended += self.running.values()
        return self.outcome

    def states(self) -> tuple[list[State], list[State]]:
        """The state of each machine as it runs, and with all machines on local memory."""
        surfaces, places = self._places()
        asked = ([id(s) for s in surfaces], places, self._moving)
        if asked != self._asked:
            self._asked = asked
            self._states = (
                _side_by_side(surfaces, places, self._moving),
                _side_by_side(surfaces, [1.0] * len(surfaces)),
            )
        return self._states

    def _places(self) -> tuple[list[Surface], list[float]]:
        """The surface of each machine's phase, and its share of dedicated pages."""
        surfaces = [r.job.phase(r.done) for r in self.running.values()]
        return surfaces, [self.host.dedicated(name) for name in self.running]

    def _step(self) -> None:
        for running, here, local in zip(self.running.values(), *self.states(), strict=True):
            alone = running.job.phase(running.done).at(1.0).seconds
            waits = min(TICK_S, running.stalled)
            running.stalled -= waits
            runs = (TICK_S - waits) / here.seconds
            running.missed.append(_reading(here, runs))
            running.done += runs * alone
            running.base += TICK_S * alone / local.seconds
            running.seconds += TICK_S

    def _end(self) -> None:
        for name, running in list(self.running.items()):
            if running.done >= running.job.work:
                self.outcome.ended.append(self.running.pop(name))
                self.host.terminate(name)
                self._slow_since.pop(name, None)
                if self.next_job:
                    self._launch(self.next_job(running.job))

    def _launch(self, job: Job) -> None:
        self.running[job.name] = Running(job)
        self._copy(self.host.launch(job.name, job.pages))

    def _round(self) -> None:
        # A machine that was launched within the interval is measured over the time that it ran.
        readings = {n: _whole(r.missed) for n, r in self.running.items() if r.missed}
        if self.policy.count:
            readings = self.policy.count(readings)
        truth = self._truth()
        moved = self.host.round(readings)
        if self.policy.oracle:
            moved += self.host.exchange(self._minimise_worst())
        elif self.policy.judge:
            self._compare({name: truth[name] for name in readings})
        self._moving = (0.0, 0.0)
        self._copy(moved)
        for running in self.running.values():
            running.missed.clear()

    def _truth(self) -> dict[str, float]:
        here, local = self.states()
        times = [a.seconds / b.seconds - 1 for a, b in zip(here, local, strict=True)]
        return dict(zip(self.running, times, strict=True))

    def _compare(self, truth: dict[str, float]) -> None:
        for name, slowdown in truth.items():
            predicted = self.host.judged[name].is_outlier
            self.outcome.judged += 1
            self.outcome.right += predicted == (slowdown > SLOW)
            if slowdown > SLOW:
                since = self._slow_since.setdefault(name, self._now)
                if predicted and since != inf:
                    self.outcome.reacted.append(self._now - since + self.policy.interval_s)
                    self._slow_since[name] = inf
            else:
                self._slow_since.pop(name, None)

    def _minimise_worst(self) -> list[Migration]:
        """The exchanges that minimise the worst slowdown."""
        here, local = self.states()
        surfaces, places = self._places()
        given = shares(list(zip(surfaces, places, strict=True)))
        pages = [r.job.pages for r in self.running.values()]
        have = [round(d * n) for d, n in zip(places, pages, strict=True)]
        worst = max(
            (a.seconds / b.seconds - 1 for a, b in zip(here, local, strict=True)), default=0
        )

        def needs(slowdown: float) -> list[int]:
            return [
                _fewest(surface, b, (1 + slowdown) * base.seconds, n)
                for surface, b, base, n in zip(surfaces, given, local, pages, strict=True)
            ]

        low, high = 0.0, max(0.0, worst)
        for _ in range(_SEARCH):
            middle = (low + high) / 2
            low, high = (low, middle) if sum(needs(middle)) <= sum(have) else (middle, high)
        wanted = needs(high)
        return _towards(list(self.running), have, wanted)

    def _copy(self, moved: Sequence[Moved]) -> None:
        """Account for copies: processor time, bandwidth, and machines that wait for moving
        pages.
        """
        for each in moved:
            total = each.exchange.bytes
            self.outcome.copied_gb += total / 1e9
            self.outcome.copy_s += each.copy_s
            # Half of a tiered page is far, so half of its reads and writes are, too.
            far = each.exchange.pages * PAGE_BYTES * (0.5 if each.donor == FREE else 1.0)
            near, far = (2 * total - far) / 1e9, far / 1e9
            interval = self.policy.interval_s
            self._moving = (self._moving[0] + near / interval, self._moving[1] + far / interval)
            for name in {each.donor, each.borrower} & self.running.keys():
                self._stall(self.running[name], each)

    def _stall(self, running: Running, moved: Moved) -> None:
        """A page is inaccessible while it is copied, and a core that accesses it waits for the
        rest.

        Requests that miss all caches are spread evenly over the machine's pages.
        """
        away = moved.exchange.bytes / moved.exchange.pages / (COPY_GB_PER_S * 1e9)
        state = running.job.phase(running.done).at(self.host.dedicated(running.job.name))
        each_core = _requests(state) / state.seconds / running.job.cores / running.job.pages
        if each_core > 0:
            waits = away - (1 - exp(-each_core * away)) / each_core
            running.stalled += moved.exchange.pages * waits


def _calm(readings: Mapping[str, Reading]) -> dict[str, Judged]:
    """No outliers: the oracle moves pages itself."""
    return dict.fromkeys(readings, Judged(False, 0.0))


def _side_by_side(
    surfaces: Sequence[Surface], places: Sequence[float], more: tuple[float, float] = (0.0, 0.0)
) -> list[State]:
    machines = list(zip(surfaces, places, strict=True))
    given = shares(machines, more)
    return [s.at(d, b) for (s, d), b in zip(machines, given, strict=True)]


def _requests(state: State) -> float:
    return state.metrics["requests"] * state.instructions / 1000


def _reading(state: State, runs: float) -> Reading:
    requests = _requests(state) * runs
    return Reading(state.metrics, requests, requests * state.miss_ratio)


def _whole(ticks: Sequence[Reading]) -> Reading:
    """The reading of an interval from those of its ticks."""
    mean = {n: sum(t.metrics[n] for t in ticks) / len(ticks) for n in ticks[0].metrics}
    return Reading(mean, sum(t.requests for t in ticks), sum(t.misses for t in ticks))


def _fewest(surface: Surface, bandwidth: float, seconds: float, pages: int) -> int:
    """The fewest dedicated pages with which a machine takes at most `seconds`; all if none
    suffice.
    """
    low, high = 0, pages
    while low < high:
        middle = (low + high) // 2
        if surface.at(middle / pages, bandwidth).seconds <= seconds:
            high = middle
        else:
            low = middle + 1
    return low


def _towards(names: Sequence[str], have: Sequence[int], wanted: Sequence[int]) -> list[Migration]:
    """Exchanges from machines with more pages than wanted to machines with fewer."""
    spare = {n: h - w for n, h, w in zip(names, have, wanted, strict=True)}
    found = []
    for borrower in [n for n in names if spare[n] < 0]:
        for donor in [n for n in names if spare[n] > 0]:
            if pages := min(spare[donor], -spare[borrower]):
                found.append(Migration(donor, borrower, pages))
                spare[donor] -= pages
                spare[borrower] += pages
    return found
