# SPDX-License-Identifier: Apache-2.0
"""Random calls of the driver (guest/fuzz.c), whose device is said to have the guest's own memory.

    python -m tests.cosim.fuzz CALLS            in runs of 20,000, each of a new guest and seed
    python -m tests.cosim.fuzz CALLS SEED       one run, of this seed

Each run says its seed as it begins. What was made counts until driver, kernel or test is another
(build/soak): calls that were stopped go on.

Exit: 1 when one failed; how to repeat it is the last line.
"""

from __future__ import annotations

import json
import re
import secrets
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from anemone.cosim import CosimError, Guest, Server, build_module, build_program, find_tools, rows
from anemone.cosim.programs import DRIVER
from anemone.io.build_cache import digest
from tests.cosim.conftest import HUGE, OWN_MEMORY, PROGRAMS
from tests.inputs import ROOT

A_RUN = 20_000
ACCESSES = 5_000  # at a time; on the keys that the calls map, mostly
REQUESTS = {
    "info", "add", "remove", "map", "read", "status", "eventfd", "rotate", "turn", "snapshot",
    "events",
}  # fmt: skip
# Let allocations fail wherever they may, without a word.
_FAULTS = """
mount -t debugfs debugfs /sys/kernel/debug
if [ -d /sys/kernel/debug/failslab ]; then
    for one in failslab fail_page_alloc; do
        echo 0 >/sys/kernel/debug/$one/verbose
        echo N >/sys/kernel/debug/$one/ignore-gfp-wait
    done
    echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
fi
"""


def fuzz(seed: int, calls: int, seconds: int = 3600, threads: int = 3) -> str:
    """What guest/fuzz.c said, after so many calls or that time. Raises CosimError when it or the
    kernel complains."""
    random = np.random.default_rng(seed)
    module, program = build_module(find_tools()), build_program(PROGRAMS / "fuzz.c")
    with Server(memory="off") as server:

        def traffic(_: str) -> None:
            server.wait()
            pages = random.integers(0, np.where(random.random(ACCESSES) < 0.1, 8192, 64))
            addresses = pages * HUGE + random.integers(0, HUGE, ACCESSES)
            server.start(rows(addresses, random.integers(0, 2, ACCESSES)))

        with Guest(
            server, modules=[module], programs=[program], answers={"traffic": traffic}, cpus=2,
            kernel="loglevel=4",  # what it says of its end
        ) as guest:  # fmt: skip
            guest.run(f"{_FAULTS}\ninsmod /mod/anemone.ko merged=1 {OWN_MEMORY}")
            try:
                said = guest.run(f"fuzz {seed} {calls} {seconds} {threads}", timeout=seconds + 120)
            except CosimError as e:
                raise CosimError(f"{e}\nkernel:\n{_last_words(guest)}") from e
            server.wait()
            guest.run("rmmod anemone")
            guest.kernel_log()
    assert "all is free" in said
    return said


def _last_words(guest: Guest) -> str:
    """What the kernel said last, if it is still there."""
    try:
        return guest.run("dmesg | tail -n 100")
    except (CosimError, OSError) as e:
        return f"it is gone: {e}"


def inputs() -> str:
    """Changes with the driver and with what calls it."""
    sources = [*DRIVER.glob("*.[ch]"), *DRIVER.glob("include/**/*.h"), *PROGRAMS.glob("*.[ch]")]
    return digest([*sorted(sources), *sorted(Path(__file__).parent.glob("*.py"))])


class Made:
    """How many of a name were made, kept in build/soak."""

    def __init__(self, name: str) -> None:
        self._path, self._of = ROOT / "build" / "soak" / f"{name}.json", inputs()
        kept = json.loads(self._path.read_text()) if self._path.exists() else {}
        self.count = int(kept["count"]) if kept.get("of") == self._of else 0

    def add(self, count: int) -> None:
        self.count += count
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps({"of": self._of, "count": self.count}) + "\n")
        fresh.replace(self._path)


def soak(name: str, piece: Callable[[int, int], int], words: list[str]) -> int:
    """A module's command line, [COUNT [SEED]]: pieces (seed, count), which return how many they
    made, until there are so many; 1 when one fails."""
    goal = int(words[0]) if words else A_RUN
    if words[1:]:
        print(f"{name}: {piece(int(words[1]), goal)}")
        return 0
    made, started = Made(f"{name}-{find_tools().release}"), time.monotonic()
    while made.count < goal:
        seed, count = secrets.randbelow(1 << 40), min(A_RUN, goal - made.count)
        print(f"{name}: seed {seed}", flush=True)
        try:
            made.add(piece(seed, count))
        except (CosimError, AssertionError) as error:
            print(f"{error}\nagain: python -m {name} {count} {seed}", file=sys.stderr)
            return 1
        minutes = (time.monotonic() - started) / 60
        print(f"{name}: {made.count} of {goal}, {minutes:.1f} min", flush=True)
    return 0


def calls(seed: int, count: int) -> int:
    """How many were made."""
    said = re.search(r"^calls (\d+)$", fuzz(seed, count), re.MULTILINE)
    assert said
    return int(said[1])


def main(words: list[str]) -> int:
    return soak("tests.cosim.fuzz", calls, words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
