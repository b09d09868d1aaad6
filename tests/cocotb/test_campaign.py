# SPDX-License-Identifier: Apache-2.0
"""Random rules, traffic and reads at the engine's ports, and whether they met what they should.

To repeat what failed: SEED=17 CONFIG=p2c2 pytest tests/cocotb/test_campaign.py, with WAVES=1 for
build/cocotb/campaign/*/dump.fst.
"""

from __future__ import annotations

import json
import os

import pytest

from tests.cocotb.bench.build import ROOT
from tests.cocotb.bench.coverage import required
from tests.cocotb.bench.shards import Shard, merged, played, shards

SEEDS, EVENTS = 200, 1_000_000  # at least
REPORT = ROOT / "build" / "coverage.json"


@pytest.mark.parametrize("shard", shards(), ids=str)
def test_ports_equal_the_golden_model(shard: Shard, testrun_uid: str) -> None:
    """Every ready, line, counter, latch and final state of every seed."""
    report = played(shard, testrun_uid)
    print(f"{shard}: {report['events']} events, {report['reads']} reads")
    assert report["seeds"] == shard.count


if "SEED" not in os.environ:

    def test_every_bin_is_covered(testrun_uid: str) -> None:
        """All of the campaign's seeds together meet every situation in the testplan."""
        totals, cover = merged([played(shard, testrun_uid) for shard in reversed(shards())])
        bins = required()
        missing = sorted(bins - cover.keys())
        report = {
            **totals,
            "bins": len(bins),
            "missing": missing,
            "hits": dict(sorted(cover.items())),
        }
        REPORT.write_text(json.dumps(report, indent=1) + "\n")
        print({name: value for name, value in report.items() if name != "hits"})
        assert not missing
        assert totals["seeds"] >= SEEDS and totals["events"] >= EVENTS, totals
