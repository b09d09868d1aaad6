# SPDX-License-Identifier: Apache-2.0
"""FuseSoC generator: the board's SystemVerilog out of Chisel, as a core.

Parameters: those of `mk/scala.sh hw anemone.Elaborate --help`, with underscores. Emits into
build/fpga/emitted, only when a source changed; the core has copies of the files.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path
from typing import Any

import yaml

from anemone.backends.rtl import builder

ROOT = Path(__file__).resolve().parents[1]
EMITTED = ROOT / "build" / "fpga" / "emitted"


def emit(words: list[str]) -> Path:
    """The folder with `filelist.f` and what it names."""
    key = hashlib.sha256(" ".join(words).encode()).hexdigest()[:12]
    return builder.emit(EMITTED / key / "rtl", builder.run_with(["--top", "board", *words]))


def options(parameters: dict[str, Any]) -> list[str]:
    """The elaborator's options for the parameters of a core's generate entry."""
    words: list[str] = []
    for name, value in parameters.items():
        words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return words


def generate(request: dict[str, Any], here: Path) -> None:
    """What FuseSoC asks for, in the folder that it gives."""
    folder = emit(options(request["parameters"]))
    # Verilator's waivers name files by "*/": they have to be in a folder.
    (here / "rtl").mkdir(exist_ok=True)
    names = [Path("rtl") / Path(n).name for n in (folder / "filelist.f").read_text().split()]
    for name in names:
        shutil.copy(folder / name.name, here / name)
    files = {"files": [str(name) for name in names], "file_type": "systemVerilogSource"}
    core = {
        "name": request["vlnv"],
        "filesets": {"rtl": files},
        "targets": {"default": {"filesets": ["rtl"]}},
    }
    name = request["vlnv"].split(":")[2]
    (here / f"{name}.core").write_text("CAPI=2:\n" + yaml.safe_dump(core, sort_keys=False))


if __name__ == "__main__":
    generate(yaml.safe_load(Path(sys.argv[1]).read_text()), Path.cwd())
