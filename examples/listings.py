# SPDX-License-Identifier: Apache-2.0
"""Listings 1 to 3 of the NEMO paper in Python, on a device or on its model.

    .venv/bin/python examples/listings.py                              # the golden model
    .venv/bin/python examples/listings.py /dev/anemone0                # one second of the machine
    .venv/bin/python examples/listings.py /dev/anemone0 --traffic "redis-benchmark -q"

Prints the counts, one JSON object per line.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections.abc import Callable

import numpy as np

from anemone.control import ALL_MEMORY, Controller, DeviceController, Event, Field, Spec

HUGE_PAGE = Field(ALL_MEMORY, 21)  # the number of a 2 MiB page of the device
BASE_PAGE = Field(0x1F_F000, 12)  # the number of a 4 KiB page within its 2 MiB page
RESET = ("reset", 0)  # a read resets the counters


def skewness(controller: Controller, pages: list[int], traffic: Callable[[], None]) -> np.ndarray:
    """Listing 1 (§3.3): accesses to each base page of some huge pages, uint64[pages, 512]."""
    skew = controller.register(
        Spec(name="skew", primary=HUGE_PAGE, sub=BASE_PAGE, read_effect=RESET, regions=len(pages))
    )
    skew.reprogram(pages)  # the next call may count other pages
    traffic()
    counts = skew.read()
    skew.remove()
    return counts


def hotness(controller: Controller, pages: int, traffic: Callable[[], None]) -> np.ndarray:
    """Listing 2 (§5.1): accesses to each of the device's first huge pages, uint64[pages]."""
    hot = controller.register(
        Spec(name="hotness", primary=HUGE_PAGE, read_effect=RESET, regions=pages)
    )
    for page in range(pages):
        hot.set_translation(page, page)
    traffic()
    counts = hot.read()
    hot.remove()
    return counts[:, 0]


def bandwidth(
    controller: Controller, tenant_of: list[int], cap: int, traffic: Callable[[], None]
) -> tuple[np.ndarray, list[Event]]:
    """Listing 3 (§5.3): accesses of each tenant, and events of tenants that reached the cap.

    tenant_of: the owner of each of the device's first huge pages.
    """
    tenants = controller.register(
        Spec(name="tenants", primary=HUGE_PAGE, notify=("ge", cap), read_effect=RESET,
             regions=max(tenant_of) + 1)
    )  # fmt: skip
    events: list[Event] = []
    tenants.on_notify(events.append)
    for page, tenant in enumerate(tenant_of):
        tenants.set_translation(page, tenant)
    traffic()
    controller.dispatch(wait_s=1.0)
    counts = tenants.read()
    tenants.remove()
    return counts[:, 0], events


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("device", nargs="?", help="such as /dev/anemone0 (default: the model)")
    parser.add_argument("--traffic", help="a command that accesses the device's memory")
    asked = parser.parse_args()
    if asked.device:
        controller: Controller = DeviceController(asked.device)

        def traffic() -> None:
            if asked.traffic:
                subprocess.run(asked.traffic, shell=True, check=True, stdout=subprocess.DEVNULL)
            else:
                time.sleep(1.0)

    else:
        from anemone.control import ModelController

        controller = model = ModelController()
        random = np.random.default_rng(1)

        def traffic() -> None:
            page = random.zipf(1.5, 100_000) % 64
            addr = (page << 21) + (random.integers(0, 1 << 15, len(page)) << 6)
            model.access(addr.astype(np.uint64), random.random(len(page)) < 0.3)

    counts = skewness(controller, [3, 5], traffic)
    print(json.dumps({"skewness": counts.tolist()}))
    print(json.dumps({"hotness": hotness(controller, 64, traffic).tolist()}))
    accesses, events = bandwidth(controller, [page % 4 for page in range(64)], 5000, traffic)
    past = [[event.counter, event.channel] for event in events]
    print(json.dumps({"bandwidth": accesses.tolist(), "past": past}))
    controller.close()


if __name__ == "__main__":
    main()
