# SPDX-License-Identifier: Apache-2.0
"""Random calls of the driver (guest/fuzz.c), whose device is declared to have the guest's memory.

    python -m tests.cosim.fuzz CALLS            in runs of 20,000, each with a new guest and seed
    python -m tests.cosim.fuzz CALLS SEED       one run with this seed

Each run prints its seed first. Calls made so far count until driver, kernel or test change
(build/soak), so an interrupted soak continues.

Exit: 1 if a run failed; the last line tells how to repeat it.
"""

from __future__ import annotations

import json
import re
import secrets
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import numpy as np

from anemone.cosim import CosimError, Guest, Server, build_module, build_program, find_tools, rows
from anemone.cosim.programs import DRIVER
from anemone.hardware.geometry import Geometry
from anemone.io.build_cache import digest
from tests.cosim.conftest import GUEST_MEMORY, HUGE, PROGRAMS
from tests.inputs import ROOT

A_RUN, JOBS = 20_000, 2  # calls per guest, and parallel guests
# Calls wait for clears, which take a cycle per entry: an eighth of the table makes seven times the
# calls.
QUICK = Geometry(states=512, table=1024)
ACCESSES = 5_000  # accesses per request, mostly to keys that the calls map
REQUESTS = {
    "info", "add", "remove", "map", "read", "status", "eventfd", "rotate", "turn", "snapshot",
    "events",
}  # fmt: skip
# Let allocations fail anywhere, without a kernel message.
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


def fuzz(
    seed: int, calls: int, seconds: int = 3600, threads: int = 3, geometry: Geometry | None = None
) -> str:
    """Returns the output of guest/fuzz.c after so many calls or that time. Raises CosimError if the
    program or the kernel complains."""
    random = np.random.default_rng(seed)
    module, program = build_module(find_tools()), build_program(PROGRAMS / "fuzz.c")
    with Server(geometry, memory="off") as server:

        def traffic(_: str) -> None:
            server.wait()
            pages = random.integers(0, np.where(random.random(ACCESSES) < 0.1, 8192, 64))
            addresses = pages * HUGE + random.integers(0, HUGE, ACCESSES)
            server.start(rows(addresses, random.integers(0, 2, ACCESSES)))

        with Guest(
            server, modules=[module], programs=[program], answers={"traffic": traffic}, cpus=2,
            memory=1024,  # with less memory, Linux makes no huge pages by itself
            kernel="loglevel=4",  # shows the messages of a crash
        ) as guest:  # fmt: skip
            guest.run(f"{_FAULTS}\ninsmod /mod/anemone.ko merged=1 {GUEST_MEMORY}")
            try:
                output = guest.run(
                    f"fuzz {seed} {calls} {seconds} {threads}", timeout=seconds + 120
                )
            except CosimError as e:
                raise CosimError(f"{e}\nkernel:\n{_last_words(guest)}") from e
            server.wait()
            guest.run("rmmod anemone")
            guest.kernel_log()
    assert "all is free" in output
    if calls >= A_RUN:
        own = re.findall(r"^own pages of \d+ bits: (\d+)$", output, re.MULTILINE)
        assert any(map(int, own)), "no entry of an own page ever counted"
    return output


def _last_words(guest: Guest) -> str:
    """The kernel's last messages, if there are any."""
    try:
        return guest.run("dmesg | tail -n 100")
    except (CosimError, OSError) as e:
        return f"it is gone: {e}"


def inputs(name: str) -> str:
    """A digest of the driver and of what calls it in a soak: its module and guest/NAME.c."""
    sources = {*DRIVER.glob("*.[ch]"), *DRIVER.glob("include/**/*.h")}
    more = [PROGRAMS / f"{name}.c"]
    while more:
        sources.add(source := more.pop())
        included = re.findall(r'^#include "(.*)"', source.read_text(), re.MULTILINE)
        beside = (PROGRAMS / header for header in included)
        more += [header for header in beside if header.exists() and header not in sources]
    here = Path(__file__).parent
    return digest(sorted({*sources, *(here / f"{one}.py" for one in ("conftest", "fuzz", name))}))


class Made:
    """The seeds and counts that a soak, named by its module, has completed, in build/soak."""

    def __init__(self, name: str) -> None:
        self._path = ROOT / "build" / "soak" / f"{name}-{find_tools().release}.json"
        self._of = inputs(name.split(".")[-1])
        kept = json.loads(self._path.read_text()) if self._path.exists() else {}
        self._pieces = kept["pieces"] if kept.get("of") == self._of else []

    @property
    def count(self) -> int:
        return sum(count for _, count in self._pieces)

    def add(self, seed: int, count: int) -> None:
        self._pieces.append((seed, count))
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps({"of": self._of, "pieces": self._pieces}) + "\n")
        fresh.replace(self._path)


class Soak:
    """Pieces with new seeds, JOBS in parallel, until enough are made or one fails. piece: (seed,
    count), returns how many it made; raises CosimError or AssertionError."""

    def __init__(self, name: str, piece: Callable[[int, int], int], goal: int) -> None:
        self._name, self._piece, self._goal = name, piece, goal
        self._made, self._started = Made(name), time.monotonic()
        self._lock, self._under_way, self._failed = Lock(), 0, False

    def run(self) -> bool:
        """Returns whether none failed."""
        with ThreadPoolExecutor(JOBS) as pool:
            for done in [pool.submit(self._run_pieces) for _ in range(JOBS)]:
                done.result()
        return not self._failed

    def _run_pieces(self) -> None:
        while count := self._next():
            seed = secrets.randbelow(1 << 40)
            print(f"{self._name}: seed {seed}", flush=True)
            try:
                made = self._piece(seed, count)
            except (CosimError, AssertionError) as error:
                self._failed = True
                again = f"again: python -m {self._name} {count} {seed}"
                print(f"{error}\n{again}", file=sys.stderr, flush=True)
                return
            with self._lock:
                self._under_way -= count
                self._made.add(seed, made)
                minutes = (time.monotonic() - self._started) / 60
                print(f"{self._name}: seed {seed} made {made}, {self._made.count} of {self._goal}, "
                      f"{minutes:.1f} min", flush=True)  # fmt: skip

    def _next(self) -> int:
        """The size of the next piece; 0: the goal is reached."""
        with self._lock:
            left = self._goal - self._made.count - self._under_way
            count = 0 if self._failed else max(0, min(A_RUN, left))
            self._under_way += count
        return count


def soak(name: str, piece: Callable[[int, int], int], words: list[str]) -> int:
    """A module's command line, [COUNT [SEED]]; returns its exit status."""
    goal = int(words[0]) if words else A_RUN
    if words[1:]:
        print(f"{name}: {piece(int(words[1]), goal)}")
        return 0
    return 0 if Soak(name, piece, goal).run() else 1


def calls(seed: int, count: int) -> int:
    """Returns the number of calls made."""
    output = re.search(r"^calls (\d+)$", fuzz(seed, count, geometry=QUICK), re.MULTILINE)
    assert output
    return int(output[1])


def main(words: list[str]) -> int:
    return soak("tests.cosim.fuzz", calls, words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
