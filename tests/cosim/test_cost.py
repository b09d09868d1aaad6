# SPDX-License-Identifier: Apache-2.0
"""What telemetry costs the host, in instructions of the guest (docs/driver.md, NEMO §5.1, §5.3)."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from threading import Timer

from anemone.cosim import Server, build_plugin
from anemone.rtl.builder import ROOT
from tests.cosim.conftest import BootGuest

COUNTERS, RECORDS, EVENTS = 8192, 8192, 8
# Instructions that these may cost at most; docs/driver.md has the measured ones.
LIMITS = {"counter": 150, "poll": 8000}
# An event that was there before it was waited for costs less than this.
WAITED = 4000


def spans(marks: Path) -> dict[tuple[int, int], list[int]]:
    """Instructions between marks that follow each other, by their numbers."""
    said = [tuple(map(int, line.split())) for line in marks.read_text().splitlines()]
    found: dict[tuple[int, int], list[int]] = {}
    for (before, start), (after, end) in pairwise(said):
        found.setdefault((before, after), []).append(end - start)
    return found


def test_cost(server: Server, boot: BootGuest, tmp_path: Path) -> None:
    def soon(_: str) -> None:
        Timer(0.1, server.command, ["access 0x200000 0"]).start()

    marks = tmp_path / "marks"
    plugin = f"{build_plugin('instructions')},out={marks}"
    # Time goes by instructions, so that no tick comes while a load waits for the simulator.
    with boot("cost", options=("-icount", "shift=0", "-plugin", plugin)) as guest:
        guest.answers["soon"] = soon
        assert guest.run("cost", timeout=300).endswith("done\n")
        guest.kernel_log()
    span = spans(marks)
    (empty,), (few,), (many,), (samples,) = (span[p] for p in [(0, 1), (1, 2), (2, 3), (6, 7)])
    assert len(span[4, 5]) == EVENTS
    notifications = [n for n in span[4, 5] if n > WAITED]
    cost = {
        "counter": (many - few) / (COUNTERS - 8),
        "poll": few - empty,
        # The least: while it waits, the guest has other things to do, on a busy machine many.
        "notification": min(notifications, default=None),
        "sample": (samples - empty) / RECORDS,
    }
    print(json.dumps(cost))
    (ROOT / "build" / "cosim" / "cost.json").write_text(json.dumps(cost, indent=2) + "\n")
    for what, limit in LIMITS.items():
        assert cost[what] <= limit, (what, cost)
    # With more accesses than this a counter between two polls, samples of each would cost more.
    assert cost["counter"] / cost["sample"] < 8
