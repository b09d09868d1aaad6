# SPDX-License-Identifier: Apache-2.0
"""Random calls of the driver (guest/fuzz.c), whose device is said to have the guest's own memory.

    python -m tests.cosim.fuzz CALLS [SEED]     in runs of 20,000, each of a new guest and seed

Exit: 1 when one failed; how to repeat it is the last line.
"""

from __future__ import annotations

import secrets
import sys
import time

import numpy as np

from anemone.cosim import CosimError, Guest, Server, build_module, build_program, find_tools, rows
from tests.cosim.conftest import HUGE, PROGRAMS

A_RUN = 20_000
ACCESSES = 5_000  # at a time; on the keys that the calls map, mostly
REQUESTS = {
    "info", "add", "remove", "map", "read", "status", "eventfd", "rotate", "turn", "snapshot",
    "events",
}  # fmt: skip
# All of the guest's but for its first huge page: no host has a device's memory at 0.
_MEMORY = f"host_base={HUGE} host_size={1 << 33}"
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
            server, modules=[module], programs=[program], answers={"traffic": traffic}, cpus=2
        ) as guest:
            guest.run(f"{_FAULTS}\ninsmod /mod/anemone.ko merged=1 {_MEMORY}")
            try:
                said = guest.run(f"fuzz {seed} {calls} {seconds} {threads}", timeout=seconds + 120)
            except CosimError as e:
                log = guest.run("dmesg | grep anemone | tail -n 20", check=False)
                raise CosimError(f"{e}\nkernel:\n{log}") from e
            server.wait()
            guest.run("rmmod anemone")
            guest.kernel_log()
    assert "all is free" in said
    return said


def main(words: list[str]) -> int:
    calls = int(words[0]) if words else A_RUN
    seed = int(words[1]) if len(words) > 1 else secrets.randbelow(1 << 40)
    made = 0
    started = time.monotonic()
    while made < calls:
        count = min(A_RUN, calls - made)
        try:
            fuzz(seed, count)
        except (CosimError, AssertionError) as error:
            print(f"{error}\nagain: python -m tests.cosim.fuzz {count} {seed}", file=sys.stderr)
            return 1
        made += count
        minutes = (time.monotonic() - started) / 60
        print(f"driver: {made} calls, seeds to {seed}, in {minutes:.1f} min", flush=True)
        seed += 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
