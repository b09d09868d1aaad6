# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the state words' parity, with bit flips in the memories of a running engine."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

from cocotb.types import LogicArray

from tests.engine.bench.directed import COUNT, LINE, directed_test, first
from tests.engine.bench.directed_driver import DirectedDriver, memories
from tests.engine.bench.script import Read

PARITY = 64  # position of the parity bits of the lower and upper half, above the data
BITS = (0, 17, 63, PARITY, PARITY + 1)


def upset(
    driver: DirectedDriver, bit: int, word: int = 0, line: int = 0, p: int = 0, channel: int = 0
) -> None:
    """Flip a bit of a word of a line in the current cycle."""
    memory: Any = memories(driver.dut, p, channel)[word]
    value = int(str(memory[line].value), 2) ^ 1 << bit
    memory[line].value = LogicArray.from_unsigned(value, PARITY + 2)


async def flip(driver: DirectedDriver, bit: int, *where: int, **place: int) -> None:
    """Flip a bit and wait until it is flipped."""
    upset(driver, bit, *where, **place)
    await driver.wait(2)


def data(bit: int) -> int:
    """The effect of the flip on the data."""
    return 0 if bit >= PARITY else 1 << bit


@directed_test
async def a_flipped_bit_poisons_its_line(driver: DirectedDriver) -> None:
    """Each read of the line with the bit is poisoned and counted; other lines are not."""
    await driver.tick({0: 128})
    await driver.wait(12)
    for count, (bit, word) in enumerate(product(BITS, range(8))):
        await flip(driver, bit, word)
        seen = await driver.read(0, 0, 0)
        expected = first(0, 1)
        expected[word] ^= data(bit)
        assert seen.poison and seen.words == expected, (bit, word)
        assert (await driver.read(0, 0, 0)).poison
        assert not (await driver.read(0, 0, 1)).poison
        assert not (await driver.read(0, 1, 0)).poison
        assert not (await driver.read(1, 0, 0)).poison
        await driver.wait(4)
        assert driver.status(0)["parityErrors"] == 2 * (count + 1)
        assert driver.status(1)["parityErrors"] == 0
        await flip(driver, bit, word)
        assert not (await driver.read(0, 0, 0)).poison


@directed_test
async def poison_counts_where_it_is_read(driver: DirectedDriver) -> None:
    """Each pipeline counts its own poisoned reads on every channel, also two in one cycle."""
    for p in range(2):
        for channel in range(2):
            await flip(driver, 9, line=4, p=p, channel=channel)
            seen = [await driver.read(c, q, 4) for c in range(2) for q in range(2)]
            await driver.wait(4)
            assert sum(line.poison for line in seen) == 2 * p + channel + 1
        own = driver.status(p)["parityErrors"]
        await driver.tick(reads={c: Read(0, p, 4, False) for c in range(2)})
        await driver.wait(20)
        assert driver.status(p)["parityErrors"] == own + 2
    assert [driver.status(p)["parityErrors"] for p in range(2)] == [3 + 2 + 2 * 2, 3 + 2]


@directed_test
async def an_update_keeps_bad_parity(driver: DirectedDriver) -> None:
    """Updates of a bad word 1 to 6 slots apart leave it bad, also for a read 1 to 6 slots later.
    Right before and after that read another pipeline is read, which has no bad words.
    """
    other = Read(0, 1, 0, False)
    for bit, apart, behind in product((17, 49, PARITY), range(1, 7), range(1, 7)):
        await driver.tick(clear_valid=1, clear_bits=0)
        await driver.cleared()
        await driver.table(0, (0, 0))
        await flip(driver, bit)
        driver.lines.clear()
        for wait in (apart, apart, 1):
            await driver.tick({0: 0})
            await driver.wait(wait - 1)
        if behind > 1:
            await driver.wait(behind - 2)
            await driver.tick(reads={0: other})
        await driver.tick(reads={0: Read(0, 0, 0, False)})
        await driver.tick(reads={0: other})
        await driver.wait(20)
        expected = first((3 + data(bit)) % 2**64)
        *before, line, after = driver.lines
        assert (line.words, line.poison) == (expected, True), (bit, apart, behind)
        assert len(before) == (behind > 1), (bit, apart, behind)
        assert not any(line.poison for line in (*before, after)), (bit, apart, behind)
        assert (await driver.read(0, 0, 0)).poison, (bit, apart, behind)


@directed_test
async def events_keep_bad_parity_where_reads_reset(driver: DirectedDriver) -> None:
    """An event leaves a bad word bad, also if the read effect is a reset."""
    await driver.rule(0, replace(COUNT, effect_op="reset"))
    await flip(driver, 40)
    await driver.tick({0: 0})
    await driver.wait(12)
    assert (await driver.read(0, 0, 0)).poison


