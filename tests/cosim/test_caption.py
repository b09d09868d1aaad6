# SPDX-License-Identifier: Apache-2.0
"""Caption's weights, in a kernel with weighted interleave and a CXL node."""

from __future__ import annotations

import re
from pathlib import Path

from anemone.caption import live
from anemone.caption.actuator import WeightedInterleave, weights_of
from anemone.caption.algorithm import Sample, Tuning
from anemone.caption.controller import Decision
from anemone.caption.model import Model
from anemone.cosim import Guest, Server, Tools, build_program, cxl
from tests.cosim.conftest import PROGRAMS
from tests.cosim.test_cxl import memory, server  # noqa: F401

FOLDER = "sys/kernel/mm/mempolicy/weighted_interleave"
PAGES = 4000
# The estimate is IPC: two rises, then the reversal.
MODEL = Model((0.0, 0.0, 0.0, 1.0), window=1, tuning=Tuning(step=31, min_step=9, start=10))
SAMPLES = [Sample((0.0, 0.0, ipc)) for ipc in (1.0, 2.0, 1.0)]


def new_pages(guest: Guest) -> int:
    """numastat's numa_hit of the CXL node, which Caption uses for new allocations."""
    numastat = guest.run(f"cat /sys/devices/system/node/node{cxl.NODE}/numastat")
    return int(re.search(r"numa_hit (\d+)", numastat)[1])


def test_pages_land_by_the_weights(
    tools: Tools,
    server: Server,  # noqa: F811
    memory: cxl.CxlMemory,  # noqa: F811
    tmp_path: Path,
) -> None:
    """The live tool writes each decision's weights to the kernel, and pages are spread by them, in
    whole rounds, as seen by move_pages and numastat."""
    (tmp_path / FOLDER).mkdir(parents=True)
    for node in (0, cxl.NODE):
        (tmp_path / FOLDER / f"node{node}").write_text("1\n")
    actuator = WeightedInterleave(0, cxl.NODE, tmp_path)
    ratios = []
    with Guest(
        server, programs=[build_program(PROGRAMS / "spread.c")], files=memory.files,
        options=memory.options, kernel=memory.kernel,
    ) as guest:  # fmt: skip
        guest.run(memory.online, timeout=120)

        def decided(_number: int, _sample: Sample, decision: Decision, _acted: str) -> None:
            for file in actuator.files:
                guest.run(f"echo {file.read_text().strip()} >/{FOLDER}/{file.name}")
            kept = guest.run(f"cat /{FOLDER}/node0 /{FOLDER}/node{cxl.NODE}").split()
            dram, far = weights_of(decision.state.ratio)
            assert kept == [str(dram), str(far)]
            before = new_pages(guest)
            found = re.search(r"^on (\d+) (\d+)$", guest.run(f"spread {PAGES}"), re.MULTILINE)
            on = [int(n) for n in found.groups()]
            new = new_pages(guest) - before
            print(decision, kept, on, new)
            assert sum(on) == PAGES
            assert abs(on[1] - PAGES * far / (dram + far)) <= dram + far
            # The program's few other pages are spread, too.
            assert on[1] <= new <= on[1] + 200
            ratios.append(decision.state.ratio)

        assert live.run(MODEL, iter(SAMPLES), 1, actuator, False, decided) == 3
        guest.kernel_log()
    assert ratios == [10.0, 41.0, 25.5]
