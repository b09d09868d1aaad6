# SPDX-License-Identifier: Apache-2.0
"""Every register of the map, tested as the RDL says it is: bench.py in the simulator."""

from __future__ import annotations

import ast
import os
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import pytest

from anemone.backends.rtl import builder
from anemone.io.build_cache import built
from tests.bench.build import ROOT, tools_path

WORK = ROOT / "build" / "registers"
TOP = "RegistersBench"
PIPELINES, TABLE = 3, 16  # not all powers of two


def simulator() -> Path:
    """The folder with the simulator of a small register block, up to date with hw/src."""
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


def names() -> list[str]:
    tree = ast.parse((Path(__file__).parent / "bench.py").read_text())
    tests = [node for node in tree.body if isinstance(node, ast.AsyncFunctionDef)]
    return [node.name for node in tests if node.decorator_list]


@cache
def outcomes() -> dict[str, str]:
    """By test: nothing, or what went wrong. All tests share one simulation."""
    from cocotb_tools.runner import get_runner

    folder = WORK / "run"
    folder.mkdir(parents=True, exist_ok=True)
    results, log = folder / "results.xml", folder / "simulation.log"
    results.unlink(missing_ok=True)
    build = simulator()
    try:
        get_runner("verilator").test(
            test_module="tests.registers.bench",
            hdl_toplevel_lang="verilog",
            hdl_toplevel=TOP,
            build_dir=build,
            test_dir=folder,
            results_xml=str(results),
            log_file=log,
            extra_env={
                "PYTHONPATH": str(ROOT),
                "COCOTB_LOG_LEVEL": "WARNING",
                "COCOTB_ANSI_OUTPUT": "0",
                "PIPELINES": str(PIPELINES),
                "TABLE": str(TABLE),
            },
        )
    except (RuntimeError, SystemExit) as error:
        print(error)
    assert results.is_file(), log.read_text()[-6000:]
    found = {}
    for case in ET.parse(results).iter("testcase"):
        failed = case.find("failure") is not None or case.find("error") is not None
        found[case.get("name", "").rpartition(".")[2]] = log.read_text()[-6000:] if failed else ""
    return found


@pytest.mark.xdist_group("registers")
@pytest.mark.parametrize("name", names())
def test_register(name: str) -> None:
    """A cocotb test of bench.py."""
    wrong = outcomes().get(name, "the simulation did not run it")
    assert not wrong, wrong
