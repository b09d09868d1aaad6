# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the memory path: what it costs, and that telemetry is not felt on it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import cocotb

from tests.expander.bench.hand import by_hand, opened
from tests.expander.bench.modes import Mode
from tests.expander.bench.pins import reader
from tests.expander.bench.requests import Request
from tests.expander.bench.sizes import BUILDS
from tests.expander.bench.store import bits
from tests.expander.bench.world import World

CYCLES = 4000
PATH = ("ar", "aw", "w", "r", "b")
DATA = [(bits(7), (1 << 64) - 1, 0)]


def handshakes(world: World) -> list[list[int]]:
    """A list that grows by the valid and ready of every memory port, each cycle."""
    pins = [
        reader(getattr(world.dut, f"{port}_{c}_{name}{pin}"))
        for c in range(world.build.engine.channels)
        for port in ("upstream", "downstream")
        for name in PATH
        for pin in ("valid", "ready")
    ]
    seen: list[list[int]] = []
    world.watch = lambda _: seen.append([pin() for pin in pins])
    return seen


async def recorded(world: World, seed: int, rules: bool, telemetry: float) -> list[list[int]]:
    """The handshakes of a seed's traffic, with no rule or with all of them."""
    await world.restart(seed)
    world.operator.windows()
    if rules:
        # A read whose effect is an update op is the one thing that a following request may feel.
        for p, rule in enumerate(world.operator.rules):
            world.operator.rules[p] = replace(rule, type="RW", effect_op="reset")
        world.operator.start()
    await world.settle()
    parts = (*world.masters, *world.memories, *world.traffic)
    for i, part in enumerate(parts):
        part.rng = Random(seed * 100 + i)
    world.rng = Random(seed)
    seen = handshakes(world)
    for _ in range(8):
        world.phase()
        world.operator.rate = 0
        for master in world.masters:
            master.mode = replace(master.mode, telemetry=min(master.mode.telemetry, telemetry))
        await world.cycles(CYCLES // 8)
    world.watch = None
    await world.check()
    return seen


@cocotb.test()
async def rules_are_not_felt(dut: Any) -> None:
    """Every handshake of every memory port, cycle for cycle: no rule, and every rule on."""
    world = World(dut, BUILDS["x2"], Counter())
    await world.start()
    for seed, telemetry in ((1, 0.0), (2, 0.0), (3, 0.3), (4, 1.0)):
        without = await recorded(world, seed, False, telemetry)
        assert not any(model.matched for model in world.lockstep.models)
        with_rules = await recorded(world, seed, True, telemetry)
        assert any(model.matched for model in world.lockstep.models), "no rule matched"
        assert len(without) == len(with_rules) == CYCLES
        for cycle, (one, other) in enumerate(zip(without, with_rules, strict=True)):
            assert one == other, f"seed {seed}: cycle {cycle} differs"


@by_hand
async def one_cycle_each_way(world: World) -> None:
    """Request, data and answer show on the other side in the very next cycle."""
    for write, id in ((False, 3), (True, 5)):
        world.masters[0].source = opened([Request(write, id, 0x1000, data=DATA if write else [])])
        world.masters[0].mode = Mode()
        world.memories[0].mode = Mode(latency=1)
        start, seen = world.t, handshakes(world)
        await world.cycles(20)
        world.watch = None
        first = {}
        for port in range(2):
            for i, name in enumerate(PATH):
                valid = [cycle for cycle, pins in enumerate(seen) if pins[port * 10 + 2 * i]]
                first[port, name] = valid[0] if valid else None
        for name in ("aw", "w") if write else ("ar",):
            assert first[1, name] == first[0, name] + 1, (start, name, first)
        name = "b" if write else "r"
        assert first[0, name] == first[1, name] + 1, (start, name, first)
        await world.settle()


@by_hand
async def a_request_every_cycle(world: World) -> None:
    """AR and AW both busy on every channel: one request a cycle is taken, for ever."""
    for part in (*world.masters, *world.memories):
        part.mode = Mode(telemetry=0.0, bursts=0.0, ahead=0.0)
    await world.cycles(50)
    before = [score.counts["beats"] for score in world.scores]
    reads = [score.counts["memory reads"] for score in world.scores]
    await world.cycles(2000)
    for score, first, read in zip(world.scores, before, reads, strict=True):
        assert score.counts["beats"] - first == 2000
        assert score.counts["memory reads"] - read == 1000, "AR and AW take turns"


def lines(world: World, channel: int, memory: int, ids: int) -> Any:
    """A source of telemetry reads of both windows, every `memory`-th a memory read of its id."""
    size, rng = world.build.engine, Random(channel)
    count = 0

    def source(write: bool, mode: Mode) -> Request | None:
        nonlocal count
        if write:
            return None
        count += 1
        id = rng.randrange(ids)
        if memory and count % memory == 0:
            return Request(False, id, 64 * channel)
        p, line = rng.randrange(size.pipelines), rng.randrange(size.lines)
        return Request(False, id, world.windows.address(p, line, channel, bool(count % 2)))

    return source


# Memory reads: every how many requests, cycles at most; ids; beats a cycle, at least. This memory
# answers ids in any order and keeps to what it offers, so it may hold back all others for one that
# has to wait for a line: a few cycles in a thousand are lost then.
LOADS = (
    (0, 1, 1, 1.0),
    (0, 1, 16, 1.0),
    (8, 1, 1, 1.0),
    (2, 40, 1, 1.0),
    (2, 1, 1, 1.0),
    (8, 24, 4, 0.99),
    (2, 20, 16, 0.99),
    (64, 32, 16, 0.99),
    (2, 40, 4, 0.98),
)


@by_hand
async def a_line_every_cycle(world: World) -> None:
    """512 bits a cycle a channel of both windows, memory reads in flight on the same ids or not."""
    for p in range(world.build.engine.pipelines):
        rule = replace(world.operator.rules[p], effect_op="reset")
        world.operator.rule(p, rule, True)
    await world.settle()
    for memory, latency, ids, least in LOADS:
        for c, master in enumerate(world.masters):
            master.source = lines(world, c, memory, ids)
            master.mode = Mode(aw=0.0)
            world.memories[c].mode = Mode(latency=latency)
        await world.cycles(200)
        before = [score.counts["read beats"] for score in world.scores]
        await world.cycles(2000)
        for score, first in zip(world.scores, before, strict=True):
            rate = (score.counts["read beats"] - first) / 2000
            print(f"{ids} ids, memory every {memory}, latency {latency}: {rate:.3f} lines a cycle")
            assert rate >= least, (memory, latency, ids, rate)
        await world.settle()


@by_hand
async def order_of_an_id_with_slow_memory(world: World) -> None:
    """One id, memory and telemetry by turns, memory slow: the score sees their order."""
    for c in range(world.build.engine.channels):
        world.masters[c].mode = Mode(ids=1, telemetry=0.5, bursts=0.2, odd=0.1)
        world.memories[c].mode = Mode(latency=200)
    await world.cycles(4000)
    await world.check()


@by_hand
async def a_read_among_writes_is_not_starved(world: World) -> None:
    """Writes offered in every cycle, and reads that take eight slots each: both go on."""
    for p, rule in enumerate(world.operator.rules):
        world.operator.rule(p, replace(rule, effect_op="add", effect_operand=1), True)
    await world.settle()
    for c, master in enumerate(world.masters):
        source, traffic = lines(world, c, 0, 4), world.traffic[c]
        master.source = lambda write, mode, s=source, t=traffic: (t if write else s)(write, mode)
        master.mode = Mode(telemetry=0.0, bursts=0.0, ahead=0.0)
    await world.cycles(2000)
    for score in world.scores:
        assert score.counts["lines"] > 100 and score.counts["memory writes"] > 900, score.counts
    await world.check()
