# SPDX-License-Identifier: Apache-2.0
"""A simple reference model of the capture's cache filter with lists and dictionaries.

It works on physical byte addresses of a device with an identity mapping. The real filter has this
mapping for a program that touches pages in order with first-touch placement.
"""

from __future__ import annotations

from anemone.capture.settings import Settings

LINE, PAGE_LINES = 64, 64

Event = tuple[str, int]  # (kind, line); kind: "fill", "prefetch", "back" or "stream"


class PlainFilter:
    """One set of a cache is a list of [line, dirty], the most recent first."""

    def __init__(self, settings: Settings) -> None:
        self.s = settings
        n = settings.llc_kib * 1024 // LINE // settings.ways
        self.sets: list[list[list]] = [[] for _ in range(n)]
        self.watch: dict[int, list] = {}  # table slot -> [pc, last line, stride, times again]
        self.combining: dict[int, set[int]] = {}  # line -> bytes stored so far; oldest first
        self.events: list[Event] = []
        self.times: list[int] = []  # ns, one per event
        self.now = 0  # ps

    def take(self) -> list[Event]:
        taken, self.events = self.events, []
        return taken

    def access(self, pc: int, address: int, size: int, write: bool) -> None:
        for line in range(address // LINE, (address + size - 1) // LINE + 1):
            self.now += self.s.access_ps * self.s.slow_down
            if line in self.combining:
                del self.combining[line]
                self._emit("stream", line)
            ways = self._set(line)
            held = [entry for entry in ways if entry[0] == line]
            if held:
                ways.remove(held[0])
                ways.insert(0, [line, held[0][1] or write])
            else:
                self.now += self.s.stall_ps * self.s.slow_down
                self._bring_in("fill", line, write)
            if self.s.prefetch:
                for ahead in self._ahead(pc, line):
                    known = any(e[0] == ahead for e in self._set(ahead)) or ahead in self.combining
                    if not known:
                        self._bring_in("prefetch", ahead, False)

    def stream(self, address: int, size: int) -> None:
        for line in range(address // LINE, (address + size - 1) // LINE + 1):
            self.now += self.s.access_ps * self.s.slow_down
            ways = self._set(line)
            for entry in [e for e in ways if e[0] == line]:
                ways.remove(entry)
                if entry[1]:
                    self._emit("back", line)
            stored = range(max(address, line * LINE), min(address + size, (line + 1) * LINE))
            if line not in self.combining and len(stored) == LINE:
                self._emit("stream", line)  # a whole line needs no buffer
                continue
            self.combining.setdefault(line, set()).update(stored)
            if len(self.combining[line]) == LINE:
                del self.combining[line]
                self._emit("stream", line)
            elif len(self.combining) > self.s.combine_buffers:
                self._drain_oldest()

    def fence(self) -> None:
        while self.combining:
            self._drain_oldest()

    def idle(self, ns: int) -> None:
        self.now += ns * 1000

    def flush(self) -> None:
        self.fence()
        for ways in self.sets:
            for entry in ways:
                if entry[1]:
                    entry[1] = False
                    self._emit("back", entry[0])

    def _set(self, line: int) -> list[list]:
        return self.sets[line % len(self.sets)]

    def _bring_in(self, what: str, line: int, dirty: bool) -> None:
        self._emit(what, line)
        ways = self._set(line)
        ways.insert(0, [line, dirty])
        if len(ways) > self.s.ways:
            out, was_dirty = ways.pop()
            if was_dirty:
                self._emit("back", out)

    def _ahead(self, pc: int, line: int) -> list[int]:
        slot = (pc ^ pc >> 8) % self.s.prefetch_table
        entry = self.watch.get(slot)
        if entry is None or entry[0] != pc:
            self.watch[slot] = [pc, line, 0, 0]
            return []
        step = line - entry[1]
        if step == 0:
            return []
        entry[3] = min(entry[3] + 1, 2) if step == entry[2] else 0
        entry[1], entry[2] = line, step
        if entry[3] < 2:
            return []
        ahead = []
        for i in range(1, self.s.prefetch_degree + 1):
            if (line + i * step) // PAGE_LINES != line // PAGE_LINES:
                break
            ahead.append(line + i * step)
        return ahead

    def _drain_oldest(self) -> None:
        line = next(iter(self.combining))
        del self.combining[line]
        self._emit("stream", line)

    def _emit(self, what: str, line: int) -> None:
        self.now += self.s.line_ps * self.s.slow_down
        self.events.append((what, line))
        self.times.append(self.now // 1000)
