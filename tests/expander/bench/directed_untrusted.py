# SPDX-License-Identifier: Apache-2.0
"""cocotb test of what software sees of an untrusted set in flat memory mode."""

from __future__ import annotations

from anemone.hardware import registers
from anemone.telemetry.rules import Rule
from tests.bench.requests import FULL, Request
from tests.bench.store import bits
from tests.expander.bench.directed_tiered import counted, program, run_requests, tiered
from tests.expander.bench.directed_warm import found
from tests.expander.bench.tiered import TieredEnvironment
from tests.flat.bench.contents import check_contents

SET_INDEX = 5  # the set
_FOUR_PAGES = 14
REPAIR = 200  # cycles, enough for a repair when nothing is in flight


@tiered
async def a_set_that_is_untrusted_is_told_and_repaired(environment: TieredEnvironment) -> None:
    """One bit of a sideband flips on the last channel and is corrected. After a second flip the set
    is refused, and its accesses are events that are neither hits nor misses. Software reads the
    number of the set and has it repaired: its lines are poison until they are written.
    """
    outcomes = ("hit", "miss", "any")[: environment.build.engine.pipelines]
    whole = {"end": 4 << _FOUR_PAGES, "primary_shift": _FOUR_PAGES,
             "map": [(key, 0) for key in range(4)]}  # fmt: skip
    await program(environment, [Rule(name=near, near=near, **whole) for near in outcomes])
    channels, config = environment.build.engine.channels, environment.now
    c = channels - 1
    near, far, scoreboard = environment.near[c], environment.far[c], environment.scoreboards[c]
    lines = range(SET_INDEX, config.lines, config.near_lines)
    addresses = [(p * channels + c) * 64 for p in lines]

    async def shown(*names: str) -> list[int]:
        asked = [getattr(registers, f"FLAT_{name.upper()}") for name in names]
        return await environment.registers([registers.FLAT.at(c, r) for r in asked])

    async def command(**flags: int) -> None:
        at = registers.FLAT.at(c, registers.FLAT_CONTROL)
        environment.control.write(at, registers.FLAT_CONTROL.pack(**flags))
        await environment.cycles(REPAIR)

    near.sidebands[SET_INDEX] ^= 1 << 7
    await run_requests(environment, [Request(False, 0, addresses[0])])
    assert await shown("corrected", "untrusted", "untrusted_set") == [1, 0, 0]
    near.sidebands[SET_INDEX] ^= 1 << 9
    scoreboard.refused.update(addresses)
    await run_requests(environment, [Request(False, 1, addr) for addr in addresses])
    untrusted = registers.FLAT_UNTRUSTED_SET.pack(set=SET_INDEX, valid=1)
    assert await shown("untrusted_set") == [untrusted]
    seen = {near: counted(environment, p) for p, near in enumerate(outcomes)}
    expected = {"hit": {0: 1}, "miss": {}, "any": {0: 1 + len(addresses)}}
    assert seen == {near: expected[near] for near in outcomes}
    await command(rearm=1)
    assert await shown("untrusted_set") == [registers.FLAT_UNTRUSTED_SET.pack(set=SET_INDEX)]
    await run_requests(environment, [Request(False, 1, addresses[-1])])
    assert await shown("untrusted_set") == [untrusted]
    await command(repair=1)
    ready = registers.FLAT_STATUS.pack(started=1, ready=1)
    rearmed = registers.FLAT_UNTRUSTED_SET.pack(set=SET_INDEX)
    assert await shown("untrusted_set", "status") == [rearmed, ready]
    scoreboard.begin(found(config, near, far), dict.fromkeys(lines, 1))
    scoreboard.events = scoreboard.slots.decided_events
    await run_requests(environment, [Request(False, 2, addr) for addr in addresses])
    for addr in addresses:
        write = Request(True, 3, addr)
        write.data = [(bits(addr), FULL, 0)]
        await run_requests(environment, [write])
    await run_requests(environment, [Request(False, 4, addr) for addr in addresses])
    assert not any(scoreboard.poison[p] for p in lines)
    check_contents(scoreboard.flat, near, far, scoreboard.poison)
