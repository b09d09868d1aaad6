# SPDX-License-Identifier: Apache-2.0
"""cocotb test of warm resets during swaps of all channels in flat memory mode."""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from typing import Any

import cocotb

from anemone.flat.config import FlatConfig
from anemone.flat.result import Counts
from anemone.golden.flat import FlatMemory, merge
from anemone.hardware import registers
from tests.bench.profile import StimulusProfile
from tests.bench.requests import FULL, Request
from tests.bench.store import bits
from tests.expander.bench.directed_environment import SEED
from tests.expander.bench.directed_tiered import run_requests
from tests.expander.bench.environment import Environment
from tests.expander.bench.sizes import BUILDS
from tests.expander.bench.tiered import TieredEnvironment
from tests.flat.bench.memories import Far, Near

LINES = 5  # near lines; few, so most accesses are to a set in flight
CUTS = 24
TRAFFIC = (20, 500)  # cycles
RECOVERY = (30, 150)  # cycles from its start until a reset interrupts it
NEVER = 1 << 20  # cycles


class Stream:
    """A channel's source, which reads and writes any lines. held: each line's contents after every
    accepted write to it, in order.
    """

    def __init__(self, rng: Random, channels: int, c: int, flat: FlatMemory) -> None:
        self.rng, self.channels, self.c = rng, channels, c
        self.held = {p: [flat.contents(p)] for p in range(flat.config.lines)}
        self._writes: list[Request] = []

    def __call__(self, write: bool, _: StimulusProfile) -> Request:
        rng = self.rng
        p = rng.randrange(len(self.held))
        request = Request(write, rng.randrange(16), (p * self.channels + self.c) << 6)
        if write:
            strobe = rng.choice((FULL, FULL, rng.getrandbits(64)))
            request.data = [(bits(rng.getrandbits(512)), strobe, 0)]
            self._writes.append(request)
        return request

    def cut(self, unanswered: Counter[int]) -> dict[int, list[bytes]]:
        """What each line may hold: the contents that the last answered write promised, or those
        after a later write. `unanswered`: accepted writes, by address.
        """
        for request in self._writes:
            if request.dropped is not None:  # accepted
                held = self.held[request.addr // 64 // self.channels]
                data, strobe, _ = request.data[0]
                held.append(merge(held[-1], int(data, 2).to_bytes(64, "little"), strobe))
        return {
            p: held[-1 - unanswered[(p * self.channels + self.c) << 6] :]
            for p, held in self.held.items()
        }


def found(config: FlatConfig, near: Near, far: Far) -> FlatMemory:
    """A golden model with the contents of near and far memory. It swaps at every miss, so a read
    moves a line near, and the line that was near to its place.
    """
    flat, lines = FlatMemory(config), config.near_lines
    for set_index in range(lines):
        tags = near.tags(set_index)
        assert sorted(tags) == list(range(config.ratio + 1)), f"set {set_index}: {tags}"
        of_set = [tag * lines + set_index for tag in tags]  # by the line's slot
        for slot, p in enumerate(of_set):
            data, _ = (
                far.store.read((slot - 1) * lines + set_index)
                if slot
                else near.store.read(set_index)
            )
            flat.write(p, data.to_bytes(64, "little"))
        while wrong := [p for slot, p in enumerate(of_set) if flat.where(p) != slot]:
            now = {flat.where(p): p for p in of_set}
            slot = of_set.index(now[0])
            flat.read(now[slot] if slot else wrong[0])
    flat.counts = Counts()
    return flat


@cocotb.test()
async def warm_resets_amid_swaps_lose_no_line(dut: Any) -> None:
    """All channels are full of swaps, and every other recovery is interrupted as well. After each
    reset software starts the mode with the same settings, every line holds what the answer to a
    write promised, and traffic continues.
    """
    rng = Random(SEED)
    build = BUILDS[os.environ["BENCH_SIZE"]]
    channels = range(build.engine.channels)
    environment = TieredEnvironment(dut, build, Counter())
    config = environment.config = FlatConfig(LINES, build.ratio)
    await environment.start()
    await environment.restart(SEED)
    await environment.program()
    recovered = 0
    for cut in range(CUTS):
        streams = [Stream(rng, len(channels), c, environment.scoreboards[c].flat) for c in channels]
        for master, stream in zip(environment.masters, streams, strict=True):
            master.source, master.profile = stream, StimulusProfile()
        for memory in environment.memories:
            memory.profile = StimulusProfile(latency=rng.choice((4, 40, 120)))
        await environment.cycles(rng.randint(*TRAFFIC))
        may = [streams[c].cut(environment.scoreboards[c].unanswered) for c in channels]
        await environment.restart(SEED + cut, warm=True)
        if cut % 2:
            await Environment.program(environment)
            environment.set_up()
            await environment.cycles(rng.randint(*RECOVERY))
            await environment.restart(SEED + cut, warm=True)
        await environment.program()
        written = [memory.accesses.counts for memory in (*environment.near, *environment.far)]
        recovered += any(count.total() for count in written)
        for count in written:
            count.clear()
        for c in channels:
            flat = found(config, environment.near[c], environment.far[c])
            wrong = [p for p, values in may[c].items() if flat.contents(p) not in values]
            assert not wrong, f"cut {cut}: channel {c}: lines {wrong}"
            environment.scoreboards[c].begin(flat, {})
        lines = range(config.lines * len(channels))
        await run_requests(environment, [Request(False, i % 16, i << 6) for i in lines])
        await environment.check()
    assert recovered > CUTS // 2, "a reset that cut no swap"


@cocotb.test()
async def a_sweep_that_is_cut_takes_no_late_answer_for_its_own(dut: Any) -> None:
    """A reset that near memory does not share comes while writes of the sweep are in flight. The
    next sweep waits for their answers, and ends when near memory has accepted its own writes.
    """
    build = BUILDS[os.environ["BENCH_SIZE"]]
    environment = TieredEnvironment(dut, build, Counter())
    config = environment.config = FlatConfig(LINES, build.ratio)
    await environment.start()
    status = [registers.FLAT.at(c, registers.FLAT_STATUS) for c in range(build.engine.channels)]
    ready = registers.FLAT_STATUS.pack(started=1, ready=1)

    async def answers(now: bool) -> None:
        for memory in environment.memories:
            memory.profile = StimulusProfile() if now else StimulusProfile(answer=0.0)

    for cycles in range(20, 60, 4):
        await environment.restart(SEED)
        await answers(False)
        environment.set_up()
        await environment.cycles(cycles)
        outstanding = [sum(map(len, near._answers.values())) for near in environment.near]
        for memory in environment.memories:
            memory.late_every = NEVER
        await environment.restart(SEED + cycles, warm=True, late=True)
        await answers(False)
        environment.set_up()
        await environment.cycles(80)
        asked = [near.accesses.counts["writes"] for near in environment.near]
        assert not any(n for n, late in zip(asked, outstanding, strict=True) if late), (
            cycles,
            asked,
        )
        for memory in environment.memories:
            memory.late_every = 1
        await environment.cycles(100)
        assert await environment.registers(status) != [ready] * len(status), cycles
        asked = [near.accesses.counts["writes"] for near in environment.near]
        assert asked == [config.near_lines] * len(asked), (cycles, asked)
        await answers(True)
        await environment.cycles(60)
        assert await environment.registers(status) == [ready] * len(status), cycles
    assert any(outstanding), "nothing was under way"
