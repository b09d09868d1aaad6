# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the fault registers: injection, counts, the first fault, re-arming.

FLIPS: number of flipped bits in the tables, for `make soak`.
"""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge

from anemone.hardware import registers
from anemone.hardware.registers import FaultMemory
from tests.bench.upsets import double_flips, words
from tests.expander.bench import control as reg
from tests.expander.bench.directed_acknowledge import line, opened
from tests.expander.bench.directed_region import COUNT, COUNTED, counted
from tests.expander.bench.directed_upsets import arrays
from tests.expander.bench.environment import find
from tests.expander.bench.host import Host, hosted

FLIPS = int(os.environ.get("FLIPS", "300")) // 10
CORRECTED = registers.ERROR_STATUS.pack(corrected=1)
UNCORRECTED = registers.ERROR_STATUS.pack(uncorrected=1)
OKAY, REFUSED = 0, 2
NEXT_LINE = 128  # of a channel, in a window


async def arm(host: Host, memory: FaultMemory, double: int = 0, channel: int = 0) -> None:
    """Flip one or two bits of the next word that is written to a memory."""
    fields = {"memory": memory, "channel": channel, "double": double}
    await host.set(registers.FAULT_INJECT.offset, registers.FAULT_INJECT.pack(**fields))
    await host.set(registers.FAULT_CONTROL.offset, registers.FAULT_CONTROL.pack(inject=1))


async def fault_counts(host: Host) -> tuple[int, int]:
    """The counts (corrected, uncorrected)."""
    await ClockCycles(host.dut.clock, 20)  # what comes with an answer is counted a little later
    counts = (registers.FAULTS_CORRECTED, registers.FAULTS_UNCORRECTED)
    return (await host.get(counts[0].offset), await host.get(counts[1].offset))


async def first(host: Host) -> dict[str, int]:
    """The non-zero fields of `first_fault`; empty without a fault."""
    fields = registers.FIRST_FAULT.unpack(await host.get(registers.FIRST_FAULT.offset))
    return {name: value for name, value in fields.items() if value and fields["valid"]}


async def cleared(host: Host) -> None:
    """Clear the status and re-arm the first fault."""
    await host.set(reg.ERROR_STATUS, (1 << len(reg.ERRORS)) - 1)
    assert await host.get(reg.ERROR_STATUS) == 0
    await host.set(registers.FAULT_CONTROL.offset, registers.FAULT_CONTROL.pack(rearm=1))
    assert await first(host) == {}


async def expect(
    host: Host, memory: FaultMemory, double: int, count: int = 1, **whose: int
) -> None:
    """Check the report of an injected fault, then clear it except for the counts."""
    assert await fault_counts(host) == ((0, count) if double else (count, 0)), memory
    assert await host.get(reg.ERROR_STATUS) & (CORRECTED | UNCORRECTED) == (
        UNCORRECTED if double else CORRECTED
    )
    expected = {"memory": memory, "uncorrected": double, "valid": 1} | whose
    assert await first(host) == {name: value for name, value in expected.items() if value}, memory
    await cleared(host)


async def access(host: Host, write: bool, channel: int) -> None:
    """An access with id 3."""
    addr = 0x100000 + 64 * channel
    if write:
        answer = await host.memory[channel].write(addr, bytes(64), awid=3)
    else:
        answer = await host.memory[channel].read(addr, 64, arid=3)
    assert answer.resp == OKAY


async def order(host: Host, memory: FaultMemory, write: bool, double: int) -> None:
    """An id's count is flipped when an access is counted, and the flip is found at the next access:
    in the memories of issued and of answered counts in the same cycle, and at the response.
    """
    await access(host, write, 1)
    await arm(host, memory, double, channel=1)
    await access(host, write, 1)
    await access(host, write, 0)  # of the other channel
    assert await fault_counts(host) == (0, 0)
    await access(host, write, 1)
    await expect(host, memory, double, count=2, channel=1)
    before = await fault_counts(host)
    for _ in range(3):
        await access(host, write, 1)
    # Corrected words are written back; uncorrectable ones are written unchanged with a valid code.
    assert await fault_counts(host) == before


@hosted
async def flipped_bits_of_the_order_of_reads(host: Host) -> None:
    """One is corrected, for good."""
    await order(host, FaultMemory.READ_ORDER, write=False, double=0)


@hosted
async def two_flipped_bits_of_the_order_of_reads(host: Host) -> None:
    """Noticed."""
    await order(host, FaultMemory.READ_ORDER, write=False, double=1)


@hosted
async def flipped_bits_of_the_order_of_writes(host: Host) -> None:
    """One is corrected, for good."""
    await order(host, FaultMemory.WRITE_ORDER, write=True, double=0)


@hosted
async def two_flipped_bits_of_the_order_of_writes(host: Host) -> None:
    """Noticed."""
    await order(host, FaultMemory.WRITE_ORDER, write=True, double=1)


async def acknowledged(host: Host, written: list[tuple[int, bytes]]) -> list[int]:
    """Write lines back at once, of ids from 1 on. Returns their responses."""
    writes = [
        host.memory[0].init_write(address, data, awid=k)
        for k, (address, data) in enumerate(written, 1)
    ]
    for write in writes:
        await write.wait()
    return [write.data.resp for write in writes]


async def damaged_line(host: Host, double: int) -> None:
    """Flip bits in a word of the first of three lines."""
    await counted(host)
    base = await opened(host)
    await arm(host, FaultMemory.ACKNOWLEDGES, double)
    seen, zeros = line(COUNTED), bytes(64)
    written = [(base, seen), (base + NEXT_LINE, zeros), (base + 2 * NEXT_LINE, zeros)]
    assert await acknowledged(host, written) == [REFUSED if double else OKAY, OKAY, OKAY]
    assert await host.line(0, 0) == (COUNTED if double else [0] * 8)
    await expect(host, FaultMemory.ACKNOWLEDGES, double, id_valid=1, id=1)
    if double:
        await asked_again(host, base, seen)


async def damaged_address(host: Host, ahead: int, before: int = 0, third: bool = True) -> None:
    """Flip two bits in the address of the second of lines, as soon as it is stored. ahead: address
    of the first; before: number of earlier writes into the region; third: whether a third line
    follows.
    """
    await counted(host)
    base = await opened(host)
    for _ in range(before):
        await host.memory[0].write(base, bytes(32))  # no whole line: dropped
    (rows,) = (
        rows
        for path, rows in arrays(host.dut).items()
        if path.endswith("channel_0.writeSink.lines.addresses.queue")
    )
    flipping = cocotb.start_soon(flip_next(host, rows))
    seen, zeros = line(COUNTED), bytes(64)
    written = [(base + ahead, zeros), (base, seen)]
    written += [(base + 2 * NEXT_LINE, zeros)] if third else []
    assert await acknowledged(host, written) == [OKAY, REFUSED, OKAY][: len(written)]
    await flipping
    assert await host.line(0, 0) == COUNTED
    await expect(host, FaultMemory.ACKNOWLEDGES, 1, id_valid=1, id=2)
    await asked_again(host, base, seen)


async def flip_next(host: Host, rows: Any) -> None:
    """Flip two bits of the next word that is written to a memory. Its rows are set to ones first,
    so that a word like the one before is noticed too.
    """
    ones = "1" * len(rows[0])
    for row in rows:
        row.value = int(ones, 2)
    while True:
        await FallingEdge(host.dut.clock)
        for row in rows:
            if str(row.value) != ones:
                row.value = int(row.value) ^ sum(1 << bit for bit in double_flips(len(row))[0])
                return


async def asked_again(host: Host, address: int, seen: bytes) -> None:
    """Software writes the line back once more."""
    assert (await host.memory[0].write(address, seen)).resp == OKAY
    assert await host.line(0, 0) == [0] * 8


@hosted
async def a_flipped_bit_of_a_line_to_be_taken_away(host: Host) -> None:
    """The line is subtracted as written."""
    await damaged_line(host, 0)


@hosted
async def two_flipped_bits_of_a_line_to_be_taken_away(host: Host) -> None:
    """The response is SLVERR, and no counter changes. Lines behind it are not concerned."""
    await damaged_line(host, 1)


@hosted
async def two_flipped_bits_of_a_lines_address(host: Host) -> None:
    """The same for the line's address."""
    await damaged_address(host, NEXT_LINE)


