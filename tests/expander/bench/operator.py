# SPDX-License-Identifier: Apache-2.0
"""Software that programs rules and tables, changes them during traffic, clears and acknowledges."""

from __future__ import annotations

from collections import Counter
from random import Random

from anemone.telemetry.rules import Rule
from tests.engine.bench.rules import changed_rule, random_rule
from tests.expander.bench import control as reg
from tests.expander.bench.control import Control
from tests.expander.bench.interrupts import Interrupts
from tests.expander.bench.lockstep import Lockstep
from tests.expander.bench.placement import ALL, REGISTERS, Placement
from tests.expander.bench.sizes import Build


class Operator:
    """Writes through `control` and passes each write on to `lockstep`."""

    def __init__(
        self,
        build: Build,
        control: Control,
        lockstep: Lockstep,
        placement: Placement,
        rng: Random,
        cover: Counter[str],
    ) -> None:
        self.build, self.control, self.lockstep, self.rng = build, control, lockstep, rng
        self.placement, self.cover = placement, cover
        self.size = build.engine
        self.rules: list[Rule] = [random_rule(rng, self.size) for _ in range(self.size.pipelines)]
        self._written: dict[int, int] = {}  # the shadow registers
        self._next = 0
        self.rate = 0
        self.moves = True  # whether the windows move

    def windows(self) -> None:
        """Open both windows at different places."""
        size = self.build.window_bytes
        places = self.rng.sample(range((1 << self.build.address_bits) // size), 2)
        for name, place in zip(REGISTERS, places, strict=True):
            self.place(name, place * size)

    def place(self, name: str, base: int, enable: bool = True) -> None:
        """Open or close a window."""
        # Bits below the window's size are not part of a base.
        noise = self.rng.randrange(self.build.window_bytes >> 12) << 12
        value = ALL[name].pack(enable=int(enable), base=(base | noise) >> 12)
        self.control.write(ALL[name].offset, value, self.placement.writes(name, value))

    def acknowledge_window(self) -> int:
        """Open the third window behind counted memory, apart from the others. Returns its place."""
        build, windows = self.build, self.placement.windows
        places = range(1 << build.engine.address_bits, 1 << build.address_bits, build.window_bytes)
        base = next(place for place in places if place not in (windows.effect, windows.snapshot))
        self.place("acknowledge", base)
        return base

    def move(self) -> None:
        """Move a window to a random place, to the other window or to counted memory; or close
        it.
        """
        rng, size = self.rng, self.build.window_bytes
        name, other = rng.sample(list(REGISTERS), 2)
        anywhere = rng.randrange(1 << self.build.address_bits)
        counted = rng.randrange(1 << self.size.address_bits)
        where = rng.choice((anywhere, anywhere, counted, getattr(self.placement.windows, other)))
        self.place(name, (where or anywhere) & -size, rng.random() < 0.8)

    def start(self) -> None:
        """Program all rules and all tables."""
        for p, rule in enumerate(self.rules):
            self.rule(p, rule, True)
            for key in range(self.size.table):
                self.entry(p, key)

    def interrupts(self, interrupts: Interrupts) -> None:
        """Enable some interrupts."""
        self._interrupts = interrupts
        interrupts.enabled = self.rng.choice(
            (0, everything := (2 << self.size.pipelines) - 1, everything)
        )
        interrupts.errors = self.rng.getrandbits(len(reg.ERRORS))
        self.control.write(reg.ERROR_ENABLE, interrupts.errors)
        self.control.write(reg.INTERRUPT_ENABLE, interrupts.enabled)

    def rule(self, p: int, rule: Rule, enable: bool) -> int:
        """Write the fields that differ from the shadow registers, in any order, and commit. Returns
        the number of writes.
        """
        writes = 1
        self.rules[p] = rule
        shadow_writes = list(reg.shadow(rule, enable, self.size).items())
        self.rng.shuffle(shadow_writes)
        for address, value in shadow_writes:
            if self._written.get(address) != value:
                self._written[address] = value
                self.control.write(address, value)
                writes += 1
        self.lockstep.rules.append((p, rule, enable))
        self.control.write(reg.COMMIT, p)
        return writes

    def entry(self, p: int, key: int | None = None) -> None:
        """Write one table entry."""
        rng, size = self.rng, self.size
        key = rng.randrange(size.table) if key is None else key
        counters = size.states * (64 // self.rules[p].width)
        base = rng.choice((rng.randrange(counters), rng.randrange(8), rng.randrange(size.counters)))
        if past := rng.random() < 0.03:
            base = rng.choice((size.counters, size.counters << 1, rng.randrange(1 << 24)))
        mapped = rng.random() < 0.85
        self.lockstep.tables.append((p, key, base, mapped))
        self.control.write(*reg.entry(size, p, key, base, mapped))
        self.cover[f"control/entry/{('past' if past else 'mapped') if mapped else 'unmapped'}"] += 1

    def clear(self, p: int) -> None:
        """Clear a pipeline; later writes may have to wait until it ends."""
        self.lockstep.clears.append(p)
        self.control.write(reg.pipeline(p, reg.CLEAR), 1)

    def acknowledge(self, vectors: int) -> None:
        """Acknowledge interrupts, one bit each: errors, then pipelines."""
        self._interrupts.error_acknowledges += vectors & 1
        self.control.write(reg.ACKNOWLEDGE, vectors)

    def focus(self) -> None:
        """Begin another phase, with a rate between idle and as fast as the port allows."""
        self.rate = self.rng.choice((0, 0, 400, 100, 20, 1))
        self.control.slow = self.rng.choice((0.0, 0.0, 0.5))

    def step(self, t: int) -> None:
        """Do something at random times."""
        if not self.rate or t < self._next or not self.control.idle:
            return
        rng, size = self.rng, self.size
        self._next = t + rng.randrange(2 * self.rate)
        p = rng.randrange(size.pipelines)
        kind = rng.random()
        if kind < 0.5:
            for _ in range(rng.choice((1, 1, 4, 16))):
                self.entry(p)
        elif kind < 0.7:
            self.rule(p, changed_rule(rng, self.rules[p], size), rng.random() < 0.9)
        elif kind < 0.74:
            for _ in range(rng.choice((1, 1, 2))):
                self.clear(p)
        elif kind < 0.77 and self.moves:
            self.move()
        elif kind < 0.9:
            self.acknowledge(rng.getrandbits(size.pipelines + 1))
        else:
            counter = rng.choice(list(reg.COUNTERS.values()))
            self.control.read(reg.pipeline(p, counter), self._counted)

    def _counted(self, resp: int, value: int) -> None:
        assert resp == 0
