# SPDX-License-Identifier: Apache-2.0
"""The paper's three listings as a kernel module on the driver, in a real kernel, against the RTL.

Traces come in at the device while the module polls; what the polls return adds up to a count
by NumPy.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from anemone.cosim import Guest, Server, Tools, build_module, rows

HUGE, BASE = 1 << 21, 1 << 12
FILES = "/sys/kernel/debug/anemone_listings"
CAP = 500


@pytest.fixture(scope="module")
def addresses() -> np.ndarray:
    random = np.random.default_rng(3)
    pages = random.zipf(1.2, 60_000) % 48
    return pages * HUGE + random.integers(0, HUGE, 60_000) ** 2 % HUGE


def counted(polls: str) -> Counter[int]:
    """What polls returned, added up by counter."""
    total: Counter[int] = Counter()
    for line in polls.splitlines():
        counter, value = line.split()
        total[int(counter)] += int(value)
    return total


def begin(tools: Tools, guest: Guest, translations: dict[str, dict[int, int]]) -> None:
    guest.run("insmod /mod/anemone.ko && mount -t debugfs d /sys/kernel/debug")
    guest.run(f"insmod /mod/anemone_listings.ko bandwidth_cap={CAP}")
    for name, regions in translations.items():
        lines = "\n".join(f"echo {key} {region} >{FILES}/{name}" for key, region in regions.items())
        guest.run(lines)


def test_listings_count_exactly(server: Server, tools: Tools, addresses: np.ndarray) -> None:
    writes = np.arange(len(addresses)) % 3 == 0
    module = build_module(tools)
    modules = [module, module.parent / "listings" / "anemone_listings.ko"]
    tracked = [3, 17, 40]  # huge pages that Listing 1 looks into
    translations = {
        "skew": {page: region for region, page in enumerate(tracked)},
        "hotness": {page: 47 - page for page in range(48)},
        "tenants": {page: page % 5 for page in range(48)},
    }
    polls: dict[str, str] = dict.fromkeys(translations, "")
    with Guest(server, modules=modules) as guest:
        begin(tools, guest, translations)
        server.start(rows(addresses, writes))
        for _ in range(4):  # while accesses come
            for name in polls:
                polls[name] += guest.run(f"cat {FILES}/{name}", timeout=120)
        server.wait()
        for name in polls:
            polls[name] += guest.run(f"cat {FILES}/{name}", timeout=120)
            assert guest.run(f"cat {FILES}/{name}", timeout=120) == ""  # reset as it was read
        alerts = guest.run(f"cat {FILES}/alerts").split()
        refused = guest.run(f"echo 8192 0 >{FILES}/hotness", check=False)
        guest.run("rmmod anemone_listings && rmmod anemone")
        guest.kernel_log()

    page, offset = addresses // HUGE, addresses % HUGE // BASE
    of_page = np.bincount(page, minlength=48)
    assert counted(polls["hotness"]) == Counter(
        {47 - p: int(n) for p, n in enumerate(of_page) if n}
    )
    skew = {
        region * 512 + int(o): int(n)
        for region, tracked_page in enumerate(tracked)
        for o, n in zip(*np.unique(offset[page == tracked_page], return_counts=True), strict=True)
    }
    assert counted(polls["skew"]) == Counter(skew)
    tenants = np.bincount(page % 5, minlength=5)
    assert counted(polls["tenants"]) == Counter({t: int(n) for t, n in enumerate(tenants) if n})
    # A threshold a channel: with twice the cap between two polls a tenant is over it on one.
    assert set(map(int, alerts)) <= set(range(5)) and alerts
    assert "Result too large" in refused or "Numerical result out of range" in refused
