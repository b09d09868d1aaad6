# SPDX-License-Identifier: Apache-2.0
"""Emits the engine's SystemVerilog and builds the simulator, each only when its input changed."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from anemone.rtl import builder
from tests.cocotb.bench.sizes import Size

ROOT = Path(__file__).resolve().parents[3]
WORK = ROOT / "build" / "cocotb"
TOP = "TelemetryEngine"

# Only the ports and the memories are visible to the bench: --public-flat-rw, which the runner asks
# for, makes the simulation ten times slower.
PUBLIC = f"""\
`verilator_config
public_flat_rw -module "{TOP}" -var "clock"
public_flat_rw -module "{TOP}" -var "reset"
public_flat_rw -module "{TOP}" -var "io_*"
public_flat_rw -module "memory_*" -var "Memory"
"""
# Registers without a reset start random (+verilator+seed): nothing may depend on them.
OPTIONS = """--assert --no-public-flat-rw --x-assign unique --x-initial unique -O3 -CFLAGS -O1
    -Wno-fatal""".split()


@contextmanager
def locked(name: str) -> Iterator[None]:
    """One process at a time; others wait."""
    WORK.mkdir(parents=True, exist_ok=True)
    with (WORK / f".{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def digest(parts: Iterable[str | Path]) -> str:
    """A hash of texts and of files' contents."""
    total = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, Path) else part.encode()
        total.update(len(data).to_bytes(8, "big") + data)
    return total.hexdigest()


def tools_path() -> str:
    """PATH with the tools of this Python's environment first."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def emit(build: Any) -> Path:
    """The folder with a build's SystemVerilog, `filelist.f` and `params.json`."""
    return builder.emit(WORK / build.name / "rtl", builder.run_with(build.options))


def simulator(
    rtl: Path,
    folder: Path,
    waves: bool = False,
    top: str = TOP,
    visible: str = PUBLIC,
    around: Sequence[Path] = (),
    defines: Sequence[str] = (),
) -> Path:
    """Build the simulator of what is in `rtl` into `folder`, which is returned.

    around: sources by hand, with the top; packages first. defines: NAME=VALUE.
    """
    from cocotb_tools.runner import VerilatorControlFile, get_runner

    sources = [*around, *(rtl / name for name in (rtl / "filelist.f").read_text().split())]
    options = [*OPTIONS, *(["--trace-fst"] if waves else []), *(f"-D{word}" for word in defines)]
    versions = [f"{name} {version(name)}" for name in ("cocotb", "verilator")]
    now = digest([*sources, visible, *options, *versions, sys.prefix])
    stamp = folder / ".stamp"
    with locked(digest([str(folder)])[:16]):
        if not stamp.is_file() or stamp.read_text() != now:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            public = folder / "public.vlt"
            public.write_text(visible)
            os.environ["PATH"] = tools_path()
            log = folder / "build.log"
            try:
                get_runner("verilator").build(
                    sources=[VerilatorControlFile(public), *sources],
                    hdl_toplevel=top,
                    build_dir=folder,
                    build_args=options,
                    waves=waves,
                    log_file=log,
                )
            except RuntimeError as error:
                raise RuntimeError(f"{error}\n{log.read_text()[-4000:]}") from error
            shutil.copy(rtl / "params.json", folder)
            stamp.write_text(now)
    return folder


def built(size: Size, waves: bool = False) -> Path:
    """The simulator of a size, up to date with hw/src."""
    return simulator(emit(size), WORK / size.name / ("sim-waves" if waves else "sim"), waves)
