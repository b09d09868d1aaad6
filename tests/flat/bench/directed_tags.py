# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of near lines whose sideband differs from the written one."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from functools import wraps
from itertools import combinations
from random import Random
from typing import Any

import cocotb

from anemone.flat.config import FlatConfig
from tests.bench.pins import Flag
from tests.bench.profile import StimulusProfile
from tests.bench.requests import FULL, OKAY
from tests.flat.bench.build import BUILDS
from tests.flat.bench.directed_environment import DirectedEnvironment
from tests.flat.bench.directed_marks import LINES, OLD_A, OLD_B, A, B, begin
from tests.flat.bench.sideband import Verdict

OTHER = 2  # another set
BAD = 0xBAD
PARTS = (None, FULL, FULL >> 32)  # strobes of a read, a write and a partial write
SEED = 20261122


class Tags(DirectedEnvironment):
    """Sets whose sidebands are damaged."""

    async def begin_with(self, tags: dict[int, int]) -> None:
        """Start with these contents of A's set, by tag, and A near."""
        await begin(self)
        for tag, value in tags.items():
            self.ask(A + tag * LINES, value)
            await self.answered(0, len(self.answers.writes) + 1)
        self.ask(A, OLD_A)
        await self.answered(0, len(self.answers.writes) + 1)
        await self.settle()
        self.take_requests()

    def damage(self, set_index: int, flips: int) -> None:
        """Flip bits of a set's word."""
        self.near.sidebands[set_index] ^= flips

    def poison(self, set_index: int, poisoned: int = 1) -> None:
        """Poison the near line of a set."""
        data, _ = self.near.store.read(set_index)
        self.near.store.lines[set_index] = data, poisoned

    async def access(self, line: int, strobe: int | None) -> int:
        """The answer to a read, or to a write of BAD."""
        answers = self.answers
        done = len(answers.reads), len(answers.writes)
        self.ask(line, *(() if strobe is None else (BAD, strobe)))
        await self.answered(done[0] + (strobe is None), done[1] + (strobe is not None))
        return answers.reads[-1][2] if strobe is None else answers.writes[-1][2]

    async def all_refused(self, case: Any = "") -> int:
        """Check that every access of every line of A's set is refused without effects. Returns
        their number.
        """
        accesses = [(A + tag * LINES, s) for tag in range(self.build.ratio + 1) for s in PARTS]
        await self.settle()
        self.take_requests()
        ports = [memory.accesses.counts for memory in (self.near, self.far)]
        before = [dict(counts) for counts in ports]
        for line, strobe in accesses:
            assert await self.access(line, strobe) != OKAY, f"{case}: {line}, {strobe}"
        await self.settle()
        self.take_requests()
        before[0]["reads"] = before[0].get("reads", 0) + len(accesses)
        assert [dict(counts) for counts in ports] == before, f"{case}: {ports}, not {before}"
        return len(accesses)

    async def as_written(self, case: Any = "") -> None:
        """Check that A's set has the contents of `begin`."""
        held = await self.read((A, B))
        assert held == [(OKAY, OLD_A), (OKAY, OLD_B)], f"{case}: {held}"
        assert not any(self.answers.poisoned[-2:]), case

    async def counted(self, *names: str) -> list[int]:
        """Counters, which are updated some cycles late."""
        await self.cycles(4)
        return [int(getattr(self.dut, f"counters_{name}").value) for name in names]

    def untrusted(self) -> tuple[int, int]:
        """Whether an untrusted set is reported, and which."""
        dut = self.dut
        return int(dut.untrusted_valid.value), int(dut.untrusted_set.value)

    async def pulse(self, flag: Flag) -> None:
        """A command."""
        flag.set(1)
        await self.cycles(1)
        flag.set(0)
        await self.cycles(3)


def tags(test: Callable[[Tags], Awaitable[None]]) -> Any:
    """A cocotb test that begins with A near and B far, both written."""

    @wraps(test)
    async def run(dut: Any) -> None:
        environment = Tags(dut, BUILDS[os.environ["BENCH_SIZE"]])
        await environment.start()
        await begin(environment)
        await test(environment)

    return cocotb.test()(run)


