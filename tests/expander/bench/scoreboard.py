# SPDX-License-Identifier: Apache-2.0
"""Checks that a channel's memory ports invent, lose, change and reorder nothing."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from typing import Any

from tests.bench.difference import Difference
from tests.bench.requests import OKAY, Request
from tests.bench.store import Store, bits
from tests.expander.bench.lockstep import Line, Slots, Taken
from tests.expander.bench.windows import Windows

SHOWN = 40  # last pin activities shown in a failure
EARLY = 2  # beats of data that a register slice may take before their address
MEMORY = object()


class Scoreboard:
    """One channel; the master and the memory report their transfers to it."""

    def __init__(self, channel: int, windows: Windows, slots: Slots, cover: Counter[str]) -> None:
        self.channel, self.windows, self.slots, self.cover = channel, windows, slots, cover
        self.log: deque[tuple[Any, ...]] = deque(maxlen=SHOWN)
        self.counts: Counter[str] = Counter()
        self.golden = Store()
        self.version: Counter[int] = Counter()
        self.pending: Counter[int] = Counter()
        # By id, upstream requests that must appear downstream and downstream answers that must
        # appear upstream.
        self.ar: deque[tuple[int, ...]] = deque()
        self.aw: deque[tuple[int, ...]] = deque()
        self.w: deque[tuple[Any, ...]] = deque()
        self.early: deque[tuple[Any, ...]] = deque()  # beats of W before their request
        self.reads: defaultdict[int, deque[Any]] = defaultdict(deque)
        self.writes: defaultdict[int, deque[Any]] = defaultdict(deque)
        self.from_memory: defaultdict[int, deque[Any]] = defaultdict(deque)
        self.acknowledged: defaultdict[int, deque[int]] = defaultdict(deque)

    @property
    def idle(self) -> bool:
        """Whether everything was answered."""
        queues = (*self.reads.values(), *self.writes.values())
        return not (self.ar or self.aw or self.w or any(queues))

    def fail(self, t: int, what: str) -> None:
        """Raise Difference."""
        shown = "\n".join(f"  {item}" for item in self.log)
        raise Difference(
            f"cycle {t}, channel {self.channel}: {what}; the last on its pins:\n{shown}"
        )

    # --- upstream ---

    def accept(self, t: int, request: Request) -> None:
        """A request was accepted in this cycle."""
        self.log.append((t, "AW" if request.write else "AR", *request.pins))
        target = self.windows.decode(request.addr, self.channel)
        beats = request.beats()
        kind = "memory" if target is None else "telemetry"
        self.counts[f"{kind} {'writes' if request.write else 'reads'}"] += 1
        self.counts["beats"] += len(beats)
        self._cover(request, kind, target)
        request.dropped = request.write and kind == "telemetry"
        if kind == "memory":
            self._memory(t, request, beats)
        elif request.write:
            if not self.windows.takes(request, self.channel):
                self.counts["dropped"] += len(beats)
                self.counts["error dropped_write"] += 1
            self.writes[request.id].append((OKAY, ()))
            self.slots.accepted[True].append(Taken(t))
        else:
            self._telemetry(t, request, beats)
        if request.write:
            early, self.early = self.early, deque()
            for item in early:
                self._beat(*item)

    def _cover(self, request: Request, kind: str, target: Any) -> None:
        way = "write" if request.write else "read"
        shape = ("fixed", "incr", "wrap")[request.burst] if request.len else "single"
        width = "line" if request.size == 6 else "narrow"
        self.cover[f"request/{kind}/{way}/{shape}/{width}"] += 1
        if request.len and request.addr % (1 << request.size):
            self.cover[f"request/{kind}/{way}/unaligned"] += 1
        if kind == "memory" and request.addr >> self.windows.build.engine.address_bits:
            self.cover[f"request/past the device/{way}"] += 1
        if target == "refused":
            self.cover[f"request/refused/{way}"] += 1
        if (
            kind == "telemetry"
            and not request.write
            and any(item is MEMORY for item, *_ in self.reads[request.id])
        ):
            self.cover["order/line behind memory of its id"] += 1
        if (
            kind == "memory"
            and not request.write
            and any(item is not MEMORY for item, *_ in self.reads[request.id])
        ):
            self.cover["order/memory behind line of its id"] += 1

    def _memory(self, t: int, request: Request, beats: list[int]) -> None:
        write = request.write
        device = self.windows.build.engine.address_bits
        self._takes(t, write, [None if addr >> device else addr for addr in beats])
        lines = [addr >> 6 for addr in beats]
        if write:
            self.aw.append(request.pins)
            self.writes[request.id].append((MEMORY, lines))
            for line in lines:
                self.version[line] += 1
                self.pending[line] += 1
            return
        self.ar.append(request.pins)
        last = len(lines) - 1
        queue = self.reads[request.id]
        for k, line in enumerate(lines):
            queue.append(
                (MEMORY, k == last, line, -1 if self.pending[line] else self.version[line])
            )

    def _takes(self, t: int, write: bool, events: Sequence[int | None]) -> None:
        """The beats of a request to memory, and which of them are events."""
        last = len(events) - 1
        taken = (Taken(t, event, more=k < last) for k, event in enumerate(events))
        self.slots.accepted[write].extend(taken)

    def _telemetry(self, t: int, request: Request, beats: list[int]) -> None:
        narrow = request.size != 6 and request.len > 0
        last = len(beats) - 1
        for k, addr in enumerate(beats):
            target = self.windows.line(addr, request.addr, self.channel)
            line = Line(target, narrow, k == last)
            self.reads[request.id].append((line,))
            self.slots.accepted[False].append(Taken(t, line=line))

    def write_data(self, t: int, beat: tuple[Any, ...], request: Request, addr: int) -> None:
        """A beat of W."""
        self.counts["write beats"] += 1
        self.early.append((beat, request, addr))
        if request.dropped is not None:
            self._beat(*self.early.popleft())
        elif len(self.early) > EARLY:
            self.fail(t, f"{len(self.early)} beats of data are taken before their address")

    def _beat(self, beat: tuple[Any, ...], request: Request, addr: int) -> None:
        """A beat of W and its request were both taken."""
        if not request.dropped:
            self.w.append(beat)
            self.golden.write(addr >> 6, beat[0], beat[1], beat[3])
            self.cover[f"poison/write/{beat[3]}"] += 1

    def response(self, t: int, id: int, resp: int) -> None:
        """B."""
        self.log.append((t, "B", id, resp))
        if not self.writes[id]:
            self.fail(t, f"an answer to no write, id {id}")
        expected, lines = self.writes[id].popleft()
        if expected is MEMORY:
            if not self.acknowledged[id]:
                self.fail(t, f"a write of id {id} is answered before memory did")
            expected = self.acknowledged[id].popleft()
            for line in lines:
                self.pending[line] -= 1
            self.cover[f"response/write/{expected}"] += 1
            self.counts["error memory_write"] += expected >> 1
        if resp != expected:
            self.fail(t, f"the write of id {id} is answered {resp}, not {expected}")

    def data(self, t: int, id: int, data: str, resp: int, last: int, user: int) -> None:
        """R."""
        self.log.append((t, "R", id, resp, last, user))
        self.counts["read beats"] += 1
        if not self.reads[id]:
            self.fail(t, f"a beat that id {id} did not ask for")
        item, *memory = self.reads[id].popleft()
        if item is not MEMORY:
            self._line(t, id, item, data, (resp, last, user))
            return
        if not self.from_memory[id]:
            self.fail(t, f"a beat of id {id} that memory did not send")
        expected = self.from_memory[id].popleft()
        if (data, resp, last, user) != expected:
            self.fail(t, f"id {id}: {(data, resp, last, user)}, not {expected}")
        final, line, version = memory
        if last != final:
            self.fail(t, f"id {id}: last is {last}")
        self.cover[f"response/read/{resp}"] += 1
        self.counts["error memory_read"] += resp >> 1
        self.cover[f"poison/read/{user}"] += 1
        if resp == OKAY and version == self.version[line]:
            self.counts["checked"] += 1
            golden, poison = self.golden.read(line)
            if bits(golden) != data or user < poison:
                self.fail(t, f"line {line:#x} of memory is not what was written")

    def _line(self, t: int, id: int, line: Line, data: str, got: tuple[int, int, int]) -> None:
        if line.resp is None:
            self.fail(t, f"telemetry, id {id}: a beat that had no turn yet")
        if got != (line.resp, line.last, 0):
            self.fail(
                t, f"telemetry, id {id}: resp, last, poison are {got}, not {line.resp}, {line.last}"
            )
        if line.resp != OKAY:
            self.counts["refused"] += 1
            self.counts["error refused_read"] += 1
            return
        self.counts["lines"] += 1
        assert line.words is not None
        words = [int(data[i : i + 64], 2) for i in range(448, -1, -64)]
        if words != line.words and not (
            line.either and all(g in (0, w) for g, w in zip(words, line.words, strict=True))
        ):
            self.fail(t, f"telemetry, id {id}: {words}, not {line.words}")

    # --- downstream ---

    def request_below(self, t: int, write: bool, pins: tuple[int, ...]) -> None:
        """AR or AW to memory."""
        queue = self.aw if write else self.ar
        self.log.append((t, "memory AW" if write else "memory AR", *pins))
        if not queue or queue[0] != pins:
            self.fail(t, f"memory is asked for {pins}, not {queue[0] if queue else None}")
        queue.popleft()

    def data_below(self, t: int, beat: tuple[Any, ...]) -> None:
        """W to memory."""
        if not self.w or self.w[0] != beat:
            self.fail(t, f"memory gets {beat}, not {self.w[0] if self.w else None}")
        self.w.popleft()

    def check_memory(self, lines: Store) -> None:
        """Check at the end that memory holds what was written."""
        for line, (data, poison) in self.golden.lines.items():
            if lines.read(line) != (data, poison):
                self.fail(-1, f"line {line:#x} of memory is not what was written")
        if extra := lines.lines.keys() - self.golden.lines.keys():
            self.fail(-1, f"lines {extra} of memory were written by nobody")
