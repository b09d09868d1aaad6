# SPDX-License-Identifier: Apache-2.0
"""AXI requests and their beats."""

from __future__ import annotations

from dataclasses import dataclass, field

FIXED, INCR, WRAP = range(3)
OKAY, EXOKAY, SLVERR, DECERR = range(4)
LINE_BITS = 512
FULL = (1 << 64) - 1


@dataclass(slots=True)
class Request:
    """One transfer of len + 1 beats; `data` of a write: (bits, strobe, poison) of each beat.
    dropped: an accepted write into the telemetry region. after: by beat of a write, the read
    that its data depend on; the master has them once that was answered.
    """

    write: bool
    id: int
    addr: int
    len: int = 0
    size: int = 6
    burst: int = INCR
    data: list[tuple[str, int, int]] = field(default_factory=list)
    dropped: bool | None = None
    after: dict[int, Request] = field(default_factory=dict)

    @property
    def pins(self) -> tuple[int, int, int, int, int]:
        """The pins of AR or AW."""
        return self.id, self.addr, self.len, self.size, self.burst

    def beats(self) -> list[int]:
        """The address of each beat, according to AXI4 (A3.4.1)."""
        size, count = 1 << self.size, self.len + 1
        if self.burst == FIXED or count == 1:
            return [self.addr] * count
        aligned = self.addr & -size
        if self.burst == INCR:
            return [self.addr, *(aligned + size * i for i in range(1, count))]
        block = size * count
        low = self.addr // block * block
        return [low + (aligned - low + size * i) % block for i in range(count)]

    def lanes(self, addr: int) -> int:
        """The strobes that a beat at this address may set."""
        size, first = 1 << self.size, addr & 63
        start = first & -size
        return (1 << (start + size)) - (1 << first)
