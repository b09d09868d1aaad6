# SPDX-License-Identifier: Apache-2.0
"""Listings 1 to 3 of the NEMO paper on the driver, in a Linux guest, on the RTL."""

from __future__ import annotations

import re

import numpy as np
import pytest

from anemone.cosim import Guest, Server, rows
from tests.cosim.conftest import HUGE, BootGuest

BASE = 1 << 12
TRACING = "/sys/kernel/tracing"


def counters(output: str, count: int) -> np.ndarray:
    """The values that a program printed as `counter INDEX VALUE`."""
    values = np.zeros(count, dtype=np.int64)
    for index, value in re.findall(r"^counter (\d+) (\d+)$", output, re.MULTILINE):
        values[int(index)] = int(value)
    return values


def number(output: str, name: str) -> int:
    found = re.search(rf"\b{name} (\d+)", output)
    assert found, output
    return int(found.group(1))


def background(guest: Guest, server: Server, accesses: np.ndarray) -> None:
    """The guest's `start` begins the first half of the accesses, `rest` the other, and `wait` ends
    when all are done. So counters are read before the last access, however slow the guest is."""
    first, rest = np.array_split(accesses, 2)

    def go_on(_: str) -> None:
        server.wait()
        server.start(rest)

    guest.answers["start"] = lambda _: server.start(first)
    guest.answers["rest"] = go_on
    guest.answers["wait"] = lambda _: server.wait()


def test_skew_of_base_pages(server: Server, boot: BootGuest) -> None:
    """Listing 1: 20 huge pages of 512 base pages each take 2 pipelines."""
    random = np.random.default_rng(1)
    first, regions, n = 1000, 20, 300_000
    pages = random.integers(first - 8, first + regions + 8, n)
    addresses = pages * HUGE + random.zipf(1.2, n) % 512 * BASE + random.integers(0, 64, n) * 64
    with boot("listings") as guest:
        background(guest, server, rows(addresses, random.integers(0, 2, n)))
        output = guest.run(f"listings skew {first} {regions}", timeout=120)
        guest.kernel_log()
    assert "pipelines 2 counters 512" in output
    ours = (pages >= first) & (pages < first + regions)
    index = (addresses[ours] - first * HUGE) // BASE
    np.testing.assert_array_equal(
        counters(output, regions * 512), np.bincount(index, minlength=regions * 512)
    )
    assert 0 < number(output, "early") <= (n + 1) // 2
    assert (number(output, "matched"), number(output, "unmapped")) == (ours.sum(), n - ours.sum())


def test_hotness_of_huge_pages(server: Server, boot: BootGuest) -> None:
    """Listing 2: all 8192 huge pages of the device, on one pipeline."""
    random = np.random.default_rng(2)
    n = 400_000
    pages = random.zipf(1.1, n) % 8192
    addresses = pages * HUGE + random.integers(0, HUGE, n)
    with boot("listings") as guest:
        background(guest, server, rows(addresses, random.integers(0, 2, n)))
        output = guest.run("listings hotness 8192", timeout=120)
        guest.kernel_log()
    assert "pipelines 1 counters 1" in output
    np.testing.assert_array_equal(counters(output, 8192), np.bincount(pages, minlength=8192))
    assert 0 < number(output, "early") <= (n + 1) // 2
    assert (number(output, "matched"), number(output, "unmapped")) == (n, 0)


@pytest.mark.parametrize("interrupts", [True, False])
def test_bandwidth_of_tenants(server: Server, boot: BootGuest, interrupts: bool) -> None:
    """One tenant of four passes its cap, and an interrupt notifies the driver. Without interrupts
    the driver polls; the kernel's traces show it."""
    tenants, pages, cap = 4, 50, 64 * 1000
    noisy = np.repeat([0, 1, 2, 3], [300, 400, 5000, 500])
    addresses = noisy * HUGE + np.arange(len(noisy)) * 64 % HUGE + tenants * HUGE * 7
    again = 2 * HUGE + np.arange(10) * 64
    traces = {"tenants": rows(addresses), "again": rows(again, 1)}
    with boot("bandwidth", kernel="" if interrupts else "pci=nomsi") as guest:
        guest.answers["trace"] = lambda name: server.inject(traces[name])
        guest.run(f"mount -t tracefs trace {TRACING}; echo 1 >{TRACING}/events/anemone/enable")
        output = guest.run(f"bandwidth {tenants} {pages} {cap}")
        traced = guest.run(f"cat {TRACING}/trace")
        guest.kernel_log()
    both = np.concatenate([addresses, again])
    expected = np.zeros((tenants, 2), dtype=np.int64)
    np.add.at(expected, (both // HUGE % tenants, both // 64 % 2), 1)
    events = re.findall(r"^event (\d+) (\d+)$", output, re.MULTILINE)
    assert [tenant for tenant, _ in events] == ["2", "2"]
    # The predicate is on one channel's counter, so it holds from the access that reaches the cap.
    past = np.maximum(0, expected - cap // 64 + 1)
    assert (number(output, "notifications"), number(output, "events")) == (past.sum(), 2)
    for tenant in range(tenants):
        assert f"tenant {tenant} {64 * expected[tenant].sum()}\n" in output
        assert "channels {} {} {}\n".format(tenant, *(64 * expected[tenant])) in output
    assert number(output, "messages") == interrupts
    assert (number(output, "interrupts"), number(output, "spurious")) == (2, 0)
    assert server.status()["messages"] == [0, 2, 0, 0, 0, 0, 0, 0, 0]
    for event, count in (("add", 1), ("notify", 2), ("read", 2)):
        assert len(re.findall(rf"anemone_{event}: .*bandwidth", traced)) == count, event
