# SPDX-License-Identifier: Apache-2.0
"""Samples of perf and DAMON: parsing, and hit ratios from them."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from anemone.hardware.geometry import Geometry
from anemone.io.errors import InputError
from anemone.policies.hottest import Hottest
from anemone.tiering import Answer, Policy, Tier, TierConfig
from anemone.tiering.sampled import hit_ratios
from anemone.trace import read_trace
from anemone.trace.samples import Samples, is_samples, read_samples
from tests.commands import assert_refused, run
from tests.tiering.test_tier_command import CONFIG

PERF = """\
# captured on: a machine
redis 12/14 [002] 10.000000:   1000 cpu/mem-loads,ldlat=30/P: 7f0000001040  \
5080422 |OP LOAD|LVL Local RAM hit|SNP None|TLB L1 or L2 hit|LCK No 55d0 f+0x1 (/usr/bin/x)
\t    55d0 f+0x1 (/usr/bin/x)

my prog 12 [002] 10.500000:   3000 cpu/mem-stores/P: 7f0000002040  \
5080144 |OP STORE|LVL RAM or RAM hit|SNP None|TLB L1|LCK No
redis 12 [002] 10.700000:   9000 cpu/mem-loads,ldlat=30/P: 7f0000009040  \
5080022 |OP LOAD|LVL L3 or L3 hit|SNP None|TLB L1 or L2 hit|LCK No
redis 12 [002] 10.800000:   9000 cpu/mem-loads,ldlat=30/P: 0  50 |OP LOAD|LVL L3 miss|SNP None
redis 12 [002] 11.200000:   1000 mem_load_l3_miss_retired.local_dram:pp: 7f0000002080
"""
DAMON = """\
kdamond.0 46568 [027] 79357.0: damon:damon_aggregated: target_id=0 nr_regions=3 \
40960-49152: 2 864
kdamond.0 46568 [027] 79357.0: damon:damon_aggregated: target_id=0 nr_regions=3 \
49152-99999488: 0 10
kdamond.0 46568 [027] 79357.1: damon:damon_aggregated: target_id=0 nr_regions=3 \
45056-53248: 5
kdamond.x xxxx xxxx 79357.100000: damon:damon_aggregated: target_id=0 nr_regions=1 0-0: -1 -1
"""
# The same in damo's JSON: as numbers, and as text with units (1.8 and later).
DAMO = [
    """[{"kdamond_idx": 0, "target_id": 0, "snapshots": [
  {"start_time": 0, "end_time": 79357000000000, "regions": [
    {"start": 40960, "end": 49152, "nr_accesses": 2, "age": 1},
    {"start": 49152, "end": 99999488, "nr_accesses": 0, "age": 1}]},
  {"start_time": 0, "end_time": 79357100000000, "regions": [
    {"start": 45056, "end": 53248, "nr_accesses": 5, "age": 1}]}]}]
""",
    """[{"target_id": 0, "snapshots": [
  {"start_time": "0 ns", "end_time": "22 h 2 m 37 s", "regions": [
    {"start": "40,960", "end": "49,152", "nr_accesses": {"samples": "2", "percent": "10 %"}},
    {"start": "49,152", "end": "99,999,488", "nr_accesses": {"samples": "0", "percent": null}}]},
  {"start_time": "0 ns", "end_time": "22 h 2 m 37 s 100 ms", "regions": [
    {"start": "45,056", "end": "53,248", "nr_accesses": {"samples": "5", "percent": null}}]}]}]
