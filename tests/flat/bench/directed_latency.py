# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the latency that the controller adds, and of hits that pass a miss."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import cocotb

from anemone.flat.config import FlatConfig
from tests.bench.profile import StimulusProfile
from tests.bench.requests import OKAY
from tests.flat.bench.build import BUILDS
from tests.flat.bench.directed_environment import DirectedEnvironment

LINES = 64  # near lines


async def added_by_a_read(environment: DirectedEnvironment, line: int) -> int:
    """Cycles from the host's AR to near memory's and from near memory's R to the host's."""
    dut = environment.dut
    near = {"ar": 0, "r": 0}
    before = len(environment.answers.reads)
    environment.ask(line)
    for _ in range(60):
        await environment.cycles(1)
        for name in near:
            seen = int(getattr(dut, f"near_{name}valid").value)
            ready = int(getattr(dut, f"near_{name}ready").value)
            if seen and ready:
                near[name] = environment.t
        if len(environment.answers.reads) > before:
            break
    answered = environment.answers.reads[before][0]
    # Pins are sampled after the edge that increments the cycle's number.
    return answered - environment.answers.accepted[-1] - (near["r"] - near["ar"])


@cocotb.test()
async def a_read_hit_adds_what_is_written(dut: Any) -> None:
    """Without other traffic, and while a swap waits for far memory."""
    build = BUILDS[os.environ["BENCH_SIZE"]]
    params = json.loads(Path(os.environ["BENCH_PARAMS"]).read_text())
    environment = DirectedEnvironment(dut, build)
    await environment.start()
    await environment.begin(FlatConfig(LINES, build.ratio))
    for line in (3, 5, 3):
        added = await added_by_a_read(environment, line)
        assert added == params["hit_latency"], f"{added} cycles"
    environment.far.profile = StimulusProfile(answer=0.0)
    environment.ask(LINES + 1, id=1)
    await environment.cycles(60)
    for line in (3, 5, 3):
        added = await added_by_a_read(environment, line)
        assert added == params["busy_hit_latency"], f"{added} cycles"
    environment.far.profile = StimulusProfile()
    await environment.settle()


@cocotb.test()
async def hits_pass_a_miss_of_another_set(dut: Any) -> None:
    """While far memory is slow, other sets are served, and the swap's line when it arrives."""
    build = BUILDS[os.environ["BENCH_SIZE"]]
    environment = DirectedEnvironment(dut, build)
    await environment.start()
    await environment.begin(FlatConfig(LINES, build.ratio))
    environment.far.profile = StimulusProfile(answer=0.0)
    environment.ask(LINES + 1, id=0)
    hits = min(build.requests - 1, 1 << build.id_bits) - 1
    for n in range(hits):
        environment.ask(2 + n % (LINES - 2), id=1 + n)
    await environment.answered(hits, 0)
    assert all(id != 0 and resp == OKAY for _, id, resp, _ in environment.answers.reads)
    environment.far.profile = StimulusProfile()
    await environment.answered(hits + 1, 0)


@cocotb.test()
async def both_lines_of_a_swap_are_served_while_it_is_written(dut: Any) -> None:
    """Both lines of a swap are read from the controller before near or far memory answer its
    writes.
    """
    build = BUILDS[os.environ["BENCH_SIZE"]]
    environment = DirectedEnvironment(dut, build)
    await environment.start()
    await environment.begin(FlatConfig(LINES, build.ratio))
    for memory in (environment.near, environment.far):
        memory.profile.w_ready = 0.0
    environment.ask(LINES + 1)
    await environment.answered(1, 0)
    for id, line in enumerate((LINES + 1, 1)):
        environment.ask(line, id=id)
    await environment.answered(3, 0)
    reads = [memory.accesses.counts["reads"] for memory in (environment.near, environment.far)]
    assert reads == [1, 1]
    for memory in (environment.near, environment.far):
        memory.profile.w_ready = 1.0
    await environment.settle()


@cocotb.test()
async def reads_of_one_line_are_a_line_a_cycle(dut: Any) -> None:
    """Reads of one set are as fast as reads of many sets."""
    build = BUILDS[os.environ["BENCH_SIZE"]]
    environment = DirectedEnvironment(dut, build)
    await environment.start()
    await environment.begin(FlatConfig(LINES, build.ratio))
    ids = 1 << build.id_bits
    for n in range(200):
        environment.ask(3, id=n % ids)
    await environment.answered(200, 0)
    cycles = [t for t, *_ in environment.answers.reads]
    # With few requests in flight the rate is limited by the latency of one.
    rate = min(1.0, build.requests / (cycles[0] - environment.answers.accepted[0] + 2))
    assert len(cycles) / (cycles[-1] - cycles[0] + 1) >= 0.95 * rate, cycles
