# SPDX-License-Identifier: Apache-2.0
"""DRAM by name (drams.toml): what the second timing needs to know of it."""

from __future__ import annotations

import tomllib
from dataclasses import astuple, dataclass, fields, replace
from functools import cache
from pathlib import Path

_TIMES = 6  # Dram's fields from here on are times
WRITES = 32  # lines that a channel's controller gathers before it writes them


@dataclass(frozen=True)
class Dram:
    """drams.toml says what each is; all ns but for channels, groups, banks and row_lines."""

    source: str
    channels: int
    groups: int
    banks: int
    row_lines: int
    gb_per_s: float
    burst: float
    cas_read: float
    cas_write: float
    rcd: float
    rp: float
    ras: float
    rtp: float
    wr: float
    ccd_short: float
    ccd_long: float
    ccd_write: float
    rrd: float
    faw: float
    wtr: float
    turn: float
    refi: float
    rfc: float

    @property
    def idle(self) -> float:
        """A read of a row that is closed, to the end of its burst."""
        return self.rcd + self.cas_read + self.burst

    def slower(self, k: int) -> Dram:
        """Of a machine k times smaller (scaling.py), in which everything takes k times as long."""
        slow = {f.name: getattr(self, f.name) * k for f in fields(self)[_TIMES:]}
        return replace(self, gb_per_s=self.gb_per_s / k, **slow)

    @property
    def times(self) -> tuple[float, ...]:
        """All of them, burst to rfc."""
        return astuple(self)[_TIMES:]


@cache
def drams() -> dict[str, Dram]:
    """All that are known, by name."""
    text = (Path(__file__).parent / "drams.toml").read_text(encoding="utf-8")
    return {name: Dram(**values) for name, values in tomllib.loads(text).items()}
