# SPDX-License-Identifier: Apache-2.0
"""The outputs that the contract requires at the engine's ports, cycle by cycle.

One pass over a script. A small model of each channel's slots puts its events and reads in one
order, and the golden model gets everything in that order. The slots follow only the documentation
of SlotArbiter and TelemetryEngine:

- an event takes the slot of its cycle; a read is accepted in a cycle without an event;
- a read with an update op as effect takes eight slots, and events wait behind it, in order; no read
  is accepted before the last of them has its slot;
- a table entry applies from the cycle on in which it is accepted; a rule from the first cycle on in
  which it is offered, the one before it is done and no channel is amid an eight-slot read; no read
  is accepted while it is waiting for that;
- a line that is written back is taken up behind all events of its channel that wait, in a cycle in
  which no rule holds reads, one at a time for all channels, which take turns; then it has the slots
  of its channel for a while, as a serial RMW has, and is answered in the cycle behind;
- a predicate holds on good words alone, and nothing here flips a bit: bench/parity.py does;
- a clear takes what is accepted in its cycle and before; what gets its slot before `clearing` ends
  has no effect, and such lines are zero.
"""

from __future__ import annotations

from collections import deque
from random import Random

from anemone.hardware.geometry import WORDS_PER_LINE
from tests.engine.bench.coverage import Cover
from tests.engine.bench.plan import Line, Plan, Timing
from tests.engine.bench.probe import Probe
from tests.engine.bench.rules import random_rule
from tests.engine.bench.script import Event, Read, RuleWrite, Script, TableWrite, registers
from tests.engine.bench.sizes import Size
from tests.engine.bench.slots import Channel, cover_hit, cover_slot
from tests.engine.bench.takes import Takes

ZEROS = [0] * WORDS_PER_LINE


