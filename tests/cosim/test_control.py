# SPDX-License-Identifier: Apache-2.0
"""anemone.control on the driver, in a Linux guest, on the RTL: the listings in Python."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from anemone.backends.rtl.builder import ROOT
from anemone.control import ModelController
from anemone.cosim import Guest, Server, Tools, build_module, guest_python, rows
from examples import listings
from tests.cosim.conftest import HUGE

N = 20_000


def traffic() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For each listing: (byte addresses, whether they are writes)."""
    random = np.random.default_rng(19)
    for _ in range(3):
        page = random.zipf(1.4, N) % 16
        line = random.zipf(1.3, N) % (HUGE // 64)
        yield (page * HUGE + line * 64).astype(np.uint64), random.random(N) < 0.3


def test_the_listings_in_python(tools: Tools, server: Server) -> None:
    """examples/listings.py in the guest prints the values of the golden model."""
    here = traffic()
    controller = ModelController()

    def access() -> None:
        controller.access(*next(here))

    skew = listings.skewness(controller, [3, 5], access)
    hot = listings.hotness(controller, 64, access)
    accesses, events = listings.bandwidth(controller, [p % 4 for p in range(64)], 5000, access)
    assert skew.sum() and hot.sum() == accesses.sum() == N and events

    there = traffic()
    program = ROOT / "examples" / "listings.py"
    with Guest(
        server, modules=[build_module(tools)], files=guest_python(program), memory=1024
    ) as guest:  # fmt: skip
        guest.answers["trace"] = lambda _: server.inject(rows(*next(there)))
        output = guest.run(
            "insmod /mod/anemone.ko merged=1; listings /dev/anemone0 --traffic 'ask trace'",
            timeout=1200,
        )
        guest.kernel_log()
    found = {k: v for line in output.splitlines() if line.startswith("{")
             for k, v in json.loads(line).items()}  # fmt: skip
    past = [[event.counter, event.channel] for event in events]
    assert found == {
        "skewness": skew.tolist(), "hotness": hot.tolist(), "bandwidth": accesses.tolist(),
        "past": past,
    }  # fmt: skip
