# SPDX-License-Identifier: Apache-2.0
"""Maps memory at a fixed address in pieces (first argument, MiB), and waits after each until a
share of it (third argument) is bound, at most for some seconds (second argument). Prints the policy
of each MiB. Test program of test_libcaption.py.
"""

from __future__ import annotations

import ctypes
import re
import sys
import time
from pathlib import Path

MIB, START = 1 << 20, 0x2000_0000_0000
FLAGS = 0x100022  # private, anonymous, where it is asked for and never over something else


def policies(end: int) -> list[str]:
    """The policy of each MiB after START."""
    by_start = dict(re.findall(r"^0*(\w+) (\S+)", Path("/proc/self/numa_maps").read_text(), re.M))
    found = []
    for line in Path("/proc/self/maps").read_text().splitlines():
        first, last = (int(x, 16) for x in line.split()[0].split("-"))
        if START <= first < end:
            found += [by_start.get(f"{first:x}", "?")] * ((last - first) // MIB)
    return found


def main(sizes: str, seconds: str, share: str) -> None:
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    at = START
    for size in map(int, sizes.split(",")):
        assert libc.mmap(at, size * MIB, 3, FLAGS, -1, 0) == at
        at += size * MIB
        end = time.monotonic() + float(seconds)
        wanted = float(share) * (at - START) / MIB
        while time.monotonic() < end and sum("prefer" in p for p in policies(at)) < wanted:
            time.sleep(0.05)
    print("\n".join(policies(at)))


if __name__ == "__main__":
    main(*sys.argv[1:])
