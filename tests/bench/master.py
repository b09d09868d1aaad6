# SPDX-License-Identifier: Apache-2.0
"""The master above a channel, which offers a source's requests and randomly takes answers."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from random import Random
from typing import Any

from tests.bench.pins import ADDRESS, READ, RESPONSE, WRITE, Fields, Flag, reader
from tests.bench.profile import StimulusProfile
from tests.bench.requests import Request
from tests.bench.scoreboards import UpstreamScoreboard
from tests.bench.transfers import Source

WAITING = 400  # limit of waiting beats of write data


class Master:
    """Drives the port `prefix`; `source` returns the next read or write."""

    def __init__(
        self, dut: Any, prefix: str, rng: Random, scoreboard: UpstreamScoreboard, source: Source
    ) -> None:
        def pin(name: str) -> Any:
            return getattr(dut, f"{prefix}{name}")

        self.rng, self.scoreboard, self.source = rng, scoreboard, source
        self.profile = StimulusProfile.quiet()
        names = ("ar", "aw", "w")
        self.valid = {name: Flag(pin(f"{name}valid")) for name in names}
        self._ready = {name: reader(pin(f"{name}ready")) for name in names}
        self._bits = {
            "ar": Fields(dut, f"{prefix}ar", ADDRESS),
            "aw": Fields(dut, f"{prefix}aw", ADDRESS),
            "w": Fields(dut, f"{prefix}w", WRITE, text="data"),
        }
        self._answers = [
            (
                reader(pin("rvalid")),
                Flag(pin("rready")),
                Fields(dut, f"{prefix}r", READ, text="data"),
            ),
            (reader(pin("bvalid")), Flag(pin("bready")), Fields(dut, f"{prefix}b", RESPONSE)),
        ]
        self._held: dict[int, tuple[Any, ...]] = {}
        self._offered: dict[str, Request] = {}
        self._next_write: tuple[int, Request] | None = None  # the cycle its address is offered in
        self._data: deque[tuple[tuple[Any, ...], Request, int]] = deque()
        self._late: deque[Request | None] = deque()  # for each of these, the read that it waits for
        self._reads: defaultdict[int, deque[Request]] = defaultdict(deque)  # accepted, by id

    @property
    def idle(self) -> bool:
        """Whether nothing is offered."""
        return not (self._offered or self._data or self._next_write)

    def step(self, t: int) -> None:
        """End cycle t, and set the pins of the next one."""
        profile, scoreboard, valid = self.profile, self.scoreboard, self.valid
        for name in ("ar", "aw"):
            if valid[name].value and self._ready[name]():
                scoreboard.accept(t, request := self._offered.pop(name))
                if name == "ar":
                    self._reads[request.id].append(request)
        if valid["w"].value and self._ready["w"]():
            scoreboard.write_data(t, *self._data.popleft())
            self._late.popleft()
            valid["w"].set(0)
        self._take(t, 0, profile.r, self._data_came)
        self._take(t, 1, profile.b, scoreboard.response)
        self._offer_read(profile)
        self._offer_write(t, profile)
        has = self._data and not self._late[0]
        if has and not valid["w"].value and self.rng.random() < profile.w:
            self._bits["w"].write(self._data[0][0])
            valid["w"].set(1)

    def _take(self, t: int, which: int, chance: float, accept: Callable[..., None]) -> None:
        """One cycle of R or B; a beat must stay the same until it is taken."""
        valid, ready, fields = self._answers[which]
        if valid():
            values = fields.read()
            if self._held.get(which, values) != values:
                self.scoreboard.fail(t, f"{'RB'[which]} changed while it waited")
            self._held[which] = values
            if ready.value:
                del self._held[which]
                accept(t, *values)
        elif which in self._held:
            self.scoreboard.fail(t, f"{'RB'[which]} was taken back")
        ready.set(int(self.rng.random() < chance))

    def _data_came(self, t: int, *beat: Any) -> None:
        """Take a beat of R."""
        self.scoreboard.data(t, *beat)
        id, _, _, last, _ = beat
        if last and self._reads[id]:
            read = self._reads[id].popleft()
            if self._late and self._late[0] is read:
                self._late[0] = None

    def _next_read(self, profile: StimulusProfile) -> Request | None:
        """The next read; reads that write data wait for come first."""
        late = self._late[0] if self._late else None
        if late and all(late is not read for read in self._reads[late.id]):
            return late
        return self.source(False, profile) if self.rng.random() < profile.ar else None

    def _offer_read(self, profile: StimulusProfile) -> None:
        if "ar" in self._offered:
            return
        request = self._next_read(profile)
        if request:
            self._offered["ar"] = request
            self._bits["ar"].write(request.pins)
        self.valid["ar"].set(int(request is not None))

    def _offer_write(self, t: int, profile: StimulusProfile) -> None:
        if "aw" in self._offered:
            return
        self.valid["aw"].set(0)
        if self._next_write is None:
            if len(self._data) > WAITING or self.rng.random() >= profile.aw:
                return
            if (request := self.source(True, profile)) is None:
                return
            late = self.rng.randrange(1, 20) if self.rng.random() < profile.ahead else 0
            self._next_write = t + late, request
            last = request.len
            for k, (addr, (data, strobe, user)) in enumerate(
                zip(request.beats(), request.data, strict=True)
            ):
                self._data.append(((data, strobe, int(k == last), user), request, addr))
                self._late.append(request.after.get(k))
        at, request = self._next_write
        if at <= t:
            self._next_write = None
            self._offered["aw"] = request
            self._bits["aw"].write(request.pins)
            self.valid["aw"].set(1)
