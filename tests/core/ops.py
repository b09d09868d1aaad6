# SPDX-License-Identifier: Apache-2.0
"""Programs written operation by operation, and machines without effects that tests do not cover."""

from __future__ import annotations

import numpy as np

from anemone.models.core import OPERATION, Kernel, Memory, Run, Tier, machine, simulate

MEMORY = Memory(Tier(100, 1000), Tier(250, 1000))
# Sapphire Rapids at 2 GHz, so that a load from memory takes 200 cycles; no prefetcher or TLB
# misses.
BARE = machine("spr").with_(ghz=2.0, stride=0, next_line=0, streamer=0, adjacent=0, page_bits=30)


class Program:
    """A list of operations; each method appends one and returns its number.

    `begin` is a load that brings the first GiB into the TLB. `cycles` measures from its end, so
    later operations should depend on it.
    """

    def __init__(self) -> None:
        self.rows: list[tuple] = []
        self.begin = self.load((1 << 24) - 1)

    def _add(self, kind: int, address: int, latency: int, needs: tuple[int, ...]) -> int:
        n = len(self.rows)
        back = [n - number for number in needs] + [0, 0]
        self.rows.append((address, 1000 + n, back[:2], kind, latency, 0, 0, 0))
        return n

    def compute(self, *needs: int, latency: int = 1) -> int:
        return self._add(0, 0, latency, needs)

    def load(self, line: int, *needs: int) -> int:
        return self._add(1, line * 64, 0, needs)

    def store(self, line: int, *needs: int) -> int:
        return self._add(2, line * 64, 0, needs)

    def branch(self, wrong: bool, *needs: int) -> int:
        return self._add(3, 0, int(wrong), needs)

    def run(self, on=BARE, memory: Memory = MEMORY) -> Run:
        operations = np.array(self.rows, OPERATION)
        return simulate(on, memory, [operations], len(operations))

    def cycles(self, on=BARE, memory: Memory = MEMORY) -> float:
        """Cycles from the end of `begin` to the end."""
        return self.run(on, memory).counters["c"] - Program().run(on, memory).counters["c"]


def kernel(
    name: str, operations: int, on=BARE, memory: Memory = MEMORY, cores: int = 1, **settings
):
    """Run a generated program on each of some cores, after a warm-up of a fifth."""
    programs = [Kernel(name, settings)] * cores
    return simulate(on, memory, programs, operations, operations // 5)
