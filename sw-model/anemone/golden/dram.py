# SPDX-License-Identifier: Apache-2.0
"""The reference model of the DRAM timing: banks, rows, refresh and bus turnaround of one tier.

Each channel serves its requests in order. The additional time of a request over a read from a
closed row in idle memory is added to the tier's latency. tiering.banks is bit-exactly the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from anemone.hardware.geometry import LINE_BYTES
from anemone.tiering.drams import WRITES, Dram

_LONG_AGO = -1e9


@dataclass
class _Bank:
    row: int | None = None  # the open row
    column: float = _LONG_AGO  # earliest column access
    activate: float = _LONG_AGO  # earliest activate of the closed bank
    precharge: float = _LONG_AGO  # earliest precharge


@dataclass
class _Channel:
    banks: list[_Bank]
    refresh_at: float  # time of the first refresh
    refreshes: int = 0
    column: float = _LONG_AGO  # the last column access
    group: int = -1
    wrote: bool = False
    activates: list[float] = field(default_factory=lambda: [_LONG_AGO] * 4)
    gathered: list[tuple[int, int]] = field(default_factory=list)  # buffered writes: bank, row
    written: float = _LONG_AGO  # end of the last batch of writes


class DramModel:
    """channels: number of DIMM channels."""

    def __init__(self, dram: Dram, channels: int) -> None:
        self.dram, n = dram, channels * dram.channels
        banks = dram.groups * dram.banks
        self.channels = [
            _Channel([_Bank() for _ in range(banks)], dram.refi * (i + 1) / n) for i in range(n)
        ]

    def extra(self, at: float, addr: int, write: bool) -> float:
        """The additional ns of a request at `at` over an idle access; negative if its row is open.

        A write completes when it is buffered. WRITES of them are written together; the write that
        fills the buffer waits if the batch before is not finished.
        """
        d = self.dram
        line = addr // LINE_BYTES
        channel = self.channels[line % len(self.channels)]
        line //= len(self.channels)
        group, line = line % d.groups, line // d.groups
        bank, row = line // d.row_lines % d.banks, line // d.row_lines // d.banks
        # Rows whose distance is a multiple of the number of banks go to different banks.
        group ^= row % d.groups
        bank = group * d.banks + (bank ^ row // d.groups % d.banks)
        if not write:
            return self._access(channel, bank, row, at, False) - at - d.idle
        channel.gathered.append((bank, row))
        if len(channel.gathered) < WRITES:
            return 0.0
        begin = max(at, channel.written)
        for one in channel.gathered:
            channel.written = self._access(channel, *one, begin, True)
        channel.gathered.clear()
        return begin - at

    def _access(self, channel: _Channel, number: int, row: int, at: float, write: bool) -> float:
        """The end of the burst of an access that is requested at `at`."""
        d, bank, group = self.dram, channel.banks[number], number // self.dram.banks
        opens = bank.row != row
        if not opens:
            column = max(at, bank.column)
        else:
            begin = max(at, bank.activate)
            if bank.row is not None:
                begin = max(at, bank.precharge) + d.rp
            activate = self._activate(channel, begin)
            column = activate + d.rcd
        column = max(column, self._bus(channel, group, write))
        refreshes = int((column - channel.refresh_at) / d.refi) + 1
        if column >= channel.refresh_at and refreshes > channel.refreshes:
            # The refreshes meanwhile closed the rows of all banks, the last one until `end`.
            channel.refreshes = refreshes
            end = channel.refresh_at + (refreshes - 1) * d.refi + d.rfc
            for one in channel.banks:
                one.row, one.activate = None, max(one.activate, end)
            opens, activate = True, self._activate(channel, max(at, bank.activate))
            column = max(activate + d.rcd, self._bus(channel, group, write))
        if opens:
            channel.activates = [*channel.activates[1:], activate]
            bank.row, bank.column, bank.precharge = row, activate + d.rcd, activate + d.ras
        after = d.cas_write + d.burst + d.wr if write else d.rtp
        bank.precharge = max(bank.precharge, column + after)
        channel.column, channel.group, channel.wrote = column, group, write
        return column + (d.cas_write if write else d.cas_read) + d.burst

    def _activate(self, channel: _Channel, at: float) -> float:
        """The earliest activate: tRRD after the last one and tFAW after the fourth last."""
        past = channel.activates
        return max(at, past[-1] + self.dram.rrd, past[0] + self.dram.faw)

    def _bus(self, channel: _Channel, group: int, write: bool) -> float:
        """The channel's earliest next column access."""
        d = self.dram
        if channel.wrote and not write:
            return channel.column + d.cas_write + d.burst + d.wtr
        if write and not channel.wrote:
            return channel.column + d.cas_read + d.burst + d.turn - d.cas_write
        if channel.group != group:
            return channel.column + d.ccd_short
        return channel.column + (d.ccd_write if write else d.ccd_long)
