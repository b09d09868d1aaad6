# SPDX-License-Identifier: Apache-2.0
"""The driver comes and goes, and its device breaks: the kernel has nothing to complain of."""

from __future__ import annotations

import pytest

from anemone.cosim import Guest, Server
from tests.cosim.conftest import DEVICE, BootGuest

DRIVER = "/sys/bus/pci/drivers/anemone"


def steer(guest: Guest, server: Server) -> None:
    """The guest's `access` and `fault` are the server's."""
    for word in ("access", "fault"):
        guest.answers[word] = lambda rest, word=word: str(server.command(f"{word} {rest}"))


def test_in_use_it_stays(server: Server, boot: BootGuest) -> None:
    with boot("count") as guest:
        steer(guest, server)
        guest.run("exec 7<>/dev/anemone0; ! rmmod anemone 2>/tmp/why; grep -i busy /tmp/why || "
                  "grep -i temporarily /tmp/why; exec 7>&-; rmmod anemone")  # fmt: skip
        for _ in range(3):
            guest.run("insmod /mod/anemone.ko; count; rmmod anemone; ! ls /dev/anemone*")
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
        guest.run(f"count reset {DEVICE}/reset")
        guest.kernel_log()


@pytest.mark.parametrize(
    ("kind", "says"), [("ones", "given up"), ("never-done", "a clear does not end")]
)
def test_broken_in_use(kind: str, says: str, server: Server, boot: BootGuest) -> None:
    with boot("ends", "count") as guest:
        steer(guest, server)
        assert "ended" in guest.run(f"ends fault {kind}")
        assert says in guest.kernel_log()
        # It neither starts nor does harm while it is broken, and works when it is not.
        guest.run("rmmod anemone; insmod /mod/anemone.ko; ! ls /dev/anemone*; rmmod anemone")
        guest.run("ask fault none; insmod /mod/anemone.ko; count")
        guest.kernel_log()


def test_interrupts_for_nothing(server: Server, boot: BootGuest) -> None:
    with boot("count") as guest:
        steer(guest, server)
        guest.run("for i in 1 2 3; do ask fault spurious 4; sleep 0.1; done")
        said = guest.run("count")
        guest.kernel_log()
    assert "spurious 3 failed 0" in said


def test_a_storm_of_interrupts_ends(server: Server, boot: BootGuest) -> None:
    def storm(_: str) -> None:
        for _ in range(1500):
            server.command("fault spurious 4")

    with boot() as guest:
        guest.answers["storm"] = storm
        guest.run("for i in 1 2 3 4 5; do ask storm; done; sleep 1")
        assert "raises interrupts for nothing" in guest.kernel_log()
