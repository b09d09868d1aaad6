# SPDX-License-Identifier: Apache-2.0
"""What directed tests share: a world that is programmed and quiet, a source of given requests."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from functools import wraps
from typing import Any

import cocotb

from tests.expander.bench.modes import Mode
from tests.expander.bench.requests import Request
from tests.expander.bench.sizes import BUILDS
from tests.expander.bench.tiered import world_type
from tests.expander.bench.traffic import Source
from tests.expander.bench.world import World

SEED = 11


async def quiet_world(dut: Any, habits: bool | None = None) -> World:
    """A world that was reset and programmed, and in which nothing moves."""
    build = BUILDS[os.environ["BENCH_SIZE"]]
    world = world_type(build)(dut, build, Counter(), habits)
    await world.start()
    await world.restart(SEED)
    await world.program()
    return world


def by_hand(test: Callable[[World], Awaitable[None]]) -> Any:
    """A cocotb test of a world that was reset and programmed, and in which nothing moves."""

    @wraps(test)
    async def run(dut: Any) -> None:
        await test(await quiet_world(dut))

    return cocotb.test()(run)


def opened(requests: Iterable[Request]) -> Source:
    """A source of these requests, reads and writes each in their order."""
    todo = list(requests)

    def source(write: bool, mode: Mode) -> Request | None:
        for request in todo:
            if request.write == write:
                todo.remove(request)
                return request
        return None

    return source
