# SPDX-License-Identifier: Apache-2.0
"""The control plane on pipelines of the golden model or of the Verilated RTL."""

from __future__ import annotations

import numpy as np

from anemone.control.pipelines import ModelPipelines, Pipelines
from anemone.control.plane import Controller, Event, Registered, Spec
from anemone.hardware.geometry import Geometry
from anemone.telemetry import Rule


class PipelineController(Controller):
    """A controller of pipelines; `access` makes memory traffic."""

    def __init__(self, pipelines: Pipelines) -> None:
        super().__init__()
        self.pipelines, self.geometry = pipelines, pipelines.geometry
        self._next = 1

    def close(self) -> None:
        self.pipelines.close()

    def register(self, spec: Spec) -> Registered:
        fit = self.geometry.counters(spec.width) // spec.region_counters
        if not fit or spec.regions > fit:
            raise ValueError(f"regions is {spec.regions}; allowed: 1 to {fit}")
        rule = Rule(
            name=spec.name, type=spec.type, start=spec.start,
            end=spec.end or self.geometry.device_bytes,
            primary_mask=spec.primary.mask, primary_shift=spec.primary.shift,
            sub_mask=spec.sub.mask, sub_shift=spec.sub.shift,
            hash_multiplier=spec.hash[0], hash_size=spec.hash[1],
            op=spec.update[0],
            operand=0 if isinstance(spec.update[1], str) else spec.update[1],
            operand_kind=spec.update[1] if isinstance(spec.update[1], str) else "imm",
            width=spec.width, notify_op=spec.notify[0], notify_operand=spec.notify[1],
            effect_op=spec.read_effect[0], effect_operand=spec.read_effect[1],
        )  # fmt: skip
        one = _OfPipeline(self, rule, spec, self._next, spec.regions or fit)
        self.registered[self._next] = one
        self._next += 1
        return one

    def access(self, addr: np.ndarray, write: np.ndarray) -> None:
        """Make requests in order. addr: byte addresses, uint64[n]. write: bool[n]."""
        self.pipelines.events(addr, write)

    def events(self) -> list[Event]:
        found = []
        for number, one in self.registered.items():
            notified = one.pipeline.notified
            if notified is not None:
                channel, index = notified
                found.append(Event(number, int(index), int(channel)))
                one.pipeline.acknowledge()
        return found


class ModelController(PipelineController):
    """The golden model with a geometry; its counts equal the hardware's."""

    def __init__(self, geometry: Geometry | None = None) -> None:
        super().__init__(ModelPipelines(geometry or Geometry()))


class RtlController(PipelineController):
    """The Verilated expander with a geometry, built if necessary. Call close(), since it is a
    process.

    Raises CosimError if it does not start or answer.
    """

    def __init__(self, geometry: Geometry | None = None) -> None:
        from anemone.control.rtl import RtlPipelines

        super().__init__(RtlPipelines(geometry or Geometry()))


class _OfPipeline(Registered):
    def __init__(
        self, controller: PipelineController, rule: Rule, spec: Spec, number: int, regions: int
    ) -> None:
        super().__init__(spec, number, regions)
        self._controller = controller
        self.pipeline = controller.pipelines.add(rule)

    def set_translation(self, key: int, region: int | None) -> None:
        if region is not None and not 0 <= region < self.regions:
            raise ValueError(f"region is {region}; allowed: 0 to {self.regions - 1}")
        base = (region or 0) * self.region_counters
        self.pipeline.set_translation(key, base, region is not None)

    def by_channel(self, snapshot: bool) -> np.ndarray:
        # A read with effect covers whole lines; counters after the last region are unused.
        n = self.regions * self.region_counters
        return self.pipeline.read(range(n), effect=not snapshot)

    def remove(self) -> None:
        self._controller.pipelines.remove(self.pipeline)
        del self._controller.registered[self.number]
