# SPDX-License-Identifier: Apache-2.0
"""Programs on the expander's memory, which is a NUMA node of the guest, counted by the driver."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from anemone.cosim import Guest, Server, Tools, build_module, build_program, cxl
from tests.cosim.conftest import HUGE, PROGRAMS


@pytest.fixture
def server(tools: Tools) -> Iterator[Server]:
    with cxl.server() as running:
        yield running


@pytest.fixture
def memory(tools: Tools, server: Server) -> cxl.CxlMemory:
    if tools.release.startswith("6.1."):
        pytest.skip("Linux 6.1 does not bring up volatile CXL memory: dax_cxl came with 6.3")
    return cxl.CxlMemory(tools, server)


class Counts:
    """The plugin's counts at the guest's `settled` and `quiet`, with no access between."""

    def __init__(self, guest: Guest, server: Server, memory: cxl.CxlMemory) -> None:
        self.settled: list[np.ndarray] = []
        self.quiet: list[np.ndarray] = []
        for word, counts in (("settled", self.settled), ("quiet", self.quiet)):

            def answer(_: str, counts: list[np.ndarray] = counts) -> None:
                server.command("settle")
                counts.append(memory.pages())

            guest.answers[word] = answer

    def between(self) -> np.ndarray:
        """Counts from the first time to the second."""
        np.testing.assert_array_equal(self.settled, self.quiet)
        return self.settled[1] - self.settled[0]


@contextmanager
def boot(tools: Tools, server: Server, memory: cxl.CxlMemory, *programs: str) -> Iterator[Guest]:
    """Boots a guest with the node, the driver and these programs."""
    built = [build_program(PROGRAMS / f"{name}.c") for name in programs]
    with Guest(
        server, modules=[build_module(tools)], programs=built, files=memory.files,
        options=memory.options, kernel=memory.kernel,
    ) as guest:  # fmt: skip
        guest.run(memory.online, timeout=120)
        guest.run("insmod /mod/anemone.ko merged=1")
        yield guest


def test_a_program_is_seen(tools: Tools, server: Server, memory: cxl.CxlMemory) -> None:
    with boot(tools, server, memory, "onnode", "pages") as guest:
        counts = Counts(guest, server, memory)
        work = "seq 1 30000 | sort -rn | md5sum"
        output = guest.run(f"pages onnode {cxl.NODE} sh -c '{work}'", timeout=200)
        guest.kernel_log()
    counted = np.zeros(cxl.BYTES // HUGE, dtype=np.int64)
    for address, count in re.findall(r"^page (0x[0-9a-f]+) (\d+)$", output, re.MULTILINE):
        counted[(int(address, 0) - cxl.BASE) // HUGE] = int(count)
    print(output, memory.counts(), server.status()["events"])
    np.testing.assert_array_equal(counted, counts.between())
    assert counted.sum() > 10_000
    assert memory.counts()["seen"] > server.status()["events"]


def test_a_program_finds_its_hot_pages(tools: Tools, server: Server, memory: cxl.CxlMemory) -> None:
    pages = 16
    with boot(tools, server, memory, "hot") as guest:
        counts = Counts(guest, server, memory)
        guest.run("echo madvise >/sys/kernel/mm/transparent_hugepage/enabled")
        output = guest.run(f"hot {cxl.NODE} {pages}", timeout=200)
        guest.kernel_log()
    print(output)
    rows = re.findall(r"^0x[0-9a-f]+ +(0x[0-9a-f]+) +(\d+)$", output, re.MULTILINE)
    found = np.array([[(int(a, 0) - cxl.BASE) // HUGE, int(n)] for a, n in rows])
    np.testing.assert_array_equal(found[:, 1], counts.between()[found[:, 0]])
    # Each page has about half the accesses of the one before. The last pages are still in the cache
    # from the filling of the table, and are written back.
    assert len(found) == pages and (found[:5, 1] > 1.5 * found[1:6, 1]).all()
