# SPDX-License-Identifier: Apache-2.0
"""The driver is loaded and removed, and its device breaks, without a complaint of the kernel."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest

from anemone.cosim import Guest, Server, Tools, build_module, build_program, rows
from tests.cosim.conftest import DEVICE, HUGE, PROGRAMS, BootGuest

DRIVER = "/sys/bus/pci/drivers/anemone"
DUMP = "/sys/kernel/debug/anemone/anemone0"


def steer(guest: Guest, server: Server) -> None:
    """Executes the guest's `access` and `fault` on the server."""
    for word in ("access", "fault"):
        guest.answers[word] = lambda rest, word=word: str(server.command(f"{word} {rest}"))


def test_in_use_it_stays(server: Server, boot: BootGuest) -> None:
    """The module cannot be removed in use. It accepts a function by new_id, as for a card, but none
    that is not an Anemone."""
    with boot("count", options=("-device", "edu,addr=1d")) as guest:
        steer(guest, server)
        guest.run(f"echo 1234 11e8 >{DRIVER}/new_id && ! ls -d {DRIVER}/0000:00:1d.0")
        guest.run("exec 7<>/dev/anemone0; ! rmmod anemone 2>/tmp/why; grep -i busy /tmp/why || "
                  "grep -i temporarily /tmp/why; exec 7>&-; rmmod anemone")  # fmt: skip
        for _ in range(3):
            guest.run("insmod /mod/anemone.ko merged=1; count; rmmod anemone; ! ls /dev/anemone*")
        guest.kernel_log()


def test_unbound_in_use(server: Server, boot: BootGuest) -> None:
    with boot("ends", "count") as guest:
        steer(guest, server)
        assert "ended" in guest.run(f"ends unbind {DRIVER}")
        guest.run(f"echo 0000:01:00.0 >{DRIVER}/bind; count; rmmod anemone")
        guest.kernel_log()


def test_reset_keeps_telemetries(server: Server, boot: BootGuest) -> None:
    with boot("count") as guest:
        steer(guest, server)
        guest.run("mount -t debugfs debug /sys/kernel/debug")
        output = guest.run(f"count 'cat {DUMP}/*; echo 1 >{DEVICE}/reset; cat {DUMP}/telemetries'")
        guest.kernel_log()
    shown = r"one: 8 regions of 1 counters of 64 bits, 1 keys, 0 events, on 0, of pid \d+, uid 0\n"
    assert len(re.findall(shown, output)) == 2
    assert re.search(r"PIPELINE_MATCHED +0x0000000000000001 \[0\]", output)


def test_sleep_keeps_telemetries(server: Server, boot: BootGuest) -> None:
    """A suspend of all devices, and their resume."""
    with boot("count") as guest:
        steer(guest, server)
        guest.run("echo devices >/sys/power/pm_test")
        guest.run("echo 1 >/sys/module/suspend/parameters/pm_test_delay")
        guest.run("count 'echo mem >/sys/power/state'")
        guest.kernel_log()


def test_many_at_once(tools: Tools, server: Server) -> None:
    """Threads on two processors, accesses, events and resets of the function in parallel."""
    program, seconds = build_program(PROGRAMS / "crowd.c"), 12
    accesses = rows(np.random.default_rng(6).integers(0, 64 * HUGE, 2_000_000))
    with Guest(server, modules=[build_module(tools)], programs=[program], cpus=2) as guest:
        server.start(accesses)
        output = guest.run(
            f"insmod /mod/anemone.ko merged=1 && crowd 6 {seconds} & for i in 1 2 3; do sleep 3; "
            f"echo 1 >{DEVICE}/reset; done; wait $!",
            timeout=180,
        )  # fmt: skip
        server.wait()
        strays = guest.run(f"cat {DEVICE}/anemone/stray_answers; rmmod anemone")
        log = guest.kernel_log()
    assert int(output.split("rounds ")[1]) > 0
    # Each reset waited for outstanding accesses, so none was answered after it.
    assert strays.split() == ["0"] and "reset with accesses under way" not in log


@pytest.mark.parametrize(
    ("kind", "says"), [("ones", "given up"), ("never-done", "a clear does not end")]
)
def test_broken_in_use(kind: str, says: str, server: Server, boot: BootGuest) -> None:
    with boot("ends", "count") as guest:
        steer(guest, server)
        assert "ended" in guest.run(f"ends fault {kind}")
        assert says in guest.kernel_log()
        # While the device is broken the driver does not start and does no harm; afterwards it
        # works.
        guest.run(
            "rmmod anemone; insmod /mod/anemone.ko merged=1; ! ls /dev/anemone*; rmmod anemone"
        )
        guest.run("ask fault none; insmod /mod/anemone.ko merged=1; count")
        guest.kernel_log()


def test_interrupts_for_nothing(server: Server, boot: BootGuest) -> None:
    with boot("count") as guest:
        steer(guest, server)
        guest.run("for i in 1 2 3; do ask fault spurious 4; sleep 0.1; done")
        output = guest.run("count")
        guest.kernel_log()
    assert "spurious 3 failed 0" in output


@pytest.mark.parametrize("vector", [4, 1], ids=["of nothing", "of an event that is not read"])
def test_a_storm_of_interrupts_ends(server: Server, boot: BootGuest, vector: int) -> None:
    def storm(_: str) -> None:
        for _ in range(300):
            server.command(f"fault spurious {vector}")
            time.sleep(0.001)  # so that the guest does not merge them

    with boot("unread") as guest:
        steer(guest, server)
        guest.answers["storm"] = storm
        guest.run("unread & sleep 1")
        guest.run(
            "until dmesg | grep -q 'raises interrupts for nothing'; do ask storm; done", timeout=120
        )
        guest.kernel_log()
