# SPDX-License-Identifier: Apache-2.0
"""Decodes an address as the expander does: as memory or as a line of a telemetry window."""

from __future__ import annotations

from dataclasses import dataclass

from tests.bench.requests import FULL, Request
from tests.expander.bench.sizes import Build


@dataclass
class Windows:
    """The current places of the telemetry windows; None if off."""

    build: Build
    effect: int | None = None
    snapshot: int | None = None
    acknowledge: int | None = None

    def decode(self, addr: int, channel: int) -> tuple[int, int, bool] | str | None:
        """The (pipeline, line, effect) of an address, "refused", or None for memory."""
        size, bytes_ = self.build.engine, self.build.window_bytes
        windows = ((self.snapshot, False), (self.acknowledge, False), (self.effect, True))
        for base, effect in windows:
            if base is not None and base <= addr < base + bytes_:
                line = (addr - base) // 64
                if line % size.channels != channel:
                    return "refused"
                pipeline, line = divmod(line // size.channels, size.lines)
                return (pipeline, line, effect) if pipeline < size.pipelines else "refused"
        return None

    def line(self, addr: int, first: int, channel: int) -> tuple[int, int, bool] | str:
        """The same for a beat of a burst of lines that begins at `first`."""
        target = self.decode(addr, channel)
        inside = addr // self.build.window_bytes == first // self.build.window_bytes
        return target if target is not None and inside else "refused"

    def takes(self, request: Request, channel: int) -> bool:
        """Whether a write has the words of a line that are subtracted from its counters."""
        base = self.acknowledge
        if base is None or not base <= request.addr < base + self.build.window_bytes:
            return False
        whole = not request.len and [strobe for _, strobe, _ in request.data] == [FULL]
        return whole and isinstance(self.decode(request.addr, channel), tuple)

    def address(self, pipeline: int, line: int, channel: int, effect: bool) -> int:
        """The address of a line."""
        base = self.effect if effect else self.snapshot
        assert base is not None
        size = self.build.engine
        return base + ((pipeline * size.lines + line) * size.channels + channel) * 64
