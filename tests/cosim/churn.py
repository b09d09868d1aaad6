# SPDX-License-Identifier: Apache-2.0
"""A heap that comes and goes with entries for its pages (guest/churn.c): no memory leaks.

    python -m tests.cosim.churn ENTRIES [SEED]     as for tests.cosim.fuzz

Exit: 1 if a run failed; the last line tells how to repeat it.
"""

from __future__ import annotations

import re
import sys

from anemone.cosim import Guest, Server, build_module, build_program, find_tools
from tests.cosim.conftest import GUEST_MEMORY, PROGRAMS
from tests.cosim.fuzz import soak

# 2000 leaked entries of 256 bytes would be more than 380 KiB.
MAX_KIB = 100
# KASAN keeps freed memory, up to a 32nd of all memory. So a KASAN kernel is used to find uses after
# free, and growth is checked only without KASAN.
QUARANTINE_KIB = 32 * 1024


def churn(guest: Guest, seed: int, entries: int) -> int:
    """Runs in a guest with the driver and guest/churn.c; returns the number of entries made."""
    limit = QUARANTINE_KIB if find_tools().checked else MAX_KIB
    output = guest.run(f"churn {seed} {entries} {limit}", timeout=3600)
    made = re.match(r"(\d+) entries", output)
    assert made, output
    return int(made[1])


def run(seed: int, entries: int) -> int:
    """The same in a new guest."""
    module, program = build_module(find_tools()), build_program(PROGRAMS / "churn.c")
    with (
        Server(memory="off") as server,
        Guest(server, modules=[module], programs=[program], memory=1024) as guest,
    ):
        guest.run(f"insmod /mod/anemone.ko merged=1 {GUEST_MEMORY}")
        made = churn(guest, seed, entries)
        guest.run("rmmod anemone")
        guest.kernel_log()
    return made


def main(words: list[str]) -> int:
    return soak("tests.cosim.churn", run, words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
