# SPDX-License-Identifier: Apache-2.0
"""Random traffic through the swap controller, in lock-step with the golden model.

To repeat what failed: SEED=17 CONFIG=flat2 pytest tests/flat/test_rtl_campaign.py, with WAVES=1 for
build/bench/flat/campaign/*/dump.fst.
"""

from __future__ import annotations

import pytest

from tests.bench.bench import Shard
from tests.bench.build import ROOT
from tests.flat.bench.coverage import required
from tests.flat.bench.shards import BENCH

BEATS = 300_000  # at least
REPORT = ROOT / "build" / "coverage-flat.json"


@pytest.mark.parametrize("shard", BENCH.shards(), ids=str)
def test_the_controller_equals_the_golden_model(shard: Shard, testrun_uid: str) -> None:
    """Every response, outcome and counter of every seed, and the contents of near and far
    memory.
    """
    totals = BENCH.shard_report(shard, testrun_uid)["totals"]
    print(f"{shard}: {totals}")
    assert totals["seeds"] == shard.count


if BENCH.whole:

    def test_every_kind_of_access_is_met(testrun_uid: str) -> None:
        """All seeds together fill every bin."""
        totals = BENCH.covered(required(), testrun_uid, REPORT)
        assert totals["beats"] >= BEATS, totals
