# SPDX-License-Identifier: Apache-2.0
"""Counters are read in each of the three ways while accesses go on."""

from __future__ import annotations

import numpy as np

from anemone.cosim import Server, rows
from tests.cosim.conftest import HUGE, BootGuest

ACCESSES = 40_000
ROUNDS = 40


def test_nothing_is_lost_and_nothing_comes_twice(server: Server, boot: BootGuest) -> None:
    random = np.random.default_rng(4)
    pages = random.choice((3, 5), ACCESSES, p=(0.7, 0.3))
    accesses = rows(pages * HUGE + random.integers(0, HUGE, ACCESSES), writes=0)
    counts = {index: int((pages == page).sum()) for page, index in ((3, 5), (5, 30))}
    with boot("harvest") as guest:
        guest.answers["start"] = lambda _: server.start(accesses)
        guest.answers["wait"] = lambda _: server.wait()
        output = guest.run(f"harvest {ROUNDS}", timeout=300)
        guest.kernel_log()
    expected = f" matched {ACCESSES} 5:{counts[5]} 30:{counts[30]}"
    for way in ("difference", "acknowledge", "effect"):
        assert way + expected in output, output
    assert f"again {counts[5]}" in output


def test_a_processor_without_loads_of_a_line(boot: BootGuest) -> None:
    """The emulated processor has none, so without the option rules that need one are refused."""
    with boot("harvest") as guest:
        guest.run("rmmod anemone; insmod /mod/anemone.ko; ! harvest 2>/tmp/why; cat /tmp/why >&2")
        assert "harvest ==" in guest.run("cat /tmp/why")
        guest.kernel_log()
