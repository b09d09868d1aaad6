# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the telemetry region, with cocotbext-axi's masters and plain numbers."""

from __future__ import annotations

from cocotbext.axi import AxiBurstType, AxiResp

from anemone.telemetry.rules import Rule
from tests.expander.bench import control as reg
from tests.expander.bench.host import Host, hosted

# 64 B lines of four 4 KiB pages; counters of 16 bits, four a word.
COUNT = Rule(
    name="pages", end=1 << 20, primary_mask=0x3000, primary_shift=12, width=16, effect_op="reset"
)
PAGE = 0x1000
MAP = [(key, key * 5) for key in range(4)]


async def counted(host: Host) -> None:
    """Access page 0 once, page 1 twice and so on, on channel 0."""
    await host.rule(0, COUNT)
    await host.map(0, *MAP)
    for key in range(4):
        await host.touch(PAGE * key, key + 1, write=bool(key & 1))


# Counters 0, 5, 10 and 15 of 16 bits.
COUNTED = [1, 2 << 16, 3 << 32, 4 << 48, 0, 0, 0, 0]


@hosted
async def a_rule_is_programmed_and_read(host: Host) -> None:
    """Listing 2 of the paper: rule, table, accesses. A snapshot changes nothing, a read effect
    resets.
    """
    await counted(host)
    assert await host.line(0, 0) == COUNTED
    assert await host.line(0, 0) == COUNTED
    assert await host.line(0, 0, effect=True) == COUNTED
    assert await host.line(0, 0, effect=True) == [0] * 8
    assert await host.line(0, 1) == await host.line(1, 0) == [0] * 8
    assert await host.get(reg.pipeline(0, reg.COUNTERS["matched"])) == 10
    assert await host.get(reg.pipeline(1, reg.COUNTERS["matched"])) == 0


@hosted
async def a_part_of_a_line_is_read(host: Host) -> None:
    """A partial read returns its own bytes at any offset; the effect is on the whole line."""
    await counted(host)
    whole = b"".join(word.to_bytes(8, "little") for word in COUNTED)
    snapshot = host.windows.address(0, 0, 0, False)
    for first, size in ((0, 1), (2, 2), (3, 1), (8, 8), (20, 4), (30, 2), (63, 1)):
        answer = await host.memory[0].read(snapshot + first, size, size=(size - 1).bit_length())
        assert answer.data == whole[first : first + size] and answer.resp == AxiResp.OKAY
    effect = host.windows.address(0, 0, 0, True)
    answer = await host.memory[0].read(effect + 26, 2, size=1)
    assert answer.data == whole[26:28]
    assert await host.line(0, 0) == [0] * 8


async def refused(host: Host, addr: int, length: int = 64, channel: int = 0, **how: int) -> AxiResp:
    """The answer to a read, of which each beat must count as refused."""
    before = await host.get(reg.REFUSED_READS)
    answer = await host.memory[channel].read(addr, length, **how)
    assert await host.get(reg.REFUSED_READS) > before
    return answer.resp


@hosted
async def what_is_no_line_is_refused(host: Host) -> None:
    """A line of another channel, an absent pipeline and a burst of partial lines are refused and
    counted.
    """
    await counted(host)
    for effect in (False, True):
        mine = host.windows.address(0, 0, 0, effect)
        assert await refused(host, mine, channel=1) == AxiResp.DECERR
        assert await refused(host, mine + 64) == AxiResp.DECERR
        past = mine + host.build.engine.pipelines * host.size.lines * host.size.channels * 64
        assert await refused(host, past) == AxiResp.DECERR
        assert await refused(host, mine + host.build.window_bytes - 128) == AxiResp.DECERR
        assert await refused(host, mine, 16, size=3) == AxiResp.SLVERR
        assert await refused(host, mine, 2, size=0, burst=AxiBurstType.FIXED) == AxiResp.SLVERR
    assert await host.get(reg.REFUSED_READS) == 2 * (1 + 1 + 1 + 1 + 2 + 2)
    assert await host.get(reg.ERROR_STATUS) == 1 << reg.ERRORS.index("refused_read")
    await host.set(reg.ERROR_STATUS, 0)
    assert await host.get(reg.ERROR_STATUS) == 1 << reg.ERRORS.index("refused_read")
    await host.set(reg.ERROR_STATUS, 1 << reg.ERRORS.index("refused_read"))
    assert await host.get(reg.ERROR_STATUS) == 0
    assert await host.line(0, 0) == COUNTED, "what is refused has no effect"


@hosted
async def writes_are_dropped(host: Host) -> None:
    """Writes are answered in order with writes to memory and counted by the beat. They have no
    effect and are no events.
    """
    await counted(host)
    for count, effect in enumerate((False, True), 1):
        addr = host.windows.address(0, 0, 0, effect)
        answer = await host.memory[0].write(addr, bytes(64 * 3))
        assert answer.resp == AxiResp.OKAY
        assert await host.get(reg.DROPPED_WRITES) == 3 * count
    assert await host.line(0, 0) == COUNTED
    assert await host.get(reg.ERROR_STATUS) == 1 << reg.ERRORS.index("dropped_write")
    assert await host.get(reg.pipeline(0, reg.COUNTERS["matched"])) == 10
    below = host.ram[0].read(host.windows.effect, 2 * host.build.window_bytes)
    assert not any(below), "a write into the region came to memory"


@hosted
async def the_same_line_many_times_in_a_burst(host: Host) -> None:
    """Each beat of a FIXED burst is a read of its own and has the effect."""
    await counted(host)
    addr = host.windows.address(0, 0, 0, True)
    answer = await host.memory[0].read(addr, 64 * 4, burst=AxiBurstType.FIXED)
    words = [int.from_bytes(answer.data[i : i + 8], "little") for i in range(0, 256, 8)]
    assert words == COUNTED + [0] * 24 and answer.resp == AxiResp.OKAY


@hosted
async def a_window_moves_and_closes(host: Host) -> None:
    """Low bits of a base are ignored. Where both windows overlap, the snapshot window wins. A
    closed window is memory.
    """
    await counted(host)
    base = host.windows.effect
    assert base is not None and host.build.window_bytes == PAGE
    await host.set(reg.SNAPSHOT_WINDOW, base | 1)
    assert await host.line(0, 0, effect=True) == COUNTED
    assert await host.line(0, 0, effect=True) == COUNTED
    await host.set(reg.SNAPSHOT_WINDOW, base)
    await host.set(reg.EFFECT_WINDOW, base)
    assert await host.line(0, 0, effect=True) == [0] * 8, "memory"
    await host.memory[0].write(base, b"anemone!" * 8)
    assert (await host.memory[0].read(base, 64)).data == b"anemone!" * 8
    assert host.ram[0].read(base, 64) == b"anemone!" * 8
    await host.set(reg.EFFECT_WINDOW, base | 1)
    # The three memory accesses at these addresses were events of page 0.
    assert await host.line(0, 0, effect=True) == [COUNTED[0] + 3, *COUNTED[1:]]
