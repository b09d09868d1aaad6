# SPDX-License-Identifier: Apache-2.0
"""The bench's controllers and their simulators."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from anemone.backends.rtl import builder
from tests.bench.build import SIMULATORS, place, simulator

WORK = SIMULATORS / "flat"
SHORT = ("flat4",)  # builds with few seeds
TOP = "FlatMemory"
DRAIN = 250  # cycles, more than memory's longest response

PINS = (
    "clock", "reset", "powerOn", "initialised",
    "host_*", "near_*", "far_*", "config_*", "counters_*", "outcome_*",
    "untrusted_*", "rearm", "repair", "quiesce", "quiet",
    "inject_*", "faults_*",
)  # fmt: skip
PUBLIC = "`verilator_config\n" + "".join(
    f'public_flat_rw -module "{TOP}" -var "{pin}"\n' for pin in PINS
)
PUBLIC += """\
public_flat_rd -module "HostRequests" -var "io_beat_*"
public_flat_rw -module "memory_*" -var "Memory"
public_flat_rw -module "ram_*" -var "Memory"
"""


@dataclass(frozen=True)
class Build:
    """Parameters of a build, as `anemone.flat.FlatParams` has them.

    Builds with clock gates are compared with the same models as those without.
    """

    name: str
    ratio: int
    requests: int
    address_bits: int
    id_bits: int
    clock_gates: bool = False

    @property
    def top(self) -> str:
        """The module that is built."""
        return TOP

    @property
    def options(self) -> list[str]:
        """The emitter's options."""
        sizes = {
            "ratio": self.ratio,
            "requests": self.requests,
            "address-bits": self.address_bits,
            "id-bits": self.id_bits,
            "drain": DRAIN,
        }
        words = [word for name, value in sizes.items() for word in (f"--{name}", str(value))]
        return ["--top", "flat", *words, *["--clock-gates"] * self.clock_gates]


BUILDS = {
    build.name: build
    for build in (
        Build("flat1", ratio=1, requests=64, address_bits=20, id_bits=12, clock_gates=True),
        Build("flat2", ratio=2, requests=8, address_bits=18, id_bits=4),
        Build("flat3", ratio=3, requests=32, address_bits=16, id_bits=6, clock_gates=True),
        Build("flat4", ratio=4, requests=4, address_bits=15, id_bits=2),
    )
}


def emit(build: Build) -> Path:
    """The folder with a build's SystemVerilog, `filelist.f` and `params.json`."""
    return builder.emit(WORK / build.name / "rtl", builder.run_with(build.options))


def built(build: Build, waves: bool = False) -> Path:
    """The simulator of a build, up to date with hw/src."""
    folder, quick = place(build.name, WORK / build.name, waves, SHORT)
    return simulator(emit(build), folder, TOP, PUBLIC, waves, quick=quick)
