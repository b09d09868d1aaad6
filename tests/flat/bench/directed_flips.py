# SPDX-License-Identifier: Apache-2.0
"""cocotb test: sidebands flip under random traffic; unpoisoned OKAY responses must be correct."""

from __future__ import annotations

import os
from collections import Counter, defaultdict, deque
from random import Random
from typing import Any

import cocotb

from anemone.flat.config import FlatConfig
from tests.bench.profile import StimulusProfile
from tests.bench.requests import FULL, OKAY, Request
from tests.flat.bench.build import BUILDS
from tests.flat.bench.directed_environment import Answers, DirectedEnvironment
from tests.flat.bench.environment import any_policy
from tests.flat.bench.memories import Near

LINES = 8  # near lines: the numbers of any two sets differ in up to three bits
SEEDS = 24
ROUNDS = 12
REQUESTS = 60  # of a round
LOW = FULL >> 32  # half a line
FAULTS = ("none", "one", "two", "other", "poison", "poison one", "poison two", "poison three")
FLIPS = {"one": 1, "two": 2, "three": 3}
MASK = (1 << 64) - 1


class Flipping(Near):
    """A near memory that may return another word than the stored one.

    faults: kinds and probabilities of faults of a read, by set. wrong: faults that happened, by
    set. damaged: words that stay damaged, by set.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.faults: Counter[str] = Counter(none=1)
        self.wrong: defaultdict[int, Counter[str]] = defaultdict(Counter)
        self.damaged: dict[int, int] = {}
        self._fault = "none"

    def refuses(self, write: bool) -> bool:
        """Called once per access, before the poison of a read is drawn."""
        if not write:
            (self._fault,) = self.rng.choices([*self.faults], [*self.faults.values()])
            self.profile.poison = float(self._fault.startswith("poison"))
        return super().refuses(write)

    def sideband(self, line: int) -> tuple[int, ...]:
        """The word, changed by the fault."""
        (word,) = super().sideband(line)
        if self.damaged.get(line) == word:
            return (word,)
        self.wrong[line][self._fault] += 1
        if self._fault == "other":
            other = self.rng.choice([set_index for set_index in range(LINES) if set_index != line])
            return (self.code.word(other, word & (1 << self.code.payload_bits) - 1),)
        flips = FLIPS.get(self._fault.split()[-1], 0)
        for bit in self.rng.sample(range(self.code.bits), flips):
            word ^= 1 << bit
        return (word,)


class RequestLog(Answers):
    """Requests in the order of their effects; each is to one line."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[Request] = []
        self._accepted: dict[bool, deque[Request]] = {False: deque(), True: deque()}

    def accept(self, t: int, request: Request) -> None:
        """A request was taken."""
        super().accept(t, request)
        self._accepted[request.write].append(request)

    def taken(self, t: int, write: bool, id: int, line: int) -> None:
        """It got its position in the order."""
        self.requests.append(self._accepted[write].popleft())


class ExpectedLines:
    """The expected contents of lines: a value in each half."""

    def __init__(self, lines: int) -> None:
        self.halves = {line: [~line & MASK] * 2 for line in range(lines)}
        self.cover: Counter[str] = Counter()

    def judge(self, log: RequestLog, near: Flipping) -> None:
        """Check each response of a round against the faults of near memory's words."""
        reads: defaultdict[int, deque[Any]] = defaultdict(deque)
        writes: defaultdict[int, deque[int]] = defaultdict(deque)
        for (_, id, resp, data), bad in zip(log.reads, log.poisoned, strict=True):
            reads[id].append((resp, data, bad))
        for _, id, resp in log.writes:
            writes[id].append(resp)
        for request in log.requests:
            line = request.addr >> 6
            faults = near.wrong[line % LINES]
            case = f"line {line}: {'write' if request.write else 'read'}: {dict(faults)}"
            resp, data, bad = (
                (writes[request.id].popleft(), 0, 0)
                if request.write
                else reads[request.id].popleft()
            )
            if resp != OKAY:
                # A single flipped bit is also too much in a line that was written back poisoned.
                enough = {"one", "poison"} <= faults.keys()
                assert enough or faults.keys() & {"two", "other", *FAULTS[5:]}, f"refused: {case}"
                self.cover["refused"] += 1
            elif request.write:
                text, strobe, _ = request.data[0]
                halves = self.halves[line]
                halves[:] = [
                    int(text, 2) & MASK,
                    halves[1] if strobe == LOW else int(text, 2) & MASK,
                ]
            elif bad:
                assert "poison" in faults, f"poisoned: {case}"
                self.cover["poisoned"] += 1
            else:
                seen = [data & MASK, data >> 448]
                assert seen == self.halves[line], f"{case}: {seen}, not {self.halves[line]}"
                self.cover["true"] += 1


