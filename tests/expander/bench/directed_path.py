# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the memory path: its latency, and that telemetry does not affect it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import cocotb

from tests.bench.pins import reader
from tests.bench.profile import StimulusProfile
from tests.bench.requests import Request
from tests.bench.store import bits
from tests.expander.bench.directed_environment import LATE, directed_test, opened
from tests.expander.bench.environment import Environment
from tests.expander.bench.sizes import BUILDS

CYCLES = 4000
PATH = ("ar", "aw", "w", "r", "b")
DATA = [(bits(7), (1 << 64) - 1, 0)]
LINE_ID = 9  # of a line behind memory's reads
MEMORY_RUN = 16  # memory's beats that pass a line (ExpanderParams.memoryRun)
LINE_ON_ITS_WAY = 16  # beats that go while it is fetched, and from the slices


def handshakes(environment: Environment) -> list[list[int]]:
    """A list that records valid and ready of every memory port in each cycle."""
    pins = [
        reader(getattr(environment.dut, f"{port}_{c}_{name}{pin}"))
        for c in range(environment.build.engine.channels)
        for port in ("upstream", "downstream")
        for name in PATH
        for pin in ("valid", "ready")
    ]
    seen: list[list[int]] = []
    environment.watch = lambda _: seen.append([pin() for pin in pins])
    return seen


