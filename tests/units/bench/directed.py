# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the units of a build, side by side."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from tests.bench.pins import power_on
from tests.units.bench.build import kind
from tests.units.bench.drain import DrainUnit
from tests.units.bench.fault_log import FaultLogUnit
from tests.units.bench.id_counter import IdCounterUnit
from tests.units.bench.interrupts import InterruptsUnit
from tests.units.bench.queues import QueueUnit
from tests.units.bench.rams import RamUnit, VotedUnit

UNITS = {
    "ProtectedQueue": QueueUnit,
    "ProtectedRam": RamUnit,
    "VotedRam": VotedUnit,
    "FaultLog": FaultLogUnit,
    "IdCounter": IdCounterUnit,
    "StaleResponseDrain": DrainUnit,
    "InterruptUnit": InterruptsUnit,
}
Unit = QueueUnit | RamUnit | VotedUnit | FaultLogUnit | IdCounterUnit | DrainUnit | InterruptsUnit
CYCLES = 400  # of random use
SEED = 1


async def each(dut: Any, *steps: Callable[[Unit], Awaitable[None]]) -> None:
    """Do the steps with all units side by side, with a reset before each."""
    found = json.loads(Path(os.environ["BENCH_PARAMS"]).read_text())
    units = [
        UNITS[kind(module)](dut, module, what, Random(f"{SEED} {module}"))
        for module, what in found.items()
    ]
    assert units
    await power_on(dut)
    for step in steps:
        dut.reset.value = 1
        for unit in units:
            unit.restart()
        await ClockCycles(dut.clock, 8)
        dut.reset.value = 0
        for running in [cocotb.start_soon(step(unit)) for unit in units]:
            await running


@cocotb.test()
async def each_unit_is_as_its_model_in_every_cycle(dut: Any) -> None:
    """Random use with injected flips, amid which resets come."""

    async def wait(unit: Unit) -> None:
        if isinstance(unit, DrainUnit):
            await unit.waits()

    await each(dut, *[lambda unit: unit.random(CYCLES)] * 2, wait)


@cocotb.test()
async def each_flipped_bit_is_corrected(dut: Any) -> None:
    """Also check bits; alone, and with one in each other part."""

    async def flips(unit: Unit) -> None:
        if isinstance(unit, VotedUnit):
            await unit.flips([1 << bit for bit in range(unit.width)] * 3)
        if isinstance(unit, IdCounterUnit):
            await unit.flips_of_each_bit()
        if not isinstance(unit, QueueUnit | RamUnit):
            return
        parts = [part.bits for part in unit.code.parts]
        longest = max(map(len, parts))
        together = [sum(1 << bits[k % len(bits)] for bits in parts) for k in range(longest)]
        await unit.flips([1 << bit for bit in range(unit.code.bits)] + together)

    await each(dut, flips)


@cocotb.test()
async def each_syndrome_has_its_verdict(dut: Any) -> None:
    """In each part: corrected if it is a bit's, and noticed if not."""

    async def syndromes(unit: Unit) -> None:
        if isinstance(unit, QueueUnit | RamUnit):
            await unit.flips(
                [
                    value << part.checks.start
                    for part in unit.code.parts
                    for value in range(1 << len(part.checks))
                ]
            )

    await each(dut, syndromes)
