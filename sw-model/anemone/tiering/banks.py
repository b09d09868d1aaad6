# SPDX-License-Identifier: Apache-2.0
"""The DRAM timing, compiled: banks, rows, refresh, bus turnaround. golden.dram is its reference.

For each tier and channel, `channels` has a row of numbers and `banks` has a row for each bank.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anemone.tiering.compiled import compiled
from anemone.tiering.config import TierConfig
from anemone.tiering.drams import WRITES, drams

_LONG_AGO = -1e9
_CLOSED = -1.0
# Columns of Banks.shape.
_N, _GROUPS, _BANKS, _ROW_LINES = range(4)
# Columns of Banks.times, in the order of Dram's fields after gb_per_s.
(_BURST, _CAS_READ, _CAS_WRITE, _RCD, _RP, _RAS, _RTP, _WR, _CCD_SHORT, _CCD_LONG, _CCD_WRITE,
 _RRD, _FAW, _WTR, _TURN, _REFI, _RFC, _IDLE) = range(18)  # fmt: skip
# Columns of Banks.channels; from _ACTIVATES on, the times of the last four activates.
_REFRESH_AT, _REFRESHES, _COLUMN, _GROUP, _WROTE, _GATHERED, _WRITTEN, _ACTIVATES = range(8)
# Columns of Banks.banks.
_ROW, _MAY_COLUMN, _MAY_ACTIVATE, _MAY_PRECHARGE = range(4)


class Banks(NamedTuple):
    """The state of both tiers; all arrays have length 0 in the queue timing."""

    shape: np.ndarray  # int64[2, 4]
    times: np.ndarray  # float64[2, 18]
    channels: np.ndarray  # float64[2, channels, 11]
    banks: np.ndarray  # float64[2, channels, banks, 4]
    gathered: np.ndarray  # int64[2, channels, WRITES, 2]: bank and row of buffered writes


def make(config: TierConfig) -> Banks:
    """The state of idle memory."""
    if config.timing != "dram":
        return Banks(
            np.empty((0, 4), np.int64), np.empty((0, 18)), np.empty((0, 0, 11)),
            np.empty((0, 0, 0, 4)), np.empty((0, 0, 0, 2), np.int64),
        )  # fmt: skip
    kinds = [drams()[str(tier.dram)].slower(config.scale) for tier in (config.fast, config.slow)]
    numbers = [
        t.channels * k.channels for t, k in zip((config.fast, config.slow), kinds, strict=True)
    ]
    shape = [(n, k.groups, k.banks, k.row_lines) for n, k in zip(numbers, kinds, strict=True)]
    times = [(*kind.times, kind.idle) for kind in kinds]
    max_channels, banks = max(numbers), max(kind.groups * kind.banks for kind in kinds)
    channels = np.full((2, max_channels, _ACTIVATES + 4), _LONG_AGO)
    channels[:, :, [_REFRESHES, _WROTE, _GATHERED]] = 0
    channels[:, :, _GROUP] = -1
    for tier, kind in enumerate(kinds):
        for i in range(max_channels):
            channels[tier, i, _REFRESH_AT] = kind.refi * (i + 1) / numbers[tier]
    state = np.full((2, max_channels, banks, 4), _LONG_AGO)
    state[:, :, :, _ROW] = _CLOSED
    return Banks(
        np.array(shape, np.int64), np.array(times), channels, state,
        np.zeros((2, max_channels, WRITES, 2), np.int64),
    )  # fmt: skip


@compiled()
def _activate(times, channel, at):  # type: ignore[no-untyped-def]
    return max(at, channel[_ACTIVATES + 3] + times[_RRD], channel[_ACTIVATES] + times[_FAW])


@compiled()
def _bus(times, channel, group, write):  # type: ignore[no-untyped-def]
    last = channel[_COLUMN]
    wrote = channel[_WROTE] > 0
    if wrote and not write:
        return last + times[_CAS_WRITE] + times[_BURST] + times[_WTR]
    if write and not wrote:
        return last + times[_CAS_READ] + times[_BURST] + times[_TURN] - times[_CAS_WRITE]
    if channel[_GROUP] != group:
        return last + times[_CCD_SHORT]
    return last + (times[_CCD_WRITE] if write else times[_CCD_LONG])


@compiled()
def _access(times, channel, banks, number, group, row, at, write):  # type: ignore[no-untyped-def]
    bank = banks[number]
    opens = bank[_ROW] != row
    activate = 0.0
    if not opens:
        column = max(at, bank[_MAY_COLUMN])
    else:
        begin = max(at, bank[_MAY_ACTIVATE])
        if bank[_ROW] != _CLOSED:
            begin = max(at, bank[_MAY_PRECHARGE]) + times[_RP]
        activate = _activate(times, channel, begin)
        column = activate + times[_RCD]
    column = max(column, _bus(times, channel, group, write))
    first = channel[_REFRESH_AT]
    if column >= first:
        refreshes = np.float64(np.int64((column - first) / times[_REFI]) + 1)
        if refreshes > channel[_REFRESHES]:
            channel[_REFRESHES] = refreshes
            end = first + (refreshes - 1) * times[_REFI] + times[_RFC]
            for i in range(len(banks)):
                banks[i, _ROW] = _CLOSED
                banks[i, _MAY_ACTIVATE] = max(banks[i, _MAY_ACTIVATE], end)
            opens = True
            activate = _activate(times, channel, max(at, bank[_MAY_ACTIVATE]))
            column = max(activate + times[_RCD], _bus(times, channel, group, write))
    if opens:
        for i in range(3):
            channel[_ACTIVATES + i] = channel[_ACTIVATES + i + 1]
        channel[_ACTIVATES + 3] = activate
        bank[_ROW] = row
        bank[_MAY_COLUMN] = activate + times[_RCD]
        bank[_MAY_PRECHARGE] = activate + times[_RAS]
    after = times[_CAS_WRITE] + times[_BURST] + times[_WR] if write else times[_RTP]
    bank[_MAY_PRECHARGE] = max(bank[_MAY_PRECHARGE], column + after)
    channel[_COLUMN], channel[_GROUP], channel[_WROTE] = column, group, write
    return column + (times[_CAS_WRITE] if write else times[_CAS_READ]) + times[_BURST]


@compiled()
def extra(b, tier, at, line, write):  # type: ignore[no-untyped-def]
    """golden.dram.DramModel.extra for a tier. line: the address in lines."""
    gathered = b.gathered
    n, groups, per_group, row_lines = b.shape[tier]
    which = line % n
    line //= n
    group = line % groups
    line //= groups
    row = line // row_lines // per_group
    group ^= row % groups
    number = group * per_group + (line // row_lines % per_group ^ row // groups % per_group)
    channel, mine, its = b.channels[tier, which], b.banks[tier, which], b.times[tier]
    if not write:
        return _access(its, channel, mine, number, group, row, at, False) - at - its[_IDLE]
    count = np.int64(channel[_GATHERED])
    gathered[tier, which, count, 0] = number
    gathered[tier, which, count, 1] = row
    channel[_GATHERED] = count + 1
    if count + 1 < WRITES:
        return 0.0
    begin = max(at, channel[_WRITTEN])
    for i in range(WRITES):
        number, row = gathered[tier, which, i]
        group = number // per_group
        channel[_WRITTEN] = _access(its, channel, mine, number, group, row, begin, True)
    channel[_GATHERED] = 0
    return begin - at
