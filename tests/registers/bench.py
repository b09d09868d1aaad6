# SPDX-License-Identifier: Apache-2.0
"""The cocotb tests of the register block; each covers all registers of a kind in the RDL."""

from __future__ import annotations

import os
import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from mk.regs.chisel import camel
from tests.registers.target import (
    MAP,
    ONES,
    Place,
    constants,
    has,
    limit,
    memories,
    nowhere,
    places,
)

OKAY, SLVERR = AxiResp.OKAY, AxiResp.SLVERR


class Bench:
    """The block under test, after a reset, with random status inputs and no access."""

    def __init__(self, dut: Any, name: str) -> None:
        self.dut = dut
        self.chance = random.Random(f"{os.environ.get('SEED', '1')} {name}")
        self.seen: list[tuple[str, int]] = []  # ports of pulses and commands, with their values
        self.status: dict[str, int] = {}

    async def start(self) -> Bench:
        dut = self.dut
        for place in places("status"):
            self.drive(place)
        for place in places("event"):
            for field in place.register.fields:
                self.port(place.field_port("in", field)).value = 0
        for external in externals():
            self.port(f"io_{external}_ready").value = 1
        cocotb.start_soon(Clock(dut.clock, 10, "ns").start())
        bus = AxiLiteBus.from_prefix(dut, "s_axi")
        self.master = AxiLiteMaster(bus, dut.clock, dut.reset)
        self.fill_lanes_without_strobe()
        write, read = self.master.write_if, self.master.read_if
        self.channels = [write.aw_channel, write.w_channel, read.ar_channel]
        # A build whose responses are always taken has no pins to hold them back.
        answers = {"b": write.b_channel, "r": read.r_channel}
        self.channels += [answers[name] for name in answers if has(f"io_bus_{name}_ready")]
        for channel in self.channels:
            channel.set_pause_generator(self.pauses())
        dut.reset.value = 1
        await ClockCycles(dut.clock, 3)
        dut.reset.value = 0
        await ClockCycles(dut.clock, 2)
        cocotb.start_soon(self.watch())
        return self

    def pauses(self):
        chance = random.Random(self.chance.random())
        while True:
            yield chance.random() < 0.3

    def fill_lanes_without_strobe(self) -> None:
        """The master drives zeros there. Random values must have no effect either."""
        channel = self.master.write_if.w_channel
        send = channel.send

        async def noisy(beat: Any) -> None:
            idle = sum(0xFF << 8 * b for b in range(8) if not beat.wstrb >> b & 1)
            beat.wdata |= self.chance.getrandbits(64) & idle
            await send(beat)

        channel.send = noisy

    def no_pauses(self) -> None:
        for channel in self.channels:
            channel.clear_pause_generator()
            channel.pause = False

    def port(self, name: str) -> Any:
        return getattr(self.dut, name)

    def drive(self, place: Place) -> int:
        """Drive random values for a status. Returns the word that software should read."""
        word = 0
        for field in place.register.fields:
            value = self.chance.getrandbits(field.width)
            self.port(place.field_port("in", field)).value = value
            word |= value << field.low
        self.status[place.port] = word
        return word

    async def watch(self) -> None:
        """Record every pulse and every accepted command."""
        pulses = [p.field_port("out", f) for p in places("trigger") for f in p.register.fields]
        while True:
            await RisingEdge(self.dut.clock)
            for name in pulses:
                if value := int(self.port(name).value):
                    self.seen.append((name, value))
            for name in externals():
                if self.port(f"io_{name}_valid").value and self.port(f"io_{name}_ready").value:
                    self.seen.append((name, self.bits(name)))

    def bits(self, external: str) -> int:
        """The payload of a command or entry as the written word, with the index above it."""
        ports = {camel(r.name): r for r in MAP.registers} | {
            camel(m.name): m.entry for m in MAP.memories
        }
        word = 0
        for field in ports[external].fields:
            value = int(self.port(f"io_{external}_bits_{camel(field.name)}").value)
            word |= value << field.low
        if external in {camel(m.name) for m in MAP.memories}:
            word |= int(self.port(f"io_{external}_bits_index").value) << 64
        return word

    async def read(self, address: int) -> tuple[int, AxiResp]:
        answer = await self.master.read(address, 8)
        return int.from_bytes(answer.data, "little"), answer.resp

    async def write(self, address: int, word: int, first: int = 0, count: int = 8) -> AxiResp:
        """Write `count` bytes of a word from byte `first`; only these have a strobe."""
        data = word.to_bytes(8, "little")[first : first + count]
        return (await self.master.write(address + first, data)).resp

    def some_bytes(self) -> tuple[int, int, int]:
        """A random byte range: its first byte, its length, and the mask of its bits."""
        first = self.chance.randrange(8)
        count = self.chance.randrange(1, 9 - first)
        return first, count, ((1 << 8 * count) - 1) << 8 * first

    async def out(self, place: Place) -> int:
        """A register's output ports as a word."""
        await ReadOnly()
        word = sum(
            int(self.port(place.field_port("out", f)).value) << f.low for f in place.register.fields
        )
        await RisingEdge(self.dut.clock)
        return word


