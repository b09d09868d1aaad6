# SPDX-License-Identifier: Apache-2.0
"""The driver is loaded, removed and disturbed again and again; `make cosim-kasan` runs this under
KASAN, lockdep and kmemleak."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from anemone.cosim import Guest, Server, Tools
from tests.cosim.conftest import DEVICE, GUEST_MEMORY, BootGuest
from tests.cosim.test_lifecycle import steer

DRIVER = "/sys/bus/pci/drivers/anemone"
NAME = "0000:01:00.0"
_DEBUGFS = "[ -d /sys/kernel/debug/tracing ] || mount -t debugfs debugfs /sys/kernel/debug"


@pytest.fixture
def server(tools: Tools) -> Iterator[Server]:
    """A server whose CXL registers do not tell where the memory is."""
    with Server(memory="off") as running:
        yield running


def no_leak(guest: Guest) -> None:
    """Fails on memory that nothing points to, if the kernel can find it; scans twice, because the
    first scan may be misled."""
    guest.run(_DEBUGFS)
    found = guest.run(
        "cd /sys/kernel/debug; [ -f kmemleak ] || exit 0; "
        "sleep 1; echo scan >kmemleak; sleep 5; echo scan >kmemleak; cat kmemleak",
        timeout=300,
    )  # fmt: skip
    assert "anemone" not in found, found


def kernel_memory(guest: Guest) -> int:
    """KiB of kernel memory in use."""
    output = guest.run("sleep 1; cat /proc/meminfo")
    found = dict(re.findall(r"^(\w+):\s+(\d+) kB$", output, re.MULTILINE))
    return int(found["SUnreclaim"]) + int(found["VmallocUsed"])


def test_comes_and_goes(tools: Tools, boot: BootGuest) -> None:
    def cycles(n: int) -> None:
        guest.run(
            f"i=0; while [ $i -lt {n} ]; do i=$((i + 1)); "
            "cycle && rmmod anemone && insmod /mod/anemone.ko merged=1 || exit 1; done",
            timeout=840,
        )

    first, more = (20, 80) if tools.checked else (3, 9)
    with boot("cycle") as guest:
        cycles(first)
        before = kernel_memory(guest)
        cycles(more)
        grown = kernel_memory(guest) - before
        guest.run("rmmod anemone")
        no_leak(guest)
        guest.kernel_log()
    # KASAN keeps freed memory for a while, up to a fraction of all memory.
    assert grown < (4_000 if tools.checked else 500)


@pytest.mark.parametrize(
    ("fate", "command"),
    [
        ("goes", f"echo {NAME} >{DRIVER}/unbind"),
        ("goes", f"ask fault ones; echo 1 >{DEVICE}/remove"),
        ("stays", f"for i in 1 2 3 4 5; do echo 1 >{DEVICE}/reset || exit 1; done"),
        (
            "stays",
            "echo 1 >/sys/module/suspend/parameters/pm_test_delay; "
            "echo devices >/sys/power/pm_test; echo freeze >/sys/power/state",
        ),
    ],
    ids=["unbind", "surprise", "reset", "sleep"],
)
def test_in_full_use(fate: str, command: str, server: Server, boot: BootGuest) -> None:
    with boot("busy", "count", cpus=2, parameters=GUEST_MEMORY) as guest:
        steer(guest, server)
        if "pm_test" in command and "devices" not in guest.run("cat /sys/power/pm_test; true"):
            pytest.skip("the guest's kernel cannot try to sleep")
        output = guest.run(f"busy {fate} '{command}'", timeout=120)
        assert ("it went" if fate == "goes" else "it stayed") in output
        guest.run("ask fault none")
        if "remove" in command:
            guest.run("echo 1 >/sys/bus/pci/rescan")
        elif fate == "goes":
            guest.run(f"echo {NAME} >{DRIVER}/bind")
        guest.run("count")
        # Then once in order, as by a slot's button. QEMU cannot remove vfio-user's device itself.
        if "remove" in command:
            assert "it went" in guest.run(f"busy goes 'echo 1 >{DEVICE}/remove'", timeout=120)
        guest.run("rmmod anemone")
        no_leak(guest)
        guest.kernel_log()


def test_a_death_that_an_unmapped_page_finds(server: Server, boot: BootGuest) -> None:
    with boot("ends", "count", parameters=GUEST_MEMORY) as guest:
        steer(guest, server)
        assert "ended" in guest.run("ends munmap ones")
        assert "given up" in guest.kernel_log()
        guest.run("rmmod anemone; ask fault none; insmod /mod/anemone.ko merged=1; count")
        guest.kernel_log()


# Of all pipelines of the device; by default one is kept for the kernel.
KEEPS_NONE = "echo 0 >/sys/module/anemone/parameters/kernel_pipelines"


def test_a_signal_ends_a_call(boot: BootGuest) -> None:
    with boot("answers") as guest:
        guest.run(f"{KEEPS_NONE} && answers signal && answers killed", timeout=120)
        guest.kernel_log()


def test_all_ones_of_several_pipelines(server: Server, boot: BootGuest) -> None:
    with boot("answers") as guest:
        steer(guest, server)
        guest.run(f"{KEEPS_NONE} && answers ones")
        guest.kernel_log()
