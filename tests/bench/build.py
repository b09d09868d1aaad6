# SPDX-License-Identifier: Apache-2.0
"""Emits a bench's SystemVerilog and builds its simulator, each only if its input changed."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Collection, Sequence
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
# Optimisation levels of code that runs every cycle, of the shared library, and of code that runs
# once, which is half of the code.
PIECES = (), "OPT_FAST=-O1 OPT_GLOBAL=-O1 OPT_SLOW=-O0"
# Below about 200,000 cycles, optimising the design costs more compile time than it saves in the
# run. Compiled in one piece, it reads Verilator's headers once.
ONE_PIECE = ("--output-split", "0"), "OPT_FAST=-O0 OPT_GLOBAL=-O1"


def ask_for_long_runs() -> None:
    """From now on, build for runs with more cycles than in `make test`."""
    os.environ["BENCH_LONG"] = "1"


def place(build: str, folder: Path, waves: bool, short: Collection[str]) -> tuple[Path, bool]:
    """The path of a build's simulator in its folder, and whether it is for short runs.

    short: the builds that `make test` runs for few cycles.
    """
    quick = build in short and "BENCH_LONG" not in os.environ
    words = ["sim", *(["waves"] if waves else []), *(["quick"] if quick else [])]
    return folder / "-".join(words), quick


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
    quick: bool = False,
    more: Sequence[str] = (),
) -> Path:
    """Build the simulator of the RTL in `rtl` in `folder`, which is returned. It has checkers at
    its AXI ports.

    visible: Verilator's control file. around: handwritten sources with the top, packages first.
    defines: NAME=VALUE. quick: optimise for compile time, not run time. more: options of Verilator.
    """
    from cocotb_tools.runner import VerilatorControlFile, get_runner

    emitted = [rtl / name for name in (rtl / "filelist.f").read_text().split()]
    sources = [*around, *emitted, *CHECKERS]
    checks = bound(rtl)
    split, optimised = ONE_PIECE if quick else PIECES
    options = [*OPTIONS, *split, *(["--trace-fst"] if waves else [])]
    options += [*(f"-D{word}" for word in defines), *more]
    versions = [f"{name} {version(name)}" for name in ("cocotb", "verilator")]

    def make(fresh: Path) -> None:
        fresh.mkdir(parents=True)
        public = fresh / "public.vlt"
        public.write_text(visible)
        tools = {"PATH": tools_path(), "MAKEFLAGS": f" -- {optimised}"}
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
        for path in fresh.iterdir():
            if path.name not in (top, log.name):  # a hundred megabytes
                path.unlink()
        shutil.copy(rtl / "params.json", fresh)

    made_of = [*sources, rtl / "params.json", checks, visible, *options]
    made_of += [optimised, *versions, top]
    return built(folder, made_of, make, shared=True)
