# SPDX-License-Identifier: Apache-2.0
"""A heap that comes and goes under entries for its pages (guest/churn.c): no memory grows.

    python -m tests.cosim.churn ENTRIES [SEED]     as tests.cosim.fuzz has it

Exit: 1 when one failed; how to repeat it is the last line.
"""

from __future__ import annotations

import re
import sys

from anemone.cosim import Guest, Server, build_module, build_program, find_tools
from tests.cosim.conftest import GUEST_MEMORY, PROGRAMS
from tests.cosim.fuzz import soak

# Of 2000 entries, which are of 256 bytes each, it would be 380 if each was left.
MOST_KIB = 100
# KASAN keeps what was freed, up to a 32nd of memory: there it is looked for what is used behind its
# end, and growth only where no KASAN is.
QUARANTINE_KIB = 32 * 1024


def churn(guest: Guest, seed: int, entries: int) -> int:
    """How many entries were made, in a guest with the driver and guest/churn.c."""
    most = QUARANTINE_KIB if find_tools().watchful else MOST_KIB
    said = guest.run(f"churn {seed} {entries} {most}", timeout=3600)
    made = re.match(r"(\d+) entries", said)
    assert made, said
    return int(made[1])


def run(seed: int, entries: int) -> int:
    """The same in a guest of its own."""
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
