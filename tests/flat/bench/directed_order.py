# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of AR, AW and W in all orders that AXI allows, and of who waits for whom."""

from __future__ import annotations

import os
from typing import Any

import cocotb

from anemone.flat.config import FlatConfig
from tests.bench.requests import FULL, OKAY, Request
from tests.bench.store import bits
from tests.flat.bench.build import BUILDS
from tests.flat.bench.directed_environment import DirectedEnvironment, everywhere

LINES = 8  # near lines
BEATS = 4


def burst(line: int, id: int, first: int) -> Request:
    """A write of BEATS lines with ascending values from `first`."""
    request = Request(True, id, line * 64, BEATS - 1)
    request.data = [(bits(everywhere(first + k)), FULL, 0) for k in range(BEATS)]
    return request


async def begin(dut: Any) -> DirectedEnvironment:
    """Powered up."""
    environment = DirectedEnvironment(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    await environment.begin(FlatConfig(LINES, environment.build.ratio))
    return environment


@cocotb.test()
async def data_may_wait_for_a_read(dut: Any) -> None:
    """Single and several beats of a burst wait; same or other lines, same or other ids."""
    environment = await begin(dut)
    for late in ({0}, {1}, {BEATS - 1}, {1, 2}, set(range(BEATS))):
        for id, line in ((0, 0), (1, 0), (1, BEATS), (0, LINES)):
            environment.take_requests()
            request = burst(0, 0, 100)
            request.after = {k: Request(False, id, (line + k) * 64) for k in late}
            environment.todo.append(request)
            await environment.answered(len(late), 1)
            assert environment.answers.writes[0][1:] == (0, OKAY)
            read = await environment.read(range(BEATS))
            assert read == [(OKAY, 100 + k) for k in range(BEATS)], f"{late}, {line}: {read}"


@cocotb.test()
async def data_may_wait_for_a_burst_of_reads_and_others(dut: Any) -> None:
    """More requests of every kind follow than can be in flight; all are answered."""
    environment = await begin(dut)
    ids = min(4, 1 << environment.build.id_bits)
    request = burst(0, 0, 50)
    request.after = {2: Request(False, 1, 0, 7)}
    reads = 3 * environment.build.requests
    environment.todo.append(request)
    for n in range(reads):
        environment.ask(n % LINES, id=n % ids)
    writes = [burst(BEATS, n % ids, 10 * n) for n in range(4)]
    environment.todo.extend(writes)
    await environment.answered(8 + reads, 1 + len(writes))
    assert all(resp == OKAY for *_, resp in environment.answers.writes)
    read = await environment.read(range(2 * BEATS))
    assert read == [(OKAY, value + k) for value in (50, 30) for k in range(BEATS)]


@cocotb.test()
async def a_write_does_not_wait_for_the_reads_of_its_line(dut: Any) -> None:
    """Reads of the line come without a pause, so its set always has an operation to do."""
    environment = await begin(dut)
    reads = 20 * environment.build.requests
    environment.ask(0, 7, id=1)
    for _ in range(reads):
        environment.ask(0, id=0)
    await environment.answered(reads, 1, within=20 * reads)
    written, *_ = environment.answers.writes[0]
    early = sum(cycle < written for cycle, *_ in environment.answers.reads)
    assert early < reads // 4, f"{early} of {reads} reads are answered before the write"