@tags
async def a_poisoned_word_with_a_flipped_tag_is_not_trusted(environment: Tags) -> None:
    """For every bit: poison means that more is wrong than the code can correct."""
    for bit in range(environment.near.code.bits):
        environment.poison(A)
        environment.damage(A, 1 << bit)
        await environment.all_refused(bit)
        environment.damage(A, 1 << bit)
        environment.poison(A, 0)
        await environment.as_written(bit)
        environment.ask(A, OLD_A)  # A is near again
        await environment.answered(0, 1)
        await environment.settle()
        environment.take_requests()
    assert await environment.counted("corrected", "marked") == [0, 0]


@tags
async def a_poisoned_word_is_trusted_when_its_code_is_clean(environment: Tags) -> None:
    """Its poisoned data are swapped, its tags are right, and B is unchanged."""
    environment.poison(A)
    assert await environment.read((B, A)) == [(OKAY, OLD_B), (OKAY, OLD_A)]
    assert environment.answers.poisoned == [0, 1]
    assert await environment.access(A, FULL) == OKAY
    assert await environment.read((A, B)) == [(OKAY, BAD), (OKAY, OLD_B)]
    assert environment.answers.poisoned[-2:] == [0, 0]
    assert await environment.counted("corrected", "untrusted") == [0, 0]


@tags
async def an_illegal_permutation_is_not_trusted(environment: Tags) -> None:
    """Also if its code is right. With a ratio of 1 there are no illegal permutations."""
    code = environment.near.code
    permutations = range(1 << code.ratio * code.tag_bits)
    illegal = [payload for payload in permutations if not code.legal(payload)]
    assert bool(illegal) == (code.ratio > 1)
    good = environment.near.sidebands[A]
    for payload in illegal:
        for poisoned in (0, 1):
            environment.near.sidebands[A] = code.word(A, payload)
            environment.poison(A, poisoned)
            await environment.all_refused(payload)
    environment.near.sidebands[A] = good
    environment.poison(A, 0)
    await environment.as_written()


@tags
async def a_flipped_bit_is_corrected(environment: Tags) -> None:
    """For every bit, in words of sets that are read, swapped, and counted."""
    near, code = environment.near, environment.near.code
    for bit in range(code.bits):
        good = near.sidebands[A]
        environment.damage(A, 1 << bit)
        first = (A, B) if code.tags(good & (1 << code.payload_bits) - 1)[0] == 0 else (B, A)
        values = {A: OLD_A, B: OLD_B}
        before = (await environment.counted("corrected"))[0]
        assert await environment.read(first[:1]) == [(OKAY, values[first[0]])], bit
        assert near.sidebands[A] == good ^ 1 << bit, "a hit writes nothing"
        assert await environment.counted("corrected") == [before + 1]
        assert await environment.read(first[1:]) == [(OKAY, values[first[1]])], bit
        await environment.settle()
        assert code.read(A, near.sidebands[A])[0] is Verdict.CLEAN, "a swap writes it anew"
        assert await environment.counted("corrected") == [before + 2]
        environment.take_requests()
    assert await environment.counted("untrusted", "marked") == [0, 0]
    environment.one_place()


@tags
async def a_set_that_is_untrusted_is_refused_and_left_as_it_is(environment: Tags) -> None:
    """For any two bits, poisoned or not: all lines of the set are refused while the word is
    damaged, and work again afterwards. It is counted and reported, and other sets work normally.
    """
    values = {tag: 0x100 + tag for tag in range(2, environment.build.ratio + 1)}
    await environment.begin_with(values)
    rng = Random(SEED)
    pairs = rng.sample(list(combinations(range(environment.near.code.bits), 2)), 24)
    refused = 0
    environment.ask(OTHER, OLD_A)
    await environment.answered(0, 1)
    for one, two in pairs:
        flips, poisoned = 1 << one | 1 << two, rng.randrange(2)
        environment.damage(A, flips)
        environment.poison(A, poisoned)
        refused += await environment.all_refused((one, two))
        assert await environment.read([OTHER]) == [(OKAY, OLD_A)]
        environment.damage(A, flips)
        environment.poison(A, 0)
    assert await environment.counted("untrusted", "corrected") == [refused, 0]
    assert environment.untrusted() == (1, A)
    await environment.as_written()
    for tag, value in values.items():
        assert await environment.read([A + tag * LINES]) == [(OKAY, value)]


