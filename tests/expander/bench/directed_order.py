# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of reads that wait for earlier ones with their id, and of other reads meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tests.bench.profile import StimulusProfile
from tests.bench.requests import Request
from tests.expander.bench.directed_environment import SEED, directed_test, opened
from tests.expander.bench.environment import Environment

LATENCY = 17  # cycles from a telemetry read's acceptance to its line
WAITING = 9  # ids with a memory read that is not answered, and lines behind it
LINES_BEHIND = 7  # of an id, as many as are fetched ahead
LATE = 1 << 30  # cycles
LINE_ID, EARLIER_LINE_ID = 15, 14  # ids of their own
HELD = 2  # requests that a port holds


def snapshot(environment: Environment, id: int) -> Request:
    """A read of a line without effect."""
    return Request(False, id, environment.windows.address(0, 0, 0, False))


def behind_memory(environment: Environment, ids: Iterable[int]) -> list[Request]:
    """A memory read of each id, followed by lines."""
    return [
        request
        for id in ids
        for request in (
            Request(False, id, 0x40 * 2 * id),
            *[snapshot(environment, id)] * LINES_BEHIND,
        )
    ]


def answered(environment: Environment) -> list[tuple[int, int]]:
    """(cycle, id) of the last beats at R of channel 0."""
    return [(t, id) for t, what, id, *_ in environment.scoreboards[0].log if what == "R"]


@directed_test
async def a_line_beside_those_that_wait(environment: Environment) -> None:
    """Reads of 9 ids wait for memory, and the lines behind them fill the ring. Two lines of other
    ids take the usual time while memory answers one of the 9 and its lines leave. They are at the
    ring's end, or in its first group.
    """
    for cycle in range(20):
        await environment.restart(SEED)
        await environment.program()
        master, memory = environment.masters[0], environment.memories[0]
        master.profile = StimulusProfile(aw=0.0)
        master.source = opened([snapshot(environment, LINE_ID)] * (8 * (cycle % 2)))
        await environment.cycles(60)
        for ids, latency in ((range(1), 1), (range(1, WAITING), LATE)):
            memory.profile = StimulusProfile(latency=latency, answer=0.0)
            # All but one: the ring has room for two more.
            master.source = opened(behind_memory(environment, ids)[: None if 0 in ids else -1])
            await environment.cycles(100)
        master.source = opened([snapshot(environment, id) for id in (EARLIER_LINE_ID, LINE_ID)])
        await environment.cycles(cycle)
        memory.profile = StimulusProfile(answer=1.0)
        await environment.cycles(40)
        log = environment.scoreboards[0].log
        asked = {pins[0]: t for t, what, *pins in log if what == "AR"}
        beats = [(t, id) for t, id in answered(environment) if t > asked[EARLIER_LINE_ID]]
        others = [id for _, id in beats if id not in (EARLIER_LINE_ID, LINE_ID)]
        assert others == [0] * (1 + LINES_BEHIND), beats
        for id in (EARLIER_LINE_ID, LINE_ID):
            left = next(t for t, of in beats if of == id)
            # Others may be at R in its cycle, and have their turn first; R is never left empty.
            due = asked[id] + LATENCY
            empty = set(range(due, left)) - {t for t, _ in beats}
            assert left >= due and not empty, (cycle, asked, beats)


@directed_test
async def lines_take_turns(environment: Environment) -> None:
    """Lines of 16 ids can all leave after R was not ready: any 16 successive lines have all ids."""
    master, count = environment.masters[0], 0

    def source(write: bool, profile: StimulusProfile) -> Request | None:
        nonlocal count
        count += not write
        return None if write else snapshot(environment, count % 16)

    master.source = source
    master.profile = StimulusProfile(aw=0.0, r=0.0)
    await environment.cycles(200)
    master.profile = StimulusProfile(aw=0.0)
    await environment.cycles(20)
    for _ in range(20):
        await environment.cycles(16)
        ids = [id for _, id in answered(environment)[-16:]]
        assert sorted(ids) == list(range(16)), ids


