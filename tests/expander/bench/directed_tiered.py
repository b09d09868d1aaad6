# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of hits and misses in flat memory mode: who they are attributed to, and when."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any

import cocotb

from anemone.flat.config import FlatConfig
from anemone.hardware import registers
from anemone.telemetry.rules import Rule
from tests.bench.profile import StimulusProfile
from tests.bench.requests import Request
from tests.bench.store import bits
from tests.expander.bench import control as reg
from tests.expander.bench.directed_environment import SEED
from tests.expander.bench.environment import Environment
from tests.expander.bench.flat_board import environment_type
from tests.expander.bench.operator import Operator
from tests.expander.bench.sizes import BUILDS
from tests.expander.bench.tiered import TieredEnvironment
from tests.flat.bench.memories import Near

PAGE = 4096
LINES = PAGE // 64
NEAR_PAGES = 4  # pages k, k + 4 and k + 8 share their sets; pages below 4 start near
TENANT_A, TENANT_B = (0, 1), (4, 6)  # the tenants' pages; 0 and 4 conflict
ROUNDS = 5


def tiered(test: Callable[[TieredEnvironment], Awaitable[None]]) -> Any:
    """A cocotb test of an environment with four near pages, without random activity."""

    @wraps(test)
    async def run(dut: Any) -> None:
        build = BUILDS[os.environ["BENCH_SIZE"]]
        environment = environment_type(build)(dut, build, Counter())
        assert isinstance(environment, TieredEnvironment)
        environment.config = FlatConfig(NEAR_PAGES * LINES // build.engine.channels, build.ratio)
        await environment.start()
        await environment.restart(SEED)
        await environment.program()
        await test(environment)

    return cocotb.test()(run)


def counts(name: str, near: str, pages: Sequence[int], table: dict[int, int]) -> Rule:
    """A rule that counts accesses to a range of pages by hit or miss; `table`: page to counter."""
    start, end = pages[0] * PAGE, (pages[-1] + 1) * PAGE
    return Rule(
        name=name, near=near, start=start, end=end, primary_shift=12, map=list(table.items())
    )


async def program(environment: TieredEnvironment, rules: list[Rule]) -> None:
    """Program rules and their tables, with all other state cleared."""
    size = environment.build.engine
    for p, rule in enumerate(rules):
        environment.operator.clear(p)
        Operator.rule(environment.operator, p, rule, True)
        for key, base in rule.map.tolist():
            environment.lockstep.tables.append((p, key, base, True))
            environment.control.write(*reg.entry(size, p, key, base, True))
    await environment.settle()


async def offer(environment: TieredEnvironment, requests: list[Request], latency: int = 8) -> int:
    """Offer each access on its channel, reads and writes each in their order; near memory answers
    within `latency` cycles. Returns the number of cycles in which they were offered.
    """
    channels = environment.build.engine.channels
    todo: dict[tuple[int, bool], deque[Request]] = {}
    for request in requests:
        todo.setdefault((request.addr // 64 % channels, request.write), deque()).append(request)
    for c, master in enumerate(environment.masters):
        queues = {write: todo.get((c, write), deque()) for write in (False, True)}
        master.source = lambda write, _, q=queues: q[write].popleft() if q[write] else None
        master.profile = StimulusProfile()
    for near, far in zip(environment.near, environment.far, strict=True):
        near.profile, far.profile = StimulusProfile(latency=latency), StimulusProfile(latency=40)
    start = environment.t
    while any(todo.values()):
        await environment.cycles(1)
    return environment.t - start


async def run_requests(
    environment: TieredEnvironment, requests: list[Request], latency: int = 8
) -> int:
    """Offer the accesses and wait until all are counted."""
    cycles = await offer(environment, requests, latency)
    await environment.settle()
    for master, traffic in zip(environment.masters, environment.traffic, strict=True):
        master.source = traffic
    return cycles


def counted(environment: TieredEnvironment, p: int) -> dict[int, int]:
    """The counters of a pipeline that are not zero, summed over both channels.

    `Environment.check` has compared the model with what the telemetry region returns.
    """
    total: Counter[int] = Counter()
    for index, _, value in environment.lockstep.models[p].nonzero():
        total[index] += value
    return dict(total)


@tiered
async def misses_are_attributed_exactly(environment: TieredEnvironment) -> None:
    """Two tenants each have a page that conflicts with the other's and a page that does not. The
    misses of each tenant and page equal numbers worked out by hand.
    """
    by_page = {page: page for page in (*TENANT_A, *TENANT_B)}
    rules = [
        counts("tenant A", "miss", TENANT_A, dict.fromkeys(TENANT_A, 0)),
        counts("tenant B", "miss", TENANT_B, dict.fromkeys(TENANT_B, 0)),
        counts("missed pages", "miss", (0, 15), by_page),
        counts("hit pages", "hit", (0, 15), by_page),
    ]
    await program(environment, rules)
    lines = [
        page * PAGE + line * 64
        for _ in range(ROUNDS)
        for line in range(LINES)
        for page in (0, 1, 4, 6)
    ]
    ids = 1 << environment.build.id_bits
    await run_requests(environment, [Request(False, i % ids, addr) for i, addr in enumerate(lines)])
    await environment.check()
    # Page 0 starts near, and page 4 is never near when it is accessed. Page 1 stays near. Page 6 is
    # moved near once, because no other page competes for its place.
    conflicts_a, conflicts_b, cold = (ROUNDS - 1) * LINES, ROUNDS * LINES, LINES
    assert counted(environment, 0) == {0: conflicts_a}
    assert counted(environment, 1) == {0: conflicts_b + cold}
    assert counted(environment, 2) == {0: conflicts_a, 4: conflicts_b, 6: cold}
    assert counted(environment, 3) == {0: LINES, 1: ROUNDS * LINES, 6: (ROUNDS - 1) * LINES}


@tiered
async def attribution_adds_up_amid_random_traffic(environment: TieredEnvironment) -> None:
    """Both tenants read and write at once: hits and misses by page add up to the controller's
    counts.
    """
    pages = (*TENANT_A, *TENANT_B)
    rules = [
        counts(near, near, (0, 15), {page: page for page in range(16)})
        for near in ("hit", "miss", "any")
    ]
    await program(environment, rules)
    rng, requests = environment.rng, []
    for i in range(3000):
        addr = rng.choice(pages) * PAGE + rng.randrange(LINES) * 64
        request = Request(rng.random() < 0.4, i % (1 << environment.build.id_bits), addr)
        if request.write:
            request.data = [(bits(rng.getrandbits(512)), (1 << 64) - 1, 0)]
        requests.append(request)
    await run_requests(environment, requests)
    await environment.check()
    flats = [scoreboard.flat.counts for scoreboard in environment.scoreboards]
    hits, misses, all_of_them = (counted(environment, p) for p in range(3))
    assert sum(hits.values()) == sum(flat.hits for flat in flats)
    assert sum(misses.values()) == sum(flat.misses for flat in flats)
    assert 1 not in misses, "nothing conflicts with page 1"
    by_page = Counter(request.addr // PAGE for request in requests)
    assert all_of_them == by_page == Counter(hits) + Counter(misses)


@tiered
async def an_access_without_an_outcome_is_counted_by_who_does_not_ask(
    environment: TieredEnvironment,
) -> None:
    """Near memory cannot tell which line it has, so the access is an event but neither hit nor
    miss.
    """
    rules = [counts(near, near, (0, 15), {0: 0}) for near in ("hit", "miss", "any")]
    await program(environment, rules)
    environment.near[0].refusals.append(False)
    environment.scoreboards[0].refused.add(0)
    await run_requests(environment, [Request(False, 0, 0)])
    assert not environment.near[0].refusals
    await environment.check()
    assert [counted(environment, p) for p in range(3)] == [{}, {}, {0: 1}]


@tiered
async def telemetry_is_read_amid_a_stream_of_hits(environment: TieredEnvironment) -> None:
    """A telemetry read costs the cycle in which it is accepted; no other request waits."""
    await program(environment, [counts("hits", "hit", (0, 15), {0: 0})])
    channels = environment.build.engine.channels
    requests = []
    for k in range(1000):
        addr, id = k * channels % (NEAR_PAGES * LINES) * 64, k % 8
        if k % 7 == 6:
            addr, id = environment.windows.address(0, 0, 0, False), 8 + k % 8
        requests += (Request(False, id, addr + c * 64) for c in range(channels))
    cycles = await run_requests(environment, requests, latency=1)
    await environment.check()
    assert cycles <= 1000 + 20


@tiered
async def serial_rmw_holds_the_controller_and_loses_nothing(
    environment: TieredEnvironment,
) -> None:
    """A read of a line whose effect is an update takes eight slots. Many such reads wait at once,
    and hits come in every cycle meanwhile, so events queue up.
    """
    rule = counts("writes", "any", (0, 15), {0: 0})
    await program(environment, [replace(rule, effect_op="add", effect_operand=1)])
    lines = [environment.windows.address(0, k % 2, 0, True) for k in range(16)]
    requests = [Request(False, k % 8, addr) for k, addr in enumerate(lines)]
    requests += (Request(False, 8 + k % 8, k % LINES * 128) for k in range(200))
    for _ in range(4):
        await offer(environment, requests, latency=1)
    await run_requests(environment, [])
    await environment.check()
    assert environment.cover["tiered/held"]


@tiered
async def requests_wait_for_the_start_and_lines_survive_a_warm_reset(
    environment: TieredEnvironment,
) -> None:
    """After a reset without power-up, software starts the mode again with the same sizes, and all
    lines are intact. Sizes written after the start have no effect, and without near lines nothing
    starts.
    """
    rng = environment.rng
    written = []
    for i, line in enumerate(rng.sample(range(NEAR_PAGES * LINES * 3), 200)):
        request = Request(True, i % 16, line * 64)
        request.data = [(bits(rng.getrandbits(512)), (1 << 64) - 1, 0)]
        written.append(request)
    await run_requests(environment, written)
    await environment.check()
    await environment.restart(SEED + 1, warm=True)
    todo = [Request(False, 0, 0)]
    environment.masters[0].source = lambda write, _: None if write or not todo else todo.pop()
    environment.masters[0].profile = StimulusProfile()
    start = registers.FLAT_CONTROL.pack(start=1)
    environment.control.write(registers.FLAT.at(0, registers.FLAT_CONTROL), start)
    await environment.cycles(300)
    assert not todo and not environment.scoreboards[0].idle, (
        "a request that was not offered, or is answered"
    )
    status = [registers.FLAT.at(c, registers.FLAT_STATUS) for c in range(len(environment.masters))]
    assert await environment.registers(status) == [0 for _ in status]
    await environment.begin()
    for c in range(len(environment.masters)):
        environment.control.write(registers.FLAT.at(c, registers.FLAT_NEAR_LINES), 7)
        environment.control.write(registers.FLAT.at(c, registers.FLAT_DEDICATED_END), PAGE)
    await environment.settle()
    await Environment.program(environment)
    await run_requests(environment, [Request(False, i % 16, r.addr) for i, r in enumerate(written)])
    await environment.check()


@tiered
async def a_warm_reset_amid_the_first_sweep_starts_it_anew(environment: TieredEnvironment) -> None:
    """Lines that were not swept have arbitrary tags, so no request may see them."""
    lines = range(environment.now.near_lines)
    await environment.restart(SEED + 1)
    await Environment.program(environment)
    environment.set_up()

    def swept(near: Near) -> int:
        return sum(near.sidebands[line] == near.code.word(line) for line in lines)

    while swept(environment.near[0]) < len(lines) // 4:
        await environment.cycles(1)
    assert swept(environment.near[0]) < len(lines)
    await environment.restart(SEED + 2, warm=True)
    environment.warm = False  # memories are to be empty
    await environment.program()
    assert all(swept(near) == len(lines) for near in environment.near)
    await run_requests(
        environment, [Request(False, i % 16, i * 64) for i in range(3 * NEAR_PAGES * LINES)]
    )
    await environment.check()