@hosted
async def two_flipped_bits_of_the_address_behind_an_older_line_of_a_higher_place(
    host: Host,
) -> None:
    """The older one still gets its own response."""
    await damaged_address(host, NEXT_LINE, before=1)


@hosted
async def two_flipped_bits_of_the_address_when_the_engine_is_free_at_once(host: Host) -> None:
    """The line ahead is of a pipeline without a rule and needs no subtraction, so the engine could
    start in the cycle in which the damaged one would be offered.
    """
    rest = host.size.lines * host.size.channels * 64
    await damaged_address(host, rest, third=False)


@hosted
async def the_first_fault_has_channel_and_id_of_its_request(host: Host) -> None:
    """For each memory that knows an id, in each channel."""
    await counted(host)
    base = await opened(host)
    for channel in range(host.size.channels):
        master, own = host.memory[channel], 64 * channel
        for memory in (
            *(FaultMemory.REGION_WRITES, FaultMemory.ACKNOWLEDGES),
            *(FaultMemory.TELEMETRY_LINES, FaultMemory.READY_LINES),
        ):
            for axi_id in (5, 10):
                await arm(host, memory, 0, channel)
                if memory in (FaultMemory.REGION_WRITES, FaultMemory.ACKNOWLEDGES):
                    master.write_if.w_channel.pause = True  # so that requests wait for data
                    writes = [
                        master.init_write(base + own, bytes(64), awid=axi_id) for _ in range(3)
                    ]
                    await ClockCycles(host.dut.clock, 20)
                    master.write_if.w_channel.pause = False
                    for write in writes:
                        await write.wait()
                        assert write.data.resp == OKAY
                else:
                    address = host.windows.address(0, 0, channel, False)
                    assert (await master.read(address, 64, arid=axi_id)).resp == OKAY
                await fault_counts(host)
                fault = await first(host)
                expected = {"memory": memory, "channel": channel, "id_valid": 1, "id": axi_id}
                assert {name: fault.get(name, 0) for name in expected} == expected
                await cleared(host)


