# SPDX-License-Identifier: Apache-2.0
"""The expected result of rows of events and reads (anemone.backends.rtl.job), from the golden
model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anemone.backends.rtl.job import READ, WRITE, split_read
from anemone.golden import fast
from anemone.hardware.geometry import WORDS_PER_LINE, Geometry
from anemone.replay.result import Counters, Result, States, no_reads
from anemone.telemetry.rules import Rule


def expected(
    rules: Sequence[Rule], rows: np.ndarray, geometry: Geometry
) -> tuple[Result, np.ndarray]:
    """The result and the lines, uint64[reads, 8], of rules without periodic reads.

    The model processes rows in order. The hardware keeps this order only within a channel, but
    states, lines and counts do not depend on the order between channels.
    """
    is_read = (rows >> np.uint64(READ) & np.uint64(1)).astype(bool)
    write = (rows >> np.uint64(WRITE)).astype(bool)
    addr = rows & np.uint64((1 << 52) - 1)
    before = np.cumsum(~is_read)  # number of events up to each row
    addr, write = addr[~is_read], write[~is_read]
    reads = split_read(rows[is_read])
    at = before[is_read]
    lines = np.zeros((len(at), WORDS_PER_LINE), np.uint64)
    telemetries = [fast.Telemetry(rule, geometry) for rule in rules]
    for number, telemetry in enumerate(telemetries):
        done = 0
        for i in np.flatnonzero(reads.pipeline == number):
            telemetry.events(addr[done : at[i]], write[done : at[i]])
            done = at[i]
            lines[i] = telemetry.read_line(
                int(reads.channel[i]), int(reads.line[i]), bool(reads.effect[i])
            )
        telemetry.events(addr[done:], write[done:])
    states = [telemetry.nonzero() for telemetry in telemetries]
    number = np.repeat(np.arange(len(rules)), [len(columns[0]) for columns in states])
    columns = [np.concatenate([s[c] for s in states]) for c in range(3)]
    counters = [
        Counters(t.rule.name, t.matched, t.unmapped, t.out_of_range, t.notifications)
        for t in telemetries
    ]
    return Result(States(number, *columns), no_reads(), counters, len(addr), 0, 0.0), lines
