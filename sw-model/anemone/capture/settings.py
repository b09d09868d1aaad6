# SPDX-License-Identifier: Apache-2.0
"""Settings of a capture: cache, prefetcher, pages, clock. The defaults are only in this file;
sim/capture/config.hpp has the same list and requires a value for each."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum

from anemone.io.errors import InputError

LINE = 64  # bytes
HUGE_PAGE = 2 << 20
BASE_PAGE = 4 << 10


class Pages(StrEnum):
    """Size of a page that gets a frame: 4 KiB or 2 MiB."""

    base = "base"
    huge = "huge"


class Placement(StrEnum):
    """Order of frames: by first touch, or random by the seed."""

    first_touch = "first-touch"
    scattered = "scattered"


@dataclass(frozen=True)
class Settings:
    """Settings of one program's capture. Raises InputError, which names the option.

    Times are picoseconds of a single core. access_ps: a visible load or store with the instructions
    around it. call_ps: a function call. stall_ps: stall of a demand miss (200 ns of CXL memory with
    ten parallel misses). line_ps: transfer of a line (20 GB/s, the most of one core). slow_down
    multiplies all four, so that a million lines last seconds instead of milliseconds.
    """

    llc_kib: int = 2048
    ways: int = 16
    prefetch: bool = True
    prefetch_degree: int = 4
    prefetch_table: int = 256
    combine_buffers: int = 10
    pages: Pages = Pages.huge
    placement: Placement = Placement.first_touch
    seed: int = 1
    device_gib: int = 16
    base_gib: int = 0
    tenants: int = 1
    tenant: int = 0
    access_ps: int = 700
    call_ps: int = 1500
    stall_ps: int = 20000
    line_ps: int = 3200
    slow_down: int = 1000
    events: int = 1_000_000

    def __post_init__(self) -> None:
        for name, (low, high) in RANGES.items():
            self._require(name, low <= getattr(self, name) <= high, f"{low} to {high}")
        way = self.llc_kib * 1024 // LINE
        sets = way // self.ways
        good = sets * self.ways == way and power_of_two(sets)
        self._require("llc_kib", good, "a size whose sets (size / 64 B / ways) are a power of two")
        self._require("prefetch_table", power_of_two(self.prefetch_table), "a power of two")
        self._require("base_gib", self.base_gib < self.device_gib, "less than the device's size")
        self._require("tenant", self.tenant < self.tenants, "less than the number of tenants")

    def _require(self, name: str, holds: bool, allowed: str) -> None:
        if not holds:
            option = "--" + name.replace("_", "-")
            raise InputError("command line", "capture", option, getattr(self, name), allowed)

    def text(self) -> str:
        """The settings for the captured program: `name=value`, separated by spaces."""
        words = []
        for field in fields(self):
            value = getattr(self, field.name)
            words.append(f"{field.name}={int(value) if isinstance(value, bool) else value}")
        return " ".join(words)


RANGES = {
    "ways": (1, 64),
    "llc_kib": (1, 1 << 20),
    "prefetch_degree": (1, 16),
    "prefetch_table": (1, 4096),
    "combine_buffers": (1, 64),
    "seed": (0, 10**18),
    "device_gib": (1, 1024),
    "base_gib": (0, 1023),
    "tenants": (1, 64),
    "tenant": (0, 63),
    "access_ps": (0, 1_000_000),
    "call_ps": (0, 1_000_000),
    "stall_ps": (0, 1_000_000),
    "line_ps": (1, 1_000_000),
    "slow_down": (1, 100_000),
    "events": (1, 10**9),
}


def power_of_two(n: int) -> bool:
    return n > 0 and n & (n - 1) == 0