def externals() -> list[str]:
    commands = [place.port for place in places("argument")]
    return [*commands, *(camel(memory.name) for memory in MAP.memories)]


def expected_at_reset(bench: Bench, place: Place) -> int:
    if place.register.kind == "status":
        return bench.status[place.port]
    if place.register.kind in ("trigger", "argument"):
        return 0
    return sum(field.reset << field.low for field in place.register.fields)


@cocotb.test()
async def reset_values(dut: Any) -> None:
    """After reset every register reads as its reset value in the RDL."""
    bench = await Bench(dut, "reset").start()
    for place in places():
        word, resp = await bench.read(place.address)
        assert (word, resp) == (expected_at_reset(bench, place), OKAY), place
    for place in places("setting", "event"):
        assert await bench.out(place) == expected_at_reset(bench, place), place


@cocotb.test()
async def what_is_read_only_ignores_writes(dut: Any) -> None:
    """Writes change neither a status, which reads as its ports, nor a constant."""
    bench = await Bench(dut, "read only").start()
    for place in constants():
        before = await bench.read(place.address)
        assert await bench.write(place.address, bench.chance.getrandbits(64)) == OKAY, place
        assert await bench.read(place.address) == before == (before[0], OKAY), place
    for place in places("status", "constant") * 3:
        if place.register.kind == "status":
            bench.drive(place)
        assert await bench.write(place.address, bench.chance.getrandbits(64)) == OKAY, place
        word, resp = await bench.read(place.address)
        assert (word, resp) == (expected_at_reset(bench, place), OKAY), place
    assert bench.seen == []


@cocotb.test()
async def settings_keep_what_is_written(dut: Any) -> None:
    """Single bytes can be written; bits between fields read as zero; other registers stay."""
    bench = await Bench(dut, "settings").start()
    model = dict.fromkeys(places("setting"), 0)
    for place in list(model) * 16:
        first, count, strobed = bench.some_bytes()
        word = bench.chance.choice([ONES, bench.chance.getrandbits(64), 0])
        if bench.chance.random() < 0.4:
            first, count, strobed = 0, 8, ONES
        assert await bench.write(place.address, word, first, count) == OKAY, place
        model[place] = (model[place] & ~strobed) | (word & strobed & place.mask)
        assert await bench.read(place.address) == (model[place], OKAY), place
        assert await bench.out(place) == model[place], place
    for place, word in model.items():
        assert await bench.read(place.address) == (word, OKAY), place
    assert bench.seen == []


@cocotb.test()
async def events_stay_until_cleared(dut: Any) -> None:
    """A pulse sets a bit until a one is written to it; other bits stay."""
    bench = await Bench(dut, "events").start()
    for place in places("event"):
        fields = place.register.fields
        for field in fields:
            port = bench.port(place.field_port("in", field))
            port.value = field.mask >> field.low
            await RisingEdge(dut.clock)
            port.value = 0
            await RisingEdge(dut.clock)
        assert await bench.read(place.address) == (place.mask, OKAY), place
        assert await bench.write(place.address, 0) == OKAY
        assert await bench.read(place.address) == (place.mask, OKAY), "zeros clear nothing"
        byte = place.mask.bit_length() // 8 + 1
        assert await bench.write(place.address, ONES, byte, 8 - byte) == OKAY
        assert await bench.read(place.address) == (place.mask, OKAY), "bytes without a strobe"
        standing = place.mask
        for field in fields:
            assert await bench.write(place.address, field.mask) == OKAY
            standing &= ~field.mask
            assert await bench.read(place.address) == (standing, OKAY), field
            assert await bench.out(place) == standing, field


@cocotb.test()
async def a_set_beside_a_clear_wins(dut: Any) -> None:
    """A pulse in the cycle of the clear stays; one in the cycle before is cleared."""
    bench = await Bench(dut, "races").start()
    bench.no_pauses()
    for place, field in [(p, f) for p in places("event") for f in p.register.fields]:
        port = bench.port(place.field_port("in", field))

        async def pulse(edge: int, port: Any = port, field: Any = field) -> None:
            """High at the clock edge of this number."""
            if edge:
                await ClockCycles(dut.clock, edge)
            port.value = field.mask >> field.low
            await RisingEdge(dut.clock)
            port.value = 0

        await pulse(0)
        write = cocotb.start_soon(bench.write(place.address, field.mask))
        cleared = -1
        while await bench.out(place):
            cleared += 1
        assert await write == OKAY
        for early, stands in ((1, 0), (0, field.mask), (-1, field.mask)):
            write = cocotb.start_soon(bench.write(place.address, field.mask))
            await pulse(cleared - early)
            assert await write == OKAY
            assert await bench.read(place.address) == (stands, OKAY), (field, early)
            await bench.write(place.address, ONES)