async def reset_value(host: Host, double: int) -> None:
    """A rule's reset value is also kept for acknowledgements."""
    await arm(host, FaultMemory.RESET_VALUES, double)
    await counted(host)
    base = await opened(host)
    answer = await host.memory[0].write(base, line(COUNTED))
    assert answer.resp == (REFUSED if double else OKAY)
    assert await host.line(0, 0) == (COUNTED if double else [0] * 8)
    await expect(host, FaultMemory.RESET_VALUES, double)


@hosted
async def a_flipped_bit_of_a_reset_value(host: Host) -> None:
    """Corrected."""
    await reset_value(host, 0)


@hosted
async def two_flipped_bits_of_a_reset_value(host: Host) -> None:
    """The acknowledgement is refused."""
    await reset_value(host, 1)


async def misses(host: Host, key: int, before: int) -> None:
    """Check that an access of the page is unmapped, reported and not counted."""
    await host.touch(0x1000 * key, 2)
    assert await host.get(reg.pipeline(0, reg.COUNTERS["unmapped"])) == before + 2
    assert (await fault_counts(host))[1] == before + 2
    expected = {"memory": FaultMemory.TABLES, "uncorrected": 1, "set_valid": 1, "valid": 1}
    assert await first(host) == expected
    entry = registers.FAULT_SET.unpack(await host.get(registers.FAULT_SET.offset))
    assert entry["line"] == key


