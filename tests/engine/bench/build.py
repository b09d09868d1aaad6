# SPDX-License-Identifier: Apache-2.0
"""The engine's simulators."""

from __future__ import annotations

from pathlib import Path

from anemone.backends.rtl import builder
from tests.bench.build import SIMULATORS, place, simulator
from tests.engine.bench.sizes import Size

WORK = SIMULATORS / "engine"
SHORT = ("lean", "some")  # builds with few seeds
TOP = "TelemetryEngine"

# Only the ports and the memories are visible to the bench, because --public-flat-rw, the runner's
# default, makes the simulation ten times slower.
PUBLIC = f"""\
`verilator_config
public_flat_rw -module "{TOP}" -var "clock"
public_flat_rw -module "{TOP}" -var "reset"
public_flat_rw -module "{TOP}" -var "io_*"
public_flat_rw -module "memory_*" -var "Memory"
"""


def emit(size: Size) -> Path:
    """The folder with a build's SystemVerilog, `filelist.f` and `params.json`."""
    return builder.emit(WORK / size.name / "rtl", builder.run_with(size.options))


def built(size: Size, waves: bool = False) -> Path:
    """The simulator of a size, up to date with hw/src."""
    folder, quick = place(size.name, WORK / size.name, waves, SHORT)
    return simulator(emit(size), folder, TOP, PUBLIC, waves, quick=quick)
