# SPDX-License-Identifier: Apache-2.0
"""Co-simulation: a Linux guest in QEMU with the Verilated expander as a PCI function."""

from anemone.cosim.guest import Guest
from anemone.cosim.programs import build_anemonectl, build_module, build_plugin, build_program
from anemone.cosim.python import guest_python
from anemone.cosim.server import Server, rows
from anemone.cosim.tools import CosimError, Tools, find_tools

__all__ = [
    "CosimError",
    "Guest",
    "Server",
    "Tools",
    "build_anemonectl",
    "build_module",
    "build_plugin",
    "build_program",
    "find_tools",
    "guest_python",
    "rows",
]