@hosted
async def flipped_bits_of_a_table(host: Host) -> None:
    """With one or two flips, events of this entry are unmapped; other entries work. Writing the
    entry repairs it.
    """
    await counted(host)
    for double in (0, 1):
        await arm(host, FaultMemory.TABLES, double)
        await host.map(0, (2, 10))
        await misses(host, 2, 2 * double)
        await cleared(host)
        await host.touch(0x3000)
        await host.map(0, (2, 10))
    await host.touch(0x2000, 4)
    expected = [COUNTED[0], COUNTED[1], COUNTED[2] + (4 << 32), COUNTED[3] + (2 << 48), *[0] * 4]
    assert await host.line(0, 0) == expected
    assert await host.get(reg.pipeline(0, reg.COUNTERS["unmapped"])) == 4


@hosted
async def a_bad_entry_amid_others(host: Host) -> None:
    """With an event of another key in every cycle, the reported entry is the damaged one."""
    lines = replace(COUNT, primary_mask=0x1C0, primary_shift=6)
    await host.rule(0, lines)
    for bad in range(1, 7):
        await host.map(0, *((key, key) for key in range(8) if key != bad))
        await arm(host, FaultMemory.TABLES, 1)
        await host.map(0, (bad, bad))
        await host.memory[0].read(0, 64 * 8)
        assert (await fault_counts(host))[1] == bad
        entry = registers.FAULT_SET.unpack(await host.get(registers.FAULT_SET.offset))
        assert entry["line"] == bad
        await cleared(host)


@hosted
async def a_bad_entry_of_each_pipeline_and_channel(host: Host) -> None:
    """The first fault has the channel, the fault's set the entry among those of all pipelines."""
    size, key = host.size, 2
    for p in range(size.pipelines):
        await host.rule(p, COUNT)
        for channel in range(size.channels):
            await arm(host, FaultMemory.TABLES, 1, channel)
            await host.map(p, (key, 0))
            await host.touch(0x1000 * key + 64 * channel)
            assert (await fault_counts(host))[1] == p * size.channels + channel + 1
            fault = await first(host)
            assert (fault["memory"], fault.get("channel", 0)) == (FaultMemory.TABLES, channel)
            entry = registers.FAULT_SET.unpack(await host.get(registers.FAULT_SET.offset))
            assert entry["line"] == p * size.table + key
            await cleared(host)
        await host.rule(p, COUNT, enable=False)


@hosted
async def any_flipped_bit_of_a_table(host: Host) -> None:
    """At any position, no event is in a wrong counter."""
    await counted(host)
    rng = Random(1)
    tables = [
        memory
        for lane in find(host.dut, "io_table_valid").pipeline_0
        if (stage := getattr(lane, "matching", None)) is not None
        and (memory := words(stage.entries.banks_bank_0)) is not None
    ]
    assert len(tables) == host.size.channels
    for k in range(FLIPS):
        key = rng.randrange(4)
        word = tables[0][key]
        good = int(word.value)
        word.value = good ^ 1 << rng.randrange(len(word))
        await misses(host, key, 2 * k)
        await cleared(host)
        tables[0][key].value = good
        await ClockCycles(host.dut.clock, 1)
    assert await host.line(0, 0) == COUNTED


@hosted
async def one_that_is_not_corrected_goes_before_one_that_is(host: Host) -> None:
    """Both are counted. Without re-arming the first one of each kind stays."""
    for double in (0, 1, 1, 0):
        await arm(host, FaultMemory.WRITE_ORDER, double, channel=double)
        for _ in range(2):
            await access(host, True, double)
    assert await fault_counts(host) == (4, 4)
    assert await host.get(reg.ERROR_STATUS) == CORRECTED | UNCORRECTED
    expected = {"memory": FaultMemory.WRITE_ORDER, "channel": 1, "uncorrected": 1, "valid": 1}
    assert await first(host) == expected
    await cleared(host)
    assert await fault_counts(host) == (4, 4)
    assert (await host.get(registers.FAULTS_CORRECTED.offset)) == 4
