# SPDX-License-Identifier: Apache-2.0
"""What telemetry costs the host, in instructions of the guest (docs/driver.md, NEMO §5.1, §5.3)."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from statistics import median_high
from threading import Timer

from anemone.backends.rtl.builder import ROOT
from anemone.cosim import Server, build_plugin
from tests.cosim.conftest import BootGuest

COUNTERS, RECORDS, EVENTS = 8192, 8192, 8
WOKEN = 5  # the mark after a wait
# Instructions that these may cost, and below which the count would be incomplete; docs/driver.md
# has the measured numbers. Waits are not included: on a busy host the guest's idle loop polls
# instead of halting, and polls are counted.
LIMITS = {
    "counter": (16, 250),
    "poll": (1000, 8000),
    "sample": (8, 40),
}


def read_marks(marks: Path) -> list[tuple[int, int, int]]:
    """For each mark: number, instructions so far, instructions since the last interrupt."""
    lines = [line.split() for line in marks.read_text().splitlines()]
    return [(int(number), int(all_), int(since)) for number, all_, since in lines]


def test_cost(server: Server, boot: BootGuest, tmp_path: Path) -> None:
    def soon(_: str) -> None:
        Timer(0.1, server.command, ["access 0x200000 0"]).start()

    marks = tmp_path / "marks"
    plugin = f"{build_plugin('instructions')},out={marks}"
    # Time is counted in instructions, so no tick comes while a load waits for the simulator.
    with boot("cost", options=("-icount", "shift=0", "-plugin", plugin)) as guest:
        guest.answers["soon"] = soon
        assert guest.run("cost", timeout=300).endswith("done\n")
        print(guest.run("top -b -n 1 | head -n 9"))  # shows who else used the processor
        guest.kernel_log()
    lines = read_marks(marks)
    at = {number: instructions for number, instructions, _ in lines}
    # The marks before and after a wait: count from the device's interrupt on. What the processor
    # did meanwhile is not ours, and a tick may come in between.
    waits = [(at5 - at4, since) for (_, at4, _), (n, at5, since) in pairwise(lines) if n == WOKEN]
    assert len(waits) == EVENTS
    notification = median_high(since for _, since in waits)
    empty = at[1] - at[0]
    cost = {
        "counter": (at[3] - 2 * at[2] + at[1]) / (COUNTERS - 8),
        "poll": at[2] - at[1] - empty,
        "notification": notification,
        "blocking": min(all_ for all_, since in waits if all_ > since) - notification,
        "sample": (at[7] - at[6] - empty) / RECORDS,
    }
    print(json.dumps(cost))
    (ROOT / "build" / "cosim" / "cost.json").write_text(json.dumps(cost, indent=2) + "\n")
    for what, (minimum, maximum) in LIMITS.items():
        assert minimum <= cost[what] <= maximum, (what, cost)
    # With more accesses than this between two polls of a counter, sampling each access costs more.
    assert cost["counter"] / cost["sample"] < 8
