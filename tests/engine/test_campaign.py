# SPDX-License-Identifier: Apache-2.0
"""Random rules, traffic and reads at the engine's ports, and their coverage.

To repeat a failure: SEED=17 CONFIG=p2c2 pytest tests/engine/test_campaign.py, with WAVES=1 for
build/bench/engine/campaign/*/dump.fst.
"""

from __future__ import annotations

import pytest

from tests.bench.bench import Shard
from tests.bench.build import ROOT
from tests.engine.bench.coverage import required
from tests.engine.bench.shards import BENCH

SEEDS, EVENTS = 200, 1_000_000  # minimums
REPORT = ROOT / "build" / "coverage.json"


@pytest.mark.parametrize("shard", BENCH.shards(), ids=str)
def test_ports_equal_the_golden_model(shard: Shard, testrun_uid: str) -> None:
    """Compares every ready, line, counter, latch and final state of every seed."""
    totals = BENCH.shard_report(shard, testrun_uid)["totals"]
    print(f"{shard}: {totals}")
    assert totals["seeds"] == shard.count


if BENCH.whole:

    def test_every_bin_is_covered(testrun_uid: str) -> None:
        """The campaign's seeds together cover every situation in the testplan."""
        totals = BENCH.covered(required(), testrun_uid, REPORT)
        assert totals["seeds"] >= SEEDS and totals["events"] >= EVENTS, totals
