# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the bench itself: it must notice every difference from a plan."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

import cocotb

from tests.bench.difference import Difference
from tests.engine.bench.coverage import Cover
from tests.engine.bench.directed import SIZE
from tests.engine.bench.driver import Driver
from tests.engine.bench.plan import Plan
from tests.engine.bench.reference import Reference
from tests.engine.bench.traffic import random_script


def _strobe(at: int) -> Callable[[Plan], None]:
    def change(plan: Plan) -> None:
        strobes = plan.strobes[len(plan.strobes) // 2]
        strobe = strobes[at]
        assert strobe is not None
        strobes[at] = 1 - strobe

    return change


def _word(plan: Plan) -> None:
    list(plan.lines.values())[-1][0].words[3] ^= 1 << 40


def _poison(plan: Plan) -> None:
    next(iter(plan.lines.values()))[0].poison = True


def _counter(plan: Plan) -> None:
    values = list(plan.status.values())[-1]
    name, value = values[0]
    values[0] = (name, value + 1)


def _event(plan: Plan) -> None:
    """Remove a counted event, so that the engine gets one less than the model."""
    for drives in plan.drives[600:]:
        if ("events_0_valid", 1) in drives:
            drives[drives.index(("events_0_valid", 1))] = ("events_0_valid", 0)


@cocotb.test()
async def a_wrong_expectation_is_noticed(dut: Any) -> None:
    """The bench notices a changed strobe, word, poison or counter, and missing events."""
    driver = Driver(dut, SIZE)
    driver.start()
    timing = await driver.calibrate()
    plan = Reference(SIZE, timing, Cover(), random_script(3, SIZE, 1500), Random(3)).run()
    await driver.run_plan(plan)
    strobes = [_strobe(at) for at in range(len(plan.strobes[0]))]
    for change in [*strobes, _word, _poison, _counter, _event]:
        wrong = deepcopy(plan)
        change(wrong)
        try:
            await driver.run_plan(wrong)
        except Difference:
            continue
        raise AssertionError(f"{change} went unnoticed")


@cocotb.test()
async def a_seed_is_the_same_again(dut: Any) -> None:
    """Two plans of one seed are equal, so a failed seed can be repeated."""
    driver = Driver(dut, SIZE)
    driver.start()
    timing = await driver.calibrate()
    plans = [
        Reference(SIZE, timing, Cover(), random_script(5, SIZE, 1000), Random(5)).run()
        for _ in range(2)
    ]
    assert plans[0] == plans[1] != Plan()
