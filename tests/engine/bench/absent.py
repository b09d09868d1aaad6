# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of accesses to a pipeline that does not exist: size p3c4, pipeline 3."""

from __future__ import annotations

from dataclasses import replace

from tests.engine.bench.directed import COUNT, SIZE, directed_test, first
from tests.engine.bench.directed_driver import DirectedDriver

ABSENT = SIZE.pipelines


@directed_test
async def an_absent_pipeline_reads_as_zero(driver: DirectedDriver) -> None:
    """A read of an absent pipeline returns zeros on every channel and changes nothing elsewhere."""
    rule = replace(COUNT, sub_mask=0, effect_op="reset", effect_operand=9)
    for p in range(ABSENT):
        await driver.rule(p, rule)
        await driver.table(p, (0, 0))
    await driver.tick({c: 64 * c for c in range(SIZE.channels)})
    for effect in ("reset", "add"):
        await driver.rule(0, replace(rule, effect_op=effect))
        for c in range(SIZE.channels):
            seen = await driver.read(c, ABSENT, 0, effect=True)
            assert seen.words == first() and not seen.poison
            for p in range(ABSENT):
                assert (await driver.read(c, p, 0)).words == first(1), (effect, c, p)


@directed_test
async def an_absent_pipeline_takes_writes(driver: DirectedDriver) -> None:
    """Rules, table entries and clears for an absent pipeline are accepted and change nothing."""
    await driver.tick({0: 0})
    await driver.rule(ABSENT, replace(COUNT, operand=100, effect_op="reset"))
    await driver.table(ABSENT, (0, 5))
    await driver.tick(clear_valid=1, clear_bits=ABSENT)
    assert not any(driver.get(f"status_{p}_clearing") for p in range(ABSENT))
    await driver.tick({0: 0})
    await driver.wait(12)
    assert (await driver.read(0, 0, 0, effect=True)).words == first(2)
    assert (await driver.read(0, 0, 0)).words == first(2)
