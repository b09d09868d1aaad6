# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of reads that wait for others of their id, and of those beside them that do not."""

from __future__ import annotations

from collections.abc import Iterable

from tests.expander.bench.hand import SEED, by_hand, opened
from tests.expander.bench.modes import Mode
from tests.expander.bench.requests import Request
from tests.expander.bench.world import World

LATENCY = 15  # cycles from a telemetry read's acceptance to its line
WAITING = 12  # ids with a memory read that is not answered, and lines behind it
BEHIND = 5  # of an id, as many as are fetched ahead
LATE = 1 << 30  # cycles
LONE = 15  # an id of its own


def snapshot(world: World, id: int) -> Request:
    """A read of a line, without effect."""
    return Request(False, id, world.windows.address(0, 0, 0, False))


def behind_memory(world: World, ids: Iterable[int]) -> list[Request]:
    """A memory read of each id, and lines behind it."""
    return [
        request
        for id in ids
        for request in (Request(False, id, 0x40 * 2 * id), *[snapshot(world, id)] * BEHIND)
    ]


def answered(world: World) -> list[tuple[int, int]]:
    """The last beats at R of channel 0: cycle and id."""
    return [(t, id) for t, what, id, *_ in world.scores[0].log if what == "R"]


@by_hand
async def a_line_beside_those_that_wait(world: World) -> None:
    """Memory owes 12 ids their answers, and lines behind them fill the ring: a line of another id
    takes as long as ever, while memory answers one of the 12 and its lines leave.
    """
    for cycle in range(20):
        await world.restart(SEED)
        await world.program()
        master, memory = world.masters[0], world.memories[0]
        master.mode = Mode(aw=0.0)
        for ids, latency in ((range(1), 1), (range(1, WAITING), LATE)):
            memory.mode = Mode(latency=latency, answer=0.0)
            master.source = opened(behind_memory(world, ids))
            await world.cycles(100)
        master.source = opened([snapshot(world, LONE)])
        await world.cycles(cycle)
        memory.mode = Mode(answer=1.0)
        await world.cycles(40)
        asked = next(t for t, what, *pins in world.scores[0].log if (what, pins[0]) == ("AR", LONE))
        beats = answered(world)
        assert [id for _, id in beats if id != LONE] == [0] * (1 + BEHIND), beats
        left = next(t for t, id in beats if id == LONE)
        # Others may be at R in its cycle, and have their turn first; R is never left empty.
        due = asked + LATENCY
        empty = set(range(due, left)) - {t for t, _ in beats}
        assert left >= due and not empty, (cycle, asked, beats)


@by_hand
async def lines_take_turns(world: World) -> None:
    """Lines of 16 ids that could leave at once, as R was not ready: of 16, each id has one."""
    master, count = world.masters[0], 0

    def source(write: bool, mode: Mode) -> Request | None:
        nonlocal count
        count += not write
        return None if write else snapshot(world, count % 16)

    master.source = source
    master.mode = Mode(aw=0.0, r=0.0)
    await world.cycles(200)
    master.mode = Mode(aw=0.0)
    await world.cycles(20)
    for _ in range(20):
        await world.cycles(16)
        ids = [id for _, id in answered(world)[-16:]]
        assert sorted(ids) == list(range(16)), ids


@by_hand
async def no_more_reads_than_are_counted(world: World) -> None:
    """Memory answers nothing: so many reads are accepted as may be under way, and then no more."""
    master, memory, score = world.masters[0], world.memories[0], world.scores[0]
    memory.mode = Mode(answer=0.0)
    master.mode = Mode(aw=0.0, telemetry=0.1, bursts=0.0, odd=0.0, ids=1)
    await world.cycles(800)
    reads = score.counts["memory reads"] + score.counts["telemetry reads"]
    assert reads == world.build.reads_in_flight
    memory.mode = Mode(latency=1)
    await world.cycles(800)
    await world.check()


@by_hand
async def windows_move_amid_traffic(world: World) -> None:
    """Again and again, with reads, writes and bursts of lines offered in every cycle: what each of
    them meets is what the lockstep says of its cycle.
    """
    for part in (*world.masters, *world.memories):
        part.mode = Mode(telemetry=0.5, bursts=0.3)
    for _ in range(60):
        world.operator.move()
        await world.cycles(world.rng.randrange(60))
    assert {"effect/open", "effect/closed", "snapshot/open", "snapshot/closed", "amid a burst"} <= {
        name.removeprefix("window/") for name in world.cover
    }
    await world.check()
