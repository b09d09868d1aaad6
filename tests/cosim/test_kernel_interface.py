# SPDX-License-Identifier: Apache-2.0
"""The paper's three listings as a kernel module on the driver, in a real kernel, on the RTL.

The device gets accesses of traces while the module polls; the sums of the polls equal a count by
NumPy.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from anemone.cosim import CosimError, Guest, Server, Tools, build_module, rows

HUGE, BASE = 1 << 21, 1 << 12
FILES = "/sys/kernel/debug/anemone_listings"
CAP = 500


@pytest.fixture(scope="module")
def addresses() -> np.ndarray:
    random = np.random.default_rng(3)
    pages = random.zipf(1.2, 60_000) % 48
    return pages * HUGE + random.integers(0, HUGE, 60_000) ** 2 % HUGE


def counted(polls: str) -> Counter[int]:
    """Sums of what polls returned, by counter."""
    total: Counter[int] = Counter()
    for line in polls.splitlines():
        counter, value = line.split()
        total[int(counter)] += int(value)
    return total


def modules(tools: Tools) -> list[Path]:
    module = build_module(tools)
    return [module, module.parent / "listings" / "anemone_listings.ko"]


def begin(guest: Guest, translations: dict[str, dict[int, int]], options: str = "") -> None:
    guest.run("insmod /mod/anemone.ko merged=1 && mount -t debugfs d /sys/kernel/debug")
    guest.run(f"insmod /mod/anemone_listings.ko bandwidth_cap={CAP} {options}")
    for name, regions in translations.items():
        lines = "\n".join(f"echo {key} {region} >{FILES}/{name}" for key, region in regions.items())
        guest.run(lines)


def test_listings_count_exactly(server: Server, tools: Tools, addresses: np.ndarray) -> None:
    writes = np.arange(len(addresses)) % 3 == 0
    tracked = [3, 17, 40]  # huge pages that Listing 1 looks into
    translations = {
        "skew": {page: region for region, page in enumerate(tracked)},
        "hotness": {page: 47 - page for page in range(48)},
        "tenants": {page: page % 5 for page in range(48)},
    }
    polls: dict[str, str] = dict.fromkeys(translations, "")
    with Guest(server, modules=modules(tools)) as guest:
        begin(guest, translations)
        server.start(rows(addresses, writes))
        for _ in range(4):  # while accesses come
            for name in polls:
                polls[name] += guest.run(f"cat {FILES}/{name}", timeout=120)
        server.wait()
        for name in polls:
            polls[name] += guest.run(f"cat {FILES}/{name}", timeout=120)
            assert guest.run(f"cat {FILES}/{name}", timeout=120) == ""  # reset by the read
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
    # Each channel has its own threshold. With twice the cap between two polls, a tenant passes it
    # on one channel.
    assert set(map(int, alerts)) <= set(range(5)) and alerts
    assert "Result too large" in refused or "Numerical result out of range" in refused


@pytest.mark.parametrize("host", [0, 1], ids=["each device's keys", "the host's keys"])
def test_two_controllers(host: int, tools: Tools, addresses: np.ndarray) -> None:
    """One telemetry counts on both devices: a host page on the device that has it, and each
    device's own addresses on both, added up. If one device goes, the other still counts."""
    bases = (16 << 30, 32 << 30)
    pages = [base // HUGE + p for base in bases for p in range(48)] if host else range(48)
    regions = {page: region for region, page in enumerate(pages)}
    first, second = np.array_split(addresses, 2)
    with (
        Server(host_base=bases[0]) as one,
        Server(host_base=bases[1]) as two,
        Guest(one, others=[two], modules=modules(tools)) as guest,
    ):
        begin(guest, {"hotness": regions}, f"pages=96 host={host}")
        assert guest.run("ls /dev | grep anemone").split() == ["anemone0", "anemone1"]
        one.start(rows(first))
        two.start(rows(second))
        polls = guest.run(f"cat {FILES}/hotness", timeout=120)  # while accesses come
        one.wait()
        two.wait()
        polls += guest.run(f"cat {FILES}/hotness", timeout=120)
        one.inject(rows(second))
        guest.run("echo 0000:02:00.0 >/sys/bus/pci/drivers/anemone/unbind")
        with pytest.raises(CosimError, match=r"(?s)ended with 1; QEMU:.*(server: .*){2}console:"):
            guest.run("ls /dev/anemone1")
        one.inject(rows(first))
        left = guest.run(f"cat {FILES}/hotness", timeout=120)
        guest.run("rmmod anemone_listings && rmmod anemone")
        guest.kernel_log()

    of_one, of_two, of_all = (
        np.bincount(part // HUGE, minlength=48) for part in (first, second, addresses)
    )
    both = np.concatenate([of_one, of_two]) if host else of_all
    assert counted(polls) == Counter({r: int(n) for r, n in enumerate(both) if n})
    assert counted(left) == Counter({r: int(n) for r, n in enumerate(of_all) if n})
