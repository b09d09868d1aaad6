# SPDX-License-Identifier: Apache-2.0
"""FuseSoC generator: emits SystemVerilog from Chisel as a core. `top` is the board by default.

Parameters: those of `mk/scala.sh hw anemone.Elaborate --help`, with underscores. Emits to
build/fpga/emitted, only if a source changed; the core has copies of the files.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from anemone.backends.rtl import builder

ROOT = Path(__file__).resolve().parents[1]
EMITTED = ROOT / "build" / "fpga" / "emitted"


def emit(parameters: dict[str, Any]) -> Path:
    """The folder with the files for a core's parameters, and their list `filelist.f`."""
    words = options({"top": "board", **parameters})
    key = hashlib.sha256(" ".join(words).encode()).hexdigest()[:12]
    return builder.emit(EMITTED / key / "rtl", builder.run_with(words))


def options(parameters: dict[str, Any]) -> list[str]:
    """The elaborator's options for the parameters of a core's generate entry."""
    words: list[str] = []
    for name, value in parameters.items():
        words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return words


def core(vlnv: str, sources: list[str], top: str = "", constraints: Sequence[str] = ()) -> str:
    """The text of a core with these sources."""
    sets = {"rtl": {"files": sources, "file_type": "systemVerilogSource"}}
    if constraints:
        sets["constraints"] = {"files": list(constraints), "file_type": "SDC"}
    target = {"filesets": list(sets)} | ({"toplevel": top} if top else {})
    words = {"name": vlnv, "filesets": sets, "targets": {"default": target}}
    return "CAPI=2:\n" + yaml.safe_dump(words, sort_keys=False)


def generate(request: dict[str, Any], here: Path) -> None:
    """Writes the core that FuseSoC requests to the folder `here`."""
    folder = emit(request["parameters"])
    # The patterns of Verilator's waivers begin with "*/", so the files must be in a folder.
    (here / "rtl").mkdir(exist_ok=True)
    names = [Path("rtl") / Path(n).name for n in (folder / "filelist.f").read_text().split()]
    for name in names:
        shutil.copy(folder / name.name, here / name)
    name = request["vlnv"].split(":")[2]
    (here / f"{name}.core").write_text(core(request["vlnv"], [str(name) for name in names]))


if __name__ == "__main__":
    generate(yaml.safe_load(Path(sys.argv[1]).read_text()), Path.cwd())
