# SPDX-License-Identifier: Apache-2.0
"""The PCI function as a Linux guest sees it, and Listing 2 by its registers."""

from __future__ import annotations

import re

import numpy as np

from anemone.cosim import Guest, Server, build_program, rows
from tests.cosim.conftest import DEVICE, HUGE, PROGRAMS


def field(config: bytes, offset: int, size: int) -> int:
    return int.from_bytes(config[offset : offset + size], "little")


def config_of(guest: Guest) -> bytes:
    """The function's configuration space as the guest reads it."""
    dump = guest.run(f"hexdump -v -e '1/1 \"%02x\"' {DEVICE}/config; echo")
    return bytes.fromhex(dump.strip())


def dvsec(config: bytes, vendor: int, number: int) -> int:
    """The offset of the capability."""
    at = 0x100
    while at:
        assert field(config, at, 2) == 0x23
        if (field(config, at + 4, 2), field(config, at + 8, 2)) == (vendor, number):
            return at
        at = field(config, at + 2, 2) >> 4
    raise AssertionError("no such DVSEC")


def test_linux_finds_the_function(server: Server) -> None:
    with Guest(server) as guest:
        config = config_of(guest)
        lines = guest.run(f"cat {DEVICE}/class {DEVICE}/resource").splitlines()
        # A reply to a client that has gone does not reach the next script.
        guest.run("echo nobody >/dev/ttyS1; sleep 1")
        # Suspend, resume, and a reset of the function.
        guest.run(f"cat {DEVICE}/reset_method | grep flr && echo 1 >{DEVICE}/reset")
        guest.kernel_log()
    assert (len(config), field(config, 0, 4)) == (4096, 0x4E45_1234)
    assert lines[0] == "0x088000"
    ranges = [[int(word, 0) for word in line.split()] for line in lines[1:7]]
    assert [last - first + 1 if last else 0 for first, last, _ in ranges] == [
        1 << 22, 0, 4 << 20, 0, 1 << 17, 0
    ]  # fmt: skip
    ours, cxl = dvsec(config, 0x1234, 0x4E45), dvsec(config, 0x1E98, 0)
    assert list(config[ours + 10 : ours + 12]) == [0, 2]
    assert (field(config, ours + 0x10, 8), field(config, ours + 0x18, 8)) == (1 << 34, 4 << 20)
    high, low = field(config, cxl + 0x20, 4), field(config, cxl + 0x24, 4)
    assert high << 32 | low == 0x40_8000_0000
    assert (field(config, cxl + 0x18, 4), field(config, cxl + 0x1C, 4)) == (4, 3)
    assert field(config, cxl + 0x0C, 2) == 4  # Mem_Enable
    locator = dvsec(config, 0x1E98, 8)
    assert field(config, locator + 0x0C, 8) == 0x1_0104  # component registers, in BAR 4
    msix = config.index(b"\x11", 0x40)
    assert field(config, msix + 2, 2) & 0x7FF == 8  # number of vectors, less one


def test_hotness_by_registers(server: Server) -> None:
    random = np.random.default_rng(2)
    addresses = random.zipf(1.3, 40_000) % 8192 * HUGE + random.integers(0, HUGE, 40_000)
    writes = random.integers(0, 2, 40_000)
    inject = {"trace": lambda _: server.inject(rows(addresses, writes))}
    program = build_program(PROGRAMS / "registers.c")
    with Guest(server, programs=[program], answers=inject) as guest:
        output = guest.run(f"echo 1 >{DEVICE}/enable; registers {DEVICE}")
        guest.kernel_log()
    assert "pipelines 8 channels 2 states 8192" in output and output.endswith("done\n")
    assert "matched 40000" in output and "sum 40000" in output
    counted = np.zeros((8192, 2), dtype=np.int64)
    for index, channel, value in re.findall(r"counter (\d+) (\d+) (\d+)", output):
        counted[int(index), int(channel)] = int(value)
    expected = np.zeros((8192, 2), dtype=np.int64)
    np.add.at(expected, (addresses // HUGE, addresses // 64 % 2), 1)
    np.testing.assert_array_equal(counted, expected)
    assert server.status()["events"] == 40_000
