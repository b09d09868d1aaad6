# SPDX-License-Identifier: Apache-2.0
"""`anemone capture`: memory traces of real programs, taken where lines leave the cache.

settings.py what a capture is made of; samples.py the programs; debian.py fetches SQLite; build.py
compiles; run.py runs and merges; store.py writes; command.py is the command line.
The runtime inside the captured programs is in sim/capture, their sources are in sim/workloads.
"""

from anemone.capture.command import app

__all__ = ["app"]
