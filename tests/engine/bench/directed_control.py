# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of rules, tables, clears, resets and the notify latch; see `directed`."""

from __future__ import annotations

from dataclasses import replace

from tests.engine.bench.directed import COUNT, END, LINE, SIZE, directed_test, first
from tests.engine.bench.directed_driver import DirectedDriver
from tests.engine.bench.script import Event, Read, registers


@directed_test
async def rule_applies_from_one_cycle_on(driver: DirectedDriver) -> None:
    """With events in every cycle on both channels, each counts under the old or the new rule.

    The new rule adds 1000 instead of 1, so a sum shows how many events came before it. The number
    is the same on both channels, and always as many cycles before the rule's ready.
    """
    new = replace(COUNT, operand=1000, effect_op="reset")
    fields = {f"rule_bits_rule_{k}": v for k, v in registers(new, True, SIZE).items()}
    lags = set()
    for before in (0, 1, 7):
        await driver.rule(0, replace(COUNT, effect_op="reset"))
        both: dict[int, Event | int] = {0: 0, 1: 64}
        for _ in range(before):
            await driver.tick(both)
        cycles, ready = before, 0
        while not ready:
            await driver.tick(both, rule_valid=1, rule_bits_pipeline=0, **fields)
            cycles, ready = cycles + 1, driver.get("rule_ready")
        await driver.wait(20)
        sums = [(await driver.read(c, 0, 0, True)).words[0] for c in range(2)]
        assert sums[0] == sums[1], sums
        old = sums[0] % 1000
        assert old + sums[0] // 1000 == cycles, sums
        assert old == before  # it applies in the cycle in which it is offered
        lags.add(cycles - 1 - old)
    assert len(lags) == 1, f"cycles from the rule's first event to its ready: {lags}"


@directed_test
async def rule_waits_for_a_serial_rmw(driver: DirectedDriver) -> None:
    """A rule offered amid an eight-slot read applies behind it, at most eight cycles later."""
    idle = await driver.rule(0, replace(COUNT, effect_op="add", effect_operand=5))
    await driver.tick(reads={1: Read(0, 0, 0, True)})
    assert await driver.rule(0, replace(COUNT, effect_op="reset")) - idle == 7
    assert (await driver.read(1, 0, 0)).words == [5] * 8


@directed_test
async def rules_back_to_back(driver: DirectedDriver) -> None:
    """A rule right after another one takes just as long, and the first rule applies in between."""
    cycles = await driver.rule(0, replace(COUNT, operand=10))
    assert await driver.rule(0, replace(COUNT, operand=100)) == cycles
    await driver.tick({0: 0})
    assert await driver.rule(1, COUNT) == cycles
    assert (await driver.read(0, 0, 0)).words == first(100)


@directed_test
async def table_write_in_the_cycle_of_its_event(driver: DirectedDriver) -> None:
    """An entry applies to the event of its own cycle, not to the one before."""
    bits = {"pipeline": 0, "key": 0, "base": 3, "mapped": 1}
    write = {f"table_bits_{name}": value for name, value in bits.items()}
    await driver.tick({0: 0})
    await driver.tick({0: 0}, table_valid=1, **write)
    await driver.tick({0: 0})
    await driver.tick({0: 0}, table_valid=1, **{**write, "table_bits_mapped": 0})
    await driver.tick({0: 0})
    await driver.wait(12)
    assert (await driver.read(0, 0, 0)).words == first(1, 0, 0, 2)
    assert (driver.status(0)["matched"], driver.status(0)["unmapped"]) == (3, 2)


