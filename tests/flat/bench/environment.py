# SPDX-License-Identifier: Apache-2.0
"""A controller with a host, near and far memory, all stepped by one coroutine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

from cocotb.triggers import RisingEdge

from anemone.flat.config import POLICIES, FlatConfig
from anemone.golden.flat import FlatMemory
from anemone.hardware.registers import FaultMemory
from tests.bench.difference import Difference
from tests.bench.master import Master
from tests.bench.pins import Flag, power_on, reader, writer
from tests.bench.profile import StimulusProfile
from tests.flat.bench.build import Build
from tests.flat.bench.contents import check_contents
from tests.flat.bench.memories import Far, Near
from tests.flat.bench.scoreboard import Scoreboard
from tests.flat.bench.tap import Tap
from tests.flat.bench.traffic import Traffic

PATIENCE = 20_000  # cycles in which everything under way must have ended
STEP = 30  # cycles, more than between two accesses of a swap
MEMORIES = FaultMemory.LEAVING_LINES + 1  # memories with a code
COUNTERS = {
    "hits": "hits",
    "misses": "misses",
    "swaps": "swaps",
    "near_reads": "nearReads",
    "near_writes": "nearWrites",
    "far_reads": "farReads",
    "far_writes": "farWrites",
}


def any_policy(rng: Random) -> tuple[str, int]:
    """A policy and its n."""
    policy = rng.choice(POLICIES)
    n = {"nth": rng.choice((1, 2, 3, 5)), "one_in": rng.choice((1, 2, 7))}.get(policy, 1)
    return policy, n


def any_config(
    rng: Random, lines: int, ratio: int, dedicated: Callable[[int], tuple[int, int]]
) -> FlatConfig:
    """Random sizes (not only powers of two), any policy, often a dedicated range.

    lines: number of addressable lines. dedicated: draws a range of near lines.
    """
    near = rng.choice((1, 2, 5, 16, 33, lines // (ratio + 3)))
    policy, n = any_policy(rng)
    there = dedicated(near) if rng.random() < 0.6 else (0, 0)
    return FlatConfig(near, ratio, there, policy, n)


def random_config(rng: Random, build: Build) -> FlatConfig:
    """The configuration of a stand-alone controller."""

    def dedicated(near: int) -> tuple[int, int]:
        start = rng.choice((0, near // 2, (build.ratio + 1) * near))
        return start * 64, (start + rng.choice((1, 4, 20))) * 64

    return any_config(rng, 1 << (build.address_bits - 6), build.ratio, dedicated)


class NoReports:
    """Checks that no memory reports a flip without one, so all words have valid check bits."""

    def __init__(self, dut: Any) -> None:
        kinds = ("corrected", "uncorrected")
        names = [f"faults_{n}_fault_{kind}" for n in range(MEMORIES) for kind in kinds]
        self._pins = {name: reader(getattr(dut, name)) for name in names}

    def step(self, t: int) -> None:
        """Cycle t."""
        for name, names in self._pins.items():
            if names():
                raise Difference(f"cycle {t}: {name}, and no bit was flipped")


class Environment:
    """One controller; `restart` starts again with empty memories."""

    near_type: type[Near] = Near

    def __init__(self, dut: Any, build: Build, cover: Counter[str]) -> None:
        self.dut, self.build, self.cover = dut, build, cover
        self.edge = RisingEdge(dut.clock)
        self.reset, self.power_on = Flag(dut.reset, 1), Flag(dut.powerOn, 1)
        self.rearm, self.repair = Flag(dut.rearm), Flag(dut.repair)
        self.inject = Flag(dut.inject_valid)
        self.quiesce, self.quiet = Flag(dut.quiesce), reader(dut.quiet)
        self._ready = reader(dut.initialised)
        self._outcome = reader(dut.outcome_valid), reader(dut.outcome_bits_kind)
        self.watchers: list[Any] = [NoReports(dut)]  # further observers
        self.t = 0

    async def start(self) -> None:
        """Start the clock."""
        await power_on(self.dut)

    async def restart(self, rng: Random, config: FlatConfig) -> None:
        """Power up with a configuration."""
        await self.power_up(rng, config)
        await self.sweep()

    def judged(self, now: bool) -> None:
        """Whether near and far ports are checked for AXI rules; not if memory has another reset."""
        for checker in (self.dut.near_checker, self.dut.far_checker):
            checker.enabled.value = int(now)

    async def power_up(self, rng: Random, config: FlatConfig) -> None:
        """Power up, with reset still asserted."""
        self.rng, self.config, dut = rng, config, self.dut
        self.reset.set(1)
        self.power_on.set(1)
        self.judged(True)
        lines = config.dedicated_lines
        pins = (config.near_lines, lines.start, lines.stop)
        for name, value in zip(("nearLines", "dedicatedStart", "dedicatedEnd"), pins, strict=True):
            writer(getattr(dut, f"config_{name}"))(value)
        writer(dut.config_policy)(POLICIES.index(config.policy))
        writer(dut.config_n)(config.n)
        self.golden = FlatMemory(config)
        self.scoreboard = Scoreboard(self.golden, self.cover)
        self.near, self.far = self.near_type(dut, rng, config), Far(dut, rng, config)
        self.traffic = Traffic(rng, self.build, config)
        self.master = Master(dut, "host_", rng, self.scoreboard, self.traffic)
        self.tap = Tap(dut, self.scoreboard)
        for _ in range(rng.randint(2, 4)):
            await self.edge

    async def sweep(self, ended: Callable[[], int] | None = None) -> None:
        """End the reset and wait for the sweep of near memory. ended: whether it has, instead of
        that requests are taken.
        """
        ended = ended or self._ready
        self.reset.set(0)
        self.power_on.set(0)
        await self.edge
        self.t = 1
        while not ended():
            await self.cycles(1)
        self.near.swept()

    async def cycles(self, count: int) -> None:
        """Run for a number of cycles."""
        parts = (self.master, self.tap, self.near, self.far, *self.watchers)
        valid, kind = self._outcome
        for _ in range(count):
            await self.edge
            t = self.t
            for part in parts:
                part.step(t)
            if valid():
                self.scoreboard.outcome(t, kind())
            self.t = t + 1

    def phase(self) -> None:
        """Change the traffic and the memories' behaviour."""
        self.traffic.focus()
        for part in (self.master, self.near, self.far):
            part.profile = StimulusProfile.random(self.rng)
            part.profile.errors = 0.0
        self.near.profile.poison = self.far.profile.poison = 0.0

    async def settle(self) -> None:
        """Stop new requests and wait until everything is complete."""
        parts = (self.master, self.near, self.far, self.scoreboard)
        for part in parts[:3]:
            part.profile = StimulusProfile.quiet()
        quiet = 0
        for _ in range(PATIENCE):
            await self.cycles(1)
            quiet = quiet + 1 if all(part.idle for part in parts) else 0
            if quiet == STEP:
                return
        left = [type(part).__name__ for part in parts if not part.idle]
        self.scoreboard.fail(self.t, f"not done after {PATIENCE} cycles: {left}")

    def counters(self) -> dict[str, int]:
        """The controller's counters by the names of results."""
        return {
            name: reader(getattr(self.dut, f"counters_{pin}"))()
            for name, pin in (COUNTERS | {"forwarded": "forwarded"}).items()
        }

    async def check(self) -> None:
        """All checks that are possible after the traffic."""
        await self.settle()
        seen = self.counters()
        forwarded = seen.pop("forwarded")
        expected = {name: getattr(self.golden.counts, name) for name in COUNTERS}
        if seen != expected:
            raise Difference(f"the counters say {seen}, not {expected}")
        poisoned = reader(self.dut.counters_poisoned)()
        returned = sum(memory.accesses.poisoned for memory in (self.near, self.far))
        if poisoned != returned:
            raise Difference(f"{poisoned} poisoned lines, not {returned}")
        near, far = self.near.accesses.counts, self.far.accesses.counts
        asked = sum(seen[name] for name in ("near_reads", "near_writes", "far_reads", "far_writes"))
        ports = near.total() + far.total()
        if ports + forwarded != asked:
            raise Difference(f"ports {near}, {far}, forwarded {forwarded}: not {seen}")
        self.cover["forwarded"] += forwarded
        check_contents(self.golden, self.near, self.far, self.scoreboard.poison)

    def tags(self, set_index: int) -> list[int]:
        """The tag in each slot of a set."""
        return self.near.tags(set_index)
