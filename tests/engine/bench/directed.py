# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the contract's corner cases, each with the expected numbers.

Rules here count events into 64-bit counters unless they say otherwise: the key is 0 and the index
is the address's line number. Size p2c2, or what BENCH_SIZE says.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from random import Random
from typing import Any

import cocotb

from anemone.telemetry.rules import Rule
from tests.engine.bench.directed_driver import DirectedDriver, memories
from tests.engine.bench.driver import Driver
from tests.engine.bench.reference import Reference
from tests.engine.bench.script import Read, RuleWrite, Script, TableWrite
from tests.engine.bench.sizes import SIZES

SIZE = SIZES[os.environ.get("BENCH_SIZE", "p2c2")]
END = 1 << SIZE.address_bits
COUNT = Rule(name="count", end=END, primary_mask=0, sub_mask=END - 1, sub_shift=7, op="add")
LINE = 128 * 8  # bytes whose counters share a telemetry line: two channels, eight counters
PARAMS = json.loads(Path(os.environ["BENCH_PARAMS"]).read_text())


def directed_test(test: Callable[[DirectedDriver], Awaitable[None]]) -> Any:
    """A cocotb test that gets an engine with COUNT on pipeline 0 and an empty pipeline 1."""

    @cocotb.test()
    @wraps(test)
    async def run(dut: Any) -> None:
        driver = DirectedDriver(dut, SIZE)
        await driver.start()
        await driver.rule(0, COUNT)
        await driver.table(0, (0, 0))
        await test(driver)

    run.name = test.__name__
    return run


def first(*values: int) -> list[int]:
    """A line with the given first words and zeros after them."""
    return [*values, *[0] * (8 - len(values))]


# --- the two interleavings that the published hardware gets wrong ---


@directed_test
async def reset_right_behind_update(driver: DirectedDriver) -> None:
    """A read-with-reset 1 to 6 cycles after an update of its state returns the update exactly
    once.
    """
    await driver.rule(0, replace(COUNT, effect_op="reset"))
    for distance in range(1, 7):
        driver.lines.clear()
        await driver.tick({0: 0})
        await driver.wait(distance - 1)
        await driver.tick(reads={0: Read(0, 0, 0, True)})
        await driver.tick(reads={0: Read(0, 0, 0, False)})
        await driver.wait(20)
        assert [seen.words for seen in driver.lines] == [first(1), first()], distance
    assert driver.status(0)["matched"] == 6


@directed_test
async def update_right_behind_reset(driver: DirectedDriver) -> None:
    """An update 1 to 6 cycles after a read that resets its state to 100 counts from 100."""
    await driver.rule(0, replace(COUNT, effect_op="reset", effect_operand=100))
    for distance in range(1, 7):
        driver.lines.clear()
        await driver.tick({0: 0})
        await driver.tick(reads={0: Read(0, 0, 0, True)})
        await driver.wait(distance - 1)
        await driver.tick({0: 0})
        await driver.tick(reads={0: Read(0, 0, 0, False)})
        await driver.wait(20)
        assert [seen.words[0] for seen in driver.lines][1] == 101, distance


@directed_test
async def read_and_event_in_one_cycle(driver: DirectedDriver) -> None:
    """If both are offered in one cycle, the event comes first: the read waits a cycle and sees
    it.
    """
    await driver.tick({0: 0}, {0: Read(0, 0, 0, True)})
    assert not driver.get("reads_0_ready")
    await driver.tick({0: 0})
    assert not driver.get("reads_0_ready")
    await driver.tick()
    assert driver.get("reads_0_ready")
    await driver.wait(20)
    assert [seen.words for seen in driver.lines] == [first(2)]


@directed_test
async def every_hazard_distance(driver: DirectedDriver) -> None:
    """Two updates of one state, 1 to 6 slots apart, with updates of its neighbours in between."""
    for distance in range(1, 7):
        for slot in range(distance + 1):
            await driver.tick({0: 0 if slot in (0, distance) else 128})
        await driver.wait(10)
    assert (await driver.read(0, 0, 0)).words == first(12, 15)


# --- serial read-modify-writes ---


def counting(cycles: int, effect: str, **fields: Any) -> tuple[Script, int]:
    """A script, and the cycle from which its pipeline 0 counts."""
    script = Script.blank(SIZE, cycles, **fields)
    rule = replace(COUNT, effect_op=effect, effect_operand=1, notify_op="eq", notify_operand=50)
    script.rules.append(RuleWrite(0, 0, rule))
    script.tables.append(TableWrite(0, 0, 0, 0, True))
    return script, script.reset + SIZE.clear_cycles + 20


