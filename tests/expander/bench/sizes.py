# SPDX-License-Identifier: Apache-2.0
"""The small expanders that the bench builds, which together vary every parameter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from anemone.hardware.geometry import Geometry
from tests.engine.bench.sizes import SIZES, Size


class PortGeometry(Geometry):
    """A geometry where the port of an event decides its channel, not the address."""

    def channel(self, addr: int) -> int:
        return self.__dict__.get("port", 0)

    def at(self, port: int) -> None:
        """Set the port of the next event."""
        self.__dict__["port"] = port


@dataclass(frozen=True)
class Build:
    """Parameters of `anemone.expander.ExpanderParams`; `engine` is its telemetry engine.

    board: each memory is a controller with the board's habits, below a ControllerAdapter; memory
    requests have one beat. hosts: ports that share each channel, of `id_bits` each. wrapper: all of
    that is inside the board's wrapper, fpga/agilex, and the control port is Avalon with its own
    clock. ratio: far lines per near line in flat memory mode; 0 for one memory per channel.
    requests: the number in flight in flat memory mode. near_bits: of a byte address of near memory
    on a board.
    """

    name: str
    engine: Size
    address_bits: int
    id_bits: int
    telemetry_reads: int
    reads_in_flight: int
    board: bool = False
    len_bits: int = 8
    wrapper: bool = False
    ratio: int = 0
    requests: int = 0
    hosts: int = 1
    near_bits: int = 33

    @property
    def ports(self) -> list[int]:
        """The channel of each upstream port."""
        return [*range(self.engine.channels)] * self.hosts

    @property
    def top(self) -> str:
        """The simulated top module."""
        return "AgilexBench" if self.wrapper else self.emitted

    @property
    def emitted(self) -> str:
        """The emitted module."""
        return "BoardExpander" if self.wrapper else "MemoryExpander"

    @property
    def window_bytes(self) -> int:
        """Bytes of one telemetry window."""
        pipelines = 1 << (self.engine.pipelines - 1).bit_length()
        return max(4096, 64 * pipelines * self.engine.lines * self.engine.channels)

    @cached_property
    def geometry(self) -> PortGeometry:
        """The geometry for the golden model."""
        size = self.engine
        return PortGeometry(
            channels=size.channels,
            pipelines=size.pipelines,
            states=size.states,
            table=size.table,
            device_gib=1,
        )

    @property
    def options(self) -> list[str]:
        """The options of the bench's emitter for this build."""
        size = self.engine
        numbers = (
            size.pipelines, size.channels, size.states, size.table, size.address_bits,
            self.address_bits, self.id_bits + self.hosts // 2, self.len_bits,
            self.telemetry_reads, self.reads_in_flight, self.ratio, self.requests, int(self.board),
            int(size.features.hash), self.hosts, self.near_bits, int(size.clock_gates),
        )  # fmt: skip
        return [self.emitted, *map(str, numbers)]


BUILDS = {
    build.name: build
    for build in (
        Build(
            "x2",
            SIZES["p2c2"],
            address_bits=24,
            id_bits=4,
            telemetry_reads=64,
            reads_in_flight=256,
        ),
        Build(
            "x1",
            Size("p3c1", pipelines=3, channels=1, states=16, table=2, address_bits=14),
            address_bits=20,
            id_bits=2,
            telemetry_reads=4,
            reads_in_flight=16,
        ),
        Build(
            "board",
            Size("p2c1", pipelines=2, channels=1, states=16, table=2, address_bits=14),
            address_bits=20,
            id_bits=4,
            telemetry_reads=64,
            reads_in_flight=256,
            board=True,
        ),
        Build(
            "agilex",
            Size("p2c2", pipelines=2, channels=2, states=16, table=4, address_bits=14),
            address_bits=52,
            id_bits=8,
            telemetry_reads=64,
            reads_in_flight=256,
            board=True,
            len_bits=10,
            wrapper=True,
        ),
        Build(
            "tiered",
            Size(
                "p4c2",
                pipelines=4,
                channels=2,
                states=64,
                table=32,
                address_bits=16,
                clock_gates=True,
            ),
            address_bits=24,
            id_bits=4,
            telemetry_reads=16,
            reads_in_flight=64,
            ratio=2,
            requests=16,
        ),
        Build(
            "flatboard",
            Size("p2c1", pipelines=2, channels=1, states=16, table=4, address_bits=15),
            address_bits=52,
            id_bits=8,
            telemetry_reads=16,
            reads_in_flight=64,
            board=True,
            len_bits=10,
            wrapper=True,
            ratio=1,
            requests=16,
            hosts=2,
            near_bits=15,
        ),
    )
}
