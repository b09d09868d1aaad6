# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the control port during traffic: table entries, rules, clears."""

from __future__ import annotations

from dataclasses import replace

from cocotb.triggers import ClockCycles, RisingEdge

from anemone.golden.flat import merge
from anemone.hardware import registers
from tests.bench.profile import StimulusProfile
from tests.expander.bench import control as reg
from tests.expander.bench.directed_environment import directed_test
from tests.expander.bench.directed_region import COUNT, COUNTED, counted
from tests.expander.bench.environment import Environment
from tests.expander.bench.host import Host, hosted


@hosted
async def sizes_are_told(host: Host) -> None:
    """Registers report all sizes, so software does not have to assume them."""
    size = host.size
    assert (await host.get(reg.ID)).to_bytes(8, "big") == b"ANEMONE1"
    capability = await host.get(reg.CAPABILITY)
    built = (size.pipelines, size.channels, size.states, size.table, size.address_bits)
    sizes = [capability >> 8 * i & 0xFF for i in range(5)]
    assert (*sizes[:2], 1 << sizes[2], 1 << sizes[3], sizes[4]) == built
    assert await host.get(reg.WINDOW_BYTES) == host.build.window_bytes


@directed_test
async def bytes_without_a_strobe_keep_their_value(environment: Environment) -> None:
    """Whatever is on their lanes, in each register that software writes and reads back, through the
    expander's port; tests/registers has all registers of the block alone.
    """
    rng, control = environment.rng, environment.control
    for register in (
        *(registers.INTERRUPT_ENABLE, registers.ERROR_ENABLE, registers.FAULT_INJECT),
        *(registers.RULE_CONTROL, registers.RULE_START, registers.RULE_END),
        *(registers.RULE_PRIMARY_MASK, registers.RULE_SUB_MASK, registers.RULE_SHIFTS),
        *(registers.RULE_OPERAND, registers.RULE_NOTIFY_OPERAND, registers.RULE_EFFECT_OPERAND),
    ):
        control.write(register.offset, (1 << 64) - 1)
        (built,) = await environment.registers([register.offset])
        held = built
        assert built, f"{register.offset:#x} holds nothing"
        for _ in range(24):
            value, strobe = rng.getrandbits(64), rng.getrandbits(8)
            control.write(register.offset, value, strobe=strobe)
            after = merge(held.to_bytes(8, "little"), value.to_bytes(8, "little"), strobe)
            held = int.from_bytes(after, "little") & built
            assert await environment.registers([register.offset]) == [held], (register, strobe)


@directed_test
async def entries_are_written_back_to_back(environment: Environment) -> None:
    """During full traffic on all channels, one entry is written per cycle and each is answered."""
    for part in (*environment.masters, *environment.memories):
        part.profile = StimulusProfile()
    await environment.cycles(20)
    done, start = environment.control.done, environment.t
    for _ in range(256):
        environment.operator.entry(1)
    while environment.control.done < done + 256:
        await environment.cycles(1)
    assert environment.t - start <= 256 + 8, "an entry a cycle"
    await environment.check()


