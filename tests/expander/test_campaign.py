# SPDX-License-Identifier: Apache-2.0
"""Random traffic, rules and reads at the expander's ports, and their coverage.

To repeat a failure: SEED=17 CONFIG=x2 pytest tests/expander/test_campaign.py, with WAVES=1 for
build/bench/expander/campaign/*/dump.fst.
"""

from __future__ import annotations

import pytest

from tests.bench.bench import Shard
from tests.bench.build import ROOT
from tests.expander.bench.coverage import required
from tests.expander.bench.shards import BENCH

BEATS = 300_000  # minimum
REPORT = ROOT / "build" / "coverage-expander.json"


@pytest.mark.parametrize("shard", BENCH.shards(), ids=str)
def test_expander_equals_the_golden_models(shard: Shard, testrun_uid: str) -> None:
    """Compares every beat, answer, counter, interrupt and final state of every seed."""
    totals = BENCH.shard_report(shard, testrun_uid)["totals"]
    print(f"{shard}: {totals}")
    assert totals["seeds"] == shard.count


if BENCH.whole:

    def test_every_bin_is_covered(testrun_uid: str) -> None:
        """The campaign's seeds together cover every situation in the testplan."""
        totals = BENCH.covered(required(), testrun_uid, REPORT)
        assert totals["beats"] >= BEATS, totals