@directed_test
async def drops_are_counted(driver: DirectedDriver) -> None:
    """Unmapped keys and indexes past the last counter are dropped and counted, and never wrap."""
    rule = replace(COUNT, primary_mask=END - 1, primary_shift=14, type="W", start=128, end=END - 64)
    await driver.rule(0, replace(rule, sub_mask=0x3F80))
    await driver.table(0, (0, 0), (1, SIZE.states - 1), (2, SIZE.counters - 1), (4, SIZE.counters))
    matched = [(128, 1), (1 << 14, 1)]
    unmapped = [(3 << 14, 1), (END - 65 - 64, 1)]  # no entry; a key past the table
    past = [((1 << 14) + 128, 1), (2 << 14, 1), ((2 << 14) + 0x3F80, 1)]
    past += [(4 << 14, 1), ((4 << 14) + 0x3F80, 1)]
    filtered = [(128, 0), (0, 1), (127, 1), (END - 64, 1), (END - 1, 1)]
    for address, write in matched + unmapped + past + filtered:
        await driver.tick({address >> 6 & 1: (address, write)})
    await driver.wait(12)
    counts = driver.status(0)
    assert (counts["matched"], counts["unmapped"], counts["outOfRange"]) == (2, 2, 5), counts
    assert (await driver.read(0, 0, 0)).words == first(0, 1)
    assert (await driver.read(0, 0, SIZE.lines - 1)).words == [*[0] * 7, 1]


@directed_test
async def every_address_bit_past_a_field_is_looked_at(driver: DirectedDriver) -> None:
    """With all bits in the mask, each bit of an address and each shift: what the field cannot hold
    is dropped and counted.
    """
    bits, counters = SIZE.address_bits, SIZE.counters
    await driver.table(0, *((key, 0) for key in range(SIZE.table)))
    for field, name in (("primary", "unmapped"), ("sub", "outOfRange")):
        fits = (SIZE.table if field == "primary" else counters).bit_length() - 1
        for shift in range(bits):
            mask = {f"{field}_mask": END - 1, f"{field}_shift": shift, "width": 8}
            await driver.rule(0, replace(COUNT, **{"primary_mask": 0, "sub_mask": 0, **mask}))
            before = driver.status(0)
            past = [bit for bit in range(bits) if bit - shift >= fits]
            for bit in range(bits):
                await driver.tick({int(bit == 6): 1 << bit})
            await driver.wait(12)
            expected = before | {name: before[name] + len(past)}
            expected["matched"] += bits - len(past)
            assert driver.status(0) == expected, (field, shift)


@directed_test
async def clear_starts_from_nothing(driver: DirectedDriver) -> None:
    """A clear during traffic zeroes states, table and counters; the rules stay."""
    await driver.rule(1, COUNT)
    await driver.table(1, (0, 0))
    both: dict[int, Event | int] = {0: 0, 1: 64}
    for _ in range(5):
        await driver.tick(both)
    await driver.tick(both, clear_valid=1, clear_bits=0)
    await driver.tick(both, reads={0: Read(0, 0, 0, True)})
    cycles = 1
    while driver.get("status_0_clearing"):
        await driver.tick(both)
        cycles += 1
    assert cycles - 1 == SIZE.clear_cycles
    await driver.wait(12)
    assert driver.status(0) | {"unmapped": 0} == dict.fromkeys(driver.status(0), 0)
    # The table is empty: the one event after `clearing` fell found no entry on either channel.
    assert driver.status(0)["unmapped"] == 2
    assert driver.status(1)["matched"] == 2 * (6 + cycles)
    await driver.table(0, (0, 1))
    await driver.tick(both)
    await driver.wait(12)
    assert [(await driver.read(c, 0, 0)).words for c in range(2)] == [first(0, 1)] * 2
    assert (await driver.read(0, 1, 0)).words == first(7 + cycles)


@directed_test
async def reset_forgets_the_read_effect(driver: DirectedDriver) -> None:
    """After a reset, and before a rule is loaded, a read with effect changes nothing."""
    for effect in ("reset", "add"):
        await driver.rule(0, replace(COUNT, effect_op=effect, effect_operand=7))
        await driver.tick(reads={0: Read(0, 0, 0, True)})
        await driver.tick({0: 0})
        await driver.reset()
        driver.lines.clear()
        await driver.cleared()
        await driver.wait(20)
        assert driver.lines == []
        assert (await driver.read(0, 0, 0, True)).words == first()
        assert (await driver.read(0, 0, 0)).words == first(), effect
        await driver.tick({0: 0})
        await driver.wait(12)
        assert driver.status(0) == dict.fromkeys(driver.status(0), 0)


