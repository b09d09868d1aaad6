# SPDX-License-Identifier: Apache-2.0
"""`anemone capture`: memory traces of real programs, recorded where lines leave the cache.

settings.py has the settings, samples.py and programs.py the programs. debian.py fetches SQLite,
tools.py fetches QEMU, build.py compiles. run.py and program.py run programs, guest.py summarises,
store.py writes traces. command.py is the command line. The runtime inside captured programs is in
sim/capture, and the programs' sources are in sim/workloads.
"""

from anemone.capture.command import app

__all__ = ["app"]
