# SPDX-License-Identifier: Apache-2.0
"""Common parts of directed tests: a programmed, idle environment, and a source of given
requests."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from functools import wraps
from typing import Any

import cocotb

from tests.bench.profile import StimulusProfile
from tests.bench.requests import Request
from tests.bench.transfers import Source
from tests.expander.bench.environment import Environment
from tests.expander.bench.flat_board import environment_type
from tests.expander.bench.sizes import BUILDS

SEED = 11
LATE = 600  # cycles behind power-up in which requests may have to wait (EmitBench's lateCycles)


async def quiet_environment(dut: Any, habits: bool | None = None) -> Environment:
    """An environment that is reset, programmed and idle."""
    build = BUILDS[os.environ["BENCH_SIZE"]]
    environment = environment_type(build)(dut, build, Counter(), habits)
    await environment.start()
    await environment.restart(SEED)
    await environment.program()
    await environment.cycles(LATE)
    return environment


def directed_test(test: Callable[[Environment], Awaitable[None]]) -> Any:
    """A cocotb test of an environment that is reset, programmed and idle."""

    @wraps(test)
    async def run(dut: Any) -> None:
        await test(await quiet_environment(dut))

    return cocotb.test()(run)


def opened(requests: Iterable[Request]) -> Source:
    """A source of these requests; reads and writes are each in order."""
    todo = list(requests)

    def source(write: bool, profile: StimulusProfile) -> Request | None:
        for request in todo:
            if request.write == write:
                todo.remove(request)
                return request
        return None

    return source
