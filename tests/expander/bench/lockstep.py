# SPDX-License-Identifier: Apache-2.0
"""The telemetry that the expander must have. Golden models get every beat in the order in which the
channel's arbiter takes them.

The kind of each beat comes from the pins of the memory ports and this bench's own address decoding.
The arbiter shows only in which cycle a read or a write has its turn. The bench checks that this is
legal: reads and writes each in the order of their port, after their acceptance, and a burst of
memory without interruption. The engine's ports are looked at because software can't know in which
cycle a table entry or a rule takes effect. The slots follow the documentation of SlotArbiter and
TelemetryEngine, as tests/engine/bench/reference.py does.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

from anemone.golden.nemo import Telemetry
from anemone.hardware.geometry import WORDS_PER_LINE
from anemone.telemetry.rules import Rule
from tests.bench.difference import Difference
from tests.bench.pins import reader
from tests.bench.requests import DECERR, OKAY, SLVERR
from tests.expander.bench.sizes import Build
from tests.expander.bench.windows import Windows

OFF = Rule(name="off", type="", end=0)
READ = 9  # cycles from a read's acceptance by the engine to its line
SERIAL_RMW = WORDS_PER_LINE - 1
LATCH = 13  # cycles from an event's acceptance to the one in which it is latched, at the earliest


class Line:
    """An expected telemetry beat; `resp` and `words` are set in its slot. target: the result of
    `decode` with the windows at the request's acceptance.
    """

    __slots__ = ("either", "last", "narrow", "resp", "target", "words")

    def __init__(self, target: tuple[int, int, bool] | str, narrow: bool, last: bool) -> None:
        self.target, self.narrow, self.last, self.either = target, narrow, last, False
        self.resp: int | None = None
        self.words: list[int] | None = None


class Model(Telemetry):
    """A pipeline's golden model, and its latch with the timing of the hardware."""

    def __init__(self, build: Build) -> None:
        super().__init__(OFF, build.geometry)
        self.on = False
        self.clearing_from, self.clearing_to = 0, 0
        self.hits: deque[tuple[int, tuple[int, int]]] = deque()

    @property
    def serial_rmw(self) -> bool:
        """A read with effect takes a slot for each word."""
        return self.rule.effect_op not in ("none", "reset")

    def clear(self) -> None:
        """Zero states, counters, latch, and empty the table; the rule stays."""
        self.table.clear()
        for states in self.states:
            states[:] = [0] * len(states)
        self.matched = self.unmapped = self.out_of_range = self.notifications = 0
        self.notified = None
        self.hits.clear()

    def off(self, t: int) -> bool:
        """Whether the pipeline is being cleared in cycle t."""
        return self.clearing_from <= t < self.clearing_to


class Taken:
    """A beat accepted in cycle `t` that the arbiter has to take. It has an address in `event` if it
    is one, or the line that is read, or neither. more: a burst of memory continues after it.
    """

    __slots__ = ("event", "line", "more", "t")

    def __init__(
        self, t: int, event: int | None = None, line: Line | None = None, more: bool = False
    ) -> None:
        self.t, self.event, self.line, self.more = t, event, line, more


class Slots:
    """A channel's order: beats accepted, the engine's backlog, lines on their way."""

    def __init__(self) -> None:
        self.accepted: dict[bool, deque[Taken]] = {False: deque(), True: deque()}
        self.burst: bool | None = None  # of writes or of reads, amid which the arbiter is
        self.reserved = 0
        self.waiting: deque[tuple[Any, ...]] = deque()
        self.in_flight: deque[tuple[int, int, Line]] = deque()
        # In flat memory mode: (addr, write, near) of events to come, and how many have come.
        self.outcomes: deque[tuple[int, bool, str]] = deque()
        self.decided_events = 0


