# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of lines that are written back and subtracted from the counters; see `directed`."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import cocotb

from anemone.telemetry.rules import Rule
from tests.engine.bench.directed import (
    COUNT,
    PARAMS,
    SIZE,
    counting,
    directed_test,
    first,
    run_script,
)
from tests.engine.bench.directed_driver import DirectedDriver
from tests.engine.bench.parity import BITS, flip, upset
from tests.engine.bench.script import Event, Take, registers

LATENCY = PARAMS["acknowledge_latency"]
BAD = LATENCY - 8  # cycles to the answer if the eight words are not updated
APART = LATENCY + 5  # minimum cycles from one acknowledgement to the next


@directed_test
async def an_acknowledged_line_is_gone(driver: DirectedDriver) -> None:
    """An acknowledgement subtracts what was read and keeps what came since; a second one subtracts
    it again.
    """
    await driver.tick({0: 0})
    words = (await driver.read(0, 0, 0)).words
    for _ in range(3):
        await driver.tick({0: 0})
    assert await driver.acknowledge(0, 0, 0, words) == (LATENCY, True)
    assert (await driver.read(0, 0, 0)).words == first(3)
    assert await driver.acknowledge(0, 0, 0, first(4)) == (LATENCY, True)
    assert (await driver.read(0, 0, 0)).words == first(2**64 - 1)
    assert (await driver.read(1, 0, 0)).words == (await driver.read(0, 1, 0)).words == first()
    assert (await driver.read(0, 0, 1)).words == first()


@directed_test
async def every_event_beside_an_acknowledge_counts(driver: DirectedDriver) -> None:
    """With an event in every cycle around it on both channels, the remaining counts have all
    events.
    """
    both: dict[int, Event | int] = {0: 0, 1: 64}
    await driver.rule(0, replace(COUNT, effect_op="reset", effect_operand=5))
    events = 0
    for _ in range(7):
        await driver.tick(both)
        events += 1
    cycles, applied = await driver.acknowledge(0, 0, 0, first(7), both)
    assert (cycles, applied) == (LATENCY, True)
    await driver.wait(2 * LATENCY + 20)
    events += cycles + 1
    assert (await driver.read(0, 0, 0)).words == [events - 7 + 5, *[5] * 7]
    assert (await driver.read(1, 0, 0)).words == first(events)


@cocotb.test()
async def acknowledges_at_full_rate(dut: Any) -> None:
    """With events in four of five cycles, lines are subtracted as the queue drains, and the queue
    does not overflow.
    """
    script, start = counting(4000, "reset")
    for t in range(start, script.cycles - 60):
        if t % 50 < 40:
            script.events[0][t] = (0, 0)
    script.takes[0] = [Take(start, 0, 0, first(3, 1)) for _ in range(80)]
    plan, cover = await run_script(dut, script)
    taken = cover["channel/0/take"]
    assert 30 < taken < 80 and cover["queue/20"]
    answers = [line.words for lines in plan.lines.values() for line in lines]
    assert [plan.events - 3 * taken + taken, 0, *[taken] * 6] in answers


@directed_test
async def a_bad_word_is_not_acknowledged(driver: DirectedDriver) -> None:
    """A line with a bad word is not changed and stays bad, and the answer reports it. In each
    channel.
    """
    for c in range(driver.size.channels):
        await driver.tick({c: 128})
        await driver.wait(12)
        for bit, word in product(BITS, range(8)):
            await flip(driver, bit, word, channel=c)
            before = await driver.read(c, 0, 0)
            counted = driver.status(0)["parityErrors"]
            assert before.poison
            assert await driver.acknowledge(c, 0, 0, first(1, 1)) == (BAD, False)
            after = await driver.read(c, 0, 0)
            assert after.poison and after.words == before.words
            assert counted == driver.status(0)["parityErrors"] - 1
            assert await driver.acknowledge(c, 0, 1, first()) == (LATENCY, True)
            await flip(driver, bit, word, channel=c)
            assert not (await driver.read(c, 0, 0)).poison
        await driver.tick({c: 128})
        assert await driver.acknowledge(c, 0, 0, first(0, 1)) == (LATENCY, True)
        assert (await driver.read(c, 0, 0)).words == first(0, 1)


@directed_test
async def a_lost_word_is_not_subtracted(driver: DirectedDriver) -> None:
    """If a word of the written line is lost, nothing changes, and the answer reports it. Of the
    other channel's words none is looked at.
    """
    await driver.tick({0: 0, 1: 64})
    await driver.wait(12)
    for c, k in product(range(driver.size.channels), range(8)):
        driver.lost = {k}
        assert await driver.acknowledge(c, 0, 0, first(1)) == (BAD, False)
        driver.lost = set()
        assert (await driver.read(c, 0, 0)).words == first(1)
        others = {f"acknowledgeWords_{other}_lost": int(other != c) for other in range(2)}
        driver.driver.set(**others)
        assert await driver.acknowledge(c, 0, 1, first()) == (LATENCY, True)
        await driver.wait(8)
    assert await driver.acknowledge(0, 0, 0, first(1)) == (LATENCY, True)
    assert (await driver.read(0, 0, 0)).words == first()


