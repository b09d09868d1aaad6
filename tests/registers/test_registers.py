# SPDX-License-Identifier: Apache-2.0
"""Every register behaves as the RDL specifies: runs bench.py in the simulator."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from anemone.backends.rtl import builder
from anemone.io.build_cache import built
from tests.bench.build import ROOT, tools_path
from tests.bench.once import cocotb_tests, verdicts
from tests.bench.simulate import simulate

WORK = ROOT / "build" / "registers"
TOP = "RegistersBench"
BENCH = Path(__file__).with_name("bench.py")
PIPELINES, TABLE = 3, 16  # not all powers of two
CHANNELS = 2  # as EmitRegisters builds them


def simulator() -> Path:
    """The simulator of a small register block; rebuilt if hw/src changed."""
    from cocotb_tools.runner import get_runner

    main = ["hw.test", "anemone.expander.EmitRegisters"]
    rtl = builder.emit(
        WORK / "rtl",
        lambda out: [*main, str(out), str(PIPELINES), str(TABLE)],
        [ROOT / "hw/test/expander/RegistersBench.scala"],
    )
    source = rtl / f"{TOP}.sv"

    def make(fresh: Path) -> None:
        os.environ["PATH"] = tools_path()
        get_runner("verilator").build(
            sources=[source],
            hdl_toplevel=TOP,
            build_dir=fresh,
            build_args=["--assert", "-Wno-fatal", "-CFLAGS", "-O1"],
            always=True,
            log_file=WORK / "build.log",
        )

    return built(WORK / "sim", [source], make)


@cache
def outcomes() -> dict[str, str]:
    """The failure of each test, or an empty text. All tests share one simulation."""
    folder = WORK / "run"
    sizes = {"PIPELINES": str(PIPELINES), "TABLE": str(TABLE), "FLAT_CHANNELS": str(CHANNELS)}

    def run_bench() -> None:
        simulate(simulator(), "bench", folder, package="tests.registers", top=TOP, **sizes)

    return verdicts(folder, cocotb_tests(BENCH), run_bench)


@pytest.mark.xdist_group("registers")
@pytest.mark.parametrize("name", cocotb_tests(BENCH))
def test_register(name: str) -> None:
    """A cocotb test of bench.py."""
    assert not outcomes()[name], outcomes()[name]