async def run_script(dut: Any, script: Script) -> tuple[Any, Counter[str]]:
    """Run a script. Returns the plan and the coverage."""
    cover: Counter[str] = Counter()
    driver = Driver(dut, SIZE)
    driver.start()
    plan = Reference(SIZE, await driver.calibrate(), cover, script, Random(1)).run()
    await driver.run_plan(plan)
    return plan, cover


@cocotb.test()
async def serial_rmw_with_an_event_every_cycle(dut: Any) -> None:
    """Seven events queue behind an eight-slot read, thousands flow through, none is lost."""
    script, start = counting(4000, "add")
    stop = script.cycles - 50
    script.events[0][start + 1 : stop] = [(0, 0)] * (stop - start - 1)
    script.reads[0] = [Read(start, 0, 0, True), Read(start + 1, 0, 0, False)]
    plan, cover = await run_script(dut, script)
    count = stop - start - 1
    answers = [line.words for lines in plan.lines.values() for line in lines if line.channel == 0]
    assert answers[0] == first() and answers[1] == [1 + count, *[1] * 7], answers[:2]
    assert cover["queue/7"] > 3000


@directed_test
async def serial_rmw_takes_eight_slots(driver: DirectedDriver) -> None:
    """A read with an update op: the line comes seven cycles later, the next read after eight."""
    await driver.rule(0, replace(COUNT, effect_op="add", effect_operand=3))
    await driver.tick(reads={0: Read(0, 0, 0, True)})
    accepted = driver.cycle - 1
    await driver.tick(reads={0: Read(0, 0, 0, True)})
    while driver._reads:
        await driver.tick()
    assert driver.cycle - 1 - accepted == 8
    await driver.wait(30)
    assert [seen.words for seen in driver.lines] == [first(), [3] * 8]
    assert [seen.cycle - accepted for seen in driver.lines] == [16, 24]


@directed_test
async def serial_rmw_of_another_channel_is_not_felt(driver: DirectedDriver) -> None:
    """Reads of channel 1 are answered in every cycle while channel 0 is amid a serial RMW."""
    await driver.rule(0, replace(COUNT, effect_op="add"))
    await driver.tick(reads={0: Read(0, 0, 0, True), 1: Read(0, 0, 0, False)})
    for _ in range(9):
        assert driver.get("reads_1_ready")
        await driver.tick(reads={1: Read(0, 0, 0, False)})
    await driver.wait(20)
    cycles = [seen.cycle for seen in driver.lines if seen.channel == 1]
    assert cycles == list(range(cycles[0], cycles[0] + 10))


# --- latency and rate ---


@directed_test
async def latencies_are_as_promised(driver: DirectedDriver) -> None:
    """The cycles from event to written state and from read to line equal params.json, at most 9."""
    state = memories(driver.dut, 0, 0)[0][0]
    await driver.tick({0: 0})
    asked, written = driver.cycle - 1, 0
    for _ in range(20):
        await driver.tick()
        if not written and int(str(state.value)[-64:], 2) == 1:
            written = driver.cycle - 1
    # Written at the end of the cycle before the one in which it is first seen.
    assert written - 1 - asked == PARAMS["event_latency"] <= 9
    asked = driver.cycle
    seen = await driver.read(0, 0, 0)
    assert seen.cycle - asked == PARAMS["read_latency"] <= 9


@directed_test
async def a_line_every_cycle(driver: DirectedDriver) -> None:
    """Reads of both channels are accepted and answered in every cycle."""
    for line in range(SIZE.lines):
        await driver.tick({c: LINE * line + 64 * c for c in range(2)})
    for cycle in range(64):
        await driver.tick(reads={c: Read(0, 0, cycle % SIZE.lines, False) for c in range(2)})
        assert not driver._reads
    await driver.wait(12)
    cycles = [seen.cycle for seen in driver.lines if seen.channel == 0]
    assert cycles == list(range(cycles[0], cycles[0] + 64))
    assert all(seen.words == first(1) for seen in driver.lines) and len(driver.lines) == 128


@cocotb.test()
async def full_rate_with_reads_in_the_gaps(dut: Any) -> None:
    """For thousands of cycles each channel uses every slot, first only for events."""
    script, start = counting(6000, "reset", samples=[*range(100, 6000, 97)])
    rng = Random(7)
    for c in range(2):
        for t in range(start, script.cycles):
            if t < 3000 or rng.random() < 0.8:
                script.events[c][t] = (rng.choice((0, 128, 3 * LINE)) + 64 * c, 1)
            else:
                script.reads[c].append(Read(t, 0, rng.choice((0, 3)), rng.random() < 0.5))
    plan, cover = await run_script(dut, script)
    used = plan.events + sum(len(reads) for reads in script.reads)
    assert used == 2 * (script.cycles - start)
    assert cover["run/full rate"] >= 8 and cover["run/reads in every gap"] >= 2
