# SPDX-License-Identifier: Apache-2.0
"""Counts near-memory misses by machine with a NEMO rule on flat memory, in the golden models or the
Verilated expander.

Profiled machines have no addresses. Each gets its own near lines, as with page colouring, and
accesses them with the miss ratio of its profile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from anemone.control.pipelines import Pipeline, Pipelines
from anemone.flat.config import FlatConfig
from anemone.flat.result import HIT
from anemone.golden import Telemetry
from anemone.golden.flat_fast import FlatMemory
from anemone.hardware.geometry import LINE_BYTES, Geometry
from anemone.memstrata.loop import Reading
from anemone.telemetry.rules import NEAR, Rule

# The device, which co-simulation tests use, too. near_lines: per channel.
GEOMETRY, FLAT = Geometry(pipelines=2), FlatConfig(near_lines=4096, ratio=2)
ASKED = 4000  # accesses of a machine per interval
MAX_MACHINES = 64  # largest number of machines
_PAGE = 4096
_LINES = _PAGE // LINE_BYTES
_NEAR_PAGES = FLAT.near_lines * GEOMETRY.channels // _LINES
_END = (FLAT.ratio + 1) * _NEAR_PAGES * _PAGE
# All pages that share near lines map to the counter of their machine.
RULE = Rule(
    name="misses", end=_END, near="miss", primary_shift=12,
    map=np.array([
        (tag * _NEAR_PAGES + page, page)
        for tag in range(FLAT.ratio + 1)
        for page in range(MAX_MACHINES)
    ], np.uint64),
)  # fmt: skip


class Tenants:
    """Reads the machines' misses from a device each interval. Call close(), since RTL is a process.

    engine: "model" or "rtl". Raises CosimError if the RTL does not start or answer.
    """

    def __init__(self, engine: str) -> None:
        self._device: Pipelines | None = None
        self._memory: list[FlatMemory] = []
        self._pipeline: Pipeline
        if engine == "rtl":
            from anemone.control.rtl import RtlPipelines

            self._device = RtlPipelines(GEOMETRY, FLAT)
            self._pipeline = self._device.add(RULE)
        else:
            self._memory = [FlatMemory(FLAT) for _ in range(GEOMETRY.channels)]
            self._pipeline = Telemetry(RULE, GEOMETRY)
        self._tags = np.zeros((MAX_MACHINES, _LINES), np.int64)  # which page owns each near line
        self._before = np.zeros(MAX_MACHINES, np.int64)
        self._random = np.random.default_rng(1)

    def close(self) -> None:
        if self._device:
            self._device.close()

    def count(self, readings: Mapping[str, Reading]) -> dict[str, Reading]:
        """The readings with counted misses; their resolution is 1 / ASKED of the requests."""
        if len(readings) > MAX_MACHINES:
            raise ValueError(f"{len(readings)} machines; allowed: up to {MAX_MACHINES}")
        asked = [
            self._accesses(page, reading.misses / reading.requests)
            for page, reading in enumerate(readings.values())
            if reading.requests
        ]
        if asked:
            self._access(np.stack(asked, axis=1).ravel())  # machines interleaved
        now = self._pipeline.read(range(MAX_MACHINES)).sum(axis=1).astype(np.int64)
        found = (now - self._before) / ASKED
        self._before = now
        return {
            name: replace(reading, misses=float(found[page]) * reading.requests)
            for page, (name, reading) in enumerate(readings.items())
        }

    def _accesses(self, page: int, ratio: float) -> np.ndarray:
        """Addresses of a machine's page, with misses at random positions in this ratio."""
        misses = self._random.permutation(ASKED) < round(ratio * ASKED)
        line = np.arange(ASKED) % _LINES
        tags = np.empty(ASKED, np.int64)
        for n in range(_LINES):  # a miss accesses the other of the two lines that share a near line
            tags[n::_LINES] = (self._tags[page, n] + np.cumsum(misses[n::_LINES])) % 2
            self._tags[page, n] = tags[n::_LINES][-1]
        return ((tags * _NEAR_PAGES + page) * _PAGE + line * LINE_BYTES).astype(np.uint64)

    def _access(self, addresses: np.ndarray) -> None:
        writes = np.zeros(len(addresses), np.bool_)
        if self._device:
            self._device.events(addresses, writes)
            return
        line = addresses // LINE_BYTES
        near = np.empty(len(addresses), np.uint8)
        for channel, memory in enumerate(self._memory):
            mine = line % GEOMETRY.channels == channel
            own = line[mine] // GEOMETRY.channels * LINE_BYTES
            hits = memory.accesses(own, writes[mine]) == HIT
            near[mine] = np.where(hits, NEAR.index("hit"), NEAR.index("miss"))
        assert isinstance(self._pipeline, Telemetry)
        self._pipeline.events(addresses, writes, near=near)