@directed_test
async def a_good_update_beside_a_bad_word(driver: DirectedDriver) -> None:
    """Updates of the words next to a bad one stay good, and so do lines without it."""
    await flip(driver, 5, word=3)
    for _ in range(2):
        await driver.tick({0: 128 * 2})
        await driver.tick({0: 128 * 4})
        await driver.tick({0: LINE + 128 * 3})
    await driver.wait(12)
    assert (await driver.read(0, 0, 0)).words == first(0, 0, 2, 32, 2)
    seen = await driver.read(0, 0, 1)
    assert seen.words == first(0, 0, 0, 2) and not seen.poison


@directed_test
async def a_bad_word_does_not_notify(driver: DirectedDriver) -> None:
    """Updates of a bad word 1 to 6 slots apart count as matched, but no predicate holds."""
    await driver.rule(0, replace(COUNT, effect_op="reset", notify_op="ge", notify_operand=0))
    matched = notifications = 0
    for bit, apart in product((17, 49, PARITY), range(1, 7)):
        await flip(driver, bit)
        for _ in range(6):
            await driver.tick({0: 0})
            await driver.wait(apart - 1)
        await driver.wait(20)
        matched += 6
        status = driver.status(0)
        seen = (status["matched"], status["notifications"], driver.get("status_0_notified"))
        assert seen == (matched, notifications, 0), (bit, apart)
        # The good word next to it notifies; so does the bad one after a reset.
        for update in ({0: 0}, {0: 128}, {0: 0}):
            await driver.tick(update)
        await driver.tick(reads={0: Read(0, 0, 0, True)})
        await driver.tick({0: 0})
        await driver.wait(20)
        matched, notifications = matched + 4, notifications + 2
        status = driver.status(0)
        assert (status["matched"], status["notifications"]) == (matched, notifications), bit
        assert driver.get("status_0_notified") and driver.get("status_0_notifiedIndex") == 1
        await driver.tick(rearm_0=1)
        await driver.tick()


@directed_test
async def a_reset_clears_parity(driver: DirectedDriver) -> None:
    """A read-with-reset returns the poison and clears it, also right behind an update."""
    await driver.rule(0, replace(COUNT, effect_op="reset", effect_operand=4))
    for bit in BITS:
        for distance in range(1, 7):
            await driver.read(0, 0, 0, True)
            await flip(driver, bit)
            driver.lines.clear()
            await driver.tick({0: 0})
            await driver.wait(distance - 1)
            await driver.tick(reads={0: Read(0, 0, 0, True)})
            await driver.tick(reads={0: Read(0, 0, 0, False)})
            await driver.tick({0: 0})
            await driver.wait(20)
            assert [seen.poison for seen in driver.lines] == [True, False], (bit, distance)
            assert driver.lines[1].words == [4] * 8
            seen = await driver.read(0, 0, 0)
            assert seen.words == [5, *[4] * 7] and not seen.poison


@directed_test
async def an_op_effect_keeps_the_poison(driver: DirectedDriver) -> None:
    """A serial RMW returns the poison of any word, and leaves that word bad alone."""
    await driver.rule(0, replace(COUNT, effect_op="add", effect_operand=2))
    for word in range(8):
        await driver.tick(clear_valid=1, clear_bits=0)
        await driver.cleared()
        await flip(driver, 8, word=word)
        seen = await driver.read(0, 0, 0, True)
        assert seen.poison and seen.words == [256 * (k == word) for k in range(8)]
        again = await driver.read(0, 0, 0, True)
        assert again.poison and again.words == [2 + 256 * (k == word) for k in range(8)]
        assert not (await driver.read(0, 0, 1, True)).poison
        await flip(driver, 8, word=word)
        assert not (await driver.read(0, 0, 0)).poison


@directed_test
async def a_serial_rmw_beside_updates_of_bad_words(driver: DirectedDriver) -> None:
    """An update 1 to 7 slots ahead of a serial RMW poisons it, and not the one right behind."""
    await driver.rule(0, replace(COUNT, effect_op="add", effect_operand=2))
    for bit, word, apart in product((17, PARITY), range(8), range(1, 8)):
        await driver.tick(clear_valid=1, clear_bits=0)
        await driver.cleared()
        await driver.table(0, (0, 0))
        await flip(driver, bit, word)
        driver.lines.clear()
        await driver.tick({0: 128 * word})
        await driver.wait(apart - 1)
        await driver.tick(reads={0: Read(0, 0, 0, True)})
        await driver.tick(reads={0: Read(0, 0, 1, True)})
        await driver.wait(40)
        expected = first()
        expected[word] = 1 + data(bit)
        answer, behind = driver.lines
        assert (answer.words, answer.poison) == (expected, True), (bit, word, apart)
        assert (behind.words, behind.poison) == (first(), False), (bit, word, apart)


@directed_test
async def a_clear_clears_parity(driver: DirectedDriver) -> None:
    """A clear leaves good words and no parity errors."""
    await flip(driver, 3)
    assert (await driver.read(0, 0, 0)).poison
    await driver.tick(clear_valid=1, clear_bits=0)
    await driver.cleared()
    seen = await driver.read(0, 0, 0)
    assert not seen.poison and seen.words == first()
    await driver.wait(4)
    assert driver.status(0)["parityErrors"] == 0
