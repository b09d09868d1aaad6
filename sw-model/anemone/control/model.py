# SPDX-License-Identifier: Apache-2.0
"""The control plane on the golden model: every count is the hardware's."""

from __future__ import annotations

import numpy as np

from anemone.control.plane import Controller, Event, Registered, Spec
from anemone.golden import Telemetry
from anemone.hardware.geometry import Geometry
from anemone.telemetry import Rule


class ModelController(Controller):
    """A device of a geometry; `access` is its memory's traffic."""

    def __init__(self, geometry: Geometry | None = None) -> None:
        super().__init__()
        self.geometry = geometry or Geometry()
        self._next = 1

    def register(self, spec: Spec) -> Registered:
        if len(self.registered) == self.geometry.pipelines:
            raise ValueError(f"all {self.geometry.pipelines} pipelines are taken")
        fit = self.geometry.counters(spec.width) // spec.region_counters
        if not fit or spec.regions > fit:
            raise ValueError(f"regions is {spec.regions}; allowed: 1 to {fit}")
        rule = Rule(
            name=spec.name, type=spec.type, start=spec.start,
            end=spec.end or self.geometry.device_bytes,
            primary_mask=spec.primary.mask, primary_shift=spec.primary.shift,
            sub_mask=spec.sub.mask, sub_shift=spec.sub.shift,
            op=spec.update[0],
            operand=0 if isinstance(spec.update[1], str) else spec.update[1],
            operand_kind=spec.update[1] if isinstance(spec.update[1], str) else "imm",
            width=spec.width, notify_op=spec.notify[0], notify_operand=spec.notify[1],
            effect_op=spec.read_effect[0], effect_operand=spec.read_effect[1],
        )  # fmt: skip
        one = _OfModel(self, rule, spec, self._next, spec.regions or fit)
        self.registered[self._next] = one
        self._next += 1
        return one

    def access(self, addr: np.ndarray, write: np.ndarray) -> None:
        """Requests in their order: byte addresses uint64[n], bool[n]."""
        for one in self.registered.values():
            one.telemetry.events(addr, write)

    def events(self) -> list[Event]:
        found = []
        for number, one in self.registered.items():
            if one.telemetry.notified is not None:
                channel, index = one.telemetry.notified
                found.append(Event(number, int(index), int(channel)))
                one.telemetry.acknowledge()
        return found


class _OfModel(Registered):
    def __init__(
        self, controller: ModelController, rule: Rule, spec: Spec, number: int, regions: int
    ) -> None:
        super().__init__(spec, number, regions)
        self._controller = controller
        self.telemetry = Telemetry(rule, controller.geometry)

    def set_translation(self, key: int, region: int | None) -> None:
        if region is not None and not 0 <= region < self.regions:
            raise ValueError(f"region is {region}; allowed: 0 to {self.regions - 1}")
        base = (region or 0) * self.region_counters
        self.telemetry.set_translation(key, base, region is not None)

    def by_channel(self, snapshot: bool) -> np.ndarray:
        # With effect whole lines are read: the counters behind the last region are no one's.
        n = self.regions * self.region_counters
        return self.telemetry.read(range(n), effect=not snapshot)

    def remove(self) -> None:
        del self._controller.registered[self.number]
