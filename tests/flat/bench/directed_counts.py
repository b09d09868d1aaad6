# SPDX-License-Identifier: Apache-2.0
"""cocotb test of a policy's counts of consecutive misses, in lock-step with the golden model."""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from typing import Any

import cocotb

from anemone.flat.config import FlatConfig
from tests.bench.profile import StimulusProfile
from tests.bench.requests import FULL, Request
from tests.bench.store import bits
from tests.flat.bench.build import BUILDS, Build
from tests.flat.bench.environment import Environment

SETS = 8
OTHERS = 0.002  # share of the requests that start a count anew


class Misses:
    """Requests of one tag of each set, the sets by turns of the draw, and seldom of another tag."""

    def __init__(self, rng: Random, build: Build, tag: int, count: int) -> None:
        self.rng, self.build, self.tag, self.left = rng, build, tag, count

    def __call__(self, write: bool, _: Any) -> Request | None:
        """The next one; none after `count`."""
        rng = self.rng
        if not self.left:
            return None
        self.left -= 1
        tag = rng.randrange(self.build.ratio + 1) if rng.random() < OTHERS else self.tag
        strobe = rng.choice((FULL, FULL >> 32))
        return Request(
            write,
            rng.randrange(1 << self.build.id_bits),
            (rng.randrange(SETS) + tag * SETS) * 64,
            data=[(bits(rng.getrandbits(512)), strobe, 0)] if write else [],
        )


@cocotb.test()
async def counts_of_several_sets_grow_beside_each_other(dut: Any) -> None:
    """Up to the largest n: each set swaps at its n-th miss of a tag."""
    build = BUILDS[os.environ["BENCH_SIZE"]]
    environment = Environment(dut, build, Counter())
    await environment.start()
    for n in (100, 255):
        rng = Random(n)
        await environment.restart(rng, FlatConfig(SETS, build.ratio, policy="nth", n=n))
        for tag in (1, 0):
            misses = Misses(rng, build, tag, SETS * (n + 80))
            environment.master.source = misses
            environment.master.profile = StimulusProfile()
            before = environment.golden.counts.swaps
            while misses.left:
                await environment.cycles(20)
            await environment.check()
            assert environment.golden.counts.swaps - before >= SETS // 2, "counts were cut short"
