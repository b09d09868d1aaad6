# SPDX-License-Identifier: Apache-2.0
"""`anemone memstrata` in a guest, which has what is imported when it is asked for its help."""

from __future__ import annotations

import sys

from anemone.cli import main
from anemone.memstrata import command, files, live

# `run` imports them when it is called.
assert all((command, files, live))

if __name__ == "__main__":
    main(["memstrata", *sys.argv[1:]])
