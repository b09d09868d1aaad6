# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the clock crossing: two clocks of any ratio, metastable flops, and resets of
either side.

A simulator does not model metastability, so `unsettled` does: each synchroniser sees half of all
changes a cycle later, independently of the others.
"""

from __future__ import annotations

import os
from random import Random
from typing import Any

import cocotb
from cocotb.handle import Immediate
from cocotb.triggers import RisingEdge, Timer

TRANSFERS = 40  # of a ratio
RESETS = 80  # of a ratio
# Periods of the host's and the device's clock in steps: 125 and 400 MHz, and extreme ratios.
RATIOS = ((400, 125), (100, 100), (100, 101), (100, 500), (500, 100))
BITS = ("address", "writedata", "byteenable")
PATIENCE = 400  # most cycles of both clocks in a transfer


async def tick(handle: Any, period: int, phase: int) -> None:
    """A clock; the first edge comes after `phase`."""
    handle.value = Immediate(0)
    await Timer(1 + phase, "step")
    while True:
        handle.value = Immediate(1)
        await Timer(period // 2, "step")
        handle.value = Immediate(0)
        await Timer(period - period // 2, "step")


async def unsettled(flops: Any, rng: Random) -> None:
    """Makes a synchroniser's first flop see some changes a cycle late."""
    seen, late = 0, False
    while True:
        await RisingEdge(flops.clock)
        await Timer(1, "step")
        now = int(flops.meta.value)
        late = now != seen and not late and rng.random() < 0.5
        if late:
            flops.meta.value = Immediate(seen)
        else:
            seen = now


class Device:
    """The slave: waits a random time, and answers each read with another number."""

    def __init__(self, dut: Any, rng: Random) -> None:
        self.dut, self.rng = dut, rng
        self.made: list[tuple[bool, tuple[int, ...], int]] = []  # write, its pins, the answer
        self.resets = 0

    def pin(self, name: str) -> Any:
        return getattr(self.dut, f"device_{name}")

    async def run(self) -> None:
        """Serve transfers without end; a reset of the device's side drops the current one."""
        rng, pin = self.rng, self.pin
        due: list[tuple[int, bool, int]] = []
        for name in ("waitrequest", "readdatavalid", "writeresponsevalid", "readdata", "response"):
            pin(name).value = 0
        while True:
            await RisingEdge(self.dut.deviceClock)
            reset = int(self.dut.deviceReset.value)
            write, read = int(pin("write").value), int(pin("read").value)
            assert not (read and write)
            if (read or write) and not reset and not int(pin("waitrequest").value):
                assert not due, "two transfers at once"
                answer = rng.getrandbits(64)
                asked = tuple(int(pin(name).value) for name in BITS)
                self.made.append((bool(write), asked, answer))
                due.append((rng.choice((0, 0, 1, 5, 30, 0, 0, 1, 5, 300)), bool(write), answer))
            if reset:
                due.clear()
            ready = bool(due) and due[0][0] <= 0
            pin("readdatavalid").value = int(ready and not due[0][1])
            pin("writeresponsevalid").value = int(ready and due[0][1])
            pin("readdata").value = due[0][2] if ready else rng.getrandbits(64)
            pin("response").value = due[0][2] & 3 if ready else rng.getrandbits(2)
            if ready:
                due.clear()
            due = [(left - 1, kind, answer) for left, kind, answer in due]
            pin("waitrequest").value = int(bool(due) or rng.random() < 0.3)


