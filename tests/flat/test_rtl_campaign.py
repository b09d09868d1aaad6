# SPDX-License-Identifier: Apache-2.0
"""Random traffic through the swap controller, in lock-step with the golden model.

To repeat what failed: SEED=17 CONFIG=flat2 pytest tests/flat/test_rtl_campaign.py, with WAVES=1 for
build/flat/campaign/*/dump.fst.
"""

from __future__ import annotations

import json
import os

import pytest

from tests.cocotb.bench.build import ROOT
from tests.expander.bench.shards import merged
from tests.flat.bench.shards import Shard, played, shards

BEATS = 300_000  # at least
REPORT = ROOT / "build" / "coverage-flat.json"
POLICIES = {
    "every": ("hit", "swap"),
    "nth": ("hit", "miss", "swap"),
    "one_in": ("hit", "miss", "swap"),
    "never": ("hit", "miss"),
}


def required() -> set[str]:
    """Every outcome of every policy for every kind of access, and what else must be met."""
    ways = ("read", "line", "part")
    bins = {f"{p}/{o}/{w}" for p, os_ in POLICIES.items() for o in os_ for w in ways}
    bins |= {f"{p}/dedicated/{w}" for p in POLICIES for w in ways}
    return bins | {"outside", "forwarded", "restart/traffic"}


@pytest.mark.parametrize("shard", shards(), ids=str)
def test_the_controller_equals_the_golden_model(shard: Shard, testrun_uid: str) -> None:
    """Every answer, outcome and counter of every seed, and the contents of near and far."""
    totals = played(shard, testrun_uid)["totals"]
    print(f"{shard}: {totals}")
    assert totals["seeds"] == shard.count


if "SEED" not in os.environ:

    def test_every_kind_of_access_is_met(testrun_uid: str) -> None:
        """All seeds together."""
        totals, cover = merged([played(shard, testrun_uid) for shard in reversed(shards())])
        bins = required()
        missing = sorted(bins - (+cover).keys())
        report = {"totals": dict(totals), "bins": len(bins), "missing": missing}
        REPORT.write_text(json.dumps(report | {"hits": dict(cover)}, indent=1) + "\n")
        print(report)
        assert not missing
        assert totals["beats"] >= BEATS, totals
