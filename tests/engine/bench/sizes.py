# SPDX-License-Identifier: Apache-2.0
"""The few small engines that the bench builds, which together vary every parameter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from anemone.hardware.features import EVERYTHING, Features
from anemone.hardware.geometry import WORDS_PER_LINE, Geometry
from anemone.telemetry.rules import OPS, WIDTHS


@dataclass(frozen=True)
class Size:
    """Parameters of a build, named as in `anemone.nemo.NemoParams`.

    Builds with clock gates are compared with the same models, cycle by cycle, as those without.
    """

    name: str
    pipelines: int
    channels: int
    states: int
    table: int
    address_bits: int
    features: Features = EVERYTHING
    clock_gates: bool = False

    @cached_property
    def geometry(self) -> Geometry:
        """The geometry for the golden model; the device is larger than the addresses in use."""
        return Geometry(
            channels=self.channels,
            pipelines=self.pipelines,
            states=self.states,
            table=self.table,
            device_gib=1,
            features=self.features,
        )

    @property
    def top(self) -> str:
        """The simulated top module."""
        return "TelemetryEngine"

    @property
    def lines(self) -> int:
        """Telemetry lines per pipeline and channel."""
        return self.states // WORDS_PER_LINE

    @property
    def counters(self) -> int:
        """The largest number of counters per channel; base indexes from here on are out of
        range.
        """
        return self.states * (64 // min(self.features.of_widths(WIDTHS)))

    @property
    def clear_cycles(self) -> int:
        """Duration in cycles of a pipeline's clear, after reset or on request."""
        return max(self.table, self.lines, 16)

    @property
    def options(self) -> list[str]:
        """The elaborator's options for this size."""
        values = {
            "--pipelines": self.pipelines,
            "--channels": self.channels,
            "--states": self.states,
            "--table": self.table,
            "--address-bits": self.address_bits,
            **{f"--{name}": some for name, some in self.features.options.items()},
        }
        words = [word for option, value in values.items() for word in (option, str(value))]
        return [*words, *["--clock-gates"] * self.clock_gates]


SIZES = {
    size.name: size
    for size in (
        Size(
            "p2c2",
            pipelines=2,
            channels=2,
            states=64,
            table=32,
            address_bits=20,
            clock_gates=True,
        ),
        Size("p1c1", pipelines=1, channels=1, states=16, table=2, address_bits=13),
        # With all that is not standard; its addresses have more bits than what is hashed.
        Size(
            "p3c4",
            pipelines=3,
            channels=4,
            states=256,
            table=16,
            address_bits=30,
            features=Features(OPS, hash=True),
        ),
        # What NEMO's prototype has, and ops that use other parts of the datapath in two widths.
        Size(
            "lean",
            pipelines=2,
            channels=2,
            states=64,
            table=32,
            address_bits=20,
            features=Features(("add",), (64,), False, ("none", "reset"), ("imm",), False),
        ),
        Size(
            "some",
            pipelines=2,
            channels=1,
            states=32,
            table=8,
            address_bits=16,
            features=Features(
                ("sub", "shl", "max"), (16, 64), True, ("none", "op"), ("imm", "line")
            ),
        ),
    )
}
