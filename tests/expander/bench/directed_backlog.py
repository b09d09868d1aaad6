# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the delay of requests after acknowledgements, as documented in
docs/expander.md.
"""

from __future__ import annotations

from collections import deque

from anemone.telemetry.rules import Rule
from tests.bench.profile import StimulusProfile
from tests.bench.requests import Request
from tests.bench.store import bits
from tests.expander.bench.directed_environment import directed_test
from tests.expander.bench.environment import Environment
from tests.expander.bench.operator import Operator

SLOTS = 20  # of an acknowledgement
FULL = (1 << 64) - 1
LONG = 400  # cycles
REGION_WRITES = 2
STREAMS = {"both": (True, True), "reads": (True, False), "writes": (False, True)}


class Stream:
    """A request to memory in every cycle of channel 0, mixed with the requests in `first`; no rule
    counts them. empty: unused slots; taken: accepted writes.
    """

    def __init__(self, environment: Environment, reads: bool, writes: bool) -> None:
        self.environment, self.master = environment, environment.masters[0]
        self.first: dict[bool, deque[Request]] = {False: deque(), True: deque()}
        self.offers = {False: reads, True: writes}
        self.empty = self.writes = self._n = 0
        self._asked = environment.scoreboards[0].counts["telemetry writes"]
        self._takes = environment.lockstep._takes[0]
        self.master.source = self._source
        self.master.profile = StimulusProfile(ahead=0.0)
        environment.memories[0].profile = StimulusProfile(latency=1)
        environment.watch = self._watch

    def _source(self, write: bool, _: StimulusProfile) -> Request | None:
        if self.first[write]:
            return self.first[write].popleft()
        if not self.offers[write]:
            return None
        self._n += 1
        # Those of memory have the lower half of the ids.
        return self.request(write, self._n % 8, 128 * (self._n % 64))

    @staticmethod
    def request(write: bool, id: int, addr: int) -> Request:
        """A write of a whole line of zeros."""
        return Request(write, id, addr, data=[(bits(0), FULL, 0)])

    def _watch(self, _: int) -> None:
        self.writes += self._takes[True]()
        self.empty += not (self._takes[True]() or self._takes[False]())

    async def cycles(self, count: int) -> tuple[int, int]:
        """(empty slots, writes) in a number of cycles."""
        before = self.empty, self.writes
        await self.environment.cycles(count)
        return self.empty - before[0], self.writes - before[1]

    def acknowledge(self, id: int, addr: int) -> None:
        """Acknowledge a line of zeros soon."""
        self._asked += 1
        self.first[True].append(self.request(True, id, addr))

    async def answered(self, within: int) -> bool:
        """Wait until all acknowledgements are applied. Returns the cycles."""
        scoreboard = self.environment.scoreboards[0]
        for _ in range(within):
            await self.environment.cycles(1)
            waits = any(scoreboard.writes[id] for id in range(8, 16))
            if scoreboard.counts["telemetry writes"] == self._asked and not waits:
                return True
        return False


async def opened(environment: Environment) -> int:
    """Load rules that count nothing, so that all counters are zero, and open the third window."""
    for p in range(environment.build.engine.pipelines):
        Operator.rule(environment.operator, p, Rule(name="nothing", type="", end=0), True)
    base = environment.operator.acknowledge_window()
    await environment.settle()
    return base


@directed_test
async def a_read_behind_an_acknowledgement_takes_its_slots(environment: Environment) -> None:
    """A telemetry read takes one slot. After an acknowledgement it also takes a slot for each event
    that arrived during the acknowledgement, while the engine catches up. Without one no slot is
    empty, and the next acknowledgement is applied after the read.
    """
    base = await opened(environment)
    for name, (reads, writes) in STREAMS.items():
        stream = Stream(environment, reads, writes)
        await stream.cycles(50)
        assert (await stream.cycles(200))[0] == 0, name
        stream.first[False].append(stream.request(False, 9, base))
        assert (await stream.cycles(100))[0] == 0, name
        for _ in range(3):
            stream.acknowledge(8, base)
            assert await stream.answered(100), name
            assert (await stream.cycles(200))[0] == 0, name
            stream.first[False].append(stream.request(False, 9, base))
            assert (await stream.cycles(200))[0] == SLOTS, name
        await environment.settle()


@directed_test
async def acknowledgements_wait_for_cycles_without_a_request(environment: Environment) -> None:
    """The first acknowledgement is applied at once, the next ones after the engine has caught up.
    With a request in every cycle they wait; while the queue has room for them, nothing else waits.
    """
    base = await opened(environment)
    stream = Stream(environment, True, True)
    await stream.cycles(50)
    stream.acknowledge(8, base)
    assert await stream.answered(100)
    for n in range(REGION_WRITES):
        stream.acknowledge(9 + n, base)
    assert not await stream.answered(LONG)
    empty, taken = await stream.cycles(LONG)
    assert empty == 0 and taken == LONG // 2
    # One more of them is at the head of the writes: a pause of the reads lets it go.
    stream.acknowledge(12, base)
    await stream.cycles(20)
    stream.offers[False] = False
    _, taken = await stream.cycles(8 * SLOTS)
    assert taken > 0
    stream.offers[True] = False
    assert await stream.answered(8 * SLOTS)
    await environment.settle()
