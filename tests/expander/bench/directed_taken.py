# SPDX-License-Identifier: Apache-2.0
"""A cocotb test of lines that are written back in flat memory mode (acknowledged)."""

from __future__ import annotations

from anemone.hardware.geometry import WORDS_PER_LINE
from anemone.telemetry.rules import Rule
from tests.bench.requests import FULL, Request
from tests.bench.store import bits
from tests.expander.bench.directed_tiered import PAGE, program, run_requests, tiered
from tests.expander.bench.tiered import TieredEnvironment


@tiered
async def lines_are_taken_away_in_each_channel(environment: TieredEnvironment) -> None:
    """Sums lose what was written. A maximum goes if it was written, and else stays."""
    size = environment.build.engine
    channels, counters = range(size.channels), min(WORDS_PER_LINE, size.table)
    pages = {"end": counters * PAGE, "primary_shift": 12,
             "map": [(page, page) for page in range(counters)]}  # fmt: skip
    touched = [
        page * PAGE + 64 * channel
        for page in range(counters)
        for channel in channels
        for _ in range(1 + page + 2 * channel)
    ]
    ids = 1 << environment.build.id_bits
    for op, kept in (("add", 3), ("max", 2)):
        await program(environment, [Rule(name=op, op=op, operand=9 if op == "max" else 1, **pages)])
        reads = [Request(False, i % ids, address) for i, address in enumerate(touched)]
        await run_requests(environment, reads)
        base = environment.operator.acknowledge_window()
        await environment.settle()
        model, writes = environment.lockstep.models[0], []
        for channel in channels:
            stored = model.read_line(channel, 0, effect=False)
            assert all(stored[:counters]), stored
            words = [word and word - k % kept for k, word in enumerate(stored, 1)]
            data = bits(sum(word << 64 * k for k, word in enumerate(words)))
            writes.append(Request(True, channel, base + 64 * channel, data=[(data, FULL, 0)]))
            model.acknowledge_line(channel, 0, words)
            left = model.read_line(channel, 0, effect=False)
            assert left[:3] == ([1, 2, 0] if op == "add" else [9, 0, 9])
        await run_requests(environment, writes)
        environment.operator.place("acknowledge", base, enable=False)
        await environment.check()
