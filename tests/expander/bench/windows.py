# SPDX-License-Identifier: Apache-2.0
"""What the expander makes of an address: memory, or a line of a telemetry window."""

from __future__ import annotations

from dataclasses import dataclass

from tests.expander.bench.sizes import Build


@dataclass
class Windows:
    """Where the telemetry windows are now; None: off."""

    build: Build
    effect: int | None = None
    snapshot: int | None = None

    def decode(self, addr: int, channel: int) -> tuple[int, int, bool] | str | None:
        """The (pipeline, line, effect) that an address names; "refused"; or None: memory."""
        size, bytes_ = self.build.engine, self.build.window_bytes
        for base, effect in ((self.snapshot, False), (self.effect, True)):
            if base is not None and base <= addr < base + bytes_:
                line = (addr - base) // 64
                if line % size.channels != channel:
                    return "refused"
                pipeline, line = divmod(line // size.channels, size.lines)
                return (pipeline, line, effect) if pipeline < size.pipelines else "refused"
        return None

    def address(self, pipeline: int, line: int, channel: int, effect: bool) -> int:
        """Where a line is read."""
        base = self.effect if effect else self.snapshot
        assert base is not None
        size = self.build.engine
        return base + ((pipeline * size.lines + line) * size.channels + channel) * 64
