# SPDX-License-Identifier: Apache-2.0
"""Runs cocotb tests in a simulator."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.bench.build import ROOT

LOG_TAIL = 6000  # characters shown of a failed simulation's output


def simulate(
    simulator: Path,
    module: str,
    folder: Path,
    plusargs: Sequence[str] = (),
    *,
    package: str,
    top: str,
    **environment: str,
) -> None:
    """Run the cocotb tests of a package's module in `folder`.

    Raises AssertionError with the end of the output when a test fails or the simulator stops early.
    """
    from cocotb_tools.config import libs_dir
    from cocotb_tools.runner import get_results, get_runner

    folder.mkdir(parents=True, exist_ok=True)
    log, results = folder / "simulation.log", folder / "results.xml"
    results.unlink(missing_ok=True)
    waves = "waves" in simulator.name
    runner = get_runner("verilator")
    runner.waves = waves
    seed = environment.get("BENCH_SEEDS", "1").split()[0]
    ended = ""
    try:
        runner.test(
            test_module=f"{package}.{module}",
            hdl_toplevel_lang="verilog",
            hdl_toplevel=top,
            build_dir=simulator,
            test_dir=folder,
            results_xml=str(results),
            waves=waves,
            log_file=log,
            plusargs=[
                "+verilator+rand+reset+2",
                f"+verilator+seed+{1 + int(seed) % 2**30}",
                *plusargs,
            ],
            extra_env={
                "PYTHONPATH": str(ROOT),
                "COCOTB_LOG_LEVEL": "WARNING",
                "COCOTB_ANSI_OUTPUT": "0",
                # The simulator may be of another checkout.
                "LD_LIBRARY_PATH": str(libs_dir),
                # Keeps the output of the bench and the simulator in order.
                "PYTHONUNBUFFERED": "1",
                "BENCH_PARAMS": str(simulator / "params.json"),
                **environment,
            },
        )
        count, failed = get_results(results)
        ended = f"{failed} of {count} tests failed" if failed or not count else ""
    except (RuntimeError, SystemExit) as error:
        ended = str(error)
    assert not ended, f"{ended}; the end of {log}:\n{log.read_text()[-LOG_TAIL:]}"
