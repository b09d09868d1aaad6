# SPDX-License-Identifier: Apache-2.0
"""cocotb tests: bits flip in the expander's own memories. Nothing wrong comes out unpoisoned.

FLIPS: how many of the campaign, of `make soak`.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from random import Random
from typing import Any

import cocotb

from anemone.hardware import registers
from anemone.hardware.registers import FaultMemory
from tests.bench.upsets import Flipper, words
from tests.expander.bench.environment import Environment
from tests.expander.bench.sizes import BUILDS
from tests.expander.bench.tiered import environment_type

FLIPS = int(os.environ.get("FLIPS", "300"))
CYCLES = 1500  # of a seed
SEEDS = 30  # at most, until a flipped bit of each memory in `OFTEN` was read
POLL = (40, 200)  # cycles between two looks at the registers
# Those in which something is at any time, or, where many are under way, soon.
OFTEN = {FaultMemory.READ_ORDER, FaultMemory.WRITE_ORDER}
OFTEN_TIERED = {FaultMemory.WRITES, FaultMemory.EVENTS}
# Those that every build has besides; and in flat memory mode.
BUILT = {FaultMemory.REGION_WRITES, FaultMemory.ACKNOWLEDGES, FaultMemory.WAITING_EVENTS}
BUILT_TIERED = {FaultMemory(n) for n in range(FaultMemory.LEAVING_LINES + 1)} | {
    FaultMemory.ORDERED_EVENTS,
    FaultMemory.ORDERED_READS,
}
FAULTS = (registers.FAULTS_CORRECTED, registers.FAULTS_UNCORRECTED, registers.FIRST_FAULT)
REARM = registers.FAULT_CONTROL.pack(rearm=1)
# Where those are in the design that correct a bit.
CORRECTING = {
    r"channel_\d+\.order\.": FaultMemory.READ_ORDER,
    r"channel_\d+\.gate\.order\.": FaultMemory.WRITE_ORDER,
    r"channel_\d+\.gate\.plans\.": FaultMemory.REGION_WRITES,
    r"channel_\d+\.gate\.lines\.": FaultMemory.ACKNOWLEDGES,
    r"arbiters.*\.waiting\.": FaultMemory.WAITING_EVENTS,
    r"\.unit\.operands\.": FaultMemory.RESET_VALUES,
    r"adapter_\d+\.queue\.": FaultMemory.MEMORY_DATA,
    r"adapter_\d+\.queue_1\.": FaultMemory.MEMORY_ANSWERS,
    r"order_\d+\.events\.": FaultMemory.ORDERED_EVENTS,
    r"order_\d+\.reads\.": FaultMemory.ORDERED_READS,
    r"tiered_\d+\.memory\.lines\.": FaultMemory.LINES,
    r"tiered_\d+\.memory\.data\.": FaultMemory.WRITES,
    r"tiered_\d+\.memory\.responses\.answers\.": FaultMemory.ANSWERS,
    r"tiered_\d+\.memory\.lookup\.": FaultMemory.LOOKUPS,
    r"tiered_\d+\.memory\.fetches\.": FaultMemory.FETCHES,
    r"tiered_\d+\.memory\.undecided\.": FaultMemory.EVENTS,
    r"tiered_\d+\.memory\.responses\.out\.": FaultMemory.LEAVING_ANSWERS,
    r"tiered_\d+\.memory\.sequencer\.queue": FaultMemory.LEAVING_LINES,
}


def kind(path: str) -> FaultMemory | None:
    """The memory that is there; None: none that corrects."""
    return next(
        (memory for where, memory in CORRECTING.items() if re.search(where, f"{path}.")), None
    )


def arrays(scope: Any, path: str = "") -> dict[str, Any]:
    """The memories below a scope that correct what is flipped, by where they are."""
    found: dict[str, Any] = {}
    for child in scope:
        if type(child).__name__ != "HierarchyObject":
            continue
        name = f"{path}.{child._name}"
        memory = words(child)
        if memory is not None and kind(name) is not None:
            found[name] = memory
        found |= arrays(child, name)
    return found


class Upsets:
    """An environment of which it is known what is flipped, and told."""

    def __init__(self, environment: Environment) -> None:
        self.environment, self.met = environment, Counter[FaultMemory]()
        check = environment.check_memories

        async def counted() -> None:
            await check()
            corrected, uncorrected, _ = await self.registers()
            assert not uncorrected
            environment.scoreboards[0].counts["error corrected"] = corrected

        environment.check_memories = counted  # type: ignore[method-assign]

    async def registers(self) -> list[int]:
        """Counts, and the first."""
        return await self.environment.registers([register.offset for register in FAULTS])

    def look(self) -> None:
        """Read which was the first, and have it forgotten."""

        def told(resp: int, value: int) -> None:
            fields = registers.FIRST_FAULT.unpack(value)
            if fields["valid"]:
                assert not fields["uncorrected"], fields
                self.met[FaultMemory(fields["memory"])] += 1

        control = self.environment.control
        control.read(registers.FIRST_FAULT.offset, told)
        control.write(registers.FAULT_CONTROL.offset, REARM)


@cocotb.test()
async def a_flipped_bit_anywhere_is_corrected(dut: Any) -> None:
    """Under random traffic, in lock-step with the golden model: all is as if none had flipped, but
    for the counts and the bit of `error_status`.
    """
    build = BUILDS[os.environ["BENCH_SIZE"]]
    environment = environment_type(build)(dut, build, Counter())
    await environment.start()
    upsets = Upsets(environment)
    found = arrays(dut)
    often = OFTEN | OFTEN_TIERED if build.ratio else OFTEN
    built = {kind(path) for path in found}
    assert built >= often | BUILT | (BUILT_TIERED if build.ratio else set()), built
    flips, seed = 0, 1000
    while flips < FLIPS or (not upsets.met.keys() >= often and seed < 1000 + SEEDS):
        seed += 1
        await environment.restart(seed)
        await environment.program()
        flipper = Flipper(dut, [[array] for array in found.values()], Random(seed))
        running = cocotb.start_soon(flipper.run())
        end = environment.t + CYCLES
        while environment.t < end:
            environment.phase()
            for _ in range(3):
                await environment.cycles(environment.rng.randint(*POLL))
                upsets.look()
        flipper.stopped = True
        await environment.check()
        await running
        flips += flipper.flips
    print(f"{flips} flips in {len(found)} memories, {seed - 1000} seeds: {upsets.met}", flush=True)
    assert upsets.met.keys() >= often, upsets.met
