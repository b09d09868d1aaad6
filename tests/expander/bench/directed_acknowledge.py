# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of lines that are read and then subtracted from their counters (acknowledged)."""

from __future__ import annotations

from cocotbext.axi import AxiResp

from anemone.hardware import registers
from tests.expander.bench import control as reg
from tests.expander.bench.directed_region import COUNTED, counted
from tests.expander.bench.host import Host, hosted

DROPPED = registers.ERROR_STATUS.pack(dropped_write=1)


async def opened(host: Host) -> int:
    """Open the third window after the other two. Returns the address of channel 0's line 0 of
    pipeline 0.
    """
    assert host.windows.snapshot is not None
    base = host.windows.snapshot + host.build.window_bytes
    await host.set(registers.ACKNOWLEDGE_WINDOW.offset, base | 1)
    return base


def line(words: list[int]) -> bytes:
    """The bytes of a line to write."""
    return b"".join(word.to_bytes(8, "little") for word in words)


@hosted
async def what_was_read_is_taken_away(host: Host) -> None:
    """Events between load and write are in the next harvest; reads of the window have no effect."""
    await counted(host)
    base = await opened(host)
    seen = (await host.memory[0].read(base, 64)).data
    assert seen == line(COUNTED) and await host.line(0, 0) == COUNTED
    await host.touch(0, 2)  # page 0, which is counter 0
    assert (await host.memory[0].write(base, seen)).resp == AxiResp.OKAY
    assert await host.line(0, 0) == [2] + [0] * 7
    assert await host.get(reg.DROPPED_WRITES) == 0 and await host.get(reg.ERROR_STATUS) == 0
    below = host.ram[0].read(base, host.build.window_bytes)
    assert not any(below), "a write into the region came to memory"


@hosted
async def what_is_no_whole_line_of_the_channel_changes_nothing(host: Host) -> None:
    """Partial writes, bursts, lines of another channel, and pipelines that are not built."""
    await counted(host)
    base = await opened(host)
    whole = line(COUNTED)
    for data, offset, channel, resp in (
        (whole[:32], 0, 0, AxiResp.OKAY),
        (whole[1:], 1, 0, AxiResp.OKAY),
        (whole * 2, 0, 0, AxiResp.OKAY),
        (whole, 0, 1, AxiResp.DECERR),
        (whole, 64, 0, AxiResp.DECERR),
    ):
        before = await host.get(reg.DROPPED_WRITES)
        answer = await host.memory[channel].write(base + offset, data)
        assert answer.resp == resp, (offset, len(data))
        assert await host.get(reg.DROPPED_WRITES) == before + len(data) // 128 + 1
    assert await host.get(reg.ERROR_STATUS) == DROPPED
    assert await host.line(0, 0) == COUNTED


@hosted
async def writes_of_memory_pass_one_that_is_taken_away(host: Host) -> None:
    """Many of both with equal and different ids: all are answered, and each line is subtracted
    once.
    """
    await counted(host)
    base = await opened(host)
    zeros = bytes(64)
    writes = [
        host.memory[0].init_write(base if k % 3 == 0 else 128 * (k % 16), zeros, awid=k % 4)
        for k in range(48)
    ]
    for write in writes:
        await write.wait()
        assert write.data.resp == AxiResp.OKAY
    # What was written to memory is in page 0, and zeros take nothing away.
    assert (await host.line(0, 0))[1:] == COUNTED[1:]


@hosted
async def two_writes_into_the_region_of_one_id(host: Host) -> None:
    """The second write completes long before the first but is answered after it, for both
    orders.
    """
    await counted(host)
    base = await opened(host)
    zeros = bytes(64)
    for _ in range(4):
        taken = host.memory[0].init_write(base, zeros, awid=1)
        refused = host.memory[0].init_write(base + 64, zeros, awid=1)  # another channel's
        await taken.wait()
        await refused.wait()
        assert (taken.data.resp, refused.data.resp) == (AxiResp.OKAY, AxiResp.DECERR)
        await host.memory[0].write(base, zeros[:32])  # dropped: the places change


@hosted
async def lines_of_each_channel_are_taken_away(host: Host) -> None:
    """At once, from counters of other values; each channel's later events stay."""
    await counted(host)
    base = await opened(host)
    channels = range(host.size.channels)
    for channel in channels[1:]:
        await host.touch(64 * channel, 5 * channel)
    seen = [await host.line(0, 0, channel) for channel in channels]
    assert seen == [COUNTED, *([5 * channel] + [0] * 7 for channel in channels[1:])]
    for channel in channels:
        await host.touch(64 * channel, channel + 3)
    writes = [
        host.memory[channel].init_write(base + 64 * channel, line(seen[channel]), awid=channel)
        for channel in channels
    ]
    for write in writes:
        await write.wait()
        assert write.data.resp == AxiResp.OKAY
    for channel in channels:
        assert await host.line(0, 0, channel) == [channel + 3] + [0] * 7
