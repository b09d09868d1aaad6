# SPDX-License-Identifier: Apache-2.0
"""The hardware as an engine: the verilated RTL, built on demand and driven by sim/harness."""

from anemone.rtl.builder import EngineError, build, elaborate
from anemone.rtl.drive import Run, latency, run, run_rows
from anemone.rtl.engines import expander, flat_memory

__all__ = [
    "EngineError", "Run", "build", "elaborate", "expander", "flat_memory", "latency", "run",
    "run_rows",
]  # fmt: skip
