# SPDX-License-Identifier: Apache-2.0
"""Checks a channel in flat memory mode against the golden model, in the order in which the
controller takes requests.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

from anemone.flat.result import DEDICATED, HIT, MISS, SWAP
from anemone.golden.flat import FlatMemory
from tests.bench.requests import DECERR, FULL, OKAY, SLVERR, Request
from tests.expander.bench.scoreboard import MEMORY, Scoreboard

# The outcome in the event of an access.
NEAR = {HIT: "hit", DEDICATED: "hit", MISS: "miss", SWAP: "miss"}
NAMES = {HIT: "hit", DEDICATED: "dedicated", MISS: "miss", SWAP: "swap"}


class Beat:
    """An access of the controller; `resp` is set when it is taken. `event`: the number of its
    event.
    """

    __slots__ = ("addr", "data", "event", "last", "poison", "resp")

    def __init__(self, addr: int, last: bool) -> None:
        self.addr, self.last = addr, int(last)
        self.resp: int | None = None
        self.data: bytes = b""
        self.poison = self.event = 0


class TieredScoreboard(Scoreboard):
    """`flat`: the golden model of near and far memory; `taken` steps it."""

    def begin(self, flat: FlatMemory, poison: dict[int, int]) -> None:
        """The controller starts. `poison`: initial poison by physical line."""
        self.flat, self.poison = flat, poison
        self.refused: set[int] = set()  # addresses whose set is untrusted
        self.events = 0
        self._asked: dict[bool, deque[tuple[Request, int, Beat]]] = {False: deque(), True: deque()}

    @property
    def unanswered(self) -> Counter[int]:
        """Beats of memory writes that were accepted but not answered, by address."""
        waiting = (item for queue in self.writes.values() for item in queue)
        return Counter(beat.addr for kind, beats in waiting if kind is MEMORY for beat in beats)

    @property
    def decided(self) -> bool:
        """Whether all accepted requests were taken and their events came."""
        return not any(self._asked.values()) and self.slots.decided_events == self.events

    def _memory(self, t: int, request: Request, beats: list[int]) -> None:
        issued = [Beat(addr, k == request.len) for k, addr in enumerate(beats)]
        self._asked[request.write] += ((request, k, beat) for k, beat in enumerate(issued))
        self._takes(t, request.write, [None for _ in beats])  # events come when it is decided
        if request.write:
            self.writes[request.id].append((MEMORY, issued))
        else:
            self.reads[request.id] += ((MEMORY, beat) for beat in issued)

    # --- the controller ---

    def taken(self, t: int, write: bool, id: int, line: int) -> None:
        """The controller takes a beat."""
        if not self._asked[write]:
            self.fail(t, f"the controller takes line {line}, id {id}, which nobody asked for")
        request, k, beat = self._asked[write].popleft()
        if (request.id, beat.addr >> 6) != (id, line):
            self.fail(t, f"the controller takes line {line}, id {id}: not {request.pins}, beat {k}")
        p = self._physical(beat.addr)
        if p is None:
            beat.resp = DECERR
            self.cover[f"tiered/outside/{'write' if write else 'read'}"] += 1
        else:
            self._access(request, k, beat, p)

    def _physical(self, addr: int) -> int | None:
        """The channel's physical line at an address; None: it has none there."""
        size = self.windows.build.engine
        p, channel = divmod(addr >> 6, size.channels)
        there = channel == self.channel and not addr >> size.address_bits
        return p if there and self.flat.config.has_line(p) else None

    def _access(self, request: Request, k: int, beat: Beat, p: int) -> None:
        flat = self.flat
        if beat.addr in self.refused:
            beat.resp = SLVERR
            self._event(beat, request, "any")
            return
        if request.write:
            text, strobe, poison = request.data[k]
            flat.write(p, int(text, 2).to_bytes(64, "little"), strobe)
            old = 0 if strobe == FULL else self.poison.get(p, 0)
            self.poison[p] = old | poison if strobe else old
        else:
            beat.data = flat.read(p)
            beat.poison = self.poison.get(p, 0)
        beat.resp = OKAY
        assert flat.outcome is not None
        self._event(beat, request, NEAR[flat.outcome])
        way = "write" if request.write else "read"
        self.cover[f"tiered/{NAMES[flat.outcome]}/{way}"] += 1

    def _event(self, beat: Beat, request: Request, near: str) -> None:
        self.slots.outcomes.append((beat.addr, request.write, near))
        self.events += 1
        beat.event = self.events

    # --- upstream ---

    def _beat(self, beat: tuple[Any, ...], request: Request, addr: int) -> None:
        """Ignored: the request already has the data."""

    def response(self, t: int, id: int, resp: int) -> None:
        """B."""
        if not self.writes[id] or self.writes[id][0][0] is not MEMORY:
            super().response(t, id, resp)
            return
        self.log.append((t, "B", id, resp))
        _, beats = self.writes[id].popleft()
        expected = max(self._expected(t, beat) for beat in beats)
        if resp != expected:
            self.fail(t, f"the write of id {id} is answered {resp}, not {expected}")
        self.counts["error memory_write"] += resp >> 1

    def data(self, t: int, id: int, data: str, resp: int, last: int, user: int) -> None:
        """R."""
        if not self.reads[id] or self.reads[id][0][0] is not MEMORY:
            super().data(t, id, data, resp, last, user)
            return
        self.log.append((t, "R", id, resp, last, user))
        self.counts["read beats"] += 1
        _, beat = self.reads[id].popleft()
        expected = self._expected(t, beat), beat.last, beat.poison
        if (resp, last, user) != expected:
            self.fail(t, f"{beat.addr:#x}: resp, last, poison {resp, last, user}, not {expected}")
        if resp == OKAY and (seen := int(data, 2).to_bytes(64, "little")) != beat.data:
            self.fail(t, f"{beat.addr:#x}: {seen.hex()}, not {beat.data.hex()}")
        self.counts["error memory_read"] += resp >> 1

    def _expected(self, t: int, beat: Beat) -> int:
        """The answer to a beat that may be answered now."""
        if beat.resp is None:
            self.fail(t, f"{beat.addr:#x} is answered before the controller took it")
        if beat.event > self.slots.decided_events:
            self.fail(t, f"{beat.addr:#x} is answered before its event")
        assert beat.resp is not None
        return beat.resp
