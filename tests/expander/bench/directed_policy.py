# SPDX-License-Identifier: Apache-2.0
"""cocotb test of an expander in flat memory mode whose policy changes at run time."""

from __future__ import annotations

from anemone.flat.config import POLICIES
from anemone.hardware import registers
from tests.bench.requests import FULL, Request
from tests.bench.store import bits
from tests.expander.bench.directed_tiered import LINES, NEAR_PAGES, offer, tiered
from tests.expander.bench.tiered import TieredEnvironment
from tests.flat.bench.environment import any_policy

CHANGES = 120
SETS = 3  # per channel; few, so swaps of them are in flight at a change
BURST = (1, 25)  # accesses
LOOK = 10  # policy changes between two checks of all memory contents


def burst(environment: TieredEnvironment) -> list[Request]:
    """Accesses to a few sets of all channels."""
    rng, channels = environment.rng, len(environment.masters)
    requests = []
    for _ in range(rng.randint(*BURST)):
        line = rng.randrange(3) * NEAR_PAGES * LINES + rng.randrange(SETS * channels)
        request = Request(rng.random() < 0.4, rng.randrange(16), line * 64)
        if request.write:
            strobe = rng.choice((FULL, rng.getrandbits(64)))
            request.data = [(bits(rng.getrandbits(512)), strobe, 0)]
        requests.append(request)
    return requests


@tiered
async def the_policy_changes_between_two_decisions(environment: TieredEnvironment) -> None:
    """The old policy decides every access before the change and the new one every access after it,
    whatever swaps are still in flight. Tested for each policy and each pair of policies.
    """
    rng = environment.rng
    seen = set()
    policy = environment.now.policy
    for change in range(1, CHANGES + 1):
        before, (policy, n) = policy, any_policy(rng)
        seen.add((before, policy))
        fields = {"policy": POLICIES.index(policy), "n": n if n > 1 else rng.choice((0, 1))}
        for c, scoreboard in enumerate(environment.scoreboards):
            register = registers.FLAT.at(c, registers.FLAT_POLICY)
            environment.control.write(register, registers.FLAT_POLICY.pack(**fields))
            scoreboard.flat.set_policy(policy, n)
        while not environment.control.idle:
            await environment.cycles(1)
        await offer(environment, burst(environment), latency=rng.choice((4, 40)))
        while not all(part.idle for part in environment.masters) or not all(
            scoreboard.decided for scoreboard in environment.scoreboards
        ):
            await environment.cycles(1)
        if change % LOOK == 0:
            await environment.settle()
            await environment.check_memories()
    await environment.check()
    assert len(seen) == len(POLICIES) ** 2, seen
