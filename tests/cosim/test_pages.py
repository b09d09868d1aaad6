# SPDX-License-Identifier: Apache-2.0
"""Entries for a program's own pages, under all that the kernel does with pages."""

from __future__ import annotations

import numpy as np

from anemone.cosim import CosimError, Guest, Server, Tools, build_module, build_program, cxl, rows
from tests.cosim.conftest import PROGRAMS

# The guest's own memory is said to be the device's, but for its first huge page.
BASE, SIZE = 1 << 21, 1 << 33
# kept: the page stays where it is; went: it does not, and the entry is gone before.
KINDS = {
    "nothing": "kept", "protect": "kept", "forbid": "kept", "neighbour": "kept", "unmap": "went",
    "discard": "went", "fork": "went", "swap": "went", "migrate": "went", "collapse": "went",
    "merge": "went", "hugetlb": "went", "compact": "kept or went",
}  # fmt: skip


def test_what_the_kernel_does_with_pages(tools: Tools) -> None:
    with Server(memory="off") as server:

        def touch(where: str) -> None:
            server.inject(rows(np.array([int(where) - BASE])))

        with Guest(
            server, modules=[build_module(tools)], programs=[build_program(PROGRAMS / "moves.c")],
            files={"/mod/brd.ko": cxl.module(tools, "brd")}, answers={"touch": touch}, memory=1024,
        ) as guest:  # fmt: skip
            guest.run(f"insmod /mod/anemone.ko merged=1 host_base={BASE} host_size={SIZE}")
            guest.run("echo 4 >/proc/sys/vm/nr_hugepages; insmod /mod/brd.ko rd_nr=1 rd_size=16384")
            guest.run("mkswap /dev/ram0; swapon /dev/ram0")
            wrong = []
            for kind, fate in KINDS.items():
                try:
                    said = guest.run(f"moves {kind}", timeout=120)
                except CosimError as error:
                    wrong.append(f"{kind}: {str(error)[-400:]}")
                    continue
                if said.strip().split(": ")[-1] not in fate.split(" or "):
                    wrong.append(f"{kind}: {said}")
            guest.run("swapoff /dev/ram0; rmmod anemone")
            guest.kernel_log()
    assert not wrong, "\n".join(wrong)
