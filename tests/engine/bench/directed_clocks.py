# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of pipelines whose clock has stopped; see `directed`."""

from __future__ import annotations

from dataclasses import replace

from tests.engine.bench.directed import COUNT, directed_test, first
from tests.engine.bench.directed_driver import DirectedDriver

STOPPED = 60  # cycles until a clock stops, and more


@directed_test
async def a_stopped_pipeline_is_read_and_cleared(driver: DirectedDriver) -> None:
    """Its counters stay while it has no clock, and a clear starts the clock."""
    await driver.rule(0, COUNT)
    await driver.tick({0: 0})
    await driver.rule(0, COUNT, enable=False)
    for _ in range(2):
        await driver.wait(STOPPED)
        assert (await driver.read(0, 0, 0)).words == first(1)
    await driver.wait(STOPPED)
    await driver.tick(clear_valid=1, clear_bits=0)
    await driver.cleared()
    assert driver.status(0) == dict.fromkeys(driver.status(0), 0)
    assert (await driver.read(0, 0, 0)).words == first()


@directed_test
async def a_stopped_pipeline_is_mapped(driver: DirectedDriver) -> None:
    """An entry that was written without a rule applies to the rule's first event."""
    await driver.rule(0, COUNT, enable=False)
    await driver.wait(STOPPED)
    await driver.table(0, (0, 5))
    await driver.wait(STOPPED)
    await driver.rule(0, COUNT)
    await driver.tick({0: 0})
    assert (await driver.read(0, 0, 0)).words == first(0, 0, 0, 0, 0, 1)


@directed_test
async def a_stopped_pipeline_is_rearmed(driver: DirectedDriver) -> None:
    """The latch of a rule that is gone is cleared."""
    await driver.rule(0, replace(COUNT, notify_op="ge", notify_operand=1))
    await driver.tick({0: 0})
    await driver.rule(0, COUNT, enable=False)
    await driver.wait(STOPPED)
    assert driver.get("status_0_notified")
    await driver.tick(rearm_0=1)
    await driver.wait(2)
    assert not driver.get("status_0_notified")