class Reference:
    """Makes the plan of one script, which starts with a reset.

    rng: draws the values that the script leaves open. after_cut: the reset interrupts another
    script.
    """

    def __init__(
        self,
        size: Size,
        timing: Timing,
        cover: Cover,
        script: Script,
        rng: Random,
        after_cut: bool = False,
    ) -> None:
        self.size, self.timing, self.cover = size, timing, cover
        self.after_cut = after_cut
        self.script, self.rng = script, rng
        self.plan = Plan()
        self.models = [Probe(size, cover) for _ in range(size.pipelines)]
        self.channels = [Channel(c, script) for c in range(size.channels)]
        self.clearing_from = [0] * size.pipelines
        self.clearing_to = [script.reset + size.clear_cycles] * size.pipelines
        self.tables, self.rules = deque(script.tables), deque(script.rules)
        self.table: TableWrite | None = None  # on offer
        self.table_pipeline = 0
        self.rule: RuleWrite | None = None
        self.rule_ready = -1  # when the rule that is taken up will be ready
        self.takes = Takes(self)
        self.clears = dict(script.clears)
        self.acknowledges: dict[int, list[int]] = {}
        for t, p in script.acknowledges:
            self.acknowledges.setdefault(t, []).append(p)
        self.samples = set(script.samples)
        self.counts: list[list[tuple[int, int, int, int]]] = [[] for _ in self.models]
        self.latches: list[list[tuple[int, int] | None]] = [[] for _ in self.models]
        self.active = 0  # the last cycle with something in flight
        self.drives: list[tuple[str, int]] = []

    def run(self) -> Plan:
        """Plan the whole script, and a snapshot of every line after it."""
        t, snapshot, stop = 0, self.script.snapshot, None
        self.cover["restart/traffic"] += self.after_cut
        while t != stop:
            if t == self.script.cycles:
                self._close()
                if not snapshot:
                    break
            settled = max(self.active + self.timing.latch + 4, *self.clearing_to)
            if t > self.script.cycles and t > settled and stop is None:
                if snapshot:
                    snapshot = False
                    self._snapshot(t)
                else:
                    stop = t + 1
                    self.samples.add(t)
            self._cycle(t)
            t += 1
        return self.plan

    def _close(self) -> None:
        """From now on accept only items that are already offered."""
        self.tables.clear()
        self.rules.clear()
        for channel in self.channels:
            channel.reads.clear()
            channel.takes.clear()

    def _snapshot(self, t: int) -> None:
        for channel in self.channels:
            for p in range(self.size.pipelines):
                channel.reads += [Read(t, p, line, False) for line in range(self.size.lines)]

    # --- one cycle ---

    def _cycle(self, t: int) -> None:
        running = t >= self.script.reset
        drives = self.drives = [("reset", int(not running))]
        if not running:
            drives.append(("rule_valid", 0))
        now = self.acknowledges.get(t, ())
        for p, model in enumerate(self.models):
            model.now = t
            drives.append((f"rearm_{p}", int(p in now)))
        # An acknowledge clears hits whose slot was at least this many cycles earlier.
        for p in self.acknowledges.get(t + self.timing.latch - 1, ()):
            if self.models[p].notified is None:
                self.cover["acknowledge/idle"] += 1
            self.models[p].acknowledge()
        strobes: list[int | None] = [None] * (3 * len(self.channels))
        hold = self._rule(t) if running else False
        table_ready = self._table(t, running)
        for c, channel in enumerate(self.channels):
            self.takes.offer(t, channel, running)
            strobes[3 * c] = self._slot(t, channel, hold, running)
            strobes[3 * c + 1] = int(bool(channel.lines) and channel.lines[0].at == t)
            if strobes[3 * c + 1]:
                channel.lines.popleft()
        for c, answered in enumerate(self.takes.cycle(t, running)):
            strobes[3 * c + 2] = answered
        strobes += [int(t == self.rule_ready), table_ready]
        if t == self.rule_ready:
            self.rule = None
        self._clear(t, running)
        for p in range(len(self.models)):
            strobes += self._status(t, p)
        self.plan.strobes.append(strobes if t else [None] * len(strobes))
        self.plan.drives.append(drives)

    def off(self, p: int, t: int) -> bool:
        """Whether pipeline p is being cleared in cycle t."""
        return self.clearing_from[p] <= t < self.clearing_to[p]

    def bits(self, port: str, **values: int) -> None:
        self.drives.extend((f"{port}_bits_{name}", value) for name, value in values.items())

    # --- a channel: events and reads ---

    def _slot(self, t: int, channel: Channel, hold: bool, running: bool) -> int:
        """One cycle of a channel. Returns whether a read is accepted, or would be."""
        event = channel.events[t] if t < len(channel.events) else None
        self._offer_event(channel, event)
        self._offer_read(t, channel, running)
        channel.free = not (hold or channel.reserved or channel.waiting)
        ready = channel.free and not event
        if not running:
            return int(ready)
        read = channel.offered
        cover_slot(self.cover, channel, event, read, ready)
        if channel.reserved:
            channel.reserved -= 1
            if event:
                channel.waiting.append(event)
                self.cover["slot/event behind serial RMW"] += 1
        elif channel.waiting:
            first = channel.waiting.popleft()
            if event:
                channel.waiting.append(event)
            self._event(t, first)
        elif event:
            self._event(t, event)
        elif ready and read:
            self._read(t, channel, read)
            channel.offered = None
        if event or channel.reserved or channel.waiting or channel.offered or channel.take:
            self.active = t
        if event:
            self.plan.events += 1
            self.cover[f"channel/{channel.number}/event"] += 1
        return int(ready)

    def _offer_event(self, channel: Channel, event: Event | None) -> None:
        valid, address, write = channel.event_signals
        self.drives.append((valid, int(event is not None)))
        if not event and self.script.noise:
            noise = self.rng.getrandbits(self.size.address_bits)
            event = noise, noise & 1
        if event:
            self.drives += ((address, event[0]), (write, event[1]))

    def _offer_read(self, t: int, channel: Channel, running: bool) -> None:
        port = f"reads_{channel.number}"
        if channel.offered:
            return
        if running and channel.reads and channel.reads[0].at <= t:
            read = channel.offered = channel.reads.popleft()
            if read.line is None:
                read.line = self.models[read.pipeline].line[channel.number]
            self.bits(port, pipeline=read.pipeline, line=read.line, effect=int(read.effect))
        elif self.script.noise:
            pipeline, line = (self.rng.randrange(n) for n in (self.size.pipelines, self.size.lines))
            self.bits(port, pipeline=pipeline, line=line, effect=line & 1)
        self.drives.append((f"{port}_valid", int(channel.offered is not None)))

    def _event(self, t: int, event: Event) -> None:
        """An event gets its slot, and every rule processes it."""
        for p, model in enumerate(self.models):
            if self.off(p, t):
                self.cover["clear/event"] += 1
            else:
                latched, before = model.notified is not None, model.notifications
                model.event(event[0], bool(event[1]))
                if model.notifications != before:
                    acknowledged = t + self.timing.latch - 1
                    cover_hit(self.cover, model, latched, [
                        p in self.acknowledges.get(at, ())
                        for at in (acknowledged, acknowledged - 1)
                    ])  # fmt: skip

    def _read(self, t: int, channel: Channel, read: Read) -> None:
        """A read gets its slot, or the first of its slots."""
        c, p, line, model = channel.number, read.pipeline, read.line, self.models[read.pipeline]
        assert line is not None
        serial_rmw = read.effect and model.serial_rmw
        words = model.read_line(c, line, read.effect and not self.off(p, t + 7 * serial_rmw))
        if self.off(p, t):
            self.cover["clear/read"] += 1
            if read.effect and not self.off(
                p, t + 7 * serial_rmw
            ):  # only the last words of a serial RMW
                done = self.clearing_to[p] - t
                first = line * WORDS_PER_LINE
                model.states[c][first : first + done] = ZEROS[:done]
        at = t + self.timing.read + 7 * serial_rmw
        expected = Line(at, c, p, words)
        channel.lines.append(expected)
        self.plan.expect(expected)
        self.plan.reads += 1
        self.active = max(self.active, at)
        if self.after_cut and read.effect and model.loaded < 0:
            self.cover["restart/stale effect"] += 1
        if serial_rmw:
            channel.reserved = WORDS_PER_LINE - 1
            channel.free = False
        if channel.last[0] == t - 1:
            self.cover["slot/read back to back"] += 1
            if channel.last[1:] == (p, line):
                self.cover["slot/same line back to back"] += 1
        channel.last = t, p, line

    # --- rules, table, clears, acknowledges ---

    def _rule(self, t: int) -> bool:
        """One cycle of the rule port. Returns whether reads are held."""
        if self.rule is None:
            if self.rules and self.rules[0].at <= t:
                self.rule = self.rules.popleft()
                if t == self.rule_ready + 1:
                    self.cover["rule/back to back"] += 1
                self.bits("rule", pipeline=self.rule.pipeline)
                self.bits(
                    "rule", **self._fields(registers(self.rule.rule, self.rule.enable, self.size))
                )
            elif self.script.noise and t == self.rule_ready + 1:
                # The rule was accepted, so another rule on the port must have no effect.
                noise = registers(random_rule(self.rng, self.size), True, self.size)
                self.bits("rule", pipeline=self.rng.randrange(self.size.pipelines))
                self.bits("rule", **self._fields(noise))
            self.drives.append(("rule_valid", int(self.rule is not None)))
        if self.rule is None:
            return False
        self.active = t
        if t <= self.rule_ready:
            return False
        if any(channel.reserved for channel in self.channels):
            self.cover["rule/waits for serial RMW"] += 1
        else:
            self.rule_ready = t + self.timing.rule
            self.models[self.rule.pipeline].load(self.rule.rule, self.rule.enable)
            if any(channel.waiting for channel in self.channels):
                self.cover["rule/behind serial RMW"] += 1
        return True

    @staticmethod
    def _fields(values: dict[str, int]) -> dict[str, int]:
        return {f"rule_{name}": value for name, value in values.items()}

    def _table(self, t: int, running: bool) -> int:
        """One cycle of the table port. Returns whether it is ready."""
        if self.table is None:
            if running and self.tables and self.tables[0].at <= t:
                item = self.table = self.tables.popleft()
                if item.key is None:
                    item.key = self._looked_up(t, item.pipeline)
                self.table_pipeline = item.pipeline
                mapped = int(item.mapped)
                self.bits("table", key=item.key, base=item.base, mapped=mapped)
            elif self.script.noise:
                self.table_pipeline = self.rng.randrange(self.size.pipelines)
                self.bits("table", key=self.rng.randrange(self.size.table), mapped=1)
            self.bits("table", pipeline=self.table_pipeline)
            self.drives.append(("table_valid", int(self.table is not None)))
        ready = not self.off(self.table_pipeline, t)
        if self.table:
            self.active = t
            if ready:
                item, self.table = self.table, None
                assert item.key is not None
                self.models[item.pipeline].set_translation(item.key, item.base, item.mapped)
                if any(channel.waiting or channel.reserved for channel in self.channels):
                    self.cover["table/behind serial RMW"] += 1
            else:
                self.cover["table/waits for clear"] += 1
        return int(ready)

    def _looked_up(self, t: int, p: int) -> int:
        """The key of an event of this cycle, or a random key if there is none."""
        for channel in self.channels:
            event = channel.events[t] if t < len(channel.events) else None
            if event and (key := self.models[p].key_of(event[0])) < self.size.table:
                return key
        return self.rng.randrange(self.size.table)

    def _clear(self, t: int, running: bool) -> None:
        p = self.clears.get(t) if running else None
        self.drives.append(("clear_valid", int(p is not None)))
        if p is None:
            return
        self.drives.append(("clear_bits", p))
        self.models[p].clear()
        if self.off(p, t):
            self.cover["clear/again"] += 1
        else:
            self.clearing_from[p] = t + 1
        self.clearing_to[p] = t + 1 + self.size.clear_cycles
        for channel in self.channels:
            for line in channel.lines:
                if line.pipeline == p:
                    line.either = True
                    self.cover["clear/read in flight"] += 1

    # --- visible status ---

    def _status(self, t: int, p: int) -> tuple[int | None, int]:
        """Returns notified and clearing of a pipeline, and expects its counters and latch
        contents.
        """
        model, timing = self.models[p], self.timing
        self.counts[p].append(
            (model.matched, model.unmapped, model.out_of_range, model.notifications)
        )
        self.latches[p].append(model.notified)
        clearing = int(self.off(p, t) or t < self.script.reset)
        if t and self.clearing_from[p] <= t <= self.clearing_from[p] + 2 and t > self.script.reset:
            return None, clearing  # not compared while it goes to zero
        if t == 0 or clearing or self.off(p, t - 1):
            counts, latch, before = [(0, 0, 0, 0)] * 2, None, None
        else:
            lags = (t - timing.matched, t - timing.notifications)
            counts = [self.counts[p][lag] if lag >= 0 else (0, 0, 0, 0) for lag in lags]
            shown = t - timing.latch
            latch, before = (self.latches[p][i] if i >= 0 else None for i in (shown, shown - 1))
        if t and t in self.samples:
            values = (*counts[0][:3], counts[1][3], 0)
            signals = (f"status_{p}_{name}" for name in _COUNTERS)
            self.plan.status.setdefault(t, []).extend(zip(signals, values, strict=True))
        if latch and (latch != before or t in self.samples):
            signals = (f"status_{p}_notified{name}" for name in ("Channel", "Index"))
            self.plan.status.setdefault(t, []).extend(zip(signals, latch, strict=True))
        return int(latch is not None), clearing


_COUNTERS = ("matched", "unmapped", "outOfRange", "notifications", "parityErrors")