class FlipEnvironment(DirectedEnvironment):
    """An environment with a near memory that flips bits."""

    near_type = Flipping

    async def round(self, expected: ExpectedLines, rng: Random, count: int) -> None:
        """Make random requests, and check their responses when all are complete."""
        latency = rng.choice((1, 8, 40))
        self.take_requests(latency)
        self.near.profile = StimulusProfile(latency=latency)  # separate from far memory's
        log = self.answers = RequestLog()
        self.scoreboard = self.master.scoreboard = self.tap.scoreboard = log
        ids = min(8, 1 << self.build.id_bits)
        hot = rng.sample(range(LINES), 2)
        for _ in range(count):
            set_index = rng.choice(hot) if rng.random() < 0.6 else rng.randrange(LINES)
            line = set_index + rng.randrange(self.build.ratio + 1) * LINES
            value = rng.getrandbits(64) if rng.random() < 0.5 else None
            self.ask(line, value, rng.choice((FULL, LOW)), rng.randrange(ids))
        writes = sum(request.write for request in self.todo)
        await self.answered(count - writes, writes, within=20_000)
        await self.settle()
        expected.judge(log, self.near)


@cocotb.test()
async def flips_under_traffic_never_give_wrong_data(dut: Any) -> None:
    """Words with one or two flipped bits, words of another set, poisoned words with up to three
    flipped bits, and words that stay damaged for a round. A refused access has no effect, an OKAY
    response is correct, and at the end each line is where its set's word says.
    """
    environment = FlipEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    cover: Counter[str] = Counter()
    for seed in range(SEEDS):
        rng = Random(seed)
        policy, n = any_policy(rng)
        config = FlatConfig(LINES, environment.build.ratio, policy=policy, n=n)
        await environment.begin(config, seed)
        near, expected = environment.near, ExpectedLines(config.lines)
        for _ in range(ROUNDS):
            chosen = rng.sample(FAULTS[1:], rng.randrange(len(FAULTS)))
            near.faults = Counter(none=10, poison=rng.randrange(4)) + Counter(chosen)
            before = dict(near.sidebands)
            damaged = near.damaged = {}
            for set_index in rng.sample(range(LINES), rng.randrange(3)):
                flips = rng.choice((1, 2))
                word = before[set_index]
                for bit in rng.sample(range(near.code.bits), flips):
                    word ^= 1 << bit
                near.sidebands[set_index] = damaged[set_index] = word
                near.wrong[set_index]["two"] += 1  # one flip is as bad in a poisoned word
            await environment.round(expected, rng, REQUESTS)
            for set_index, word in damaged.items():
                if near.sidebands[set_index] == word:
                    near.sidebands[set_index] = before[set_index]
            near.damaged, near.faults = {}, Counter(none=1)
            poisoned = {set_index: wrong["poison"] for set_index, wrong in near.wrong.items()}
            near.wrong.clear()
            for set_index, times in poisoned.items():  # still poisoned
                near.wrong[set_index] += Counter(poison=times)
        await environment.round(expected, rng, 2 * REQUESTS)
        environment.one_place()
        cover += expected.cover
        cover["corrected"] += int(dut.counters_corrected.value)
        cover["untrusted"] += int(dut.counters_untrusted.value)
    print(dict(cover))
    assert cover["true"] > SEEDS * ROUNDS * REQUESTS // 8, cover
    assert min(cover[name] for name in ("refused", "poisoned", "corrected", "untrusted")) > 100, (
        cover
    )