@tags
async def the_first_set_that_is_untrusted_is_told(environment: Tags) -> None:
    """The first one is reported until software re-arms it, then the next one."""
    for set_index in (OTHER, A, 0):
        environment.damage(set_index, 0b11)
    assert environment.untrusted()[0] == 0
    for line in (OTHER + LINES, B, 0):
        assert await environment.access(line, FULL) != OKAY
    assert environment.untrusted() == (1, OTHER)
    await environment.pulse(environment.rearm)
    assert environment.untrusted()[0] == 0
    for line in (B, OTHER):
        assert await environment.access(line, None) != OKAY
    assert environment.untrusted() == (1, A)
    assert await environment.counted("untrusted") == [5]


@tags
async def a_word_of_another_set_is_not_trusted(environment: Tags) -> None:
    """The words of two sets are exchanged: each has a valid code of the other set."""
    sidebands = environment.near.sidebands
    sidebands[A], sidebands[OTHER] = sidebands[OTHER], sidebands[A]
    await environment.all_refused()
    assert await environment.access(OTHER, None) != OKAY
    sidebands[A], sidebands[OTHER] = sidebands[OTHER], sidebands[A]
    await environment.as_written()


@tags
async def neither_zeros_nor_ones_are_trusted(environment: Tags) -> None:
    """The possible contents of memory that was never written."""
    good = dict(environment.near.sidebands)
    for set_index in range(LINES):
        for word in (0, (1 << environment.near.code.bits) - 1):
            environment.near.sidebands[set_index] = word
            assert await environment.access(set_index, None) != OKAY, f"{set_index}: {word:b}"
    environment.near.sidebands.update(good)
    await environment.as_written()


@tags
async def requests_that_share_an_mshr_are_refused_with_the_first(environment: Tags) -> None:
    """Also if only a later request's near read is bad, until the MSHR is free."""
    near = environment.near
    for bad in range(4):
        environment.take_requests()
        reads = []

        def sideband(line: int, reads: list[int] = reads, bad: int = bad) -> tuple[int, ...]:
            reads.append(line)
            return (near.sidebands[line] ^ (0b11 if len(reads) == bad + 1 else 0),)

        near.sideband = sideband  # type: ignore[method-assign]
        near.profile.answer = 0.0
        for id in range(3):
            environment.ask(A, id=id)
        await environment.cycles(20)
        environment.ask(B, BAD, id=3)
        await environment.cycles(20)
        environment.ask(A, id=3)
        await environment.cycles(20)
        near.profile.answer = 1.0
        await environment.answered(4, 1)
        await environment.settle()
        del near.sideband
        resps = [resp for _, _, resp, _ in sorted(environment.answers.reads, key=lambda r: r[1])]
        (_, _, wrote), *_ = environment.answers.writes
        refused = [resp != OKAY for resp in [*resps[:3], wrote, resps[3]]]
        assert refused == [k >= bad for k in range(5)], f"{bad}: {refused}"
        environment.take_requests()
        await environment.as_written(bad)
        environment.ask(A, OLD_A)
        await environment.answered(0, 1)
        await environment.settle()
        environment.take_requests()


@tags
async def a_repaired_set_is_poisoned_and_as_after_power_up(environment: Tags) -> None:
    """After any refusals of memory. Its lines are poisoned until they are written."""
    ratio = environment.build.ratio
    of_set = [A + tag * LINES for tag in range(ratio + 1)]
    steps = [None, *(("far", k) for k in range(ratio)), ("near", 0)]
    for step in steps:
        await begin(environment)
        await environment.read((B,))  # A is far
        await environment.settle()
        environment.take_requests()
        environment.near.stores_refused = environment.far.stores_refused = False
        environment.damage(A, 0b110)
        assert await environment.access(B, None) != OKAY
        await environment.settle()
        environment.take_requests()
        if step:
            port, k = step
            memory = getattr(environment, port)
            seen = memory.refused[True], memory.accesses.counts["writes"]

            def refuses(write: bool, memory: Any = memory, at: int = seen[1] + k + 1) -> bool:
                refuses = write and memory.accesses.counts["writes"] == at
                memory.refused[write] += refuses
                return refuses

            memory.refuses = refuses
            await environment.pulse(environment.repair)
            await environment.settle()
            environment.take_requests()
            assert memory.refused[True] == seen[0] + 1, f"{step}: nothing refused"
            assert environment.untrusted() == (1, A), step
            assert await environment.counted(f"{port}Errors") == [1]
            await environment.all_refused(step)
            del memory.refuses
        environment.ask(OTHER, OLD_A)  # comes in between
        await environment.pulse(environment.repair)
        await environment.answered(0, 1)
        await environment.settle()
        assert environment.untrusted()[0] == 0, step
        assert not int(environment.dut.untrusted_repairing.value)
        assert environment.near.sidebands[A] == environment.near.code.word(A), step
        environment.take_requests()
        read = await environment.read([*of_set, OTHER])
        assert all(resp == OKAY for resp, _ in read), f"{step}: {read}"
        assert environment.answers.poisoned == [1] * len(of_set) + [0], step
        for line in of_set:
            environment.ask(line, line)
            await environment.answered(0, len(environment.answers.writes) + 1)
        read = await environment.read(of_set)
        assert read == [(OKAY, line) for line in of_set], f"{step}: {read}"
        await environment.settle()
        environment.one_place()