@directed_test
async def latch_keeps_the_first(driver: DirectedDriver) -> None:
    """The latch keeps channel and index of the first hit; of two at once, that of the lower
    channel.
    """
    for width in (8, 16, 32, 64):
        rule = replace(COUNT, width=width, notify_op="ge", notify_operand=1)
        await driver.tick(clear_valid=1, clear_bits=0)
        await driver.cleared()
        await driver.rule(0, rule)
        await driver.table(0, (0, 0))
        await driver.tick(rearm_0=1)
        await driver.tick({0: 5 * 128, 1: 6 * 128 + 64})
        await driver.tick({0: 7 * 128})
        await driver.wait(20)
        names = ("notified", "notifiedChannel", "notifiedIndex")
        assert [driver.get(f"status_0_{name}") for name in names] == [1, 0, 5], width
        await driver.tick(rearm_0=1)
        await driver.tick({1: 3 * 128 + 64})
        assert not driver.get("status_0_notified")
        await driver.wait(20)
        assert [driver.get(f"status_0_{name}") for name in names] == [1, 1, 3], width
        assert driver.status(0)["notifications"] == 4


@directed_test
async def no_hit_of_a_rule_behind_the_next_ones_ready(driver: DirectedDriver) -> None:
    """A notification of an event right before a new rule comes before the rule's ready, or
    never.
    """
    quiet = replace(COUNT, notify_op="none")
    for apart in range(4):
        await driver.rule(0, replace(COUNT, notify_op="ge", notify_operand=1))
        before = driver.status(0)["notifications"]
        await driver.tick({0: 0})
        await driver.wait(apart)
        await driver.rule(0, quiet)
        await driver.tick(rearm_0=1)
        await driver.wait(20)
        assert driver.status(0)["notifications"] == before + 1, apart
        assert not driver.get("status_0_notified"), apart


@directed_test
async def acknowledge_loses_no_hit(driver: DirectedDriver) -> None:
    """An acknowledge in any cycle around a second hit does not lose the hit or its index."""
    await driver.rule(0, replace(COUNT, notify_op="ge", notify_operand=1))
    await driver.tick({0: 0})
    lag = 0  # cycles from an event until the latch shows it
    while not driver.get("status_0_notified"):
        await driver.tick()
        lag += 1
    for late in range(lag - 5, lag + 5):
        await driver.tick({0: 0})
        await driver.wait(20)
        await driver.tick({0: LINE})  # the second hit, index 8
        await driver.wait(late - 1)
        await driver.tick(rearm_0=1)
        await driver.wait(20)
        # An acknowledge after the second hit clears that too; otherwise the hit is latched now.
        shown = driver.get("status_0_notified"), driver.get("status_0_notifiedIndex")
        assert shown[0] == 0 or shown == (1, 8), late
        assert shown[0] == (late < lag), f"acknowledged {late} cycles after the event"
        await driver.tick(rearm_0=1)
        await driver.wait(2)


@directed_test
async def widths_share_a_word(driver: DirectedDriver) -> None:
    """Counters of a word are independent: 0 - 1 and max + 1 do not carry into the next one."""
    for width in (8, 16, 32):
        top = (1 << width) - 1
        for op, expected in (("sub", top), ("addsat", top), ("shl", 0)):
            rule = replace(COUNT, width=width, op=op, operand=1 if op == "sub" else top)
            await driver.tick(clear_valid=1, clear_bits=0)
            await driver.cleared()
            await driver.rule(0, rule)
            await driver.table(0, (0, 0))
            for _ in range(1 if op == "sub" else 3):
                await driver.tick({0: 128})  # counter 1 of word 0
            await driver.wait(12)
            assert (await driver.read(0, 0, 0)).words == first(expected << width), (width, op)
