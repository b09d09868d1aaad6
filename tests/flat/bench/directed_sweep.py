# SPDX-License-Identifier: Apache-2.0
"""cocotb tests: near memory refuses writes of the sweep after power-up."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import cocotb

from anemone.flat.config import FlatConfig
from tests.bench.profile import StimulusProfile
from tests.bench.requests import OKAY
from tests.flat.bench.build import BUILDS
from tests.flat.bench.directed_environment import DirectedEnvironment

LINES = 33  # near lines
CHANCE = 0.2  # probability that a write is refused
LATE = 60  # most cycles of a response of a near memory that is not reset


@cocotb.test()
async def no_request_is_taken_before_every_write_of_the_sweep_was_accepted(dut: Any) -> None:
    """Random writes are refused and not stored: single and successive ones, the first and the last.
    Refused writes are counted and repeated, and no line is left out.
    """
    environment = DirectedEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    config = FlatConfig(LINES, environment.build.ratio)
    for seed in range(12):
        await environment.power_up(Random(seed), config)
        near = environment.near
        near.stores_refused = False
        near.sidebands.update(dict.fromkeys(range(LINES), 1))
        near.profile = StimulusProfile(latency=(1, 5, 40)[seed % 3])
        if seed < 8:
            near.profile.errors = CHANCE
        else:
            near.refusals += [True] * (1, 2, LINES, 3 * LINES)[seed - 8]
        await environment.sweep()
        assert near.refused[True], f"seed {seed} refuses nothing"
        assert int(dut.counters_nearErrors.value) == near.refused[True]
        environment.take_requests()
        read = await environment.read(range(0, config.lines, 7))
        assert all(resp == OKAY for resp, _ in read), read


@cocotb.test()
async def a_sweep_that_is_cut_takes_no_late_answer(dut: Any) -> None:
    """Near memory is not reset and responds late to earlier writes. The sweep restarts and writes
    every line; late responses are dropped and their errors ignored.
    """
    environment = DirectedEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    config = FlatConfig(LINES, environment.build.ratio)
    late = 0
    for cycle in range(3, 60, 2):
        await environment.power_up(Random(cycle), config)
        near = environment.near
        environment.reset.set(0)
        environment.power_on.set(0)
        environment.take_requests(LATE)
        near.profile.errors = float(cycle % 4 == 1)
        await environment.cycles(cycle)
        near.store.lines.clear()
        near.sidebands.clear()
        near.profile.errors = 0.0
        await environment.cut()
        assert near.store.lines == dict.fromkeys(range(LINES), (0, 0)), f"cycle {cycle}"
        late += int(dut.counters_strays.value)
        assert int(dut.counters_nearErrors.value) == 0, f"cycle {cycle}"
    assert late > LINES, late


@cocotb.test()
async def it_is_not_quiet_before_the_sweep_ends(dut: Any) -> None:
    """A quiesce during the sweep, with writes refused, the last ones too: it is quiet when every
    line was written.
    """
    environment = DirectedEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    config = FlatConfig(LINES, environment.build.ratio)
    for seed in range(12):
        environment.quiesce.set(0)
        await environment.power_up(Random(seed), config)
        near = environment.near
        near.stores_refused = False
        near.profile = StimulusProfile(latency=(1, 5, 40)[seed % 3], errors=0.7 * (seed > 3))
        near.refusals += [True] * (0, 1, LINES, 3 * LINES)[seed % 4]
        environment.quiesce.set(1)
        await environment.sweep(environment.quiet)
