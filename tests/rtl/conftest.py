# SPDX-License-Identifier: Apache-2.0
"""Compiles engines that only these tests use without optimisation, because they run few cycles."""

from pathlib import Path

import pytest

from anemone.backends import rtl
from anemone.backends.rtl import builder
from anemone.backends.rtl.builder import COLD, Log, Simulator, log_progress
from tests.rtl.geometries import SMALLEST, WIDE

SHORT = {rtl.expander(geometry).key for geometry in (SMALLEST, WIDE)}


@pytest.fixture(autouse=True)
def compiled_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    as_shipped = builder.compile_simulator

    def compile_simulator(
        simulator: Simulator, verilog: Path, folder: Path, log: Log = log_progress
    ) -> Path:
        hot = COLD if simulator.key in SHORT else None
        return as_shipped(simulator, verilog, folder, log, hot)

    monkeypatch.setattr(builder, "compile_simulator", compile_simulator)