@tags
async def a_repair_waits_for_what_is_in_flight(environment: Tags) -> None:
    """A repair during swaps of other sets, none of which is lost."""
    sets, tags_of_set = (0, 2, 3), range(environment.build.ratio + 1)
    lines = [set_index + tag * LINES for set_index in sets for tag in tags_of_set]
    for delay in range(0, 120, 8):
        await begin(environment)
        environment.damage(A, 0b11)
        assert await environment.access(A, None) != OKAY
        await environment.settle()
        environment.take_requests(latency=30)
        for value in range(3):
            for line in lines:
                environment.ask(line, 100 * value + line)
        await environment.cycles(delay)
        await environment.pulse(environment.repair)
        await environment.answered(0, 3 * len(lines))
        await environment.settle()
        assert all(resp == OKAY for *_, resp in environment.answers.writes), delay
        assert environment.untrusted()[0] == 0, delay
        environment.take_requests()
        read = await environment.read([*lines, A, B])
        assert read[:-2] == [(OKAY, 200 + line) for line in lines], f"{delay}: {read}"
        assert environment.answers.poisoned == [0] * len(lines) + [1, 1], delay
        environment.one_place()


@tags
async def it_is_not_quiet_amid_a_repair(environment: Tags) -> None:
    """With a quiesce in any cycle of the repair, the controller is quiet only after it."""
    for delay in range(30):
        await begin(environment)
        environment.damage(A, 0b11)
        assert await environment.access(A, None) != OKAY
        await environment.settle()
        environment.take_requests(latency=5)
        await environment.pulse(environment.repair)
        await environment.cycles(delay)
        environment.quiesce.set(1)
        while not environment.quiet():
            await environment.cycles(1)
        assert not int(environment.dut.untrusted_repairing.value), f"quiesced after {delay}"
        assert environment.untrusted()[0] == 0
        environment.quiesce.set(0)
        await environment.cycles(4)
        assert not environment.quiet()


@tags
async def requests_wait_while_a_set_is_repaired(environment: Tags) -> None:
    """Far memory answers the repair late, and no request reaches near memory before."""
    environment.damage(A, 0b11)
    assert await environment.access(A, None) != OKAY
    await environment.settle()
    environment.take_requests()
    environment.far.profile = StimulusProfile(answer=0.0)
    await environment.pulse(environment.repair)
    before = environment.near.accesses.counts["reads"]
    for line in (OTHER, OTHER + LINES, A):
        environment.ask(line, line)
    await environment.cycles(60)
    assert environment.near.accesses.counts["reads"] == before
    environment.far.profile = StimulusProfile()
    await environment.answered(0, 3)
    assert all(resp == OKAY for *_, resp in environment.answers.writes)
    lines = (OTHER, OTHER + LINES, A)
    assert await environment.read(lines) == [(OKAY, line) for line in lines]
    assert not any(environment.answers.poisoned)


@cocotb.test()
async def a_repaired_word_has_the_code_of_its_set(dut: Any) -> None:
    """With each bit of a set's number."""
    environment = Tags(dut, BUILDS[os.environ["BENCH_SIZE"]])
    await environment.start()
    build = environment.build
    near_lines = (1 << build.address_bits - 6) // (build.ratio + 1)
    await environment.begin(FlatConfig(near_lines, build.ratio))
    for set_index in (1 << bit for bit in range((near_lines - 1).bit_length())):
        environment.damage(set_index, 0b11)
        assert await environment.access(set_index, None) != OKAY, set_index
        await environment.settle()
        environment.take_requests()
        await environment.pulse(environment.repair)
        await environment.settle()
        environment.take_requests()
        assert environment.untrusted()[0] == 0, set_index
        word = environment.near.sidebands[set_index]
        assert word == environment.near.code.word(set_index), f"{set_index}: {word:b}"
