# SPDX-License-Identifier: Apache-2.0
"""The DRAM timing: the reference model by hand, and a comparison of both timings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anemone.golden.dram import DramModel
from anemone.hardware.geometry import Geometry
from anemone.io.errors import InputError
from anemone.tiering import Tier, TierConfig, parse_config, simulate
from anemone.tiering.devices import devices
from anemone.tiering.drams import WRITES, drams
from anemone.trace import Trace
from tests.tiering.test_config import MINIMAL

DDR4 = drams()["ddr4-3200"]
ROW = DDR4.row_lines * DDR4.groups * 64  # bytes to the next bank, with one channel
NEXT_ROW = ROW * DDR4.banks  # a row that the hash maps to another bank
GEOMETRY = Geometry(device_gib=1)


def extra(*requests: tuple[float, int, bool]) -> list[float]:
    model = DramModel(DDR4, 1)
    return [round(model.extra(*request), 6) for request in requests]


def test_a_row_is_open() -> None:
    """The first read opens the row; a later one saves this time."""
    assert extra((100, 0, False), (300, 4 * 64, False)) == [0, -DDR4.rcd]


def test_a_row_has_to_be_closed() -> None:
    """Row 16 is the next of group 0, bank 0: 4 rows hash to another group, 4 of those to a bank."""
    assert extra((100, 0, False), (300, 16 * NEXT_ROW, False)) == [0, DDR4.rp]
    # Soon after: a row stays open for tRAS at least.
    assert extra((100, 0, False), (101, 16 * NEXT_ROW, False))[1] == DDR4.ras - 1 + DDR4.rp


def test_columns_of_a_group_are_further_apart() -> None:
    """Adjacent lines are in different groups."""
    assert extra((100, 0, False), (100, 64, False)) == [0, DDR4.rrd]
    first = extra((100, 0, False), (300, 0, False), (300, 4 * 64, False))
    assert first[2] - first[1] == DDR4.ccd_long


def test_four_rows_a_window() -> None:
    """With five banks at once, the fifth waits for the four-activate window."""
    assert extra(*[(100, i * 64 if i < 4 else ROW, False) for i in range(5)])[4] == DDR4.faw


def test_refresh() -> None:
    """A refresh closes all rows, and a request during it waits."""
    at = DDR4.refi  # the channel's first refresh
    assert extra((at - 500, 0, False), (at + DDR4.rfc, 0, False)) == [0, 0]
    assert extra((at - 500, 0, False), (at + 10, 0, False)) == [0, DDR4.rfc - 10]
    assert extra((3 * at + 10, 0, False)) == [DDR4.rfc - 10]


def test_writes_are_gathered() -> None:
    """Buffered writes cost nothing until the buffer is full; then a read waits for all of them."""
    lines = [(100.0, 4 * 64 * i, True) for i in range(WRITES)]
    *writes, read = extra(*lines, (100.0, 4 * 64 * WRITES, False))
    assert writes == [0] * WRITES
    lot = DDR4.rcd + (WRITES - 1) * DDR4.ccd_write
    turned = lot + DDR4.cas_write + DDR4.burst + DDR4.wtr
    assert read == pytest.approx(turned - DDR4.rcd)


def test_a_full_lot_waits_for_the_one_before() -> None:
    lines = [(100.0, 4 * 64 * i, True) for i in range(2 * WRITES)]
    lot = DDR4.rcd + (WRITES - 1) * DDR4.ccd_write + DDR4.cas_write + DDR4.burst
    assert extra(*lines)[-1] == pytest.approx(lot)


def both(trace: Trace, config: TierConfig) -> tuple[float, float]:
    """Time in ns with the queue timing and with the DRAM timing."""
    return tuple(
        simulate(replace(config, timing=timing), trace, geometry=GEOMETRY).time_ns
        for timing in ("queue", "dram")
    )


@pytest.mark.parametrize("name", devices())
def test_idle_memory_is_the_same_in_both(name: str) -> None:
    """Dependent reads of distant rows, like those that measured the latency."""
    fast, slow = devices()[name].fast, devices()[name].slow
    config = TierConfig(4096, 10, Tier(1 << 17, *fast), Tier(1 << 18, *slow), start="slow")
    n = 3000
    addr = np.random.default_rng(1).integers(0, 1 << 30, n).astype(np.uint64)
    trace = Trace(addr, np.zeros(n, bool), gap_ns=np.full(n, 50.0), dep=np.ones(n, bool))
    first, second = both(trace, config)
    assert first == pytest.approx(50 + n * slow[0], rel=1e-6)
    assert first < second < 1.12 * first  # refreshes, and rows that must be closed


def test_a_stream_takes_what_was_measured() -> None:
    """If the link is the bottleneck, both timings agree; if DRAM is, the DRAM timing is slower."""
    config = TierConfig(4096, 512, Tier(0, 100.0, 123.4, "ddr5-4800", 4),
                        Tier(1 << 18, 300.0, 17.6, "ddr4-3200", 2), start="slow")  # fmt: skip
    n = 1 << 16
    trace = Trace(np.arange(n, dtype=np.uint64) * 64, np.zeros(n, bool))
    first, second = both(trace, config)
    assert first == pytest.approx(n * 64 / 17.6, rel=1e-2)
    assert second == pytest.approx(first, rel=2e-2)
    narrow = replace(config, slow=Tier(1 << 18, 300.0, 100.0, "ddr4-3200", 1))
    first, second = both(trace, narrow)
    assert n * 64 / DDR4.gb_per_s < second < 1.1 * n * 64 / DDR4.gb_per_s
    assert second > 1.9 * first


def test_the_file() -> None:
    dram = MINIMAL.replace("gb_per_s = 123.4", 'gb_per_s = 123.4\ndram = "ddr5-4800"\nchannels = 4')
    dram = dram.replace("gb_per_s = 17.6", 'gb_per_s = 17.6\ndram = "ddr4-3200"')
    config = parse_config('timing = "dram"\n' + dram, "t.toml")
    assert (config.timing, config.fast.dram, config.fast.channels) == ("dram", "ddr5-4800", 4)
    assert config.slow.channels == 1
    assert parse_config(dram, "t.toml").timing == "queue"
    with pytest.raises(InputError, match=r"slow.dram is missing"):
        parse_config('timing = "dram"\n' + dram.replace('dram = "ddr4-3200"', ""), "t.toml")
    with pytest.raises(InputError, match=r"fast.latency_ns is 20"):
        parse_config('timing = "dram"\n' + dram.replace("114.1", "20"), "t.toml")
