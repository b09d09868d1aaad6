# SPDX-License-Identifier: Apache-2.0
"""The memory below a channel, with any latency and order between ids, errors, poison and
back-pressure.

With `habits` it behaves like the board's memory controller (design.md, Agilex): it ignores rready,
loses a read that it accepts together with a write, and changes its readys together.
"""

from __future__ import annotations

from collections import defaultdict, deque
from random import Random
from typing import Any

from tests.bench.pins import ADDRESS, READ, RESPONSE, WRITE, Fields, Flag, reader
from tests.bench.profile import StimulusProfile
from tests.bench.requests import DECERR, OKAY, SLVERR, Request
from tests.bench.scoreboards import DownstreamScoreboard
from tests.bench.store import Store, bits


class Memory:
    """A slave on the port `prefix`, which reports everything to `scoreboard` if that is given.

    A memory that stores a sideband with each line names the pins in SIDEBAND, and has `sideband`
    and `put_sideband`.
    """

    SIDEBAND: tuple[str, ...] = ()
    stores_refused = True  # of writes
    late_every = 1  # cycles from a late answer to the next one

    def __init__(
        self,
        dut: Any,
        prefix: str,
        rng: Random,
        scoreboard: DownstreamScoreboard | None,
        habits: bool = False,
    ) -> None:
        def pin(name: str) -> Any:
            return getattr(dut, f"{prefix}{name}")

        self.rng, self.scoreboard, self.habits = rng, scoreboard, habits
        self.profile = StimulusProfile()
        self.store = Store()
        self._valid = {name: reader(pin(f"{name}valid")) for name in ("ar", "aw", "w")}
        self._r_ready, self._b_ready = reader(pin("rready")), reader(pin("bready"))
        self._bits = {
            "ar": Fields(dut, f"{prefix}ar", ADDRESS),
            "aw": Fields(dut, f"{prefix}aw", ADDRESS),
            "w": Fields(dut, f"{prefix}w", WRITE + self.SIDEBAND, text="data"),
        }
        self.ready = {name: Flag(pin(f"{name}ready")) for name in ("ar", "aw", "w")}
        self.r, self.b = Flag(pin("rvalid")), Flag(pin("bvalid"))
        self._r_bits = Fields(dut, f"{prefix}r", READ + self.SIDEBAND, text="data")
        self._b_bits = Fields(dut, f"{prefix}b", RESPONSE)
        # A ready may depend on an id that is not valid, so that id must be the same after every
        # reset.
        self._r_bits.write((0, bits(0), 0, 0, 0, *(0 for _ in self.SIDEBAND)))
        self._held: dict[str, tuple[Any, ...]] = {}
        self.lost_reads = self.lost_beats = 0
        self._reads: defaultdict[int, deque[tuple[int, deque[Any]]]] = defaultdict(deque)
        self._read_ids: list[int] = []
        self._answers: defaultdict[int, deque[tuple[int, int]]] = defaultdict(deque)
        self._answer_ids: list[int] = []
        self._writes: deque[tuple[int, deque[int], int]] = deque()
        self._data: deque[tuple[Any, ...]] = deque()
        self._burst: int | None = None  # the id of the read that is being answered
        # Outstanding answers from before a reset that the memory did not share, and those already
        # given.
        self._late_reads: deque[Any] = deque()
        self._late_answers: deque[Any] = deque()
        self.late = 0
        self._shown: Any = None  # the beat offered at R
        self._answer: Any = None  # the answer offered at B
        self._resp = OKAY  # of the write whose data are arriving

    @property
    def idle(self) -> bool:
        """Whether nothing is in flight."""
        return not (
            self._late_reads
            or self._late_answers
            or self._read_ids
            or self._answer_ids
            or self._writes
            or self.r.value
            or self.b.value
        )

    def step(self, t: int) -> None:
        """End cycle t, and set the pins of the next one."""
        read, write, data = self._seen(t, "ar"), self._seen(t, "aw"), self._seen(t, "w")
        if read and write and self.habits:
            self.lost_reads += 1
        elif read:
            self._read(t, read)
        if write:
            self._write(t, write)
        if data:
            if self.scoreboard:
                self.scoreboard.data_below(t, data)
            self._data.append(data)
        while self._data and self._writes:
            self._store(t)
        chance, profile = self.rng.random, self.profile
        if self.habits:
            now = int(chance() < profile.ar_ready)
            for flag in self.ready.values():
                flag.set(now)
        else:
            self.ready["ar"].set(int(chance() < profile.ar_ready))
            self.ready["aw"].set(int(chance() < profile.aw_ready))
            self.ready["w"].set(int(chance() < profile.w_ready))
        self._answer_reads(t, chance() < profile.answer)
        self._answer_writes(t, chance() < profile.answer)

    def carry(self, before: Memory) -> None:
        """Take over the contents and outstanding answers of the memory before a reset that it did
        not share. Writes that the reset cut off are dropped.
        """
        self.store, self.late_every = before.store, before.late_every
        if before.r.value:
            self._late_reads.append(before._shown)
        if before.b.value:
            self._late_answers.append(before._answer)
        self._late_reads += before._late_reads
        self._late_answers += before._late_answers
        for id in before._read_ids:
            for _, beats in before._reads[id]:
                self._late_reads += beats
        for id in before._answer_ids:
            self._late_answers += ((id, resp) for _, resp in before._answers[id])

    def refuses(self, write: bool) -> bool:
        """Whether the beat is answered with an error."""
        return self.rng.random() < self.profile.errors

    def sideband(self, line: int) -> tuple[int, ...]:
        """The sideband of a line, by pin."""
        return ()

    def put_sideband(self, line: int, *values: int) -> None:
        """Store the sideband of a written line."""

    def cut(self) -> None:
        """The controller above was reset, but not the memory. It answers all requests except for
        incomplete writes.
        """
        self._held.clear()
        while len(self._writes) and not self._data:
            self._writes.pop()
        self._data.clear()

    def send_stray_answers(self, id: int) -> None:
        """Send an answer to a read and an answer to a write without requests."""
        if id not in self._read_ids:
            self._read_ids.append(id)
        self._reads[id].append((0, deque([(id, bits(0), OKAY, 1, 0, *self.sideband(0))])))
        if id not in self._answer_ids:
            self._answer_ids.append(id)
        self._answers[id].append((0, OKAY))

    def _seen(self, t: int, name: str) -> tuple[Any, ...] | None:
        """The transfer on a channel, if any; an offer must stay the same until it is taken."""
        if not self._valid[name]():
            if name in self._held:
                raise AssertionError(f"cycle {t}: {name}valid was taken back")
            return None
        if not (ready := self.ready[name].value) and name in self._held:
            return None
        values = self._bits[name].read()
        if self._held.get(name, values) != values:
            raise AssertionError(f"cycle {t}: {name} changed while it waited")
        if ready:
            self._held.pop(name, None)
            return values
        self._held[name] = values
        return None

    # --- requests ---

    def _read(self, t: int, pins: tuple[int, ...]) -> None:
        if self.scoreboard:
            self.scoreboard.request_below(t, False, pins)
        request = Request(False, *pins)
        profile, chance = self.profile, self.rng.random
        beats: deque[Any] = deque()
        for k, addr in enumerate(request.beats()):
            data, poison = self.store.read(addr >> 6)
            resp = self.rng.choice((SLVERR, DECERR)) if self.refuses(False) else OKAY
            bad = int(poison or chance() < profile.poison)
            last = int(k == request.len)
            beats.append((request.id, bits(data), resp, last, bad, *self.sideband(addr >> 6)))
        if request.id not in self._read_ids:
            self._read_ids.append(request.id)
        self._reads[request.id].append((t + self._after(), beats))

    def _write(self, t: int, pins: tuple[int, ...]) -> None:
        if self.scoreboard:
            self.scoreboard.request_below(t, True, pins)
        request = Request(True, *pins)
        self._writes.append((request.id, deque(request.beats()), request.len))

    def _store(self, t: int) -> None:
        """Store a beat of the oldest write."""
        id, beats, _ = self._writes[0]
        data, strobe, last, user, *sideband = self._data.popleft()
        line = beats.popleft() >> 6
        refused = not beats and self.refuses(True)
        if not refused or self.stores_refused:
            self.store.write(line, data, strobe, user)
            self.put_sideband(line, *sideband)
        assert last == (not beats), f"cycle {t}: wlast is {last}"
        if not beats:
            self._writes.popleft()
            resp = self.rng.choice((SLVERR, DECERR)) if refused else OKAY
            if id not in self._answer_ids:
                self._answer_ids.append(id)
            self._answers[id].append((t + self._after(), resp))

    # --- answers ---

    def _after(self) -> int:
        """Cycles until an answer may come."""
        maximum = self.profile.latency
        return self.rng.randint(min(1, maximum), maximum)

    def _answer_reads(self, t: int, may: bool) -> None:
        if self.r.value and not self._r_ready():
            if not self.habits:
                return
            self.lost_beats += 1
        ids = self._read_ids
        if self._late_reads and t % self.late_every:
            self.r.set(0)
            return
        if self._late_reads:
            self._show_read(self._late_reads.popleft())
            self.late += 1
            return
        if not may or not ids:
            self.r.set(0)
            return
        # During a burst, mostly its next beat follows; sometimes a beat of another id.
        chosen = self._burst
        if chosen is None or self.rng.random() < 0.1:
            chosen = ids[self.rng.randrange(len(ids))]
            for other in ids:
                if self._reads[chosen][0][0] <= t:
                    break
                chosen = other
        ready, beats = self._reads[chosen][0]
        if ready > t:
            self.r.set(0)
            return
        beat = beats.popleft()
        self._burst = chosen if beats else None
        if not beats:
            self._reads[chosen].popleft()
            if not self._reads[chosen]:
                ids.remove(chosen)
        if self.scoreboard:
            self.scoreboard.from_memory[chosen].append(beat[1:])
        self._show_read(beat)

    def _show_read(self, beat: Any) -> None:
        self._shown = beat
        self._r_bits.write(beat)
        self.r.set(1)

    def _answer_writes(self, t: int, may: bool) -> None:
        if self.b.value and not self._b_ready():
            return
        ids = self._answer_ids
        if self._late_answers and t % self.late_every:
            self.b.set(0)
            return
        if self._late_answers:
            self._show_answer(self._late_answers.popleft())
            self.late += 1
            return
        if may and ids:
            chosen = ids[self.rng.randrange(len(ids))]
            ready, resp = self._answers[chosen][0]
            if ready <= t:
                self._answers[chosen].popleft()
                if not self._answers[chosen]:
                    ids.remove(chosen)
                if self.scoreboard:
                    self.scoreboard.acknowledged[chosen].append(resp)
                self._show_answer((chosen, resp))
                return
        self.b.set(0)

    def _show_answer(self, answer: Any) -> None:
        self._answer = answer
        self._b_bits.write(answer)
        self.b.set(1)
