# SPDX-License-Identifier: Apache-2.0
"""Flat memory mode in the simulator: times by hand and equal to the reference model, and outcomes
equal to the fast golden model's.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anemone.cli import main
from anemone.flat.config import FlatConfig
from anemone.flat.result import MISS
from anemone.golden import flat_fast
from anemone.golden import tier as plain
from anemone.io.errors import InputError
from anemone.tiering import Tier, TierConfig, near, simulate
from anemone.tiering.config import Flat, parse_config
from anemone.trace import Trace
from tests.tiering.strategies import flat_configs, flat_traces
from tests.tiering.test_time import GEOMETRY, check_timeline, run_small

# One page of near memory. Near: 1 ns per line, latency 10 ns; far: 4 ns per line, latency 100 ns.
MACHINE = TierConfig(4096, 9, Tier(1, 10.0, 64.0), Tier(1, 100.0, 16.0), flat=Flat())


def rows(*lines: tuple[int, int, float]) -> Trace:
    """(line, write, gap)."""
    line, write, gap = (np.array(column) for column in zip(*lines, strict=True))
    return Trace((line * 64).astype(np.uint64), write.astype(bool), gap_ns=gap.astype(float))


def test_a_swap_takes_two_lines_of_each() -> None:
    """Line 64 evicts line 0. The read of line 0 waits in near memory for the swap's write, and in
    far memory, at 112 instead of 22, for the swap's read and write of 4 ns each.
    """
    done = plain.run(MACHINE, rows((64, 0, 0), (1, 0, 0), (0, 0, 0), (64, 0, 1)))
    assert done.completion == [110.0, 12.0, 118.0, 15.0 + 110.0 + 1.0]
    assert done.tiers == [1, 0, 1, 1]


def test_a_write_that_swaps_reads_nothing() -> None:
    done = plain.run(MACHINE, rows((64, 1, 0), (65, 1, 0), (64, 1, 0), (64, 0, 0)))
    assert done.completion == [10.0, 12.0, 14.0, 16.0] and done.tiers == [1, 1, 0, 0]


def test_dedicated_memory_has_one_access() -> None:
    config = replace(MACHINE, flat=Flat(dedicated=(8192, 12288)))
    done = plain.run(config, rows((128, 1, 0), (128, 0, 0), (128, 0, 0)))
    assert done.completion == [10.0, 11.0, 12.0] and done.tiers == [0, 0, 0]


@settings(max_examples=100)
@given(st.data())
def test_the_kernel_is_the_plain_model(data: st.DataObject) -> None:
    config = data.draw(flat_configs())
    trace = data.draw(flat_traces(config))
    golden = plain.run(config, trace)
    one, result = run_small(config, trace, data.draw(st.sampled_from([1, 4096])))
    state = one.machine.state
    there = np.flatnonzero(state.ops.number)
    row = state.ops.number[there].astype(np.int64) - 1
    assert state.ops.first[there].tolist() == [golden.issue[i] for i in row]
    assert state.ops.last[there].tolist() == [golden.completion[i] for i in row]
    assert result.time_ns == max(golden.completion)
    assert result.accesses == (golden.tiers.count(0), golden.tiers.count(1))
    check_timeline(config, golden, golden.tiers, result)
    memory = flat_fast.FlatMemory(config.flat_config)
    memory.accesses(trace.addr[golden.order], trace.write[golden.order])
    assert near.counts(state.memory.near) == memory.counts


@settings(max_examples=60)
@given(
    st.integers(1, 70), st.integers(1, 4), st.sampled_from(["every", "nth", "one_in", "never"]),
    st.integers(1, 255), st.integers(0, 1 << 32),
)  # fmt: skip
def test_each_outcome_is_the_fast_models(
    lines: int, ratio: int, policy: str, n: int, seed: int
) -> None:
    config = FlatConfig(
        lines, ratio, (64 * lines, 128 * lines), policy, n if seed % 2 else n % 3 + 1
    )
    rng = np.random.default_rng(seed)
    line = rng.integers(0, config.lines, 3000)
    few = line // lines * lines + line % lines % 3  # lines of three sets
    line = np.where(rng.random(3000) < 0.5, few, line)
    addr, write = (line * 64).astype(np.uint64), rng.random(3000) < 0.4
    found, state = np.zeros(3000, np.int8), near.make(config)
    near.outcomes(state, addr, write, found)
    memory = flat_fast.FlatMemory(config)
    expected = memory.accesses(addr, write)
    assert np.array_equal(np.where(found == near.COUNTED, MISS, found), expected)
    assert near.counts(state) == memory.counts


def test_no_memory_is_named() -> None:
    with pytest.raises(InputError, match=r"0x2000, 8192|addr is 8192|addr"):
        simulate(MACHINE, rows((0, 0, 0), (128, 0, 0)), geometry=GEOMETRY)


TEXT = """
page = "4KiB"
outstanding = 10
[fast]
pages = 4
latency_ns = 100
gb_per_s = 50
[slow]
latency_ns = 210
gb_per_s = 20
[flat]
ratio = 2
"""


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    (config := tmp_path / "tier.toml").write_text(TEXT)
    addr = np.tile(np.arange(0, 12 * 4096, 64, dtype=np.uint64), 2)
    pq.write_table(
        pa.table({"addr": addr, "write": np.zeros(len(addr), bool)}), tmp_path / "t.parquet"
    )
    with pytest.raises(SystemExit) as stop:
        main(["tier", "--config", str(config), "--trace", str(tmp_path / "t.parquet"),
              "--out", str(tmp_path / "out")])  # fmt: skip
    assert stop.value.code == 0
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["flat"]["hits"] == report["accesses"]["fast"] == 256
    assert report["flat"]["swaps"] == report["accesses"]["slow"] == 1280


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ratio = 2", "ratio = 5", "flat.ratio is 5"),
        ("ratio = 2", 'policy = "some"', 'flat.policy is "some"'),
        ("ratio = 2", 'policy = "nth"\nn = 256', "flat.n is 256"),
        ("ratio = 2", "dedicated = [0, 5]", "flat.dedicated is [0, 5]"),
        ("[slow]", "[slow]\npages = 3", "slow.pages is 3"),
        ("page =", 'timing = "dram"\npage =', 'timing is "dram"'),
        ("[flat]", '[placement]\nstart = "slow"\n[flat]', "placement is"),
        ("ratio = 2", "more = 1", "flat.more is 1"),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, message: str) -> None:
    assert parse_config(TEXT, "tier.toml").flat == Flat(2)
    with pytest.raises(InputError) as error:
        parse_config(TEXT.replace(old, new), "tier.toml")
    assert message in str(error.value), error.value