""",
]
PACKED = zlib.compress(DAMO[0].encode())
MACHINE = TierConfig(4096, 1, Tier(1, 10.0, 64.0), Tier(9, 100.0, 16.0), interval_ns=1e9)


def samples(tmp_path: Path, content: str | bytes, page_bytes: int = 4096) -> Samples:
    (tmp_path / "s").write_bytes(content.encode() if isinstance(content, str) else content)
    return read_samples(tmp_path / "s", page_bytes)


def test_perf(tmp_path: Path) -> None:
    """Samples that a cache answered and samples without an address are counted and left out."""
    read = samples(tmp_path, PERF)
    assert (read.kind, read.cached, read.unknown) == ("perf", 1, 1)
    assert read.page.tolist() == [0, 1, 1] and read.weight.tolist() == [1000, 3000, 1000]
    assert read.store.tolist() == [False, True, False]
    assert np.allclose(read.time, [0, 0.5e9, 1.2e9])
    assert samples(tmp_path, PERF, 2 << 20).page.tolist() == [0, 0, 0]


@pytest.mark.parametrize("content", [DAMON, *DAMO, *(zlib.compress(t.encode()) for t in DAMO)])
def test_damon(tmp_path: Path, content: str | bytes) -> None:
    """Each page of a region was found accessed as often as the region; damo compresses by zlib."""
    read = samples(tmp_path, content)
    assert (read.kind, read.page.tolist()) == ("DAMON", [0, 1, 1, 2])
    assert read.weight.tolist() == [2, 2, 5, 5] and np.allclose(read.time, [0, 0, 1e8, 1e8])


def test_hit_ratios_are_weighted_by_periods() -> None:
    """The first page is fast; a policy that exchanges both pages reverses the hit ratio."""
    some = Samples("perf", np.array([0, 1, 1, 0]), np.array([100.0, 300.0, 500.0, 100.0]),
                   np.zeros(4, bool), np.array([0.0, 1.0, 2e9, 2e9]))  # fmt: skip

    class Exchange(Policy):
        def act(self, seen):
            assert seen.now_ns in (1e9, 3e9) and seen.free == (0, 8)
            if seen.now_ns == 1e9:
                assert seen.heat.units.tolist() == [100, 300] and seen.units.tier.tolist() == [0, 1]
                return Answer(promote=np.array([1]), demote=np.array([0]))
            return Answer()

    report, timeline = hit_ratios(MACHINE, some, None)
    assert report["hit_ratio"] == 200 / 1000 and report["pages"] == {"fast": 1, "slow": 1}
    assert timeline["hit_ratio"].tolist() == [0.25, 100 / 600]
    report, timeline = hit_ratios(MACHINE, some, Exchange())
    assert report["hit_ratio"] == 600 / 1000 and (report["promoted"], report["demoted"]) == (1, 1)
    assert timeline["promoted"].tolist() == [1, 0]


def test_capacities_hold() -> None:
    """Capacities hold for any requests."""
    rng = np.random.default_rng(1)
    config = replace(MACHINE, fast=Tier(5, 1.0, 1.0), slow=Tier(20, 1.0, 1.0))
    some = Samples("perf", rng.integers(0, 20, 900), np.ones(900), np.zeros(900, bool),
                   np.arange(900) * 1e8)  # fmt: skip

    class Any(Policy):
        def act(self, seen):
            assert seen.free[0] >= 0 and np.count_nonzero(seen.units.tier == 0) <= 5
            frames = rng.permutation(seen.units.frame)
            return Answer(promote=frames[: rng.integers(20)], demote=frames[rng.integers(20) :])

    report, _ = hit_ratios(config, some, Any())
    assert report["pages"]["fast"] <= 5 and sum(report["pages"].values()) == 20


def test_a_hot_set_is_found() -> None:
    """Cold pages are touched first, so they start in the fast tier."""
    rng = np.random.default_rng(2)
    hot = rng.random(20_000) < 0.9
    page = np.where(hot, 50 + rng.integers(0, 10, 20_000), rng.integers(0, 100, 20_000))
    page[:100] = np.arange(100)
    some = Samples("perf", page, np.ones(20_000), hot, np.arange(20_000) * 1e6)
    config = replace(MACHINE, fast=Tier(10, 1.0, 1.0), slow=Tier(100, 1.0, 1.0))
    with_policy = hit_ratios(config, some, Hottest())[0]["hit_ratio"]
    assert with_policy > 0.8 > 0.2 > hit_ratios(config, some, None)[0]["hit_ratio"]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only ratios are written; a source that needs accesses is refused."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "t.toml").write_text(CONFIG)
    (folder / "t").write_text(PERF)
    words = [
        "tier", "--config", str(folder / "t.toml"), "--trace", str(folder / "t"),
        "--out", str(tmp_path / "out"),
    ]  # fmt: skip
    status, out, err = run(words, capsys)
    assert (status, err) == (0, "") and "20.0% of the accesses" in out
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["hit_ratio"] == 0.2 and not {"time_ns", "latency_ns"} & set(report)
    assert pq.read_table(tmp_path / "out" / "timeline.parquet").num_rows == 3
    assert_refused(
        folder / "t.toml", CONFIG + '[policy]\nname="hemem"\n[telemetry]\nsource="nemo"\n',
        'source is "nemo"; allowed: "oracle"', words, capsys,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (PERF + "what is this\n", 'line 9: sample is "what is this"'),
        (PERF + "redis 12 11.9: cpu/mem-loads/P: 7f00\n", "line 9: period or address is"),
        (DAMON + "more\n", 'line 5: region is "more"'),
        (PERF.replace("RAM", "L2").replace("L3 miss", "L1").rsplit("redis", 1)[0], "samples is"),
        ("nothing\n", "of no kind that is known"),
        (DAMO[0] + "]", "records is"),
        (DAMO[0].replace("40960", "-1"), "record 0, snapshot 0, region 0: start is -1"),
        (DAMO[1].replace('"samples": "5"', '"samples": null'), "region 0: samples is null"),
        (DAMO[1].replace("100 ms", "100 weeks"), "record 0, snapshot 1: end_time is"),
        (DAMO[0].replace("regions", "parts"), "regions is missing; allowed: a list"),
        (PACKED[:-9], "records is cut off; allowed: one zlib stream"),
        (PACKED + b"x", "records is more than one stream"),
        (PACKED[:-4] + bytes(4), "records is broken"),
        (zlib.compress(DAMO[0][:-9].encode()), "JSON, as damo writes it"),
        (b"PERFILE2" + bytes(96), "samples is perf's own file; allowed: perf script of"),
    ],
)
def test_bad_samples(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        samples(tmp_path, content)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "kind"),
    [(PERF.encode(), "perf"), (b"PERFILE2" + bytes(96), "perf"), (PACKED, "DAMON")],
)
def test_samples_are_no_accesses(tmp_path: Path, content: bytes, kind: str) -> None:
    """A command that needs accesses refuses samples, instead of taking each for an access."""
    (tmp_path / "t").write_bytes(content)
    assert is_samples(tmp_path / "t")
    with pytest.raises(InputError, match=f"content is samples of {kind}; allowed: accesses"):
        read_trace(tmp_path / "t", Geometry(device_gib=1))
