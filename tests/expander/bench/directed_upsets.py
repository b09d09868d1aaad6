# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of bit flips in the expander's own memories: wrong data never come out unpoisoned.

FLIPS: number of flips in the campaign; set by `make soak`. Seeds with a flipped bit in each word
grow with it.
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
from tests.bench.upsets import EveryWord, Flipper, words
from tests.expander.bench.environment import Environment
from tests.expander.bench.flat_board import environment_type
from tests.expander.bench.sizes import BUILDS

FLIPS = int(os.environ.get("FLIPS", "300"))
CYCLES = 1500  # per seed
EACH = max(1, FLIPS // 75)  # fewest seeds in which each word has a flipped bit
SEEDS = 30  # limit for reading a flipped bit of each memory in `OFTEN`
POLL = (40, 200)  # cycles between two reads of the registers
# Memories that always have contents, or soon have them when many requests are in flight.
OFTEN = {FaultMemory.READ_ORDER, FaultMemory.WRITE_ORDER}
OFTEN_TIERED = {FaultMemory.WRITES, FaultMemory.EVENTS}
# The other memories of every build, and those of flat memory mode.
BUILT = {
    *(FaultMemory.REGION_WRITES, FaultMemory.ACKNOWLEDGES, FaultMemory.WAITING_EVENTS),
    *(FaultMemory.TELEMETRY_LINES, FaultMemory.LINE_ORDER),
}
BUILT_TIERED = {FaultMemory(n) for n in range(FaultMemory.LEAVING_LINES + 1)} | {
    FaultMemory.ORDERED_EVENTS,
    FaultMemory.ORDERED_READS,
}
FAULTS = (registers.FAULTS_CORRECTED, registers.FAULTS_UNCORRECTED, registers.FIRST_FAULT)
REARM = registers.FAULT_CONTROL.pack(rearm=1)
# Where the memories that correct a bit are in the design.
CORRECTING = {
    r"channel_\d+\.order\.": FaultMemory.READ_ORDER,
    r"channel_\d+\.writeSink\.order\.": FaultMemory.WRITE_ORDER,
    r"channel_\d+\.writeSink\.plans\.": FaultMemory.REGION_WRITES,
    r"channel_\d+\.writeSink\.lines\.": FaultMemory.ACKNOWLEDGES,
    r"channel_\d+\.telemetry\.buffer\.lines\.": FaultMemory.TELEMETRY_LINES,
    r"channel_\d+\.telemetry\.buffer\.slotOrder\.": FaultMemory.LINE_ORDER,
    r"arbiters.*\.eventQueue\.": FaultMemory.WAITING_EVENTS,
    r"\.acknowledgeUnit\.resetValues\.": FaultMemory.RESET_VALUES,
    r"adapter_\d+(_near|_far)?\.queue\.": FaultMemory.MEMORY_DATA,
    r"adapter_\d+(_near|_far)?\.queue_1\.": FaultMemory.MEMORY_ANSWERS,
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
    """The kind of memory at this place; None if it does not correct bits."""
    return next(
        (memory for where, memory in CORRECTING.items() if re.search(where, f"{path}.")), None
    )


def arrays(scope: Any, path: str = "") -> dict[str, Any]:
    """The memories below a scope that correct flipped bits, by their place."""
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
    """An environment with the flips and reports that are expected."""

    def __init__(self, environment: Environment) -> None:
        self.environment, self.reported = environment, Counter[FaultMemory]()
        check = environment.check_memories

        async def counted() -> None:
            await check()
            corrected, uncorrected, _ = await self.registers()
            assert not uncorrected
            environment.scoreboards[0].counts["error corrected"] = corrected

        environment.check_memories = counted  # type: ignore[method-assign]

    async def registers(self) -> list[int]:
        """The counts, and the first report."""
        return await self.environment.registers([register.offset for register in FAULTS])

    def look(self) -> None:
        """Read the first report, and clear it."""

        def count(resp: int, value: int) -> None:
            fields = registers.FIRST_FAULT.unpack(value)
            if fields["valid"]:
                assert not fields["uncorrected"], fields
                self.reported[FaultMemory(fields["memory"])] += 1

        control = self.environment.control
        control.read(registers.FIRST_FAULT.offset, count)
        control.write(registers.FAULT_CONTROL.offset, REARM)


class Campaign:
    """Random traffic in lock-step with the golden model while bits flip."""

    def __init__(self, dut: Any) -> None:
        self.dut, self.build = dut, BUILDS[os.environ["BENCH_SIZE"]]
        self.environment = environment_type(self.build)(dut, self.build, Counter())
        self.upsets = Upsets(self.environment)
        self.found = arrays(dut)
        self.built = {kind(path) for path in self.found}
        self.often = OFTEN | OFTEN_TIERED if self.build.ratio else OFTEN
        self.seeds = 0

    @property
    def seed(self) -> int:
        """The last seed."""
        return 1000 + self.seeds

    def waits(self) -> bool:
        """Whether a memory of `often` has not reported and there are seeds left for it."""
        return not self.upsets.reported.keys() >= self.often and self.seeds < SEEDS

    async def run(self, flipper: Flipper | EveryWord) -> None:
        """The next seed."""
        environment = self.environment
        self.seeds += 1
        await environment.restart(self.seed)
        await environment.program()
        running = cocotb.start_soon(flipper.run())
        end = environment.t + CYCLES
        while environment.t < end:
            environment.phase()
            for _ in range(3):
                await environment.cycles(environment.rng.randint(*POLL))
                self.upsets.look()
        flipper.stopped = True
        await environment.check()
        await running


@cocotb.test()
async def a_flipped_bit_anywhere_is_corrected(dut: Any) -> None:
    """After a flip, only the counts and the bit of `error_status` differ from a run without it."""
    campaign = Campaign(dut)
    await campaign.environment.start()
    reported, tiered = campaign.upsets.reported, campaign.build.ratio
    assert campaign.built >= campaign.often | BUILT | (BUILT_TIERED if tiered else set()), (
        campaign.built
    )
    flips = 0
    while flips < FLIPS or campaign.waits():
        memories = [[array] for array in campaign.found.values()]
        flipper = Flipper(dut, memories, Random(campaign.seed))
        await campaign.run(flipper)
        flips += flipper.flips
    found = f"{flips} flips in {len(campaign.found)} memories"
    print(f"{found}, {campaign.seeds} seeds: {reported}", flush=True)
    assert reported.keys() >= campaign.often, reported


@cocotb.test()
async def a_flipped_bit_of_each_word_is_corrected(dut: Any) -> None:
    """Flips a bit in each part of a word, and goes through all bits of a memory, also check
    bits.
    """
    campaign = Campaign(dut)
    await campaign.environment.start()
    flipper = EveryWord(dut, list(campaign.found.values()))
    reported = campaign.upsets.reported
    while campaign.seeds < EACH or campaign.waits():
        await campaign.run(flipper)
    words = f"{flipper.flips} words with a flipped bit in each part"
    print(f"{words}, {campaign.seeds} seeds: {reported}", flush=True)
    assert reported.keys() >= campaign.often, reported
