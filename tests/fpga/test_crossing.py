# SPDX-License-Identifier: Apache-2.0
"""The clock crossing of the control port alone: runs bench/crossing.py in the simulator."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from anemone.backends.rtl import builder
from tests.bench.build import ROOT, simulator
from tests.bench.once import cocotb_tests, verdicts
from tests.bench.simulate import simulate

WORK = ROOT / "build" / "fpga" / "crossing"
TOP = "AvalonCrossing"
BENCH = Path(__file__).parent / "bench" / "crossing.py"
PUBLIC = f"""\
`verilator_config
public_flat_rw -module "{TOP}" -var "*"
public_flat_rw -module "Synchronizer" -var "*"
"""


def built() -> Path:
    """The simulator; rebuilt if hw/src changed."""
    main = ["hw.test", "anemone.bus.EmitCrossing"]
    emitter = ROOT / "hw/test/bus/EmitCrossing.scala"
    rtl = builder.emit(WORK / "rtl", lambda out: [*main, str(out)], [emitter])
    return simulator(rtl, WORK / "sim", TOP, PUBLIC, "WAVES" in os.environ, quick=True)


@cache
def outcomes() -> dict[str, str]:
    """The failure of each test, or an empty text."""
    folder = WORK / "run"
    run = lambda: simulate(built(), "crossing", folder, package="tests.fpga.bench", top=TOP)  # noqa: E731
    return verdicts(folder, cocotb_tests(BENCH), run)


@pytest.mark.xdist_group("crossing")
@pytest.mark.parametrize("test", cocotb_tests(BENCH))
def test_crossing(test: str) -> None:
    """A cocotb test of bench/crossing.py."""
    assert not outcomes()[test], outcomes()[test]
