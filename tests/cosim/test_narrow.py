# SPDX-License-Identifier: Apache-2.0
"""A 32-bit program on the 64-bit kernel makes every call, with its own layouts and numbers."""

from __future__ import annotations

import numpy as np

from anemone.cosim import Guest, Server, Tools, build_module, build_program, rows
from tests.cosim.conftest import HUGE, PROGRAMS


def test_every_call(server: Server, tools: Tools) -> None:
    pages = np.array([6, 6, 5, 5, 5], dtype=np.uint64)  # the third of page 5 notifies
    answers = {"accesses": lambda _: server.inject(rows(pages * np.uint64(HUGE)))}
    program = build_program(PROGRAMS / "narrow.c", narrow=True)
    modules = [build_module(tools)]
    with Guest(server, modules=modules, programs=[program], answers=answers) as guest:
        guest.run("insmod /mod/anemone.ko merged=1 && narrow")
        guest.kernel_log()
