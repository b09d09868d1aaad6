# SPDX-License-Identifier: Apache-2.0
"""The hardware as a backend: the Verilated RTL, built on demand and driven by sim/replay."""

from anemone.backends.rtl.builder import BackendError, build, elaborate
from anemone.backends.rtl.drive import Run, latency, run, run_rows
from anemone.backends.rtl.simulators import expander, flat_memory

__all__ = [
    "BackendError", "Run", "build", "elaborate", "expander", "flat_memory", "latency", "run",
    "run_rows",
]  # fmt: skip
