# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of flat memory mode in the board's wrapper: resets amid swaps, words that near
memory lost, and sizes for which the board's memories are too small.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from typing import Any

import cocotb

from anemone.flat.config import FlatConfig
from anemone.hardware import registers
from tests.bench.profile import StimulusProfile
from tests.bench.requests import FULL, Request
from tests.bench.store import bits
from tests.expander.bench import control as reg
from tests.expander.bench.directed_environment import SEED
from tests.expander.bench.directed_tiered import run_requests, tiered
from tests.expander.bench.directed_warm import LINES, RECOVERY, TRAFFIC, Stream, found
from tests.expander.bench.environment import Environment
from tests.expander.bench.flat_board import WORDS, FlatBoardEnvironment
from tests.expander.bench.sizes import BUILDS
from tests.expander.bench.tiered import TieredEnvironment

CUTS = 10
WAITS = 200  # cycles in which nothing starts


def new_environment(dut: Any, config: FlatConfig) -> FlatBoardEnvironment:
    """An environment of this configuration, not yet started."""
    environment = FlatBoardEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]], Counter())
    environment.config = config
    return environment


@cocotb.test()
async def a_reset_between_a_line_and_its_word_loses_no_line(dut: Any) -> None:
    """Resets amid swaps, which the controllers share or not, and amid the recovery from them. Each
    line then holds what the answer to a write promised, and its set has the tags that fit.
    """
    rng = Random(SEED)
    environment = new_environment(dut, config := FlatConfig(LINES, 1))
    await environment.start()
    await environment.restart(SEED)
    await environment.program()
    late = 0
    for cut in range(CUTS):
        (scoreboard,), (host, other) = environment.scoreboards, environment.masters
        host.source = stream = Stream(rng, 1, 0, scoreboard.flat)
        other.source = lambda write, profile: None
        host.profile = StimulusProfile()
        for memory in environment.memories:
            memory.profile = StimulusProfile(latency=rng.choice((4, 40, 120)))
        await environment.cycles(rng.randint(*TRAFFIC))
        may = stream.cut(scoreboard.unanswered)
        await environment.restart(SEED + cut, warm=True, late=bool(cut % 2))
        if cut % 3 == 2:
            await Environment.program(environment)
            environment.set_up()
            await environment.cycles(rng.randint(*RECOVERY))
            await environment.restart(SEED + cut, warm=True)
        await environment.program()
        # What comes during the reset is not seen.
        came = sum(memory.late for memory in environment.memories)
        (status,) = await environment.registers([reg.ERROR_STATUS])
        stray = status >> list(reg.ERRORS).index("stray") & 1
        assert came or not stray, f"cut {cut}: error_status {status:#x}"
        late += stray
        for memory in environment.memories:
            memory.accesses.counts.clear()
        environment.near[0].accesses.words.clear()
        flat = found(config, environment.near[0], environment.far[0])
        wrong = [p for p, values in may.items() if flat.contents(p) not in values]
        assert not wrong, f"cut {cut}: lines {wrong}"
        environment.scoreboards[0].begin(flat, {})
        await run_requests(environment, [Request(False, i % 16, i << 6) for i in range(2 * LINES)])
        await environment.check_memories()
    assert late > 1, "no answer came late"


@tiered
async def a_bad_beat_of_words_leaves_its_sets_untrusted(environment: TieredEnvironment) -> None:
    """Near memory reports a beat of words bad: the sets of its words are refused, and no other.
    When the beat is good again, so are they, and no line was lost.
    """
    assert isinstance(environment, FlatBoardEnvironment)
    (near,), (scoreboard,) = environment.near, environment.scoreboards
    data = [(bits(7), FULL, 0)]
    lines = [64 * p for p in range(3 * WORDS)]
    await run_requests(
        environment, [Request(True, k % 8, a, data=data) for k, a in enumerate(lines)]
    )
    reads = [Request(False, k % 8, addr) for k, addr in enumerate(lines)]
    bad = near.store.first + 1
    near.store.good.discard(bad)
    scoreboard.refused = set(lines[WORDS : 2 * WORDS])
    await run_requests(environment, reads)
    near.store.good.add(bad)
    scoreboard.refused.clear()
    await run_requests(environment, reads)
    (untrusted,) = await environment.registers([registers.FLAT.at(0, registers.FLAT_UNTRUSTED)])
    assert untrusted >= WORDS


@cocotb.test()
async def sizes_that_do_not_fit_do_not_start(dut: Any) -> None:
    """Near memory is its first fifteen sixteenths; far memory is as large as all of near. One line
    more, of sets or dedicated, does not start; nothing is asked of memory then.
    """
    build = BUILDS[os.environ["BENCH_SIZE"]]
    lines = 15 * (1 << build.near_bits) // 16 // 64
    environment = new_environment(dut, FlatConfig(1))
    await environment.start()
    await environment.restart(SEED)
    await Environment.program(environment)
    near = environment.near[0].accesses.counts

    async def started(near_lines: int, dedicated_pages: int) -> bool:
        values = {
            registers.FLAT_NEAR_LINES: {"lines": near_lines},
            registers.FLAT_DEDICATED_START: {"page": 1},
            registers.FLAT_DEDICATED_END: {"page": 1 + dedicated_pages},
            registers.FLAT_CONTROL: {"start": 1},
        }
        for register, fields in values.items():
            address = registers.FLAT.at(0, register)
            environment.control.write(address, register.pack(**fields))
        status = [registers.FLAT.at(0, registers.FLAT_STATUS)]
        await environment.cycles(WAITS)
        ((value),) = await environment.registers(status)
        return bool(value & registers.FLAT_STATUS.pack(started=1))

    for pages in (0, 2):
        assert not await started(lines - 64 * pages + 1, pages)
    assert not near
    assert await started(lines - 64 * 2, 2)
