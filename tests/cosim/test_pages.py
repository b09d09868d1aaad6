# SPDX-License-Identifier: Apache-2.0
"""Entries for user pages: everything that the kernel does with pages, a heap that comes and goes,
and what other users can learn from entries."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from anemone.cosim import CosimError, Guest, Server, Tools, build_module, build_program, cxl, rows
from tests.cosim.churn import churn
from tests.cosim.conftest import GUEST_MEMORY, HUGE, PROGRAMS
from tests.cosim.test_watched import no_leak

# kept: the page does not move; went: it does, and its entry is removed before.
KINDS = {
    "nothing": "kept", "protect": "kept", "forbid": "kept", "neighbour": "kept", "unmap": "went",
    "discard": "went", "fork": "went", "swap": "went", "offline": "went", "migrate": "went",
    "collapse": "went", "merge": "went", "hugetlb": "went",
    "hugetlb-fork": "went", "lazyfree": "kept", "compact": "kept or went",
}  # fmt: skip


@pytest.fixture(scope="module")
def guest(tools: Tools) -> Iterator[Guest]:
    """One guest for all tests, with two nodes and the driver; its memory is the device's."""
    names = "moves", "churn", "spy", "quota"
    programs = [build_program(PROGRAMS / f"{name}.c") for name in names]
    with Server(memory="off") as server:

        def touch(where: str) -> None:
            server.inject(rows(np.array([int(where) - HUGE])))

        with Guest(
            server, modules=[build_module(tools)], programs=programs,
            files={"/mod/brd.ko": cxl.module(tools, "brd")}, answers={"touch": touch}, memory=1024,
            kernel="numa=fake=2",
        ) as guest:  # fmt: skip
            guest.run(f"insmod /mod/anemone.ko merged=1 {GUEST_MEMORY}")
            yield guest
            no_leak(guest)
            guest.run("rmmod anemone")
            guest.kernel_log()


def test_what_the_kernel_does_with_pages(guest: Guest) -> None:
    guest.run("echo 4 >/proc/sys/vm/nr_hugepages; insmod /mod/brd.ko rd_nr=1 rd_size=16384")
    guest.run("mkswap /dev/ram0; swapon /dev/ram0")
    wrong = []
    for kind, fate in KINDS.items():
        try:
            output = guest.run(f"moves {kind}", timeout=120)
        except CosimError as error:
            wrong.append(f"{kind}: {str(error)[-400:]}")
            continue
        if output.strip().split(": ")[-1] not in fate.split(" or "):
            wrong.append(f"{kind}: {output}")
    guest.run("swapoff /dev/ram0; echo 0 >/proc/sys/vm/nr_hugepages")
    guest.kernel_log()
    assert not wrong, "\n".join(wrong)


def test_a_heap_that_comes_and_goes(guest: Guest) -> None:
    """For longer runs: make soak SOAK="churn 1000000"."""
    assert churn(guest, seed=1, entries=2000) >= 2000
    guest.kernel_log()


def test_a_users_share_of_the_pipelines(guest: Guest) -> None:
    """Of eight pipelines: half, or user_pipelines; those kept for the kernel are deducted first."""
    for user, kernel, taken, why in (
        (0, 1, 4, "EDQUOT"), (1, 1, 1, "EDQUOT"), (6, 1, 6, "EDQUOT"), (8, 3, 5, "ENOSPC"),
        (0, 1, 4, "EDQUOT"),
    ):  # fmt: skip
        for name, value in (("user", user), ("kernel", kernel)):
            guest.run(f"echo {value} >/sys/module/anemone/parameters/{name}_pipelines")
        assert guest.run("quota").startswith(f"{taken} {why}: "), (user, kernel)
    guest.kernel_log()


def test_a_spy_sees_only_its_own(guest: Guest) -> None:
    """With CAP_PERFMON alone, by random rules and everything that can be read."""
    assert "it saw its own" in guest.run("spy 1 3", timeout=120)
    guest.kernel_log()
