# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of what is asked of a pipeline that does not exist: size p3c4, pipeline 3."""

from __future__ import annotations

from dataclasses import replace

from tests.cocotb.bench.directed import COUNT, SIZE, by_hand, first
from tests.cocotb.bench.hand import Hand

ABSENT = SIZE.pipelines


@by_hand
async def an_absent_pipeline_reads_as_zero(hand: Hand) -> None:
    """A read of it is answered, with zeros, on every channel, and changes nothing elsewhere."""
    rule = replace(COUNT, sub_mask=0, effect_op="reset", effect_operand=9)
    for p in range(ABSENT):
        await hand.rule(p, rule)
        await hand.table(p, (0, 0))
    await hand.tick({c: 64 * c for c in range(SIZE.channels)})
    for effect in ("reset", "add"):
        await hand.rule(0, replace(rule, effect_op=effect))
        for c in range(SIZE.channels):
            seen = await hand.read(c, ABSENT, 0, effect=True)
            assert seen.words == first() and not seen.poison
            for p in range(ABSENT):
                assert (await hand.read(c, p, 0)).words == first(1), (effect, c, p)


@by_hand
async def an_absent_pipeline_takes_writes(hand: Hand) -> None:
    """Rules, table entries and clears for it are taken as ever, and change nothing elsewhere."""
    await hand.tick({0: 0})
    await hand.rule(ABSENT, replace(COUNT, operand=100, effect_op="reset"))
    await hand.table(ABSENT, (0, 5))
    await hand.tick(clear_valid=1, clear_bits=ABSENT)
    assert not any(hand.get(f"status_{p}_clearing") for p in range(ABSENT))
    await hand.tick({0: 0})
    await hand.wait(12)
    assert (await hand.read(0, 0, 0, effect=True)).words == first(2)
    assert (await hand.read(0, 0, 0)).words == first(2)
