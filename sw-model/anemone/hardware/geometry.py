# SPDX-License-Identifier: Apache-2.0
"""The parameters of a telemetry engine that are fixed when the hardware is built (NEMO §4)."""

from __future__ import annotations

from dataclasses import dataclass

from anemone.hardware.features import EVERYTHING, Features
from anemone.io.errors import InputError

LINE_BYTES = 64  # a memory access or a telemetry read transfers one line
TABLE_ENTRIES = 1 << 18  # for all pipelines together
WORDS_PER_LINE = 8  # 64-bit state words in a telemetry line


@dataclass(frozen=True)
class Geometry:
    """Sizes of an engine; the defaults are the paper's prototype (NEMO §4, resource budget).

    channels: memory channels, 1, 2 or 4; the address bits just above the 64 B line choose one.
    pipelines: number of rules that run at the same time.
    states: 64-bit state words for each channel of a pipeline; a power of two, at least two
        lines of eight words, because a line number needs at least one bit.
    table: entries of a pipeline's translation table; a power of two.
    device_gib: the device's memory in GiB. Every address is below it.
    features: what rules may ask for.

    Raises InputError, which names the command line option.
    """

    channels: int = 2
    pipelines: int = 8
    states: int = 8192
    table: int = 8192
    device_gib: int = 16
    features: Features = EVERYTHING

    def __post_init__(self) -> None:
        self._check("channels", (1, 2, 4), "1, 2 or 4")
        self._check("pipelines", range(1, 33), "1 to 32")
        powers = [1 << i for i in range(1, 21)]
        self._check("states", powers[3:], "a power of two from 16 to 1048576")
        self._check("table", powers[:18], "a power of two from 2 to 262144")
        # The AFU's AXI address has 52 bits; its upper half is free for the telemetry windows.
        self._check("device_gib", range(1, (1 << 21) + 1), "1 to 2097152 GiB")
        # All tables share the control port's 22 address bits.
        maximum = TABLE_ENTRIES >> (self.pipelines - 1).bit_length()
        allowed = f"at most {maximum} for {self.pipelines} pipelines"
        self._check("table", range(maximum + 1), allowed)

    def _check(self, field: str, values: object, allowed: str) -> None:
        value = getattr(self, field)
        if type(value) is not int or value not in values:  # type: ignore[operator]
            option = "--" + field.replace("_", "-")
            raise InputError("command line", option, field, value, allowed)

    @property
    def device_bytes(self) -> int:
        """The device's size in bytes; addresses run from 0 to one less."""
        return self.device_gib << 30

    @property
    def address_bits(self) -> int:
        """Width of a device byte address."""
        return (self.device_bytes - 1).bit_length()

    @property
    def lines(self) -> int:
        """Telemetry lines (64 B, eight state words) for each channel of a pipeline."""
        return self.states // WORDS_PER_LINE

    def counters(self, width: int) -> int:
        """Counters of `width` bits that a rule has in each channel."""
        return self.states * (64 // width)

    def channel(self, addr: int) -> int:
        """The channel that owns a byte address."""
        return (addr // LINE_BYTES) % self.channels

    @property
    def key(self) -> str:
        """A short name for a build with this geometry, safe as a file name."""
        sizes = f"c{self.channels}p{self.pipelines}s{self.states}t{self.table}a{self.address_bits}"
        features = [f"{name}-{some}" for name, some in sorted(self.features.options.items())]
        return ".".join([sizes, *features]).replace(",", "-")
