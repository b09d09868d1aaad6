# SPDX-License-Identifier: Apache-2.0
"""Emits an expander's SystemVerilog and builds the simulator, each only when its input changed."""

from __future__ import annotations

from pathlib import Path

from anemone.backends.rtl import builder
from tests.bench.build import ROOT, SIMULATORS, place, simulator
from tests.expander.bench.sizes import Build

WORK = SIMULATORS / "expander"
SHORT = ("board", "agilex", "flatboard")  # they run few seeds
# The board's wrapper, and a module that maps its pins to the bench's.
AGILEX = [
    ROOT / "fpga" / "agilex" / "anemone_tap_pkg.sv",
    ROOT / "fpga" / "agilex" / "anemone_afu.sv",
    Path(__file__).with_name("agilex_bench.sv"),
]
EMITTER = ROOT / "hw" / "test" / "expander" / "EmitBench.scala"

# Signals that the bench reads or changes; everything else may be optimized away.
PUBLIC = """\
`verilator_config
public_flat_rw -module "{top}" -var "clock"
public_flat_rw -module "{top}" -var "reset"
public_flat_rw -module "{top}" -var "upstream_*"
public_flat_rw -module "{top}" -var "downstream_*"
public_flat_rw -module "{top}" -var "control_*"
public_flat_rw -module "{top}" -var "interrupt_*"
public_flat_rw -module "{top}" -var "quiesce"
public_flat_rw -module "{top}" -var "quiet"
public_flat_rd -module "TelemetryEngine" -var "io_rule_valid"
public_flat_rd -module "TelemetryEngine" -var "io_rule_ready"
public_flat_rd -module "TelemetryEngine" -var "io_table_valid"
public_flat_rd -module "TelemetryEngine" -var "io_table_ready"
public_flat_rd -module "TelemetryEngine" -var "io_clear_*"
public_flat_rd -module "TelemetryEngine" -var "io_events_*_valid"
public_flat_rd -module "TelemetryEngine" -var "io_reads_*_valid"
public_flat_rd -module "TelemetryEngine" -var "io_rearm_*"
public_flat_rd -module "TelemetryEngine" -var "io_status_*"
public_flat_rd -module "RequestArbiter" -var "io_reads_ready"
public_flat_rd -module "RequestArbiter" -var "io_writes_ready"
public_flat_rd -module "ExpanderRegisters" -var "io_out_*Window_*"
public_flat_rw -module "memory_*" -var "Memory"
public_flat_rw -module "ram_*" -var "Memory"
public_flat_rw -module "words_*" -var "Memory"
public_flat_rd -module "MemoryChannel" -var "io_faults_*_fault_*"
public_flat_rd -module "ReadPrefetchBuffer" -var "io_in_valid"
public_flat_rd -module "ReadPrefetchBuffer" -var "io_taken"
"""
# In flat memory mode also near memory, far memory, and the beats that the controller accepts.
TIERED = """\
public_flat_rw -module "{top}" -var "powerOn"
public_flat_rw -module "{top}" -var "tiers_*"
public_flat_rd -module "HostRequests" -var "io_beat_*"
public_flat_rd -module "FlatMemory" -var "event_*"
public_flat_rd -module "FlatMemory" -var "hold"
public_flat_rd -module "TelemetryEngine" -var "io_events_*_bits_*"
public_flat_rd -module "TelemetryEngine" -var "io_reads_*_ready"
"""

# What passes from the hosts of a channel.
HOSTS = """\
public_flat_rd -module "HostArbiter" -var "io_channel_*"
"""

# Inside the board's wrapper also its control port, and registers in both reset domains.
WRAPPED = """\
public_flat_rw -module "{top}" -var "csr_*"
public_flat_rd -module "MemoryExpander" -var "reset"
public_flat_rd -module "CrossingHost" -var "reset"
"""


def visible(build: Build) -> str:
    """The signals that a simulator of the build must keep visible."""
    kinds = {TIERED: build.ratio, HOSTS: build.hosts > 1, WRAPPED: build.wrapper}
    more = (signals for signals, there in kinds.items() if there)
    return (PUBLIC + "".join(more)).format(top=build.top)


def defines(build: Build) -> list[str]:
    """The macros of the board's wrapper."""
    return [f"ANEMONE_ID_BITS={build.id_bits}", *(["ANEMONE_FLAT=1"] if build.ratio else [])]


def emit(build: Build) -> Path:
    """The folder with an expander's SystemVerilog, `filelist.f` and `params.json`."""
    main = ["hw.test", "anemone.expander.EmitBench"]
    return builder.emit(
        WORK / build.name / "rtl", lambda out: [*main, str(out), *build.options], [EMITTER]
    )


def built(build: Build, waves: bool = False) -> Path:
    """The simulator of a build, up to date with hw/src."""
    folder, quick = place(build.name, WORK / build.name, waves, SHORT)
    shown = visible(build)
    if not build.wrapper:
        return simulator(emit(build), folder, build.top, shown, waves, quick=quick)
    macros = defines(build)
    return simulator(emit(build), folder, build.top, shown, waves, AGILEX, macros, quick)
