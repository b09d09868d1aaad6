# SPDX-License-Identifier: Apache-2.0
"""DRAM parameters of the DRAM timing, by name (drams.toml)."""

from __future__ import annotations

import tomllib
from dataclasses import astuple, dataclass, fields, replace
from functools import cache
from pathlib import Path

_TIMES = 6  # index of the first of Dram's fields that is a time
WRITES = 32  # lines that a channel's controller buffers before it writes them


@dataclass(frozen=True)
class Dram:
    """drams.toml documents the fields. All are in ns but channels, groups, banks and row_lines."""

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
        """Time of a read from a closed row, to the end of its burst."""
        return self.rcd + self.cas_read + self.burst

    def slower(self, k: int) -> Dram:
        """The DRAM of a machine scaled down by k (scaling.py): everything takes k times as long."""
        slow = {f.name: getattr(self, f.name) * k for f in fields(self)[_TIMES:]}
        return replace(self, gb_per_s=self.gb_per_s / k, **slow)

    @property
    def times(self) -> tuple[float, ...]:
        """All times, burst to rfc."""
        return astuple(self)[_TIMES:]


@cache
def drams() -> dict[str, Dram]:
    """All DRAM types by name."""
    text = (Path(__file__).parent / "drams.toml").read_text(encoding="utf-8")
    return {name: Dram(**values) for name, values in tomllib.loads(text).items()}