class Host:
    """The master: makes one transfer after the other, held until it is accepted (Avalon)."""

    def __init__(self, dut: Any, rng: Random, device: Device) -> None:
        self.dut, self.rng, self.device = dut, rng, device
        self.resets = 0
        self.task: Any = None

    def pin(self, name: str) -> Any:
        return getattr(self.dut, f"host_{name}")

    def idle(self) -> None:
        for name in ("read", "write"):
            self.pin(name).value = 0
        for name in BITS:
            self.pin(name).value = self.rng.getrandbits(len(self.pin(name)))

    def give_up(self) -> None:
        """Cancel the current transfer, as a reset does."""
        if self.task and not self.task.done():
            self.task.cancel()
            self.task = None
        self.idle()

    async def edge(self) -> None:
        await RisingEdge(self.dut.hostClock)

    async def transfer(self) -> None:
        """Make a transfer, and compare it with what the device received."""
        rng, pin, device = self.rng, self.pin, self.device
        write = rng.random() < 0.5
        asked = tuple(rng.getrandbits(len(pin(name))) for name in BITS)
        for name, value in zip(BITS, asked, strict=True):
            pin(name).value = value
        pin("write").value, pin("read").value = int(write), int(not write)
        before, resets = len(device.made), self.resets + device.resets
        for _ in range(40 * PATIENCE):
            await self.edge()
            assert not int(pin("readdatavalid").value) and not int(pin("writeresponsevalid").value)
            if not int(pin("waitrequest").value):
                break
        else:
            raise AssertionError(f"not taken: {write} {asked}")
        self.idle()
        await self.edge()
        # A transfer that a reset interrupted may still arrive, but only before this one.
        times = [made[:2] for made in device.made[before:]].count((write, asked))
        assert times == 1 or (times > 1 and self.resets + device.resets > resets), times
        _, _, answer = device.made[-1]
        assert device.made[-1][:2] == (write, asked)
        assert int(pin("readdatavalid").value) == int(not write)
        assert int(pin("writeresponsevalid").value) == int(write)
        assert int(pin("response").value) == answer & 3
        if not write:
            assert int(pin("readdata").value) == answer
        for _ in range(rng.choice((0, 0, 0, 1, 3, 20))):
            await self.edge()
            assert not int(pin("readdatavalid").value) and not int(pin("writeresponsevalid").value)


async def running(dut: Any, ratio: tuple[int, int], seed: str) -> tuple[Host, Device, list[Any]]:
    """Both sides after resets in random order, and the background tasks."""
    rng = Random(f"{os.environ.get('SEED', '1')} {seed} {ratio}")
    device = Device(dut, rng)
    host = Host(dut, rng, device)
    dut.hostReset.value = dut.deviceReset.value = 1
    host.idle()
    sides = (dut.hostSide, dut.deviceSide)
    flops = [f for side in sides for f in side if hasattr(f, "meta")]
    assert len(flops) == 5
    clocks = zip((dut.hostClock, dut.deviceClock), ratio, strict=True)
    beside = [cocotb.start_soon(tick(clock, n, rng.randrange(n))) for clock, n in clocks]
    beside += [cocotb.start_soon(unsettled(each, rng)) for each in flops]
    beside.append(cocotb.start_soon(device.run()))
    sides_of = [(dut.hostReset, dut.hostClock), (dut.deviceReset, dut.deviceClock)]
    rng.shuffle(sides_of)
    for reset, clock in sides_of:
        for _ in range(4):
            await RisingEdge(clock)
        reset.value = 0
    return host, device, beside


async def end(beside: list[Any]) -> None:
    """Stop all tasks, so that none continues with the next clock ratio."""
    for task in beside:
        task.cancel()
    await Timer(1, "step")


@cocotb.test()
async def every_transfer_is_made_once(dut: Any) -> None:
    """At any clock ratio the device sees each transfer once and in order, and answers it."""
    for ratio in RATIOS:
        host, device, beside = await running(dut, ratio, "once")
        for _ in range(TRANSFERS):
            await host.transfer()
        assert len(device.made) == TRANSFERS
        await end(beside)


async def pulse(side: Host | Device, reset: Any, clock: Any, rng: Random) -> None:
    """Reset one side after a random number of cycles."""
    for _ in range(rng.randrange(1, 14)):
        await RisingEdge(clock)
    reset.value = 1
    side.resets += 1
    if isinstance(side, Host):
        side.give_up()
    for _ in range(rng.choice((2, 2, 3, 9))):
        await RisingEdge(clock)
    reset.value = 0


@cocotb.test()
async def either_side_may_be_reset(dut: Any) -> None:
    """Resets during a transfer, or during recovery from a reset: all later transfers are made."""
    for ratio in RATIOS:
        host, device, beside = await running(dut, ratio, "resets")
        rng = host.rng
        for _ in range(RESETS):
            await host.transfer()
            host.task = cocotb.start_soon(host.transfer())
            for _ in range(rng.choice((1, 1, 2))):
                if rng.random() < 0.6:
                    await pulse(device, dut.deviceReset, dut.deviceClock, rng)
                else:
                    await pulse(host, dut.hostReset, dut.hostClock, rng)
            if host.task and not host.task.done():
                await host.task
            await host.transfer()
        await end(beside)
