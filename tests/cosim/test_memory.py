# SPDX-License-Identifier: Apache-2.0
"""How the driver finds the device's memory: CXL ranges and HDM decoders, valid and not."""

from __future__ import annotations

import re
from contextlib import ExitStack

import numpy as np

from anemone.cosim import Guest, Server, Tools, build_module, build_program, rows
from tests.cosim.conftest import DEVICE, HUGE, PROGRAMS

BASE = 0x80_0000_0000
GIB = 1 << 30
MEMORY = "/sys/kernel/debug/anemone/anemone{}/memory"


def placed(tools: Tools) -> dict[str, list]:
    return {
        "modules": [build_module(tools)],
        "programs": [build_program(PROGRAMS / "placed.c")],
    }


def test_where_the_memory_is(tools: Tools) -> None:
    """Several devices, each with another description of its memory; only valid ones are used."""
    refused = [
        (Server(memory="off"), "CXL.mem is not enabled"),
        (Server(memory="invalid"), "not valid and active"),
        (Server(memory="uncommitted"), "no HDM decoder of it is committed"),
        (Server(memory="decoder", host_base=0), "begins at the host's address 0"),
        (Server(memory="range", host_base=0), "begins at the host's address 0"),
    ]
    with ExitStack() as stack:
        servers = [stack.enter_context(server) for server, _ in refused]
        guest = stack.enter_context(Guest(servers[0], others=servers[1:], **placed(tools)))
        guest.run("insmod /mod/anemone.ko merged=1; mount -t debugfs d /sys/kernel/debug")
        for number, (_, reason) in enumerate(refused):
            output = guest.run(f"placed /dev/anemone{number}")
            assert "host memory is not known" in output and reason in output
            assert reason in guest.run(f"cat {MEMORY.format(number)}")
        guest.run(f"rmmod anemone; insmod /mod/anemone.ko host_base={BASE} host_size={GIB}")
        expected, another = f"{BASE:#x}-{BASE + GIB - 1:#x}: from 0", "is another device's"
        output = [guest.run(f"cat {MEMORY.format(number)}") for number in range(len(refused))]
        assert expected in output[0] and all(another in one for one in output[1:])
        # A device's parameters do not pass to another device when it is unbound.
        guest.run(f"echo 1 >{DEVICE}/remove")
        assert another in guest.run(f"cat {MEMORY.format(1)}")
        guest.run("echo 1 >/sys/bus/pci/rescan")
        assert expected in guest.run(f"cat {MEMORY.format(0)}")
        third = guest.run("basename $(readlink -f /sys/class/misc/anemone2/device)").strip()
        guest.run(
            "rmmod anemone; insmod /mod/anemone.ko "
            f"host_base={BASE} host_size={GIB} host_device={third}"
        )
        for number in range(len(refused)):
            place = guest.run(f"readlink -f /sys/class/misc/anemone{number}/device").strip()
            output = guest.run(f"cat {MEMORY.format(number)}")
            assert (expected if place.endswith(third) else another) in output
        guest.run("rmmod anemone")
        guest.kernel_log()


def test_two_ways(tools: Tools) -> None:
    """Two devices interleaved by 256 bytes: each counts its share of the host's pages."""
    random = np.random.default_rng(5)
    pages = random.zipf(1.3, 20_000) % 6
    host = pages * HUGE + random.integers(0, HUGE, len(pages)) // 64 * 64  # from BASE on
    which = host // 256 % 2
    device = host // 512 * 256 + host % 256  # CXL 3.1, 8.2.4.20.13
    kind = {"memory": "decoder", "host_base": BASE, "ways": 2, "granularity": 256}
    keys = [BASE // HUGE + page for page in range(6)]
    with (
        Server(**kind) as one,
        Server(**kind) as two,
        Guest(one, others=[two], **placed(tools)) as guest,
    ):
        guest.run("insmod /mod/anemone.ko merged=1")
        for number, server in enumerate((one, two)):
            mine = device[which == number]

            def answer(_: str, server: Server = server, mine: np.ndarray = mine) -> None:
                server.inject(rows(mine))

            guest.answers["accesses"] = answer
            output = guest.run(f"placed /dev/anemone{number} {' '.join(map(str, keys))}")
            counted = [int(n) for n in re.findall(r"key \d+: (\d+)", output)]
            np.testing.assert_array_equal(counted, np.bincount(pages[which == number], minlength=6))
        guest.run("rmmod anemone")
        guest.kernel_log()


def test_pages_anywhere(tools: Tools) -> None:
    """A table of 8192 pages of 4 KiB begins at the filter's start, anywhere up to the device's last
    page; neighbours with the same table index are not counted."""
    size, reach = 16 * GIB, 8192 << 12
    offsets = np.array([0, 1, 4095, 8191]) << 12
    with (
        Server(memory="range", host_base=BASE) as server,
        Guest(server, **placed(tools)) as guest,
    ):
        guest.run("insmod /mod/anemone.ko merged=1")
        for start in (0, 5 * GIB + 0x3000, size - reach):
            pages = np.repeat(start + offsets, [1, 2, 3, 4])
            around = np.concatenate([pages, pages + reach, pages - reach]) % size
            guest.answers["accesses"] = lambda _, all=around: server.inject(rows(all))
            keys = " ".join(str(BASE + int(page) >> 12) for page in start + offsets)
            output = guest.run(f"placed /dev/anemone0 from {BASE + start} {keys}")
            assert re.findall(r"key \d+: (\d+)", output) == ["1", "2", "3", "4"], hex(start)
        guest.run("rmmod anemone")
        guest.kernel_log()


def test_region_in_memory(tools: Tools) -> None:
    """The DVSEC says that the telemetry region is in the memory. Parameters place it at the address
    of the BAR, where it really is."""
    addresses = np.repeat(np.arange(4), [7, 0, 5, 11]) * HUGE
    with (
        Server(memory="off", telemetry_in_memory=True) as server,
        # With memory above 4 GiB, the firmware puts BARs above that, too.
        Guest(server, memory=3072, **placed(tools)) as guest,
    ):
        bar = int(guest.run(f"cat {DEVICE}/resource").splitlines()[2].split()[0], 0)
        base, size = bar - 16 * GIB, 17 * GIB  # the region follows 16 GiB of memory
        assert base > 0, f"BAR 2 is at {bar:#x}"
        guest.answers["accesses"] = lambda _: server.inject(rows(addresses))
        refused = guest.run("insmod /mod/anemone.ko merged=1; ls /dev; rmmod anemone; dmesg")
        assert "where is its memory? CXL.mem is not enabled" in refused
        guest.run(f"insmod /mod/anemone.ko merged=1 host_base={base} host_size={size}")
        keys = " ".join(str(base // HUGE + page) for page in range(4))
        output = guest.run(f"placed /dev/anemone0 {keys}; rmmod anemone")
        assert re.findall(r"key \d+: (\d+)", output) == ["7", "0", "5", "11"]
        guest.kernel_log()