@directed_test
async def an_acknowledge_clears_no_parity(driver: DirectedDriver) -> None:
    """A bit that flips in any cycle amid one is overwritten, or its line stays bad. By a sum, and
    by an op that sets words that it has read.
    """
    every = range(LATENCY + 2)
    for op, operand, written, left in (
        ("add", 1, first(1), [7, *[5] * 7]),
        ("max", 3, first(3), [5] * 8),
    ):
        rule = replace(COUNT, op=op, operand=operand, effect_op="reset", effect_operand=5)
        await driver.rule(0, rule)
        bad = sum([await _stays_bad(driver, late, written, left) for late in every])
        assert 2 < bad < LATENCY + 2, op


async def _stays_bad(
    driver: DirectedDriver, late: int, written: list[int], left: list[int]
) -> bool:
    """Whether a bit that flips `late` cycles behind a line's offer leaves it bad; `left`: its
    words if not.
    """
    await driver.tick(clear_valid=1, clear_bits=0)
    await driver.cleared()
    await driver.table(0, (0, 0))
    for _ in range(3):
        await driver.tick({0: 0})
    await driver.wait(12)

    async def flips() -> None:
        for _ in range(late):
            await driver.driver.edge
        upset(driver, 17)

    flipping = cocotb.start_soon(flips())
    _, applied = await driver.acknowledge(0, 0, 0, written)
    await flipping
    await driver.wait(2)
    seen = await driver.read(0, 0, 0)
    right = left if applied else first(3)
    assert seen.poison or seen.words == right, f"flipped {late} cycles behind the offer"
    return seen.poison


@directed_test
async def an_acknowledge_leaves_the_rule(driver: DirectedDriver) -> None:
    """Right after an acknowledgement, reads have the rule's read effect again."""
    for op, operand, left in (("add", 3, 3), ("reset", 9, 9), ("xor", 6, 6)):
        await driver.rule(0, replace(COUNT, effect_op=op, effect_operand=operand))
        words = (await driver.read(0, 0, 0)).words
        fresh = [operand if op == "reset" else 0] * 8
        assert await driver.acknowledge(0, 0, 0, words) == (LATENCY, True)
        assert (await driver.read(0, 0, 0, True)).words == fresh
        assert (await driver.read(0, 0, 0)).words == [left] * 8


@directed_test
async def a_counter_of_which_one_byte_differs_is_kept(driver: DirectedDriver) -> None:
    """An op that compares takes equal counters away, and leaves each byte of others."""
    stored, fresh = 0x0102_0304_0506_0708, 0xF9FA_FBFC_FDFE_FFF1
    for width, byte in product((8, 16, 32, 64), range(8)):
        part = (1 << width) - 1
        counters = [(stored & part, fresh & part)] * (64 // width)
        rule = replace(COUNT, op="max", width=width, effect_op="reset")
        await driver.rule(0, replace(rule, effect_operand=stored & part))
        await driver.read(0, 0, 0, True)
        await driver.rule(0, replace(rule, effect_operand=fresh & part))
        word = sum(old << i * width for i, (old, _) in enumerate(counters))
        written = word ^ 0xA5 << 8 * byte
        assert await driver.acknowledge(0, 0, 0, [written] * 8) == (LATENCY, True)
        kept = 8 * byte // width
        left = sum(c[i != kept] << i * width for i, c in enumerate(counters))
        assert (await driver.read(0, 0, 0)).words == [left] * 8, (width, byte)


@directed_test
async def a_rule_waits_for_an_acknowledge(driver: DirectedDriver) -> None:
    """A rule offered during an acknowledgement applies after it, with its own operand."""
    idle = await driver.rule(1, COUNT)
    driver.written[0] = first(1)
    for late in range(1, LATENCY + 6):
        await driver.rule(0, replace(COUNT, effect_op="add", effect_operand=1))
        rule = replace(COUNT, effect_op="reset", effect_operand=7)
        assert await _rule_beside(driver, late, rule) - idle == max(0, LATENCY - late), late
        await driver.wait(2 * LATENCY)
        await driver.read(0, 0, 0, True)
        assert (await driver.read(0, 0, 0)).words == [7] * 8, late


async def _rule_beside(driver: DirectedDriver, late: int, rule: Rule) -> int:
    """Load a rule `late` cycles after a line is written back. Returns the cycles until its
    ready.
    """
    fields = {f"rule_bits_rule_{k}": v for k, v in registers(rule, True, SIZE).items()}
    offered = {"acknowledge_0_valid": 1}
    for cycle in range(10 * LATENCY):
        loads = {"rule_valid": 1, "rule_bits_pipeline": 0, **fields} if cycle >= late else {}
        await driver.tick(**offered, **loads)
        if driver.get("acknowledge_0_ready"):
            offered = {}
        if loads and driver.get("rule_ready"):
            return cycle - late
    raise AssertionError("the rule is not taken")


@directed_test
async def channels_take_turns(driver: DirectedDriver) -> None:
    """Lines offered on both channels are handled alternately, in the specified number of cycles."""
    await driver.tick({0: 0, 1: 64})
    await driver.wait(12)
    driver.written = {c: first(1) for c in range(2)}
    answers = []
    for cycle in range(6 * APART):
        await driver.tick(acknowledge_0_valid=1, acknowledge_1_valid=1)
        answers += [(cycle, c) for c in range(2) if driver.get(f"acknowledged_{c}_valid")]
    cycles, channels = zip(*answers, strict=True)
    assert channels[:4] in ((0, 1, 0, 1), (1, 0, 1, 0))
    assert {after - before for before, after in pairwise(cycles)} == {APART}
