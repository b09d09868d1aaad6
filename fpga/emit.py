# SPDX-License-Identifier: Apache-2.0
"""FuseSoC generator: the board's SystemVerilog out of Chisel, as a core.

Parameters: those of `./mill hw.run --help`, with underscores. Emits into build/fpga/emitted, only
when a source changed; the core has copies of the files.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
EMITTED = ROOT / "build" / "fpga" / "emitted"
LOCK = ROOT / "build" / "cocotb" / ".emit.lock"  # Mill runs one command at a time in a checkout


def emit(words: list[str]) -> Path:
    """The folder with `filelist.f` and what it names."""
    digest = hashlib.sha256(" ".join(words).encode())
    for source in (ROOT / "build.sc", *sorted((ROOT / "hw" / "src").rglob("*.scala"))):
        digest.update(source.read_bytes())
    out = EMITTED / hashlib.sha256(" ".join(words).encode()).hexdigest()[:12]
    stamp = out / ".stamp"
    LOCK.parent.mkdir(parents=True, exist_ok=True)
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.is_file() or stamp.read_text() != digest.hexdigest():
            shutil.rmtree(out, ignore_errors=True)
            command = ["./mill", "hw.run", "--top", "board", *words, "--out", str(out)]
            subprocess.run(command, cwd=ROOT, check=True)
            stamp.write_text(digest.hexdigest())
    return out


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