@cocotb.test()
async def triggers_last_one_cycle(dut: Any) -> None:
    """A written one is high for one cycle, and reads as zero."""
    bench = await Bench(dut, "triggers").start()
    for place in places("trigger") * 4:
        bench.seen.clear()
        word = bench.chance.choice([ONES, bench.chance.getrandbits(64)])
        first, count, strobed = bench.some_bytes()
        assert await bench.write(place.address, word, first, count) == OKAY, place
        await ClockCycles(dut.clock, 5)
        pulses = {
            (place.field_port("out", field), (word & strobed & field.mask) >> field.low)
            for field in place.register.fields
            if word & strobed & field.mask
        }
        assert sorted(bench.seen) == sorted(pulses), place
        assert await bench.read(place.address) == (0, OKAY), place


@cocotb.test()
async def commands_are_answered_when_taken(dut: Any) -> None:
    """A command waits until it is accepted, and later writes wait for it."""
    bench = await Bench(dut, "commands").start()
    for place in places("argument"):
        ready = bench.port(f"io_{place.port}_ready")
        limits = [limit(field) for field in place.register.fields]
        for behind in places("setting"):
            bench.seen.clear()
            ready.value = 0
            word = sum(
                bench.chance.randrange(limit) << field.low
                for field, limit in zip(place.register.fields, limits, strict=True)
            )
            noise = bench.chance.getrandbits(64) & ~place.mask
            before = await bench.out(behind)
            after = bench.chance.getrandbits(64) & behind.mask
            write = cocotb.start_soon(bench.write(place.address, word | noise))
            follower = cocotb.start_soon(bench.write(behind.address, after))
            await ClockCycles(dut.clock, bench.chance.randrange(40, 90))
            assert not write.done() and not follower.done(), place
            assert await bench.out(behind) == before, "a later write overtook a command"
            assert bench.seen == []
            ready.value = 1
            assert await write == OKAY and await follower == OKAY
            assert bench.seen == [(place.port, word)], place
            assert await bench.out(behind) == after
        bench.seen.clear()
        for field in place.register.fields:
            for value in range(limit(field), 1 << field.width):
                assert await bench.write(place.address, value << field.low) == SLVERR, value
        empty = next(b for b in range(8) if not place.mask >> 8 * b & 0xFF)
        assert await bench.write(place.address, 0, empty, 1) == SLVERR, "its bytes are missing"
        assert bench.seen == [], place


@cocotb.test()
async def memories_take_every_entry(dut: Any) -> None:
    """Built entries can be written in any order and with waits; reads and partial writes fail."""
    bench = await Bench(dut, "memories").start()
    for memory, entries in memories():
        ready = bench.port(f"io_{camel(memory.name)}_ready")
        mask = sum(field.mask for field in memory.entry.fields)

        async def wait(ready: Any = ready) -> None:
            while True:
                ready.value = bench.chance.random() < 0.7
                await RisingEdge(dut.clock)

        waits = cocotb.start_soon(wait())
        order = bench.chance.sample(range(entries), entries)
        words = [bench.chance.getrandbits(64) for _ in order]
        writes = [
            cocotb.start_soon(bench.write(memory.offset + 8 * index, word))
            for index, word in zip(order, words, strict=True)
        ]
        for write in writes:
            assert await write == OKAY
        taken = [
            (camel(memory.name), index << 64 | word & mask)
            for index, word in zip(order, words, strict=True)
        ]
        assert bench.seen == taken
        waits.cancel()
        ready.value = 1
        bench.seen.clear()
        needed = [b for b in range(8) if mask >> 8 * b & 0xFF]
        assert await bench.write(memory.offset, ONES, 0, needed[-1]) == SLVERR
        assert await bench.write(memory.offset, ONES, needed[0] + 1, 7 - needed[0]) == SLVERR
        assert await bench.read(memory.offset) == (0, SLVERR)
        assert bench.seen == []


@cocotb.test()
async def nothing_is_where_nothing_is(dut: Any) -> None:
    """Accesses without a register, or past the built ones, give an error and have no effect."""
    bench = await Bench(dut, "nowhere").start()
    for address in nowhere(bench.chance):
        assert await bench.write(address, bench.chance.getrandbits(64)) == SLVERR, hex(address)
        assert await bench.read(address) == (0, SLVERR), hex(address)
    assert bench.seen == []
    for place in places():
        word = expected_at_reset(bench, place)
        assert await bench.read(place.address) == (word, OKAY), place
