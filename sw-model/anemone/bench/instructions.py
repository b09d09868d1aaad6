# SPDX-License-Identifier: Apache-2.0
"""Instructions a cycle of the Verilated expander in `anemone bench`, counted by callgrind.

Unlike a speed, a count does not depend on the machine's load, so it can be gated. Two runs that
differ only in their number of cycles are subtracted, which cancels the start, the programming of
rules and the final readout.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from anemone.backends import rtl
from anemone.backends.rtl import traffic
from anemone.backends.rtl.builder import SIMULATORS, BackendError
from anemone.backends.rtl.drive import run_program
from anemone.backends.rtl.job import write_job
from anemone.bench.measure import SEED, Log, Measure
from anemone.hardware.geometry import Geometry
from anemone.telemetry.rules import Rule

SHORT, LONG = 1_000, 5_000  # cycles of the two runs
PAGES = 64  # mapped pages of a rule; few, because callgrind also runs the writes of the tables
CALLGRIND = "valgrind"
_COLLECTED = re.compile(r"Collected\s*:\s*(\d+)")

# Most instructions a cycle by number of rules; the other pipelines have no rule. CEILINGS are the
# gates: what was measured, rounded up. GOALS are the bars of docs/performance.md.
CEILINGS = {8: 57_000, 1: 22_000, 0: 14_000}
GOALS = {8: 42_000, 1: 16_000}


def measures(geometry: Geometry, log: Log) -> list[Measure]:
    """Instructions a cycle with all pipelines busy, with one, and with none."""
    program = rtl.build(rtl.expander(geometry))
    found = []
    for count in (n for n in CEILINGS if n <= geometry.pipelines):
        log(f"instructions a cycle, rules: {count}")
        value = per_cycle(program, busy_rules(geometry, count), geometry)
        ceiling, goal = CEILINGS[count], GOALS.get(count)
        found.append(
            Measure(
                "RTL, instructions a cycle", f"{count} rule{'s' * (count != 1)}", round(value),
                "instructions", f"<= {ceiling:,}", value <= ceiling, True,
                f"goal {goal:,}" if goal and goal < ceiling else "",
            )
        )  # fmt: skip
    return found


def busy_rules(geometry: Geometry, count: int) -> list[Rule]:
    """The bench's rules with small tables; nearly every event matches each of them."""
    return [
        replace(
            rule,
            primary_mask=(PAGES << traffic.PAGE_SHIFT) - 1,
            map=rule.map[:PAGES],
        )
        for rule in traffic.bench_rules(geometry, count)
    ]


def per_cycle(program: Path, rules: Sequence[Rule], geometry: Geometry) -> float:
    """Instructions a cycle of `program`, the design and its harness, with random events."""
    rows = traffic.random(np.random.default_rng(SEED), geometry, LONG)
    short, long = (
        _count(program, rules, rows[: cycles * geometry.channels], geometry)
        for cycles in (SHORT, LONG)
    )
    return (long[0] - short[0]) / (long[1] - short[1])


def _count(
    program: Path, rules: Sequence[Rule], rows: np.ndarray, geometry: Geometry
) -> tuple[int, int]:
    """Instructions of a whole replay, and its cycles as the design counts them."""
    with tempfile.TemporaryDirectory(prefix="count-", dir=SIMULATORS) as name:
        folder = Path(name)
        write_job(folder / "job", rules, geometry)
        rows.astype("<u8", copy=False).tofile(folder / "trace")
        log = folder / "log"
        options = (f"--callgrind-out-file={folder / 'profile'}", f"--log-file={log}")
        replay = (program, "replay", folder / "job", folder / "trace", folder)
        report = run_program([CALLGRIND, "--tool=callgrind", *options, *replay], None)
        counted = _COLLECTED.search(log.read_text())
    if counted is None:
        raise BackendError("callgrind printed no count")
    return int(counted[1]), report["cycles"]