@directed_test
async def rules_change_amid_traffic(environment: Environment) -> None:
    """All rules change repeatedly while both channels are busy; a write is answered when it
    applies.
    """
    for part in (*environment.masters, *environment.memories):
        part.profile = StimulusProfile(telemetry=0.5)
    for change in range(60):
        p = change % len(environment.operator.rules)
        rule = replace(
            environment.operator.rules[p], op=("add", "xor")[change % 4 // 2], operand=change
        )
        before = environment.control.done
        writes = environment.operator.rule(p, rule, True)
        await environment.cycles(1)
        while environment.lockstep.rules:
            await environment.cycles(1)
            assert environment.control.done < before + writes, "answered before it applies"
        while not environment.control.idle:
            await environment.cycles(1)
        await environment.cycles(change)
    await environment.check()


@hosted
async def a_clear_ends_and_says_so(host: Host) -> None:
    """A clear takes as many cycles as its largest memory has entries. It keeps the rule and empties
    the table.
    """
    await counted(host)
    await host.set(reg.pipeline(1, reg.CLEAR), 1)
    assert await host.line(0, 0) == COUNTED, "another pipeline's"
    await host.set(reg.pipeline(0, reg.CLEAR), 1)
    assert await host.get(reg.pipeline(0, reg.STATUS)) == 1
    await ClockCycles(host.dut.clock, host.size.clear_cycles)
    assert await host.get(reg.pipeline(0, reg.STATUS)) == 0
    assert await host.line(0, 0) == [0] * 8
    for register in reg.COUNTERS.values():
        assert await host.get(reg.pipeline(0, register)) == 0
    await host.touch(0)
    assert await host.get(reg.pipeline(0, reg.COUNTERS["unmapped"])) == 1
    await host.map(0, (0, 3))
    await host.touch(0)
    assert await host.line(0, 0) == [1 << 48, *[0] * 7]


@hosted
async def an_entry_waits_for_a_clear(host: Host) -> None:
    """An entry written during a clear of its pipeline is not lost: it is answered, and it
    counts.
    """
    await host.rule(0, COUNT)
    await host.set(reg.pipeline(0, reg.CLEAR), 1)
    await host.map(0, (0, 0))
    assert await host.get(reg.pipeline(0, reg.STATUS)) == 0
    await host.touch(0)
    assert await host.line(0, 0) == [1, *[0] * 7]


@hosted
async def a_range_past_the_device(host: Host) -> None:
    """A range ends with the device: with an end far above it matches all, with a start far above it
    matches nothing.
    """
    await host.map(0, (0, 0))
    for start, end, events in ((0, 1 << 52, 2), (1 << 51, 1 << 52, 0), (1 << 20, 1 << 21, 0)):
        before = await host.get(reg.pipeline(0, reg.COUNTERS["matched"]))
        await host.rule(0, replace(COUNT, start=start, end=end, primary_mask=0))
        await host.touch(0)
        await host.touch((1 << 20) - 64)
        after = await host.get(reg.pipeline(0, reg.COUNTERS["matched"]))
        assert after - before == events, (start, end)


@hosted
async def a_base_past_the_counters(host: Host) -> None:
    """Each event with such a base is out of range, whatever its offset: it must not wrap around to
    another counter or count as unmapped. The entry can be written again.
    """
    await host.rule(0, replace(COUNT, sub_mask=0xFC0, sub_shift=6, width=8))
    counters = 64 * host.size.lines
    names = ("matched", "unmapped", "out_of_range")
    expected = [0, 0, 0]
    for base, counts_in in (
        (counters, 2),
        (counters + 1, 2),
        (2 * counters - 1, 2),
        (2 * counters, 2),
        ((1 << 24) - 1, 2),
        (counters - 1, 0),
        (3 * counters, 2),
        (None, 1),
        (counters, 2),
    ):
        address, value = reg.entry(host.size, 0, 0, base or counters, base is not None)
        await host.set(address, value)
        await host.touch(0)
        expected[counts_in] += 1
        if base is not None:
            await host.touch(0xFC0)
            expected[2] += 1
        seen = [await host.get(reg.pipeline(0, reg.COUNTERS[name])) for name in names]
        assert seen == expected, base
    for channel in range(host.size.channels):
        for line in range(host.size.lines):
            last = channel == 0 and line == host.size.lines - 1
            assert await host.line(0, line, channel) == [0] * 7 + [last << 56], (channel, line)


@hosted
async def a_rule_of_unknown_codes_is_refused(host: Host) -> None:
    """The write gets an error, and the pipeline keeps counting with its old rule. A disabled rule
    may have any codes except for its read effect.
    """
    await counted(host)
    control = registers.RULE_CONTROL
    good = reg.shadow(COUNT, True, host.size)[control.offset]
    codes = {"op": (8, 15), "operand_source": (3,), "notify_op": (6,), "effect_kind": (3,)}
    for name, code in ((name, code) for name, wrong in codes.items() for code in wrong):
        field = control.fields[name]
        wrong = good & ~field.mask | field.put(code)
        await host.set(control.offset, wrong)
        assert (await host.control.write(reg.COMMIT, bytes(8))).resp == 2, (name, code)
        await host.set(control.offset, wrong & ~1)
        answer = await host.control.write(reg.COMMIT, bytes([1] + [0] * 7))
        assert answer.resp == (2 if name == "effect_kind" else 0), (name, code)
    assert await host.line(0, 0) == COUNTED
    matched = await host.get(reg.pipeline(0, reg.COUNTERS["matched"]))
    await host.touch(0)
    assert await host.get(reg.pipeline(0, reg.COUNTERS["matched"])) == matched + 1


@hosted
async def a_rule_that_asks_for_an_outcome_is_refused(host: Host) -> None:
    """Events have no outcome in this build, so the write gets an error and the pipeline keeps
    counting with its old rule. A disabled rule is accepted.
    """
    await counted(host)
    control = registers.RULE_CONTROL
    near = control.fields["near"]
    good = reg.shadow(COUNT, True, host.size)[control.offset] & ~near.mask
    for code in (1, 2, 3):
        await host.set(control.offset, good | near.put(code))
        assert (await host.control.write(reg.COMMIT, bytes(8))).resp == 2, code
        await host.set(control.offset, good & ~1 | near.put(code))
        assert (await host.control.write(reg.COMMIT, bytes([1] + [0] * 7))).resp == 0, code
    matched = await host.get(reg.pipeline(0, reg.COUNTERS["matched"]))
    await host.touch(0)
    assert await host.get(reg.pipeline(0, reg.COUNTERS["matched"])) == matched + 1


@hosted
async def what_is_not_built_is_answered(host: Host) -> None:
    """Access to an absent pipeline or entry gets an error, and the port keeps working."""
    size = host.size
    one = (1).to_bytes(8, "little")
    matched = reg.COUNTERS["matched"]
    answer = await host.control.read(reg.pipeline(size.pipelines, matched), 8)
    assert answer.resp == 2
    assert (await host.control.write(reg.COMMIT, bytes([size.pipelines] + [0] * 7))).resp == 2
    last = reg.TABLE + 8 * size.pipelines * size.table
    assert (await host.control.write(last, one)).resp == 2
    assert (await host.control.write(last - 8, one)).resp == 0
    groups = ("FLAT", "PIPELINE", "TABLE")  # elsewhere
    known = {
        value.offset
        for name, value in vars(registers).items()
        if hasattr(value, "offset") and not name.startswith(groups)
    }
    for offset in set(range(0, registers.RULE_HASH.offset + 64, 8)) - known:
        answer = await host.control.read(offset, 8)
        assert (answer.resp, answer.data) == (2, bytes(8)), hex(offset)
    assert await host.get(reg.WINDOW_BYTES) == host.build.window_bytes
    await RisingEdge(host.dut.clock)
