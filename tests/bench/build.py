# SPDX-License-Identifier: Apache-2.0
"""Emits a bench's SystemVerilog and builds its simulator, each only when its input changed."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from unittest.mock import patch

from anemone.backends.rtl.checkers import CHECKERS, bound
from anemone.io.build_cache import built

ROOT = Path(__file__).resolve().parents[2]
SIMULATORS = ROOT / "build" / "bench"

# Registers without a reset start random (+verilator+seed): nothing may depend on them.
OPTIONS = """--assert --no-public-flat-rw --x-assign unique --x-initial unique -O3
    -Wno-fatal""".split()
# What runs every cycle, what all share, and what runs once: half of the code is of the last kind.
OPTIMISED = "OPT_FAST=-O1 OPT_GLOBAL=-O1 OPT_SLOW=-O0"


def tools_path() -> str:
    """PATH with the tools of this Python's environment first."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def simulator(
    rtl: Path,
    folder: Path,
    top: str,
    visible: str,
    waves: bool = False,
    around: Sequence[Path] = (),
    defines: Sequence[str] = (),
) -> Path:
    """Build the simulator of what is in `rtl` into `folder`, which is returned. Its AXI ports are
    checked.

    visible: Verilator's control file. around: sources by hand, with the top; packages first.
    defines: NAME=VALUE.
    """
    from cocotb_tools.runner import VerilatorControlFile, get_runner

    emitted = [rtl / name for name in (rtl / "filelist.f").read_text().split()]
    sources = [*around, *emitted, *CHECKERS]
    checks = bound(rtl)
    options = [*OPTIONS, *(["--trace-fst"] if waves else []), *(f"-D{word}" for word in defines)]
    versions = [f"{name} {version(name)}" for name in ("cocotb", "verilator")]

    def make(fresh: Path) -> None:
        fresh.mkdir(parents=True)
        public = fresh / "public.vlt"
        public.write_text(visible)
        tools = {"PATH": tools_path(), "MAKEFLAGS": f" -- {OPTIMISED}"}
        binds = fresh / "checks.sv"
        binds.write_text(checks)
        log = fresh / "build.log"
        try:
            with patch.dict(os.environ, tools):
                get_runner("verilator").build(
                    sources=[VerilatorControlFile(public), *sources, binds],
                    hdl_toplevel=top,
                    build_dir=fresh,
                    build_args=options,
                    waves=waves,
                    log_file=log,
                )
        except RuntimeError as error:
            raise RuntimeError(f"{error}\n{log.read_text()[-4000:]}") from error
        shutil.copy(rtl / "params.json", fresh)

    made_of = [*sources, checks, visible, *options, OPTIMISED, *versions, sys.prefix]
    return built(folder, made_of, make)