@directed_test
async def lines_find_their_places_taken(environment: Environment) -> None:
    """R is not ready, and lines of two ids fill the entries for waiting lines. Of 14 more ids only
    some get an entry, the others wait for one, and all lines arrive.
    """
    master = environment.masters[0]
    master.profile = StimulusProfile(aw=0.0, r=0.0)
    for ids, lines in ((range(2), LINES_BEHIND), (range(2, 16), 1)):
        master.source = opened([snapshot(environment, id) for id in ids for _ in range(lines)])
        await environment.cycles(100)
    assert not answered(environment)
    master.profile = StimulusProfile(aw=0.0)
    await environment.cycles(100)
    ids = [id for _, id in answered(environment)]
    assert sorted(ids) == sorted([*[0, 1] * LINES_BEHIND, *range(2, 16)])


@directed_test
async def memory_answers_in_the_next_cycle(environment: Environment) -> None:
    """Memory answers reads behind lines of the same id in the cycle in which it is decided that
    they wait.
    """
    for seed in range(6):
        await environment.restart(SEED + seed)
        await environment.program()
        for part in (*environment.masters, *environment.memories):
            part.profile = StimulusProfile(telemetry=0.5, latency=0, ids=(1, 2, 16)[seed % 3])
        await environment.cycles(1000)
        await environment.check()


async def max_under_way(environment: Environment, **share: float) -> Counter[str]:
    """The requests that channel 0 accepts until it is full, as memory does not answer; then all are
    answered.
    """
    memory, master = environment.memories[0], environment.masters[0]
    memory.profile = StimulusProfile(answer=0.0)
    master.profile = StimulusProfile(bursts=0.0, odd=0.0, **share)
    await environment.cycles(800)
    counts = environment.scoreboards[0].counts.copy()
    memory.profile = StimulusProfile(latency=1)
    await environment.cycles(800)
    await environment.check()
    return counts


@directed_test
async def no_more_reads_than_are_counted(environment: Environment) -> None:
    """Exactly the allowed number of reads in flight is accepted."""
    counts = await max_under_way(environment, aw=0.0, telemetry=0.1, ids=1)
    reads = counts["memory reads"] + counts["telemetry reads"]
    assert reads == environment.build.reads_in_flight + HELD


@directed_test
async def no_more_writes_than_are_counted(environment: Environment) -> None:
    """The same for writes; ids of requests and responses differ."""
    counts = await max_under_way(environment, ar=0.0, telemetry=0.0)
    assert counts["memory writes"] == environment.build.reads_in_flight + HELD


@directed_test
async def a_burst_that_leaves_its_window(environment: Environment) -> None:
    """AXI forbids such a burst, because a window is as large as the largest burst. Beats past its
    end are refused, and change no line of the next window.
    """
    environment.judge_hosts(False)
    master, windows = environment.masters[0], environment.windows
    for base in (windows.effect, windows.snapshot):
        assert base is not None
        refused = environment.scoreboards[0].counts["refused"]
        last = base + environment.build.window_bytes - 128  # of channel 0
        master.source = opened([Request(False, 3, last, len=5)])
        master.profile = StimulusProfile(aw=0.0)
        await environment.cycles(100)
        assert environment.scoreboards[0].counts["refused"] >= refused + 4
    await environment.check()


@directed_test
async def windows_move_amid_traffic(environment: Environment) -> None:
    """Windows move repeatedly while reads, writes and bursts of lines are offered in every cycle.
    Each is decoded with the windows of its cycle.
    """
    for part in (*environment.masters, *environment.memories):
        part.profile = StimulusProfile(telemetry=0.5, bursts=0.3)
    for _ in range(60):
        environment.operator.move()
        await environment.cycles(environment.rng.randrange(60))
    assert {"effect/open", "effect/closed", "snapshot/open", "snapshot/closed", "amid a burst"} <= {
        name.removeprefix("window/") for name in environment.cover
    }
    await environment.check()
