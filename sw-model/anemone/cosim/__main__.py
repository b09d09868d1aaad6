# SPDX-License-Identifier: Apache-2.0
"""python -m anemone.cosim shell [FILE...]: a shell in a guest with the expander.

FILE is a module (NAME.ko, goes to /mod), or a C file to compile or a program (go to /bin). End it
with `poweroff -f` in the guest or with Ctrl-A X.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from anemone.cosim.guest import guest_files, qemu_command, write_root
from anemone.cosim.programs import build_program
from anemone.cosim.server import Server
from anemone.cosim.tools import CosimError, find_tools


def shell(files: list[Path]) -> int:
    """Boot with the terminal as console. Returns QEMU's exit status."""
    tools = find_tools()
    modules = [path for path in files if path.suffix == ".ko"]
    programs = [
        build_program(path) if path.suffix == ".c" else path
        for path in files
        if path not in modules
    ]
    with Server() as server, tempfile.TemporaryDirectory() as folder:
        print(f"commands for the device (sim/vfio/commands.h) go to {server.control}", flush=True)
        root = write_root(Path(folder), guest_files(tools, modules, programs, {}))
        command = qemu_command(tools, [server], root, 1, 512, "anemone_shell=1")
        return subprocess.run([*command, "-serial", "mon:stdio"]).returncode


def main(words: list[str]) -> int:
    files = [Path(word) for word in words[1:]]
    missing = [str(path) for path in files if not path.is_file()]
    if words[:1] != ["shell"] or missing:
        what = f"no such file: {', '.join(missing)}" if missing else __doc__.strip()
        print(what, file=sys.stderr)
        return 2
    try:
        return shell(files)
    except CosimError as e:
        print(f"cosim: {e}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
