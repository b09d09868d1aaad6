# SPDX-License-Identifier: Apache-2.0
"""An expander between masters and memories. One coroutine steps all, with one wake-up per cycle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from anemone.hardware import registers
from anemone.telemetry.rules import Rule
from tests.bench.difference import Difference
from tests.bench.master import Master
from tests.bench.memory import Memory
from tests.bench.pins import Flag, power_on, reader
from tests.bench.profile import StimulusProfile
from tests.bench.scoreboards import UpstreamScoreboard
from tests.expander.bench import avalon
from tests.expander.bench import control as reg
from tests.expander.bench.control import Control
from tests.expander.bench.interrupts import Interrupts
from tests.expander.bench.lockstep import Lockstep
from tests.expander.bench.operator import Operator
from tests.expander.bench.placement import Placement
from tests.expander.bench.scoreboard import Scoreboard
from tests.expander.bench.sizes import Build
from tests.expander.bench.traffic import Traffic
from tests.expander.bench.windows import Windows

SYNCHRONISED = 2  # cycles until the board's reset takes effect
PATIENCE = 6000  # cycles in which everything in flight must have ended


def find(scope: Any, name: str) -> Any:
    """The instance below `scope` that has a pin of this name."""
    if getattr(scope, name, None) is not None:
        return scope
    for child in scope:
        if type(child).__name__ == "HierarchyObject" and (found := find(child, name)) is not None:
            return found
    return None


class Environment:
    """One seed's environment; `restart` resets the expander and builds a new one on it."""

    operator_type = Operator

    def __init__(
        self, dut: Any, build: Build, cover: Counter[str], habits: bool | None = None
    ) -> None:
        self.dut, self.build, self.cover = dut, build, cover
        self.habits = build.board if habits is None else habits  # habits of the board's controller
        self.edge = RisingEdge(dut.clock)
        self.reset, self.quiesce = Flag(dut.reset, 1), Flag(dut.quiesce)
        self.quiet = reader(dut.quiet)
        self.engine = find(dut, "io_table_valid")
        assert self.engine is not None, "no telemetry engine in the design"
        channels = [find(dut, f"channel_{c}") for c in range(build.engine.channels)]
        arbiters = [
            find(getattr(scope, f"channel_{c}"), "io_reads_ready")
            for c, scope in enumerate(channels)
        ]
        self.lockstep = self._lockstep(arbiters)
        self.taps: list[Any] = []  # further observers, stepped between masters and memories
        self.t = 0
        self.memories: list[Memory] = []
        self.control: Any = None
        self.watch: Callable[[int], None] | None = None  # called at the start of each cycle

    async def start(self) -> None:
        """Start the clock."""
        await power_on(self.dut)
        if self.build.wrapper:
            cocotb.start_soon(avalon.tick(self.dut))

    async def restart(self, seed: int) -> None:
        """Reset at any time, also during traffic; then program rules and tables."""
        rng = self.rng = Random(seed)
        build, dut, cover = self.build, self.dut, self.cover
        self.reset.set(1)
        channels = range(build.engine.channels)
        self.windows = Windows(build)
        self.lockstep.restart(0, self.windows)
        self.placement = Placement(find(dut, "io_out_effectWindow_enable"), self.windows, cover)
        self.scoreboards = [self._scoreboard(c) for c in channels]
        if build.wrapper:
            if self.control:
                self.control.stop()
            dut.csr_reset.value = 1
            self.control = avalon.AvalonControl(dut, rng)
        else:
            self.control = Control(dut, rng)
        self.interrupts = Interrupts(dut, build, self.lockstep, rng, cover)
        self.operator = self.operator_type(
            build, self.control, self.lockstep, self.placement, rng, cover
        )
        rules = self.operator.rules
        self.traffic = [self._traffic(c, rules) for c in build.ports]
        if build.board:
            # A burst of lines becomes a burst of memory when its window moves away. The board's
            # controller does not take bursts, so windows move or bursts are used, never both.
            self.operator.moves = rng.random() < 0.5
            for traffic in self.traffic:
                traffic.bursts = not self.operator.moves
        self.masters = [
            Master(dut, f"upstream_{port}_", rng, observer, traffic)
            for port, (observer, traffic) in enumerate(
                zip(self._observers(), self.traffic, strict=True)
            )
        ]
        before = self.memories
        self.memories = self._memories()
        self._keep(before)
        # The slower of the board's two clock domains must see the reset too.
        for _ in range(rng.randint(2, 4) * (avalon.PERIOD if build.wrapper else 1)):
            await self.edge
        self.reset.set(0)
        if build.wrapper:
            dut.csr_reset.value = 0
            for _ in range(SYNCHRONISED):
                await self.edge
        await self.edge  # the first cycle without reset, still without requests
        self.t = 1
        self.lockstep.restart(0, self.windows)
        for scoreboard, slots in zip(self.scoreboards, self.lockstep.slots, strict=True):
            scoreboard.slots = slots

    # --- the parts of each channel ---

    def _lockstep(self, arbiters: list[Any]) -> Lockstep:
        return Lockstep(self.build, self.engine, arbiters, self.cover)

    def _scoreboard(self, c: int) -> Scoreboard:
        return Scoreboard(c, self.windows, self.lockstep.slots[c], self.cover)

    def _traffic(self, c: int, rules: Sequence[Rule]) -> Traffic:
        return Traffic(self.rng, self.windows, c, rules)

    def _observers(self) -> Sequence[UpstreamScoreboard]:
        """To whom the master of each upstream port reports."""
        return self.scoreboards

    def _memories(self) -> list[Memory]:
        scoreboards = enumerate(self.scoreboards)
        return [
            Memory(self.dut, f"downstream_{c}_", self.rng, scoreboard, self.habits)
            for c, scoreboard in scoreboards
        ]

    def _keep(self, before: list[Memory]) -> None:
        """Memories do not share the reset: they keep their contents, and outstanding answers come
        late.
        """
        for memory, old, scoreboard in zip(self.memories, before, self.scoreboards, strict=False):
            memory.carry(old)
            scoreboard.golden.lines.update(memory.store.lines)
        self.judged(all(memory.idle for memory in self.memories))

    def judged(self, now: bool) -> None:
        """Whether memories' ports are checked for AXI: not while they answer without a request."""
        self._judge([f"downstream_{c}" for c in range(len(self.memories))], now)

    def judge_hosts(self, now: bool) -> None:
        """Whether the hosts' ports are checked for AXI."""
        self._judge([f"upstream_{c}" for c in range(len(self.masters))], now)

    def _judge(self, ports: Iterable[str], now: bool) -> None:
        for port in ports:
            checker = f"{port}_checker"
            getattr(find(self.dut, checker), checker).enabled.value = int(now)

    def _drained(self) -> None:
        """All late answers have come."""
        self.judged(True)

    async def quiesced(self) -> None:
        """Wait until nothing is in flight, while offered requests are no longer accepted."""
        for _ in range(PATIENCE):
            await self.cycles(1)
            if self.quiet():
                return
        raise Difference(f"cycle {self.t}: not quiet after {PATIENCE} cycles")

    async def cycles(self, count: int) -> None:
        """Run for a number of cycles."""
        edge, lockstep, control = self.edge, self.lockstep, self.control
        parts = [*self.masters, *self.taps, *self.memories]
        operator, interrupts, placement = self.operator, self.interrupts, self.placement
        for _ in range(count):
            await edge
            t = self.t
            if self.watch:
                self.watch(t)
            placement.step(t, lockstep.amid_burst)
            for part in parts:
                part.step(t)
            lockstep.cycle(t)
            interrupts.step(t)
            control.step(t)
            operator.step(t)
            self.t = t + 1

    async def program(self) -> None:
        """Program windows, rules, tables and interrupts."""
        self.operator.windows()
        self.operator.start()
        self.operator.interrupts(self.interrupts)
        await self.settle()
        self._drained()

    async def settle(self) -> None:
        """Offer no new requests until everything was answered."""
        self.operator.rate = 0
        self.interrupts.eager = 1.0
        for part in (*self.masters, *self.memories):
            part.profile = StimulusProfile.quiet()
        for _ in range(PATIENCE // 50):
            await self.cycles(50)
            parts = (*self.masters, *self.memories, *self.scoreboards, self.control, self.lockstep)
            if all(part.idle for part in parts):
                break
        else:
            left = [type(part).__name__ for part in parts if not part.idle]
            self.scoreboards[0].fail(self.t, f"not done after {PATIENCE} cycles: {left}")
        await self.cycles(40)

    def phase(self) -> None:
        """Draw new behaviour for traffic, memory and software."""
        for master, memory, traffic in zip(self.masters, self.memories, self.traffic, strict=True):
            traffic.focus()
            master.profile = memory.profile = StimulusProfile.random(self.rng)
        self.operator.focus()
        self.interrupts.eager = self.rng.choice((1.0, 0.2))

    # --- at the end ---

    async def registers(self, addresses: list[int]) -> list[int]:
        """Read registers."""
        values: list[int] = []

        def answer(resp: int, value: int) -> None:
            assert resp == 0, f"a register answers {resp}"
            values.append(value)

        for address in addresses:
            self.control.read(address, answer)
        while len(values) < len(addresses):
            await self.cycles(1)
        return values

    async def snapshot(self) -> None:
        """Read every line of every pipeline through the snapshot window, without other traffic."""
        self.operator.windows()
        await self.settle()
        size = self.build.engine
        for master, traffic in zip(self.masters, self.traffic, strict=True):
            todo = [(p, line) for p in range(size.pipelines) for line in range(size.lines)]
            master.source = traffic.lines(todo)
            master.profile = StimulusProfile(aw=0.0)
        while any(traffic.left for traffic in self.traffic):
            await self.cycles(20)
        await self.settle()
        for master, traffic in zip(self.masters, self.traffic, strict=True):
            master.source = traffic

    async def check_memories(self) -> None:
        """Memory holds what was written."""
        for scoreboard, memory in zip(self.scoreboards, self.memories, strict=True):
            scoreboard.check_memory(memory.store)

    async def check(self) -> None:
        """Check everything that can be checked after traffic has ended."""
        await self.settle()
        await self.snapshot()
        await self.check_memories()
        for p, model in enumerate(self.lockstep.models):
            values = await self.registers([reg.pipeline(p, r) for r in reg.COUNTERS.values()])
            seen = dict(zip(reg.COUNTERS, values, strict=True))
            of_model = {name: getattr(model, name) for name in reg.COUNTERS}
            if seen != of_model:
                raise Difference(f"pipeline {p}: the registers say {seen}, not {of_model}")
        totals: Counter[str] = Counter()
        for scoreboard in self.scoreboards:
            totals += scoreboard.counts
        dropped, refused, status = await self.registers(
            [reg.DROPPED_WRITES, reg.REFUSED_READS, reg.ERROR_STATUS]
        )
        seen_counts = (dropped, refused)
        wanted_counts = (totals["dropped"], totals["refused"])
        if seen_counts != wanted_counts:
            raise Difference(f"dropped, refused: {seen_counts}, not {wanted_counts}")
        late = sum(memory.late for memory in self.memories)
        totals["error stray"] += late
        (strays,) = await self.registers([registers.STRAY_ANSWERS.offset])
        if strays != late:
            raise Difference(f"{strays} answers were nobody's, not {late}")
        bits = {name: int(bool(totals[f"error {name}"])) for name in reg.ERRORS}
        expected = sum(bit << i for i, bit in enumerate(bits.values()))
        if status != expected:
            raise Difference(f"error_status is {status:#x}, not {expected:#x}")
        values = await self.registers(self.interrupts.registers())
        self.interrupts.check(self.t, values, status)
