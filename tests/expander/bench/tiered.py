# SPDX-License-Identifier: Apache-2.0
"""An expander in flat memory mode with two memories per channel, started by software."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from anemone.flat.config import POLICIES, FlatConfig
from anemone.flat.result import Counts
from anemone.golden.flat import FlatMemory
from anemone.hardware import registers
from anemone.telemetry.rules import NEAR, Rule
from tests.bench.difference import Difference
from tests.bench.memory import Memory
from tests.bench.pins import Flag, reader
from tests.bench.profile import StimulusProfile
from tests.expander.bench.environment import Environment, find
from tests.expander.bench.lockstep import Lockstep, Slots
from tests.expander.bench.operator import Operator
from tests.expander.bench.sizes import Build
from tests.expander.bench.tiered_scoreboard import TieredScoreboard
from tests.expander.bench.traffic import Traffic
from tests.expander.bench.windows import Windows
from tests.flat.bench.contents import check_contents
from tests.flat.bench.environment import any_config
from tests.flat.bench.memories import Far, Near
from tests.flat.bench.tap import Tap
from tests.flat.bench.traffic import AlternatingSets

PAGE = 4096  # unit of dedicated memory in bytes
SWEEP = 4000  # limit in cycles of the sweep of near memory
TRAFFIC = ("near_reads", "near_writes", "far_reads", "far_writes")
COUNTERS = {
    name: getattr(registers, f"FLAT_{name.upper()}")
    for name in ("hits", "misses", "swaps", *TRAFFIC, "forwarded")
}
ERRORS = [
    registers.FLAT_NEAR_ERRORS,
    registers.FLAT_FAR_ERRORS,
    registers.FLAT_MARKED,
    registers.FLAT_CORRECTED,
    registers.FLAT_UNTRUSTED,
]


def random_config(rng: Random, build: Build) -> FlatConfig:
    """A random configuration of a channel."""
    size = build.engine

    def dedicated(_: int) -> tuple[int, int]:
        page = PAGE // size.channels
        start = rng.choice((0, 1, rng.randrange((1 << size.address_bits) // PAGE))) * page
        return start, start + page

    return any_config(rng, (1 << (size.address_bits - 6)) // size.channels, build.ratio, dedicated)


MEMORY = 3  # cycles that what is first may take to leave the memory of its queue


class TieredLockstep(Lockstep):
    """Events come when their accesses are decided, in the order in which the controller took the
    requests. Like telemetry reads, they wait for everything before them.
    """

    def __init__(self, build: Build, engine: Any, *more: Any) -> None:
        super().__init__(build, engine, *more)
        self._ready = [
            reader(getattr(engine, f"io_reads_{c}_ready")) for c in range(build.engine.channels)
        ]
        self._shown = [_event(engine, f"io_events_{c}_bits") for c in range(build.engine.channels)]

    def controllers(self, controllers: list[Any]) -> None:
        """Set the controllers whose decisions are observed."""
        self._decided = [reader(controller.event_valid) for controller in controllers]
        self._held = [reader(controller.hold) for controller in controllers]

    def restart(self, t: int, windows: Windows) -> None:
        """A reset that ends before cycle t."""
        super().restart(t, windows)
        self._orders: list[deque[Any]] = [deque() for _ in self.slots]
        self._late = [0 for _ in self.slots]

    @property
    def idle(self) -> bool:
        """Whether nothing is in flight."""
        return super().idle and not any(self._orders)

    def _turn(self, t: int, c: int, slots: Slots, hold: bool) -> Any:
        order = self._orders[c]
        self.cover["tiered/held"] += self._held[c]()
        # An event of this cycle has its turn in the next cycle or later.
        event = read = line = None
        seen = self._event[c](), self._read[c]() and self._ready[c]()
        due = order and (order[0][0] or not (hold or slots.reserved or slots.waiting))
        late = due and not any(seen) and self._late[c] < MEMORY
        self._late[c] = self._late[c] + 1 if late else 0
        if due and not late:
            event, read, line = order.popleft()
            if event:
                self.cover["tiered/event behind reads"] += bool(order and order[0][1])
        if self._decided[c]():
            if not slots.outcomes:
                raise Difference(f"cycle {t}: channel {c} decides what nobody asked for")
            order.append((slots.outcomes.popleft(), None, None))
            slots.decided_events += 1
        beat, _ = self._taken(t, c, slots)
        if beat and beat.line and (target := self._target(beat.line)):
            self.cover["tiered/read behind events"] += bool(order)
            order.append((None, target, beat.line))
        if seen != (event is not None, read is not None):
            raise Difference(f"cycle {t}: channel {c}: event, read are {seen}: {event}, {read}")
        if event:
            self._compare(t, c, event)
        return event, read, line

    def _compare(self, t: int, c: int, event: tuple[int, bool, str]) -> None:
        addr, write, near = event
        shown = tuple(pin() for pin in self._shown[c])
        if shown != (addr, write, NEAR.index(near)):
            raise Difference(f"cycle {t}: channel {c}: the event is {shown}, not {event}")
        for asked in {model.rule.near for model in self.models if model.on}:
            self.cover[f"tiered/{near} for {asked}"] += 1


def _event(scope: Any, prefix: str) -> list[Any]:
    return [reader(getattr(scope, f"{prefix}_{name}")) for name in ("address", "write", "near")]


class TieredOperator(Operator):
    """Software whose rules also match on hit or miss."""

    def rule(self, p: int, rule: Rule, enable: bool) -> int:
        """Write the rule with a random outcome to match."""
        return super().rule(p, replace(rule, near=self.rng.choice(NEAR)), enable)


class TieredTraffic(Traffic):
    """Traffic of which half goes to few sets, so that accesses meet swaps in flight."""

    config = FlatConfig(1)

    def focus(self) -> None:
        """Begin another phase, with other sets."""
        super().focus()
        rng = self.rng
        self._set_indices = [rng.getrandbits(16) for _ in range(rng.choice((1, 2, 4, 16)))]
        self._conflicts = rng.choice((0.2, 0.5, 0.9))
        self._alternating: AlternatingSets | None = None

    def draw_sets(self) -> None:
        """Draw whether the few sets of this phase are those of `AlternatingSets`."""
        self._alternating = (
            AlternatingSets(self.rng, self.config) if self.rng.random() < 0.3 else None
        )

    def _address(self) -> int:
        rng, config = self.rng, self.config
        if rng.random() >= self._conflicts:
            return super()._address()
        if self._alternating:
            p = self._alternating.line()
        else:
            tag = rng.randrange(config.ratio + 1)
            p = rng.choice(self._set_indices) % config.near_lines + tag * config.near_lines
        addr = ((p * self.build.engine.channels) + self.channel) << 6
        return addr if self.windows.decode(addr, self.channel) is None else super()._address()


class TieredEnvironment(Environment):
    """`config`: of all channels, given or drawn at each restart."""

    operator_type = TieredOperator
    config: FlatConfig | None = None

    async def restart(self, seed: int, warm: bool = False, late: bool = False) -> None:
        """Power up, or reset with the contents of the memories and golden models kept. If something
        was in flight, they have to be recovered. late: near and far memory are not reset and still
        send outstanding answers.
        """
        self.warm, self._late = warm, late
        if not warm:
            self.now = self.config or random_config(Random(seed), self.build)
        kept = list(zip(self.near, self.far, self.scoreboards, strict=True)) if warm else []
        power_on = Flag(self.dut.powerOn, int(not warm))
        await super().restart(seed)
        power_on.set(0)
        for c, (near, far, scoreboard) in enumerate(kept):
            self.near[c].store, self.near[c].sidebands = near.store, near.sidebands
            self.far[c].store = far.store
            self.scoreboards[c].begin(scoreboard.flat, scoreboard.poison)
            scoreboard.flat.counts = Counts()

    def _controllers(self) -> list[Any]:
        channels = range(self.build.engine.channels)
        names = [f"tiered_{c}" for c in channels]
        return [getattr(find(self.dut, name), name).memory for name in names]

    def _lockstep(self, arbiters: list[Any]) -> Lockstep:
        lockstep = TieredLockstep(self.build, self.engine, arbiters, self.cover)
        lockstep.controllers(self._controllers())
        return lockstep

    def _scoreboard(self, c: int) -> TieredScoreboard:
        scoreboard = TieredScoreboard(c, self.windows, self.lockstep.slots[c], self.cover)
        scoreboard.begin(FlatMemory(self.now), {})
        return scoreboard

    def _traffic(self, c: int, rules: Sequence[Rule]) -> Traffic:
        traffic = TieredTraffic(self.rng, self.windows, c, rules)
        traffic.config = self.now
        return traffic

    def _memories(self) -> list[Memory]:
        pairs = zip(self._controllers(), self.scoreboards, strict=True)
        self.taps = [Tap(controller, scoreboard) for controller, scoreboard in pairs]
        self.near, self.far = self._tiers()
        for near in self.near:  # after power-up the sidebands are arbitrary
            near.sidebands.update(dict.fromkeys(range(self.now.near_lines), 1))
        return [*self.near, *self.far]

    def _tiers(self) -> tuple[list[Near], list[Far]]:
        prefixes = [f"tiers_{c}_" for c in range(self.build.engine.channels)]
        near = [Near(self.dut, self.rng, self.now, f"{prefix}near_") for prefix in prefixes]
        return near, [Far(self.dut, self.rng, self.now, f"{prefix}far_") for prefix in prefixes]

    def _keep(self, before: list[Memory]) -> None:
        """See `restart`."""
        if self._late:
            for memory, old in zip(self.memories, before, strict=True):
                memory.carry(old)
        self.judged(not self._late)

    def judged(self, now: bool) -> None:
        """Whether the ports of near and far memory are checked for AXI."""
        channels = range(self.build.engine.channels)
        self._judge([f"tiers_{c}_{tier}" for c in channels for tier in ("near", "far")], now)

    async def program(self) -> None:
        """Program windows, rules and tables; then start flat memory mode."""
        await super().program()
        await self.begin()

    def set_up(self) -> None:
        """Write every channel's settings of flat memory mode, and start it."""
        channels = range(self.build.engine.channels)
        config = self.now
        start, end = (page * len(channels) // PAGE for page in config.dedicated)
        values = {
            registers.FLAT_NEAR_LINES: {"lines": config.near_lines},
            registers.FLAT_DEDICATED_START: {"page": start},
            registers.FLAT_DEDICATED_END: {"page": end},
            registers.FLAT_POLICY: {"policy": POLICIES.index(config.policy), "n": config.n},
            registers.FLAT_CONTROL: {"start": 1},
        }
        for c in channels:
            for register, fields in values.items():
                self.control.write(registers.FLAT.at(c, register), register.pack(**fields))

    async def begin(self) -> None:
        """Start flat memory mode, and wait until it is ready."""
        self.set_up()
        channels = range(self.build.engine.channels)
        status = [registers.FLAT.at(c, registers.FLAT_STATUS) for c in channels]
        ready = registers.FLAT_STATUS.pack(started=1, ready=1)
        for _ in range(SWEEP // 20):
            await self.cycles(20)
            if await self.registers(status) == [ready for _ in channels]:
                break
        else:
            raise Difference(f"cycle {self.t}: not ready {SWEEP} cycles behind the start")
        for near in [] if self.warm else self.near:
            near.swept()

    def phase(self) -> None:
        """Draw new behaviour for traffic, memories and software."""
        for traffic in self.traffic:
            traffic.focus()
            traffic.draw_sets()
        for part in (*self.masters, *self.memories):
            part.profile = StimulusProfile.random(self.rng)
        for memory in self.memories:  # writes bring enough poison
            memory.profile.errors = memory.profile.poison = 0.0
        self.operator.focus()
        self.interrupts.eager = self.rng.choice((1.0, 0.2))

    async def check_memories(self) -> None:
        """Each line is in one place, and memory had the traffic that the accesses need."""
        for c, scoreboard in enumerate(self.scoreboards):
            values = await self.registers([registers.FLAT.at(c, r) for r in COUNTERS.values()])
            seen = dict(zip(COUNTERS, values, strict=True))
            forwarded = seen.pop("forwarded")
            expected = {name: getattr(scoreboard.flat.counts, name) for name in seen}
            if seen != expected:
                raise Difference(f"channel {c} counted {seen}, not {expected}")
            ports = self.near[c].accesses.counts.total() + self.far[c].accesses.counts.total()
            ports -= len(scoreboard.refused)  # counted as errors
            if ports + forwarded != sum(seen[name] for name in TRAFFIC):
                raise Difference(f"channel {c}: {ports} at the ports, {forwarded} spared: {seen}")
            errors = await self.registers([registers.FLAT.at(c, r) for r in ERRORS])
            if errors != [len(scoreboard.refused), 0, 0, 0, 0]:
                raise Difference(f"channel {c} counted errors: {errors}")
            check_contents(scoreboard.flat, self.near[c], self.far[c], scoreboard.poison)