async def recorded(
    environment: Environment, seed: int, rules: bool, telemetry: float
) -> list[list[int]]:
    """The handshakes of a seed's traffic, without rules or with all of them."""
    await environment.restart(seed)
    # Poison that memory kept from the run before would change what it does.
    for memory, scoreboard in zip(environment.memories, environment.scoreboards, strict=True):
        memory.store.lines.clear()
        scoreboard.golden.lines.clear()
    environment.operator.windows()
    if rules:
        # A read whose effect is an update op is the one thing that a following request may feel.
        for p, rule in enumerate(environment.operator.rules):
            environment.operator.rules[p] = replace(rule, type="RW", effect_op="reset")
        environment.operator.start()
    await environment.settle()
    await environment.cycles(LATE)
    parts = (*environment.masters, *environment.memories, *environment.traffic)
    for i, part in enumerate(parts):
        part.rng = Random(seed * 100 + i)
    environment.rng = Random(seed)
    seen = handshakes(environment)
    for _ in range(8):
        environment.phase()
        environment.operator.rate = 0
        for master in environment.masters:
            master.profile = replace(
                master.profile, telemetry=min(master.profile.telemetry, telemetry)
            )
        await environment.cycles(CYCLES // 8)
    environment.watch = None
    await environment.check()
    return seen


@cocotb.test()
async def rules_are_not_felt(dut: Any) -> None:
    """Every handshake of every memory port is in the same cycle without rules and with all
    rules.
    """
    environment = Environment(dut, BUILDS["x2"], Counter())
    await environment.start()
    for seed, telemetry in ((1, 0.0), (2, 0.0), (3, 0.3), (4, 1.0)):
        without = await recorded(environment, seed, False, telemetry)
        assert not any(model.matched for model in environment.lockstep.models)
        with_rules = await recorded(environment, seed, True, telemetry)
        assert any(model.matched for model in environment.lockstep.models), "no rule matched"
        assert len(without) == len(with_rules) == CYCLES
        for cycle, (one, other) in enumerate(zip(without, with_rules, strict=True)):
            assert one == other, f"seed {seed}: cycle {cycle} differs"


@directed_test
async def two_cycles_each_way(environment: Environment) -> None:
    """Requests, data and responses appear on the other side two cycles later."""
    for write, id in ((False, 3), (True, 5)):
        environment.masters[0].source = opened(
            [Request(write, id, 0x1000, data=DATA if write else [])]
        )
        environment.masters[0].profile = StimulusProfile()
        environment.memories[0].profile = StimulusProfile(latency=1)
        start, seen = environment.t, handshakes(environment)
        await environment.cycles(20)
        environment.watch = None
        first = {}
        for port in range(2):
            for i, name in enumerate(PATH):
                valid = [cycle for cycle, pins in enumerate(seen) if pins[port * 10 + 2 * i]]
                first[port, name] = valid[0] if valid else None
        for name in ("aw", "w") if write else ("ar",):
            assert first[1, name] == first[0, name] + 2, (start, name, first)
        name = "b" if write else "r"
        assert first[0, name] == first[1, name] + 2, (start, name, first)
        await environment.settle()


@directed_test
async def a_request_every_cycle(environment: Environment) -> None:
    """With AR and AW busy on every channel, one request is accepted per cycle."""
    for part in (*environment.masters, *environment.memories):
        part.profile = StimulusProfile(telemetry=0.0, bursts=0.0, ahead=0.0)
    await environment.cycles(50)
    before = [scoreboard.counts["beats"] for scoreboard in environment.scoreboards]
    reads = [scoreboard.counts["memory reads"] for scoreboard in environment.scoreboards]
    await environment.cycles(2000)
    for scoreboard, first, read in zip(environment.scoreboards, before, reads, strict=True):
        assert scoreboard.counts["beats"] - first == 2000
        assert scoreboard.counts["memory reads"] - read == 1000, "AR and AW take turns"


def lines(environment: Environment, channel: int, memory: int, ids: int) -> Any:
    """A source of telemetry reads of both windows, every `memory`-th a memory read of its id."""
    size, rng = environment.build.engine, Random(channel)
    count = 0

    def source(write: bool, profile: StimulusProfile) -> Request | None:
        nonlocal count
        if write:
            return None
        count += 1
        id = rng.randrange(ids)
        if memory and count % memory == 0:
            return Request(False, id, 64 * channel)
        p, line = rng.randrange(size.pipelines), rng.randrange(size.lines)
        return Request(False, id, environment.windows.address(p, line, channel, bool(count % 2)))

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


@directed_test
async def a_line_every_cycle(environment: Environment) -> None:
    """512 bits per cycle and channel from both windows, with memory reads of equal or other ids."""
    for p in range(environment.build.engine.pipelines):
        rule = replace(environment.operator.rules[p], effect_op="reset")
        environment.operator.rule(p, rule, True)
    await environment.settle()
    for memory, latency, ids, min_rate in LOADS:
        for c, master in enumerate(environment.masters):
            master.source = lines(environment, c, memory, ids)
            master.profile = StimulusProfile(aw=0.0)
            environment.memories[c].profile = StimulusProfile(latency=latency)
        await environment.cycles(200)
        before = [scoreboard.counts["read beats"] for scoreboard in environment.scoreboards]
        await environment.cycles(2000)
        for scoreboard, first in zip(environment.scoreboards, before, strict=True):
            rate = (scoreboard.counts["read beats"] - first) / 2000
            print(f"{ids} ids, memory every {memory}, latency {latency}: {rate:.3f} lines a cycle")
            assert rate >= min_rate, (memory, latency, ids, rate)
        await environment.settle()


@directed_test
async def order_of_an_id_with_slow_memory(environment: Environment) -> None:
    """Alternating memory and telemetry reads of one id with slow memory; the scoreboard checks
    order.
    """
    for c in range(environment.build.engine.channels):
        environment.masters[c].profile = StimulusProfile(ids=1, telemetry=0.5, bursts=0.2, odd=0.1)
        environment.memories[c].profile = StimulusProfile(latency=200)
    await environment.cycles(4000)
    await environment.check()


@directed_test
async def a_read_among_writes_is_not_starved(environment: Environment) -> None:
    """Writes in every cycle and reads that take eight slots each: both make progress."""
    for p, rule in enumerate(environment.operator.rules):
        environment.operator.rule(p, replace(rule, effect_op="add", effect_operand=1), True)
    await environment.settle()
    for c, master in enumerate(environment.masters):
        source, traffic = lines(environment, c, 0, 4), environment.traffic[c]
        master.source = lambda write, profile, s=source, t=traffic: (t if write else s)(
            write, profile
        )
        master.profile = StimulusProfile(telemetry=0.0, bursts=0.0, ahead=0.0)
    await environment.cycles(2000)
    for scoreboard in environment.scoreboards:
        assert scoreboard.counts["lines"] > 100 and scoreboard.counts["memory writes"] > 900, (
            scoreboard.counts
        )
    await environment.check()


@directed_test
async def memory_passes_a_line_for_a_run_of_beats_only(environment: Environment) -> None:
    """A host that takes every other beat, and memory that always has one: a line that is ready goes
    after 16 of memory's.
    """
    scoreboard, master = environment.scoreboards[0], environment.masters[0]
    asked = 0

    def source(write: bool, profile: StimulusProfile) -> Request | None:
        nonlocal asked
        if write:
            return None
        asked += 1
        if asked % 100:
            return Request(False, asked % 8, 128 * (asked % 64))
        return Request(False, LINE_ID, environment.windows.address(0, 0, 0, False))

    master.source, master.profile = source, StimulusProfile(r=0.5)
    environment.memories[0].profile = StimulusProfile(latency=1)
    waited = longest = 0
    for _ in range(4000):
        before = scoreboard.counts["read beats"]
        await environment.cycles(1)
        waited += scoreboard.counts["read beats"] - before
        if not scoreboard.reads[LINE_ID]:
            waited = 0
        longest = max(longest, waited)
    assert MEMORY_RUN <= longest <= MEMORY_RUN + LINE_ON_ITS_WAY, longest
    await environment.check()