class Lockstep:
    """Golden models of all pipelines. Control writes are queued here when they are sent."""

    def __init__(self, build: Build, engine: Any, arbiters: list[Any], cover: Counter[str]) -> None:
        self.build, self.cover = build, cover
        self.size = build.engine
        names = [
            "rule_valid",
            "rule_ready",
            "table_valid",
            "table_ready",
            "clear_valid",
            "clear_bits",
        ]
        self._probe = {name: reader(getattr(engine, f"io_{name}")) for name in names}
        channels, pipelines = range(self.size.channels), range(self.size.pipelines)
        self._event = [reader(getattr(engine, f"io_events_{c}_valid")) for c in channels]
        self._read = [reader(getattr(engine, f"io_reads_{c}_valid")) for c in channels]
        self._takes = [
            {False: reader(arbiter.io_reads_ready), True: reader(arbiter.io_writes_ready)}
            for arbiter in arbiters
        ]
        self._ack = [reader(getattr(engine, f"io_rearm_{p}")) for p in pipelines]
        self._latched = [reader(getattr(engine, f"io_status_{p}_notified")) for p in pipelines]
        self.restart(0, Windows(build))

    def restart(self, t: int, windows: Windows) -> None:
        """A reset that ends before cycle t."""
        self.windows = windows
        self.models = [Model(self.build) for _ in range(self.size.pipelines)]
        for model in self.models:
            model.clearing_from, model.clearing_to = t, t + self.size.clear_cycles
        self.slots = [Slots() for _ in range(self.size.channels)]
        self.rules: deque[tuple[int, Rule, bool]] = deque()
        self.tables: deque[tuple[int, int, int, bool]] = deque()
        self.clears: deque[int] = deque()
        self.loading = False
        self.latches = [0] * self.size.pipelines  # how often each latch was set, and the last time
        self.latched_at = [-1] * self.size.pipelines
        self.acknowledged_at = [-1] * self.size.pipelines
        self.events = self.reads = 0

    @property
    def idle(self) -> bool:
        """Nothing is on its way."""
        busy = any(s.outcomes or s.reserved or s.waiting or s.in_flight for s in self.slots)
        return not (busy or self._requests or self.rules or self.tables or self.clears)

    @property
    def _requests(self) -> bool:
        """Whether accepted requests wait for their turn."""
        return any(beats for s in self.slots for beats in s.accepted.values())

    @property
    def amid_burst(self) -> bool:
        """Whether a burst of lines has begun and has not ended."""
        reads = [s.accepted[False] for s in self.slots if s.accepted[False]]
        return any(beats[0].line and not beats[0].line.last for beats in reads)

    def cycle(self, t: int) -> None:
        """Model cycle t, after all its requests have been accepted."""
        hold = self._rule(t)
        probe = self._probe
        if probe["table_valid"]() and probe["table_ready"]():
            self._check_queued(self.tables, t, "table entry")
            p, key, base, mapped = self.tables.popleft()
            self.models[p].set_translation(key, base, mapped)
            busy = self._requests or any(s.reserved or s.waiting for s in self.slots)
            self.cover[f"control/table/{'busy' if busy else 'idle'}"] += 1
        for c, slots in enumerate(self.slots):
            self._slot(t, c, slots, hold)
        self._latch(t)
        if probe["clear_valid"]():
            self._check_queued(self.clears, t, "clear")
            self._clear(t, self.clears.popleft(), probe["clear_bits"]())

    def _check_queued(self, queue: deque[Any], t: int, what: str) -> None:
        if not queue:
            raise Difference(f"cycle {t}: the engine takes a {what} that was not written")

    def _rule(self, t: int) -> bool:
        """One cycle of the rule port. Returns whether reads are held."""
        if not self._probe["rule_valid"]():
            return False
        if self.loading:
            if self._probe["rule_ready"]():
                self.loading = False
            return False
        if any(slots.reserved for slots in self.slots):
            self.cover["control/rule/waits for serial RMW"] += 1
            return True
        self._check_queued(self.rules, t, "rule")
        p, rule, enable = self.rules.popleft()
        self.models[p].rule, self.models[p].on = rule, enable
        self.loading = True
        busy = self._requests or any(s.waiting for s in self.slots)
        self.cover[f"control/rule/{'busy' if busy else 'idle'}"] += 1
        return True

    def _slot(self, t: int, c: int, slots: Slots, hold: bool) -> None:
        event, read, line = self._turn(t, c, slots, hold)
        if read and (hold or slots.reserved or slots.waiting):
            raise Difference(f"cycle {t}: channel {c}: a read that the engine can't take")
        if slots.reserved:
            slots.reserved -= 1
            if event:
                slots.waiting.append(event)
                self.cover["order/event behind serial RMW"] += 1
        elif slots.waiting:
            first = slots.waiting.popleft()
            if event:
                slots.waiting.append(event)
            self._fold(t, c, *first)
        elif event:
            self._fold(t, c, *event)
        elif read:
            self._line(t, c, slots, *read, line)
        while slots.in_flight and slots.in_flight[0][0] <= t:
            slots.in_flight.popleft()

    def _turn(
        self, t: int, c: int, slots: Slots, hold: bool
    ) -> tuple[tuple[Any, ...] | None, tuple[int, int, bool] | None, Line | None]:
        """What the engine must get in this cycle: an event, or a read and its line."""
        event = read = line = None
        beat, write = self._taken(t, c, slots)
        if beat and beat.event is not None:
            event = beat.event, write
        if beat and (line := beat.line):
            read = self._target(line)
        seen = self._event[c](), self._read[c]()
        if seen != (event is not None, read is not None):
            raise Difference(f"cycle {t}: channel {c}: event, read are {seen}: {event}, {read}")
        return event, read, line

    def _taken(self, t: int, c: int, slots: Slots) -> tuple[Taken | None, bool]:
        """The beat that has its turn in this cycle, and whether it is a write's."""
        sides = [write for write, takes in self._takes[c].items() if takes()]
        if len(sides) > 1 or slots.burst not in (None, *sides):
            raise Difference(f"cycle {t}: channel {c} takes {sides} amid a burst {slots.burst}")
        if not sides:
            return None, False
        (write,) = sides
        beats = slots.accepted[write]
        if not beats or beats[0].t >= t:
            raise Difference(f"cycle {t}: channel {c} takes a beat that was not accepted: {write}")
        beat = beats.popleft()
        slots.burst = write if beat.more else None
        return beat, write

    def _target(self, line: Line) -> tuple[int, int, bool] | None:
        """What a telemetry beat reads, and its answer."""
        if isinstance(line.target, tuple) and not line.narrow:
            line.resp = OKAY
            return line.target
        line.resp = SLVERR if isinstance(line.target, tuple) else DECERR
        self.cover[f"line/refused/{'narrow' if line.resp == SLVERR else 'nowhere'}"] += 1
        return None

    def _fold(self, t: int, c: int, addr: int, write: bool, near: str = "any") -> None:
        self.events += 1
        self.build.geometry.at(c)
        for model in self.models:
            if model.off(t):
                self.cover["control/event while clearing"] += 1
            elif model.on:
                latched, model.notified = model.notified, None
                model.event(addr, write, near)
                if model.notified:
                    model.hits.append((t + LATCH, model.notified))
                model.notified = latched

    def _line(
        self, t: int, c: int, slots: Slots, p: int, line: int, effect: bool, expected: Line
    ) -> None:
        self.reads += 1
        model = self.models[p]
        serial_rmw = SERIAL_RMW * (effect and model.serial_rmw)
        expected.words = model.read_line(c, line, effect and not model.off(t + serial_rmw))
        if model.off(t):
            self.cover["control/read while clearing"] += 1
            if effect and not model.off(t + serial_rmw):  # only the last words of a serial RMW
                done = model.clearing_to - t
                first = line * WORDS_PER_LINE
                model.states[c][first : first + done] = [0] * done
        kind = model.rule.effect_op if model.rule.effect_op in ("none", "reset") else "op"
        self.cover[f"line/{kind if effect else 'snapshot'}"] += 1
        slots.reserved = serial_rmw
        slots.in_flight.append((t + READ + serial_rmw, p, expected))

    def _latch(self, t: int) -> None:
        for p, model in enumerate(self.models):
            if self._latched[p]() != (model.notified is not None) and not (
                model.off(t - 1) or model.off(t)
            ):
                shown = "is not" if model.notified else "is"
                raise Difference(f"cycle {t}: the latch of pipeline {p} {shown} set; {model.hits}")
            acknowledge = self._ack[p]()
            hit = None
            while model.hits and model.hits[0][0] <= t:
                hit = hit or model.hits[0][1]
                model.hits.popleft()
            if acknowledge:
                self.acknowledged_at[p] = t
                race = "hit" if hit else "latched" if model.notified else "idle"
                self.cover[f"interrupt/acknowledge/{race}"] += 1
                model.notified = None
            if hit and model.notified is None:
                model.notified = hit
                self.latches[p] += 1
                self.latched_at[p] = t

    def _clear(self, t: int, p: int, seen: int) -> None:
        if p != seen:
            raise Difference(f"cycle {t}: pipeline {seen} is cleared, not {p}")
        model = self.models[p]
        model.clear()
        self.cover[f"control/clear/{'again' if model.off(t) else 'start'}"] += 1
        if not model.off(t):
            model.clearing_from = t + 1
        model.clearing_to = t + 1 + self.size.clear_cycles
        for slots in self.slots:
            for at, pipeline, line in slots.in_flight:
                if pipeline == p and at > t:
                    line.either = True
                    self.cover["control/line while clearing"] += 1
