# SPDX-License-Identifier: Apache-2.0
"""All simulated hardware configurations, and the C++ that drives them."""

from __future__ import annotations

from pathlib import Path

from anemone.backends.rtl.builder import ROOT, Simulator
from anemone.hardware.geometry import Geometry

COMMON, EXPANDER, REPLAY, SHARE, VFIO, FLAT = (
    ROOT / "sim" / name for name in ("common", "expander", "replay", "share", "vfio", "flat")
)
REGISTERS = ROOT / "driver" / "include"  # the harness uses the driver's register header


def expander(geometry: Geometry) -> Simulator:
    """The memory expander with a geometry, with the harness that replays traces."""
    return _expander(geometry, geometry.key, REPLAY)


def shared(geometry: Geometry, hosts: int) -> Simulator:
    """The memory expander with a geometry and several hosts, with the harness that sends
    messages.
    """
    more = ("--hosts", str(hosts))
    return _expander(geometry, f"shared-h{hosts}-{geometry.key}", SHARE, more)


def vfio_server(geometry: Geometry, ratio: int = 0) -> Simulator:
    """The memory expander with a geometry as a PCI function for QEMU. A ratio above 0 enables flat
    memory mode with as many far lines per near line.
    """
    key = f"vfio-{geometry.key}" + (f"-r{ratio}" if ratio else "")
    return _expander(geometry, key, VFIO, ("--flat", "--ratio", str(ratio)) if ratio else ())


def _expander(geometry: Geometry, key: str, harness: Path, more: tuple[str, ...] = ()) -> Simulator:
    options = {
        "top": "expander", "pipelines": geometry.pipelines, "channels": geometry.channels,
        "states": geometry.states, "table": geometry.table, "address-bits": geometry.address_bits,
        **geometry.features.options,
    }  # fmt: skip
    folders = (REGISTERS, COMMON, EXPANDER, harness)
    return Simulator(key, "MemoryExpander", (*_options(options), *more), folders, _expander_sizes)


def _options(options: dict[str, object]) -> tuple[str, ...]:
    words = (word for name, value in options.items() for word in (f"--{name}", str(value)))
    return (*words, "--clock-gates")


def _expander_sizes(params: dict) -> dict[str, object]:
    channels, ports = range(params["channels"]), range(params["hosts"] * params["channels"])
    return {
        "PIPELINES": params["pipelines"],
        "CHANNELS": params["channels"],
        "STATES": params["states"],
        "TABLE": params["table"],
        "ADDRESS_BITS": params["address_bits"],
        "ID_BITS": params["memory_id_bits"],
        "RATIO": params.get("flat", {}).get("ratio", 0),
        "WINDOW_BYTES": params["window_bytes"],
        "HOSTS": params["hosts"],
        "EACH_CHANNEL(X)": " ".join(f"X({i})" for i in channels),
        "EACH_PORT(X)": " ".join(f"X({i})" for i in ports),
    }


def flat_memory(ratio: int, address_bits: int) -> Simulator:
    """Flat memory mode's controller with memories of a ratio, with the harness that runs traces."""
    options = {"top": "flat", "ratio": ratio, "address-bits": address_bits}
    key = f"flat-r{ratio}a{address_bits}"
    return Simulator(key, "FlatMemory", _options(options), (COMMON, FLAT), _flat_sizes)


def _flat_sizes(params: dict) -> dict[str, object]:
    return {
        "RATIO": params["ratio"],
        "ADDRESS_BITS": params["address_bits"],
        "ID_BITS": params["memory_id_bits"],
        "TAG_BITS": params["tag_bits"],
        "SIDEBAND_BITS": params["sideband_bits"],
        "COUNT_BITS": params["count_bits"],
    }
