# SPDX-License-Identifier: Apache-2.0
"""Takes interrupt messages at random times and compares them with the golden model's latches."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from tests.bench.difference import Difference
from tests.bench.pins import Flag, reader
from tests.expander.bench import control as reg
from tests.expander.bench.lockstep import Lockstep
from tests.expander.bench.sizes import Build

ERRORS = 0  # the vector of errors; pipeline p has p + 1


class Interrupts:
    """Takes messages. `taken`: how many, by vector; `last`: the cycle of the last one."""

    def __init__(
        self, dut: Any, build: Build, lockstep: Lockstep, rng: Random, cover: Counter[str]
    ) -> None:
        self._valid, self._vector = reader(dut.interrupt_valid), reader(dut.interrupt_vector)
        self._ready = Flag(dut.interrupt_ready)
        self.lockstep, self.rng, self.cover = lockstep, rng, cover
        self.vectors = build.engine.pipelines + 1
        self.taken = [0] * self.vectors
        self.last = [-1] * self.vectors
        self.enabled = self.errors = 0
        self.eager = 1.0  # probability per cycle to take a message
        self.error_acknowledges = 0
        self._held: int | None = None

    def step(self, t: int) -> None:
        """Cycle t is over."""
        if self._valid():
            vector = self._vector()
            if self._held not in (None, vector):
                raise Difference(f"cycle {t}: the message of vector {self._held} was taken back")
            self._held = vector
            if self._ready.value:
                self._held = None
                self._take(t, vector)
        elif self._held is not None:
            raise Difference(f"cycle {t}: the message of vector {self._held} was taken back")
        self._ready.set(int(self.rng.random() < self.eager))

    def _take(self, t: int, vector: int) -> None:
        if vector >= self.vectors or not self.enabled >> vector & 1:
            raise Difference(f"cycle {t}: a message of vector {vector}, which is not enabled")
        self.taken[vector] += 1
        self.last[vector] = t
        self.cover["interrupt/message/" + ("pipeline" if vector else "errors")] += 1
        # One message each time a latch was set; for errors, one per acknowledge.
        limit = self.lockstep.latches[vector - 1] if vector else 1 + self.error_acknowledges
        if self.taken[vector] > limit:
            raise Difference(f"cycle {t}: vector {vector} sent {self.taken[vector]}, not {limit}")

    def check(self, t: int, registers: list[int], error_status: int) -> None:
        """Check after everything is quiet. registers: the values of the registers in
        `registers()`.
        """
        pending, *notifications = registers
        expected = int(bool(error_status & self.errors))
        for p, (model, value) in enumerate(
            zip(self.lockstep.models, notifications, strict=True), 1
        ):
            valid = model.notified is not None
            expected |= valid << p
            shown = value & 1, (value >> 8 & 3, value >> 32 & 0xFFFFFF)
            if shown[0] != valid or (valid and shown[1] != model.notified):
                raise Difference(f"notification {p - 1} is {shown}, not {model.notified}")
            # One message since the acknowledge; a clear also empties the latch, but does not
            # re-arm.
            unsent = self.last[p] <= self.lockstep.acknowledged_at[p - 1]
            if valid and self.enabled >> p & 1 and unsent:
                at = self.lockstep.latched_at[p - 1]
                raise Difference(f"vector {p} sent no message for its latch of cycle {at}")
        if pending != expected:
            raise Difference(f"interrupt_pending is {pending:#x}, not {expected:#x}")
        if expected & self.enabled & 1 and not self.taken[ERRORS]:
            raise Difference("vector 0 sent no message")

    def registers(self) -> list[int]:
        """The registers that `check` needs."""
        pipelines = range(self.vectors - 1)
        return [reg.PENDING, *(reg.pipeline(p, reg.NOTIFICATION) for p in pipelines)]
