# SPDX-License-Identifier: Apache-2.0
"""The hardware as an engine: the verilated RTL, built on demand and driven by sim/harness."""

from anemone.rtl.builder import EngineError, build, elaborate
from anemone.rtl.drive import Run, latency, run, run_rows

__all__ = ["EngineError", "Run", "build", "elaborate", "latency", "run", "run_rows"]
