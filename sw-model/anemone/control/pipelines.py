# SPDX-License-Identifier: Apache-2.0
"""Pipelines that run one rule each: those of the golden model here, those of the RTL in rtl.py."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from anemone.hardware.geometry import Geometry
from anemone.telemetry import Rule

if TYPE_CHECKING:
    from anemone.golden import Telemetry


class Pipeline(Protocol):
    """The common interface of golden.Telemetry, which documents it, and the RTL's pipeline."""

    rule: Rule
    notified: tuple[int, int] | None

    def set_translation(
        self, key: int | np.ndarray, base: int | np.ndarray, valid: bool = True
    ) -> None: ...
    def read_line(self, channel: int, line: int, effect: bool) -> list[int]: ...
    def read(self, index: range, effect: bool = False) -> np.ndarray: ...
    def acknowledge(self) -> None: ...
    def clear(self) -> None: ...


class Pipelines(ABC):
    """The pipelines of a device with a geometry."""

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry

    @abstractmethod
    def add(self, rule: Rule) -> Pipeline:
        """Run a rule. Raises ValueError if all pipelines are in use."""

    @abstractmethod
    def remove(self, pipeline: Pipeline) -> None:
        """Stop a rule and free its pipeline."""

    @abstractmethod
    def events(self, addr: np.ndarray, write: np.ndarray, idle: Sequence[Pipeline] = ()) -> None:
        """Send requests to all pipelines in order. addr: byte addresses, uint64[n]. write: bool[n].

        idle: pipelines without mapped keys whose event counts are not read; they may skip requests.
        """

    def close(self) -> None:  # noqa: B027, a model has nothing to close
        """Release the device; no calls may follow."""

    def _taken(self) -> ValueError:
        return ValueError(f"all {self.geometry.pipelines} pipelines are taken")


class ModelPipelines(Pipelines):
    """Pipelines of the golden model."""

    def __init__(self, geometry: Geometry) -> None:
        super().__init__(geometry)
        self._running: list[Telemetry] = []

    def add(self, rule: Rule) -> Telemetry:
        from anemone.golden import Telemetry  # needs a compiler, which a device's host may not have

        if len(self._running) == self.geometry.pipelines:
            raise self._taken()
        self._running.append(Telemetry(rule, self.geometry))
        return self._running[-1]

    def remove(self, pipeline: Pipeline) -> None:
        self._running.remove(pipeline)  # type: ignore[arg-type]

    def events(self, addr: np.ndarray, write: np.ndarray, idle: Sequence[Pipeline] = ()) -> None:
        for one in self._running:
            if one not in idle:
                one.events(addr, write)


def on_engine(engine: str, geometry: Geometry) -> Pipelines:
    """Pipelines of at least a geometry's size. engine: "model", or "rtl" for the Verilated
    expander.

    The RTL has the prototype's geometry if that is large enough, so that one simulator serves most
    geometries; unused counters stay 0.
    """
    if engine == "model":
        return ModelPipelines(geometry)
    from anemone.control.rtl import RtlPipelines

    prototype = Geometry()
    wanted, there = (dataclasses.asdict(one) for one in (geometry, prototype))
    sizes = ("pipelines", "states", "table", "device_gib")
    fits = all(wanted[size] <= there[size] for size in sizes)
    return RtlPipelines(prototype if fits and wanted["channels"] == there["channels"] else geometry)
